/* A user of the installed library: decides whether the trace named on the command line is serializable, and prints "satisfied" or "violated". */
#include <krait/krait.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct krait_error error = {0};
	krait_history *history = NULL;
	krait_verdict *verdict = NULL;

	if (argc != 2)
		return 2;
	if (krait_history_read(argv[1], NULL, NULL, &history, &error) != KRAIT_OK ||
		krait_check(history, "ser", NULL, NULL, &verdict, &error) != KRAIT_OK) {
		printf("%s:%u: %s\n", error.file, error.line, error.text);
		krait_history_free(history);
		return 1;
	}
	puts(krait_verdict_outcome(verdict) == KRAIT_VIOLATED ? "violated" : "satisfied");
	krait_verdict_free(verdict);
	krait_history_free(history);
	return 0;
}
