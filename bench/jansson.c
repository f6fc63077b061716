/* Baseline: parses a file line by line with jansson and nothing else. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (!file)
		return EXIT_FAILURE;
	while ((length = getline(&line, &size, file)) > 0) {
		json_t *value = json_loadb(line, (size_t)length, 0, NULL);
		if (!value)
			return EXIT_FAILURE;
		json_decref(value);
	}
	free(line);
	return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
