/* Cobra's client logs (docs/formats/cobra.md): a folder of binary files NAME.log, one per client, which
 * become sessions in the numeric order of their names.
 *
 * Keys are known by their hash, shown in hexadecimal. A value is the id of the write, since those are unique;
 * in logs where all writes carry one id (repeated values) it is the value's hash. Reads that the log
 * attributes to the time before recording see the initial version: absent. A read whose write nobody logged
 * is data: its writer did not commit, and the analysis says so. Only committed transactions are logged. The
 * options of the recorder that change the layout (time stamps, plain keys, base64) do not show in a file:
 * they end in an error at a byte. Cost: one pass. */
#include "frontend/foreign.h"

#include <string.h>

#include "base/hash.h"

#define INIT UINT64_C(0xbebeebee) /* reserved ids */
#define ABSENT UINT64_C(0xdeadbeef)
#define DELETED UINT64_C(0xabcdefab)
#define GC_TRUE UINT64_C(0x23332333)
#define GC_FALSE UINT64_C(0x66666666)
#define REPEATED UINT64_C(0xabddefee)

#define RECORD_MAX 33
#define AHEAD 32 /* records whose look-ups wait for memory together */

struct cobra {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	KR_VEC(uint64_t) keys; /* hashes, by kr_key: all keys are made here */
	struct kr_table key_table;

	/* the file being read */
	const char *path;
	uint32_t file;
	kr_session session;
	struct kr_source *source;
	uint64_t offset; /* in the file, of the record at hand */
	bool open;       /* inside a transaction */
	uint64_t id;
	uint64_t start; /* offset of its S record */
};

static enum kr_status bad(struct cobra *c, uint64_t offset, const char *problem)
{
	kr_err_set(c->err, KR_BAD, "at byte %llu: %s", (unsigned long long)offset, problem);
	kr_err_at(c->err, c->path, 0, 0);
	return KR_BAD;
}

/* ---- values ---- */

static kr_value hex_value(struct cobra *c, uint64_t word)
{
	char text[18];
	size_t at = sizeof text;

	do
		text[--at] = "0123456789abcdef"[word & 15];
	while ((word >>= 4) != 0);
	text[--at] = 'x';
	text[--at] = '0';
	return kr_history_text(c->h, KR_VALUE_STRING, text + at, sizeof text - at);
}

/* An integer where 64 signed bits hold it. */
static kr_value word_value(struct cobra *c, uint64_t word)
{
	return word <= INT64_MAX ? kr_history_int(c->h, (int64_t)word) : hex_value(c, word);
}

static kr_key find_key(struct cobra *c, uint64_t key_hash)
{
	uint64_t hash = kr_hash_u64(key_hash);
	uint32_t id;

	KR_TABLE_FIND(id, &c->key_table, hash, c->keys.at[id] == key_hash);
	if (id != KR_NONE)
		return (kr_key){id};
	if (!kr_table_push(c->h->mem, &c->key_table, hash, &c->keys, key_hash))
		return (kr_key){KR_NONE};
	return kr_history_key(c->h, hex_value(c, key_hash));
}

/* ---- records ---- */

static uint64_t word_at(const unsigned char *at)
{
	return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 | (uint64_t)at[3] << 32 |
		(uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 | (uint64_t)at[6] << 8 | at[7];
}

static enum kr_status push_op(struct cobra *c, uint64_t key_hash, struct kr_operation op)
{
	op.key = find_key(c, key_hash);
	return kr_foreign_put(c->h, op);
}

static enum kr_status read_write(struct cobra *c, const unsigned char *record)
{
	uint64_t write = word_at(record + 1), key = word_at(record + 9);
	struct kr_operation op = {.kind = KR_OP_WRITE};

	if (!c->open)
		return bad(c, c->offset, "a write outside of a transaction, expected S");
	if (write == DELETED)
		op.kind = KR_OP_DELETE;
	else
		op.a = write == REPEATED ? hex_value(c, word_at(record + 17)) : word_value(c, write);
	return push_op(c, key, op);
}

static bool is_initial(uint64_t writer, uint64_t write)
{
	if (writer != INIT && writer != ABSENT)
		return false;
	return write == INIT || write == ABSENT || write == GC_TRUE || write == GC_FALSE;
}

static enum kr_status read_read(struct cobra *c, const unsigned char *record)
{
	uint64_t writer = word_at(record + 1), write = word_at(record + 9), key = word_at(record + 17);
	struct kr_operation op = {.kind = KR_OP_READ, .flags = KR_OPF_KNOWN, .a = KR_ABSENT};

	if (!c->open)
		return bad(c, c->offset, "a read outside of a transaction, expected S");
	if (!is_initial(writer, write) && write != DELETED)
		op.a = write == REPEATED ? hex_value(c, word_at(record + 25)) : word_value(c, write);
	return push_op(c, key, op);
}

static enum kr_status read_start(struct cobra *c, const unsigned char *record)
{
	if (c->open)
		return bad(c, c->offset, "a transaction starts inside another, expected R, W or C");
	c->open = true;
	c->id = word_at(record + 1);
	c->start = c->offset;
	return KR_OK;
}

static enum kr_status read_commit(struct cobra *c, const unsigned char *record)
{
	struct kr_transaction txn = {.session = c->session, .status = KR_COMMITTED};
	struct kr_err why;

	if (!c->open)
		return bad(c, c->offset, "a commit outside of a transaction, expected S");
	if (word_at(record + 1) != c->id)
		return bad(c, c->offset,
			"the commit names another transaction, expected the one that is open");
	c->open = false;
	kr_txn_put_file(&txn, c->file);
	txn.id = word_value(c, c->id);
	if (txn.id.i == KR_NONE)
		return KR_NOMEM;
	kr_err_init(&why);

	enum kr_status status = kr_history_forgive(c->h, kr_history_add(c->h, txn, NULL, &why), &why);

	return status == KR_BAD ? bad(c, c->start, why.text) : status;
}

static size_t record_size(unsigned char tag)
{
	static const uint8_t sizes[UINT8_MAX + 1] = {['S'] = 9, ['C'] = 9, ['W'] = 25, ['R'] = RECORD_MAX};

	return sizes[tag];
}

static enum kr_status read_record(struct cobra *c, const unsigned char *record, size_t left)
{
	size_t size = record_size(record[0]);

	if (record[0] == 'A')
		return bad(c, c->offset,
			"an abort (A), expected none: Cobra logs committed transactions only");
	if (size == 0)
		return bad(c, c->offset,
			"expected a record: S, C, W or R (logs with time stamps, plain keys or in base64 "
			"cannot be read)");
	if (left < size)
		return bad(c, c->offset, "the file ends inside a record");
	switch (record[0]) {
	case 'S': return read_start(c, record);
	case 'C': return read_commit(c, record);
	case 'W': return read_write(c, record);
	default: return read_read(c, record);
	}
}

/* Hints the key and the value of a whole record. */
static void expect_record(const struct cobra *c, const unsigned char *record, enum kr_expect stage)
{
	static const uint8_t value_at[] = {['C'] = 1, ['R'] = 9, ['W'] = 1},
			     key_at[] = {['R'] = 17, ['W'] = 9};
	uint64_t value = value_at[record[0]] ? word_at(record + value_at[record[0]]) : UINT64_MAX;

	if (value <= INT64_MAX)
		kr_history_expect_int(c->h, (int64_t)value, stage);
	if (record[0] != 'R' && record[0] != 'W')
		return;

	uint64_t hash = kr_hash_u64(word_at(record + key_at[record[0]]));
	uint32_t key = stage == KR_EXPECT_ENTRY ? kr_table_peek(&c->key_table, hash) : KR_NONE;

	if (stage == KR_EXPECT_SLOT)
		kr_table_fetch(&c->key_table, hash);
	else if (key != KR_NONE)
		__builtin_prefetch(&c->keys.at[key]);
}

/* Reads some of the records that are there; *used: their bytes. */
static enum kr_status read_some(struct cobra *c, const unsigned char *records, size_t left, size_t *used)
{
	size_t size, at = 0, n = 0;

	for (enum kr_expect stage = KR_EXPECT_SLOT; stage <= KR_EXPECT_ENTRY; stage++)
		for (at = n = 0;
			n < AHEAD && at < left && (size = record_size(records[at])) != 0 && size <= left - at;
			n++, at += size)
			expect_record(c, records + at, stage);
	for (*used = 0, n = n > 0 ? n : 1; n > 0; n--) { /* one that is not whole is an error */
		size = record_size(records[*used]);
		KR_TRY(read_record(c, records + *used, left - *used));
		KR_TRY(kr_ctx_tick(c->ctx));
		*used += size;
		c->offset += size;
	}
	return KR_OK;
}

static enum kr_status read_records(struct cobra *c)
{
	const unsigned char *records;
	size_t left, used;
	enum kr_status status;

	while (!(status = kr_source_peek(c->source, RECORD_MAX, &records, &left, c->err)) && left > 0) {
		KR_TRY(read_some(c, records, left, &used));
		kr_source_skip(c->source, used);
	}
	if (!status && c->open)
		status = bad(c, c->offset, "the file ends inside a transaction, expected its C");
	return status;
}

/* ---- files ---- */

static bool is_log(const char *name) { return kr_foreign_stem(name) != 0; }

static enum kr_status read_log(void *data, const char *folder, const char *name)
{
	struct cobra *c = data;
	kr_value session = kr_history_text(c->h, KR_VALUE_STRING, name, kr_foreign_stem(name));

	c->file = c->h->files.n;
	c->path = kr_foreign_file(c->h, folder, name);
	c->session = kr_history_session(c->h, session);
	if (c->session.i == KR_NONE || !c->path)
		return KR_NOMEM;
	c->offset = 0;
	KR_TRY(kr_source_open(c->ctx, c->path, &c->source, c->err));
	enum kr_status status = read_records(c);
	kr_source_free(c->source);
	return status;
}

static enum kr_status read_cobra(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct cobra c = {.ctx = ctx, .h = h, .err = err};
	enum kr_status status = kr_foreign_logs(ctx, h, path, is_log, read_log, &c, err);

	(void)source;
	kr_vec_done(h->mem, &c.keys);
	kr_table_done(h->mem, &c.key_table);
	return status;
}

/* A folder with a .log file that begins with a start record; or with nothing but empty ones. */
static int sniff(const char *path, const char *head, size_t length)
{
	static const int sure[] = {0, 20, 80};

	(void)head;
	(void)length;
	return sure[kr_foreign_starts(path, is_log, 'S')];
}

const struct kr_format kr_format_cobra = {
	.name = "cobra",
	.title = "Cobra's client logs: a folder of binary .log files, one per client",
	.source = "docs/formats/cobra.md",
	.folder = true,
	.sniff = sniff,
	.read = read_cobra,
};
