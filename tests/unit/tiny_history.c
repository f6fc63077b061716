/* Small histories from texts, through the builder functions that readers use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tiny_history.h"

kr_value tiny_value(struct kr_history *h, const char *text) { return strcmp(text, "-") == 0 ? KR_ABSENT : kr_history_int(h, strtoll(text, NULL, 10)); }

kr_key tiny_key(struct kr_history *h, const char *name) { return kr_history_key(h, kr_history_text(h, KR_VALUE_STRING, name, strlen(name))); }

static void add_operation(struct kr_history *h, char words[5][16], int n)
{
	static const struct {
		const char *name;
		enum kr_op_kind kind;
	} kinds[] = {
		{"r", KR_OP_READ},
		{"w", KR_OP_WRITE},
		{"d", KR_OP_DELETE},
		{"i", KR_OP_INSERT},
		{"cas", KR_OP_CAS},
		{"append", KR_OP_APPEND},
	};
	struct kr_operation op = {.kind = KR_OP_KINDS};

	assert_true(n >= 2);
	for (size_t i = 0; i < KR_COUNT(kinds); i++)
		if (strcmp(words[0], kinds[i].name) == 0)
			op.kind = kinds[i].kind;
	assert_int_not_equal(op.kind, KR_OP_KINDS);
	op.key = tiny_key(h, words[1]);
	if (op.kind == KR_OP_READ && strcmp(words[2], "?") == 0)
		n = 2;
	else if (op.kind == KR_OP_READ)
		op.flags = KR_OPF_KNOWN;
	if (n > 2 && op.kind == KR_OP_DELETE)
		op.flags = KR_OPF_KNOWN;
	if (n > 2 && strcmp(words[n - 1], "+") == 0)
		op.flags |= KR_OPF_DONE;
	if (n > 2 && op.kind != KR_OP_DELETE)
		op.a = tiny_value(h, words[2]);
	if (op.kind == KR_OP_CAS)
		op.b = tiny_value(h, words[3]);
	assert_true(kr_vec_push(h->mem, &h->ops, op));
}

void tiny_add(struct kr_history *h, const char *text)
{
	struct kr_transaction txn = {.session = {KR_NONE}, .line = h->txns.n + 1};
	char name[16], copy[512], *save = NULL;

	txn.status = text[0] == 'c' ? KR_COMMITTED : text[0] == 'a' ? KR_ABORTED : KR_UNKNOWN;
	assert_non_null(strchr("cau", text[0]));
	(void)snprintf(name, sizeof name, "t%u", h->txns.n);
	txn.id = kr_history_text(h, KR_VALUE_STRING, name, strlen(name));
	assert_true(strlen(text) < sizeof copy);
	(void)snprintf(copy, sizeof copy, "%s", text + 1);
	for (char *part = strtok_r(copy, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		char words[5][16] = {"", "", "", "", ""};
		int n = sscanf(part, "%15s %15s %15s %15s %15s", words[0], words[1], words[2], words[3], words[4]);

		if (n > 0)
			add_operation(h, words, n);
	}
	assert_int_equal(kr_history_add(h, txn, NULL, NULL), KR_OK);
}

void tiny_order(struct kr_history *h, const char *key, const char *writers)
{
	struct kr_version_order order = {.key = tiny_key(h, key), .writer_first = h->order_writers.n};
	char *end;

	for (const char *at = writers; *at; at = end) {
		kr_txn t = {(uint32_t)strtoul(at, &end, 10)};

		assert_true(end != at);
		assert_true(kr_vec_push(h->mem, &h->order_writers, t));
		order.writer_count++;
	}
	assert_true(kr_vec_push(h->mem, &h->version_orders, order));
}
