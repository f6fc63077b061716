/* The history's builder: interning, and appending transactions.
 *
 * Every name and value of a trace is one entry of the value table, found by a hash of its type and content, so that equality anywhere later is
 * equality of ids. Keys, sessions and transaction ids are tables from value ids. What a transaction alone, or it and those before it, can
 * get wrong (its id, its place in its session, the kinds of its keys) is checked when it is added, so that a lenient reader can leave it out and
 * go on. Cost: amortised O(1) per value, key and operation. Checks that need the whole trace: history_finish.c. */
#include "frontend/history.h"

#include "base/hash.h"

#include <string.h>

#define NEW_KIND 0x80u /* mark in keys[].kind while a transaction is being checked: set by this transaction */

enum kr_status kr_history_init(struct kr_history *h, struct kr_mem *mem)
{
	*h = (struct kr_history){.mem = mem};
	kr_arena_init(&h->arena, mem);
	return kr_vec_push(mem, &h->values, (struct kr_value_entry){.type = KR_VALUE_ABSENT}) ? KR_OK : KR_NOMEM;
}

void kr_history_done(struct kr_history *h)
{
	struct kr_mem *mem = h->mem;

	if (!mem)
		return;
	kr_vec_done(mem, &h->values);
	kr_vec_done(mem, &h->keys);
	kr_vec_done(mem, &h->sessions);
	kr_vec_done(mem, &h->txns);
	kr_vec_done(mem, &h->ops);
	kr_vec_done(mem, &h->scans);
	kr_vec_done(mem, &h->rows);
	kr_vec_done(mem, &h->conds);
	kr_vec_done(mem, &h->attrs);
	kr_vec_done(mem, &h->seen);
	kr_vec_done(mem, &h->white_box);
	kr_vec_done(mem, &h->version_orders);
	kr_vec_done(mem, &h->order_writers);
	kr_vec_done(mem, &h->files);
	kr_vec_done(mem, &h->key_heads);
	kr_vec_done(mem, &h->session_ends);
	kr_table_done(mem, &h->value_table);
	kr_table_done(mem, &h->key_table);
	kr_table_done(mem, &h->session_table);
	kr_table_done(mem, &h->id_table);
	kr_arena_done(&h->arena);
	*h = (struct kr_history){.mem = mem};
}

/* ---- values ---- */

static uint64_t word_hash(enum kr_value_type type, uint64_t word) { return kr_hash_u64(word + ((uint64_t)type << 56)); }

static uint64_t text_hash(enum kr_value_type type, const char *text, size_t length) { return kr_hash_pair((uint64_t)type, kr_hash_bytes(text, length)); }

/* Finds or makes the entry of a fixed-size value; `word` is its content as bits. */
static kr_value intern_word(struct kr_history *h, enum kr_value_type type, uint64_t word)
{
	uint64_t hash = word_hash(type, word);
	struct kr_value_entry entry = {.type = type};
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&h->value_table, hash); (id = kr_table_next(&h->value_table, &it)) != KR_NONE;) {
		const struct kr_value_entry *e = &h->values.at[id];
		if (e->type == type && memcmp(&e->integer, &word, sizeof word) == 0)
			return (kr_value){id};
	}
	memcpy(&entry.integer, &word, sizeof word);
	id = h->values.n;
	if (!kr_table_reserve(h->mem, &h->value_table) || !kr_vec_push(h->mem, &h->values, entry))
		return (kr_value){KR_NONE};
	kr_table_insert(&h->value_table, hash, id);
	return (kr_value){id};
}

kr_value kr_history_int(struct kr_history *h, int64_t value) { return intern_word(h, KR_VALUE_INT, (uint64_t)value); }

kr_value kr_history_real(struct kr_history *h, double value)
{
	double plain = value == 0 ? 0.0 : value;
	uint64_t word;

	memcpy(&word, &plain, sizeof word);
	return intern_word(h, KR_VALUE_REAL, word);
}

kr_value kr_history_bool(struct kr_history *h, bool value) { return intern_word(h, value ? KR_VALUE_TRUE : KR_VALUE_FALSE, 0); }

kr_value kr_history_text(struct kr_history *h, enum kr_value_type type, const char *text, size_t length)
{
	uint64_t hash = text_hash(type, text, length);
	uint32_t id;

	if (length > UINT32_MAX)
		return (kr_value){KR_NONE};
	for (kr_table_iter it = kr_table_find(&h->value_table, hash); (id = kr_table_next(&h->value_table, &it)) != KR_NONE;) {
		const struct kr_value_entry *e = &h->values.at[id];
		if (e->type == type && e->length == length && memcmp(e->text, text, length) == 0)
			return (kr_value){id};
	}

	struct kr_value_entry entry = {.type = type, .length = (uint32_t)length};

	id = h->values.n;
	if (!kr_table_reserve(h->mem, &h->value_table) || !kr_vec_reserve(h->mem, &h->values, 1))
		return (kr_value){KR_NONE};
	entry.text = kr_arena_text(&h->arena, text, length);
	if (!entry.text)
		return (kr_value){KR_NONE};
	h->values.at[h->values.n++] = entry;
	kr_table_insert(&h->value_table, hash, id);
	return (kr_value){id};
}

/* ---- names ---- */

/* A key is found by its name's content, not by the name's id: one look into a table of keys instead of one into the far larger table of values and
 * another one. Names of up to eight bytes, and integers, are compared without going to the value. */
struct name {
	struct kr_key_head head;
	uint64_t hash;
	const char *text;
};

static struct name text_name(enum kr_value_type type, const char *text, size_t length)
{
	struct name name = {.head = {.length = (uint32_t)length, .type = (uint8_t)type}, .hash = text_hash(type, text, length), .text = text};

	memcpy(&name.head.word, text, length < 8 ? length : 8);
	return name;
}

static struct name name_of(const struct kr_history *h, kr_value value)
{
	const struct kr_value_entry *e = &h->values.at[value.i];
	struct name name = {.head = {.type = (uint8_t)e->type}};

	if (e->type >= KR_VALUE_STRING)
		return text_name(e->type, e->text, e->length);
	memcpy(&name.head.word, &e->integer, sizeof e->integer);
	name.hash = word_hash(e->type, name.head.word);
	return name;
}

static kr_key find_key(const struct kr_history *h, const struct name *name)
{
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&h->key_table, name->hash); (id = kr_table_next(&h->key_table, &it)) != KR_NONE;) {
		const struct kr_key_head *head = &h->key_heads.at[id];
		if (head->word != name->head.word || head->length != name->head.length || head->type != name->head.type)
			continue;
		if (head->length <= 8 || memcmp(h->values.at[h->keys.at[id].name.i].text, name->text, head->length) == 0)
			return (kr_key){id};
	}
	return (kr_key){KR_NONE};
}

static kr_key add_key(struct kr_history *h, const struct name *name, kr_value value)
{
	kr_key key = {h->keys.n};

	if (!kr_table_reserve(h->mem, &h->key_table) || !kr_vec_reserve(h->mem, &h->keys, 1) || !kr_vec_push(h->mem, &h->key_heads, name->head))
		return (kr_key){KR_NONE};
	h->keys.at[h->keys.n++] = (struct kr_key_entry){.name = value};
	kr_table_insert(&h->key_table, name->hash, key.i);
	return key;
}

kr_key kr_history_find_key(const struct kr_history *h, kr_value value)
{
	struct name name = name_of(h, value);

	return find_key(h, &name);
}

kr_key kr_history_key(struct kr_history *h, kr_value value)
{
	struct name name = name_of(h, value);
	kr_key key = find_key(h, &name);

	return key.i != KR_NONE ? key : add_key(h, &name, value);
}

kr_key kr_history_key_text(struct kr_history *h, const char *text, size_t length)
{
	if (length > UINT32_MAX)
		return (kr_key){KR_NONE};

	struct name name = text_name(KR_VALUE_STRING, text, length);
	kr_key key = find_key(h, &name);

	if (key.i != KR_NONE)
		return key;

	kr_value value = kr_history_text(h, KR_VALUE_STRING, text, length);

	return value.i == KR_NONE ? (kr_key){KR_NONE} : add_key(h, &name, value);
}

/* ---- waiting for memory together ---- */

/* Asks for the slot where a look-up begins, or for what the slot leads to, which it returns. */
static uint32_t expect_slot(const struct kr_table *table, uint64_t hash, enum kr_expect stage)
{
	uint32_t at = (uint32_t)(hash >> 32) & table->mask;

	if (!table->ids)
		return KR_NONE;
	if (stage == KR_EXPECT_ENTRY)
		return table->ids[at];
	__builtin_prefetch(&table->ids[at]);
	__builtin_prefetch(&table->hashes[at]);
	__asm__ volatile(""); /* GCC takes a function that only prefetches for one without effect and drops its calls */
	return KR_NONE;
}

void kr_history_expect_key(const struct kr_history *h, const char *text, size_t length, enum kr_expect stage)
{
	uint32_t id = expect_slot(&h->key_table, text_hash(KR_VALUE_STRING, text, length), stage);

	if (id != KR_NONE)
		__builtin_prefetch(&h->key_heads.at[id]);
	__asm__ volatile("");
}

void kr_history_expect_int(const struct kr_history *h, int64_t value, enum kr_expect stage)
{
	uint32_t id = expect_slot(&h->value_table, word_hash(KR_VALUE_INT, (uint64_t)value), stage);

	if (id != KR_NONE)
		__builtin_prefetch(&h->values.at[id]);
	__asm__ volatile("");
}

kr_session kr_history_session(struct kr_history *h, kr_value name)
{
	uint64_t hash = kr_hash_u64(name.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&h->session_table, hash); (id = kr_table_next(&h->session_table, &it)) != KR_NONE;)
		if (h->sessions.at[id].i == name.i)
			return (kr_session){id};
	id = h->sessions.n;
	if (!kr_table_reserve(h->mem, &h->session_table) || !kr_vec_reserve(h->mem, &h->sessions, 1) ||
		!kr_vec_push(h->mem, &h->session_ends, (kr_txn){KR_NONE}))
		return (kr_session){KR_NONE};
	h->sessions.at[h->sessions.n++] = name;
	kr_table_insert(&h->session_table, hash, id);
	return (kr_session){id};
}

kr_txn kr_history_find(const struct kr_history *h, kr_value id)
{
	uint32_t t;

	for (kr_table_iter it = kr_table_find(&h->id_table, kr_hash_u64(id.i)); (t = kr_table_next(&h->id_table, &it)) != KR_NONE;)
		if (h->txns.at[t].id.i == id.i)
			return (kr_txn){t};
	return (kr_txn){KR_NONE};
}

/* ---- transactions ---- */

struct kr_history_mark kr_history_mark(const struct kr_history *h)
{
	return (struct kr_history_mark){h->ops.n, h->scans.n, h->rows.n, h->conds.n, h->attrs.n, h->seen.n};
}

void kr_history_rollback(struct kr_history *h, struct kr_history_mark mark)
{
	h->ops.n = mark.ops;
	h->scans.n = mark.scans;
	h->rows.n = mark.rows;
	h->conds.n = mark.conds;
	h->attrs.n = mark.attrs;
	h->seen.n = mark.seen;
}

static enum kr_status default_id(struct kr_history *h, uint32_t position, kr_value *id)
{
	char text[16] = "#";
	char digits[12];
	size_t n = 0, length = 1;

	do
		digits[n++] = (char)('0' + position % 10);
	while ((position /= 10) != 0);
	while (n > 0)
		text[length++] = digits[--n];
	*id = kr_history_text(h, KR_VALUE_STRING, text, length);
	return id->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status check_id(const struct kr_history *h, kr_value id, struct kr_err *err)
{
	kr_txn other = kr_history_find(h, id);
	char name[80];

	if (other.i == KR_NONE)
		return KR_OK;
	kr_history_brief(h, id, name, sizeof name);
	if (h->txns.at[other.i].line == 0)
		return kr_err_set(err, KR_BAD, "duplicate transaction id %s, expected a new one", name);
	return kr_err_set(err, KR_BAD, "duplicate transaction id %s, first used in line %u", name, (unsigned)h->txns.at[other.i].line);
}

/* The first moment that a transaction tells: its begin or, without, its end. The end of an unknown one is not when it took effect. */
static bool first_moment(const struct kr_transaction *t, int64_t *out)
{
	*out = t->flags & KR_TXN_HAS_BEGIN ? t->begin_invoked : t->end_returned;
	return t->flags & KR_TXN_HAS_BEGIN || (t->flags & KR_TXN_HAS_END && t->status != KR_UNKNOWN);
}

static int64_t last_moment(const struct kr_transaction *t) { return t->flags & KR_TXN_HAS_END ? t->end_returned : t->begin_invoked; }

/* Session order and real-time order must not contradict each other, whichever times are told. */
static enum kr_status check_session(const struct kr_history *h, const struct kr_transaction *txn, struct kr_err *err)
{
	int64_t first;

	if (txn->session.i == KR_NONE || !first_moment(txn, &first))
		return KR_OK;

	kr_txn last = h->session_ends.at[txn->session.i];

	if (last.i == KR_NONE || first >= last_moment(&h->txns.at[last.i]))
		return KR_OK;

	char name[80], before[80];

	return kr_err_set(err, KR_BAD, "%s %s at %lld, before %s of the same session %s at %lld; expected session order",
		kr_history_brief(h, txn->id, name, sizeof name), txn->flags & KR_TXN_HAS_BEGIN ? "begins" : "ends", (long long)first,
		kr_history_brief(h, h->txns.at[last.i].id, before, sizeof before), h->txns.at[last.i].flags & KR_TXN_HAS_END ? "returned" : "began",
		(long long)last_moment(&h->txns.at[last.i]));
}

static enum kr_key_kind kind_needed(enum kr_op_kind op)
{
	switch (op) {
	case KR_OP_WRITE:
	case KR_OP_INSERT:
	case KR_OP_CAS:
	case KR_OP_UPDATE: return KR_KIND_REGISTER;
	case KR_OP_INC: return KR_KIND_COUNTER;
	case KR_OP_APPEND: return KR_KIND_LIST;
	case KR_OP_ADD: return KR_KIND_SET;
	default: return KR_KIND_ANY;
	}
}

static bool initial_fits(const struct kr_history *h, kr_value initial, enum kr_key_kind kind)
{
	enum kr_value_type type = h->values.at[initial.i].type;

	if (type == KR_VALUE_ABSENT || kind == KR_KIND_REGISTER)
		return true;
	return type == (kind == KR_KIND_COUNTER ? KR_VALUE_INT : KR_VALUE_ARRAY);
}

/* An initial value for a message: strings in quotes. */
static const char *brief_value(const struct kr_history *h, kr_value value, char *out, size_t size)
{
	if (h->values.at[value.i].type != KR_VALUE_STRING)
		return kr_history_brief(h, value, out, size);
	kr_history_brief(h, value, out + 1, size - 2);
	if (out[1] == '"')
		return out + 1;
	out[0] = '"';
	strcat(out, "\"");
	return out;
}

static const char *const kinds[] = {"any", "register", "counter", "list", "set"}; /* by enum kr_key_kind */

enum kr_status kr_history_set_initial(struct kr_history *h, kr_key key, kr_value initial, struct kr_err *err)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];
	char name[80], value[80];

	if (entry->kind != KR_KIND_ANY && !initial_fits(h, initial, entry->kind))
		return kr_err_set(err, KR_BAD, "%s starts as %s, but is used as a %s", kr_history_brief(h, entry->name, name, sizeof name),
			brief_value(h, initial, value, sizeof value), kinds[entry->kind]);
	entry->initial = initial;
	return KR_OK;
}

/* Uses `key` as `kind`: false on a clash. */
static bool use_key(struct kr_history *h, kr_key key, enum kr_key_kind kind, bool *marked)
{
	struct kr_key_entry *entry = &h->keys.at[key.i];

	if (entry->kind == KR_KIND_ANY && initial_fits(h, entry->initial, kind)) {
		entry->kind = (uint8_t)(kind | NEW_KIND);
		*marked = true;
	}
	return (entry->kind & ~NEW_KIND) == (unsigned)kind;
}

/* Ends the marks of new kinds on the keys of ops[first..]: they stay when the transaction is good. */
static void settle_kinds(struct kr_history *h, uint32_t first, bool good)
{
	for (uint32_t i = first; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_scan *scan = op->kind == KR_OP_UPDATE ? &h->scans.at[op->scan] : NULL;
		uint32_t count = scan ? scan->row_count : op->key.i != KR_NONE;

		for (uint32_t r = 0; r < count; r++) {
			uint8_t *kind = &h->keys.at[scan ? h->rows.at[scan->row_first + r].key.i : op->key.i].kind;
			if (*kind & NEW_KIND)
				*kind = good ? (uint8_t)(*kind & ~NEW_KIND) : (uint8_t)KR_KIND_ANY;
		}
	}
}

static enum kr_status kind_clash(const struct kr_history *h, kr_value id, const struct kr_operation *op, uint32_t index, kr_key key, struct kr_err *err)
{
	const struct kr_key_entry *entry = &h->keys.at[key.i];
	unsigned used = entry->kind & ~NEW_KIND;
	char txn[80], name[80], initial[80];

	kr_history_brief(h, id, txn, sizeof txn);
	kr_history_brief(h, entry->name, name, sizeof name);
	if (used == KR_KIND_ANY)
		return kr_err_set(err, KR_BAD, "ops[%u] of %s: \"%s\" needs a %s key, but %s starts as %s", (unsigned)index, txn, kr_op_name(op->kind),
			kinds[kind_needed(op->kind)], name, brief_value(h, entry->initial, initial, sizeof initial));
	return kr_err_set(err, KR_BAD, "ops[%u] of %s: \"%s\" needs a %s key, but %s is used as a %s", (unsigned)index, txn, kr_op_name(op->kind),
		kinds[kind_needed(op->kind)], name, kinds[used]);
}

static enum kr_status check_kinds(struct kr_history *h, kr_value id, uint32_t first, struct kr_err *err)
{
	bool marked = false;

	for (uint32_t i = first; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		enum kr_key_kind kind = kind_needed(op->kind);
		const struct kr_scan *scan = op->kind == KR_OP_UPDATE ? &h->scans.at[op->scan] : NULL;
		uint32_t count = kind == KR_KIND_ANY ? 0 : scan ? scan->row_count : 1;

		for (uint32_t r = 0; r < count; r++) {
			kr_key key = scan ? h->rows.at[scan->row_first + r].key : op->key;
			if (!use_key(h, key, kind, &marked)) {
				enum kr_status status = kind_clash(h, id, op, i - first, key, err);
				settle_kinds(h, first, false);
				return status;
			}
		}
	}
	if (marked)
		settle_kinds(h, first, true);
	return KR_OK;
}

enum kr_status kr_history_add(struct kr_history *h, struct kr_transaction txn, uint32_t position, struct kr_err *err)
{
	const struct kr_transaction *previous = h->txns.n ? &h->txns.at[h->txns.n - 1] : NULL;
	kr_txn t = {h->txns.n};
	enum kr_status status;

	txn.op_first = previous ? previous->op_first + previous->op_count : 0;
	txn.op_count = h->ops.n - txn.op_first;
	if (txn.id.i == KR_NONE && (status = default_id(h, position, &txn.id)) != KR_OK)
		return status;
	if (!kr_table_reserve(h->mem, &h->id_table) || !kr_vec_reserve(h->mem, &h->txns, 1))
		return KR_NOMEM;
	if ((status = check_id(h, txn.id, err)) != KR_OK || (status = check_session(h, &txn, err)) != KR_OK ||
		(status = check_kinds(h, txn.id, txn.op_first, err)) != KR_OK)
		return status;

	h->txns.at[h->txns.n++] = txn;
	kr_table_insert(&h->id_table, kr_hash_u64(txn.id.i), t.i);
	if (txn.session.i != KR_NONE && txn.flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END) && txn.status != KR_UNKNOWN) {
		kr_txn *last = &h->session_ends.at[txn.session.i];
		if (last->i == KR_NONE || last_moment(&h->txns.at[last->i]) <= last_moment(&txn))
			*last = t;
	}
	return KR_OK;
}

enum kr_status kr_history_set_white_box(struct kr_history *h, struct kr_white_box fields)
{
	while (h->white_box.n < h->txns.n)
		if (!kr_vec_push(h->mem, &h->white_box, (struct kr_white_box){0}))
			return KR_NOMEM;
	h->white_box.at[h->txns.n - 1] = fields;
	return KR_OK;
}

/* ---- reading ---- */

const struct kr_attr *kr_history_attr(const struct kr_history *h, kr_op op)
{
	uint32_t low = 0, high = h->attrs.n;

	if (!(h->ops.at[op.i].flags & KR_OPF_HAS_ATTR))
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (h->attrs.at[middle].op.i < op.i)
			low = middle + 1;
		else
			high = middle;
	}
	return low < h->attrs.n && h->attrs.at[low].op.i == op.i ? &h->attrs.at[low] : NULL;
}

bool kr_history_precedes(const struct kr_history *h, kr_txn a, kr_txn b)
{
	const struct kr_transaction *ta = &h->txns.at[a.i], *tb = &h->txns.at[b.i];
	int64_t end;

	if (!(ta->flags & KR_TXN_HAS_END) || !(tb->flags & KR_TXN_HAS_BEGIN))
		return false;
	return !__builtin_add_overflow(ta->end_returned, h->clock_skew, &end) && end < tb->begin_invoked;
}
