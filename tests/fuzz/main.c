/* Runs a fuzz target over the files of the folders given, without libFuzzer: so that every input that ever mattered is run by every
 * compiler and preset. Fails when a folder cannot be read or holds nothing, since a test of nothing cannot fail. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *read_whole(FILE *file, size_t *size)
{
	char *data = NULL;
	FILE *copy = open_memstream(&data, size);
	char block[4096];
	size_t n;

	if (!copy)
		return NULL;
	while ((n = fread(block, 1, sizeof block, file)) > 0)
		fwrite(block, 1, n, copy);
	if (fclose(copy) != 0 || ferror(file)) {
		free(data);
		return NULL;
	}
	return data;
}

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size = 0;
	char *data = file ? read_whole(file, &size) : NULL;
	uint8_t *exact;

	if (file)
		fclose(file);
	if (!data) {
		perror(path);
		return 1;
	}
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout); /* the last line names the input that crashes */

	/* A block of exactly its size, so that the address sanitizer sees the first byte read past the end. */
	exact = malloc(size ? size : 1);
	if (!exact) {
		free(data);
		return 1;
	}
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int run_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, visible, alphasort);
	int failed = n <= 0;

	if (n < 0)
		perror(folder);
	else if (n == 0)
		fprintf(stderr, "%s: found no inputs, expected at least one\n", folder);
	for (int i = 0; i < n; i++) {
		char path[4096];
		int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);

		failed |= length < 0 || (size_t)length >= sizeof path || run_file(path) != 0;
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	if (argc < 2)
		fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	return failed;
}
