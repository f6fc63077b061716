/* A user of the installed library: decides whether the trace named on the command line is serializable, and prints "satisfied" or "violated"; and reads all of it. */
#include <krait/krait.h>
#include <stdio.h>

static uint32_t walk(krait_history *history)
{
	struct krait_transaction txn;
	struct krait_operation op;
	uint32_t operations, all = 0;

	for (uint32_t t = 0; krait_history_transaction(history, t, &txn, &operations, NULL) == KRAIT_OK; t++)
		for (uint32_t i = 0; i < operations; i++)
			all += krait_history_operation(history, t, i, &op, NULL) == KRAIT_OK;
	return all;
}

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
	if (walk(history) != krait_history_operations(history))
		puts("not all operations are there");
	puts(krait_verdict_outcome(verdict) == KRAIT_VIOLATED ? "violated" : "satisfied");
	krait_verdict_free(verdict);
	krait_history_free(history);
	return 0;
}
