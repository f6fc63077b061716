/* Witness lines against one small fixed history that has a bit of everything: reading must give a well-formed certificate or one error, and verifying what was read must
 * end in a verdict. The same line is then verified with the memory of a small machine. */
#include <stdint.h>
#include <stdlib.h>

#include "checkers/checker.h"
#include "verify/verify.h"

struct fixture { struct kr_ctx ctx; struct kr_history h; };

static kr_value text(struct kr_history *h, const char *word)
{
	size_t length = 0;

	while (word[length])
		length++;
	return kr_history_text(h, KR_VALUE_STRING, word, length);
}

static kr_key key(struct kr_history *h, const char *name) { return kr_history_key(h, text(h, name)); }

static void push(struct kr_history *h, enum kr_op_kind kind, unsigned flags, const char *name, int a)
{
	struct kr_operation op = {.kind = kind, .flags = flags & 15u, .key = key(h, name)};

	op.a = a == 0 ? KR_ABSENT : kr_history_int(h, a);
	if (!kr_vec_push(h->mem, &h->ops, op))
		abort();
}

static void push_range(struct kr_history *h, const char *returned, int value)
{
	struct kr_operation op = {.kind = KR_OP_RANGE, .key = {KR_NONE}, .scan = h->scans.n};
	struct kr_scan scan = {.limit = -1, .row_first = h->rows.n, .row_count = 1};

	if (!kr_vec_push(h->mem, &h->rows, (struct kr_row){key(h, returned), kr_history_int(h, value)}) || !kr_vec_push(h->mem, &h->scans, scan) ||
		!kr_vec_push(h->mem, &h->ops, op))
		abort();
}

static void add(struct kr_history *h, const char *id, enum kr_txn_status status, int64_t begin)
{
	struct kr_transaction txn = {.id = text(h, id), .status = status, .flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END};

	txn.session = kr_history_session(h, kr_history_int(h, begin % 2));
	txn.begin_invoked = txn.begin_returned = begin;
	txn.end_invoked = txn.end_returned = begin + 2;
	if (kr_history_add(h, txn, NULL, NULL) != KR_OK)
		abort();
}

/* a and b are a write skew; u is unknown and may have written what r read, as c did; x was aborted. */
static void make_history(struct fixture *f)
{
	struct kr_history *h = &f->h;

	kr_ctx_init(&f->ctx, 0, 0);
	if (kr_history_init(h, &f->ctx.mem) != KR_OK)
		abort();
	push(h, KR_OP_READ, KR_OPF_KNOWN, "x", 0);
	push(h, KR_OP_WRITE, 0, "y", 1);
	add(h, "a", KR_COMMITTED, 0);
	push(h, KR_OP_READ, KR_OPF_KNOWN, "y", 0);
	push(h, KR_OP_WRITE, 0, "x", 1);
	add(h, "b", KR_COMMITTED, 1);
	push(h, KR_OP_WRITE, 0, "z", 1);
	push(h, KR_OP_INC, 0, "n", 1);
	add(h, "c", KR_COMMITTED, 4);
	push(h, KR_OP_WRITE, 0, "z", 1);
	push(h, KR_OP_READ, KR_OPF_KNOWN, "y", 1);
	add(h, "u", KR_UNKNOWN, 5);
	push(h, KR_OP_READ, KR_OPF_KNOWN, "z", 1);
	push_range(h, "z", 1);
	push(h, KR_OP_INSERT, 0, "x", 5);
	push(h, KR_OP_APPEND, 0, "l", 5);
	add(h, "r", KR_COMMITTED, 8);
	push(h, KR_OP_WRITE, 0, "z", 2);
	add(h, "x", KR_ABORTED, 9);
	for (uint32_t t = 0; t < 2; t++)
		if (!kr_vec_push(h->mem, &h->order_writers, (kr_txn){t ? 3 : 2}))
			abort();
	if (!kr_vec_push(h->mem, &h->version_orders, (struct kr_version_order){.key = key(h, "z"), .writer_count = 2}) ||
		kr_history_finish(h, &f->ctx, NULL) != KR_OK)
		abort();
}

static void check(const struct kr_history *h, const uint8_t *data, size_t size, uint64_t fail_at)
{
	struct kr_ctx ctx;
	struct kr_arena arena;
	struct kr_certificate cert;
	struct kr_witness_head head;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 64);
	ctx.mem.fail_at = fail_at;
	kr_err_init(&err);
	kr_arena_init(&arena, &ctx.mem);
	kr_certificate_init(&cert, &ctx.mem);

	enum kr_status status = kr_witness_read(h, &arena, (const char *)data, size, &head, &cert, &err);

	if (status == KR_OK && (cert.level = kr_level_of_id(NULL, head.level)) != NULL)
		status = kr_verify(&ctx, h, &cert, &err);
	if (status == KR_INTERNAL || (status != KR_OK && (err.status != status || !err.text[0])))
		abort();
	kr_certificate_done(&cert);
	kr_arena_done(&arena);
	if (ctx.mem.used != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fixture f;

	make_history(&f);
	check(&f.h, data, size, 0);
	check(&f.h, data, size, 1 + size % 16);
	kr_history_done(&f.h);
	return 0;
}
