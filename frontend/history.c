/* The history's tables: interning of values and names, and looking things up.
 *
 * Every name and value of a trace is one entry of the value table, found by a hash of its type and content,
 * so that equality anywhere later is equality of ids. Sessions are found by a table from value ids,
 * transactions, each of which has a value of its own, by an array of them, keys by a table from their names'
 * content. Cost: amortised O(1) per value and name. Appending transactions: history_add.c; checks that need
 * the whole trace: history_finish.c; texts: history_print.c. */
#include "frontend/history.h"

#include "base/hash.h"
#include "base/order.h"
#include "frontend/event.h"
#include "frontend/history_count.h"
#include "frontend/history_written.h"

#include <string.h>

enum kr_status kr_history_init(struct kr_history *h, struct kr_mem *mem)
{
	*h = (struct kr_history){.mem = mem, .guessed = {KR_NONE}};
	kr_arena_init(&h->arena, mem);
	return kr_vec_add(mem, &h->values, (struct kr_value_entry){.type = KR_VALUE_ABSENT});
}

void kr_history_done(struct kr_history *h)
{
	struct kr_mem *mem = h->mem;

	if (!mem)
		return;
	kr_history_count_done(h);
	kr_assembly_done(h);
	kr_written_free(h->written);
	kr_vec_done(mem, &h->values);
	kr_vec_done(mem, &h->keys);
	kr_vec_done(mem, &h->sessions);
	kr_vec_done(mem, &h->txns);
	kr_vec_done(mem, &h->ops);
	kr_vec_done(mem, &h->scans);
	kr_vec_done(mem, &h->rows);
	kr_vec_done(mem, &h->conds);
	kr_vec_done(mem, &h->attrs);
	kr_vec_done(mem, &h->struck);
	kr_vec_done(mem, &h->seen);
	kr_vec_done(mem, &h->white_box);
	kr_vec_done(mem, &h->version_orders);
	kr_vec_done(mem, &h->near_fields);
	kr_vec_done(mem, &h->order_writers);
	kr_vec_done(mem, &h->files);
	kr_vec_done(mem, &h->key_heads);
	kr_vec_done(mem, &h->session_ends);
	kr_table_done(mem, &h->value_table);
	kr_table_done(mem, &h->key_table);
	kr_table_done(mem, &h->session_table);
	kr_vec_done(mem, &h->named);
	kr_arena_done(&h->arena);
	*h = (struct kr_history){.mem = mem};
}

/* ---- values ---- */

static uint64_t word_hash(enum kr_value_type type, uint64_t word)
{
	return kr_hash_u64(word + ((uint64_t)type << 56));
}

static uint64_t text_hash(enum kr_value_type type, const char *text, size_t length)
{
	return kr_hash_bytes(text, length) ^ (uint64_t)type << 32; /* the half that tables use */
}

uint64_t kr_history_value_hash(const struct kr_value_entry *e)
{
	uint64_t word;

	if (e->type >= KR_VALUE_STRING)
		return text_hash(e->type, e->text, e->length);
	memcpy(&word, &e->integer, sizeof word);
	return word_hash(e->type, word);
}

static kr_value put_value(struct kr_history *h, const struct kr_value_entry *entry)
{
	kr_value id = {h->values.n};

	if (h->counted && !kr_history_count_new(h, &id))
		return (kr_value){KR_NONE};
	if (id.i < h->values.n)
		h->values.at[id.i] = *entry;
	else if (!kr_vec_push(h->mem, &h->values, *entry))
		return (kr_value){KR_NONE};
	return id;
}

/* A new entry, whose hash is known. */
static kr_value add_value(struct kr_history *h, uint64_t hash, const struct kr_value_entry *entry)
{
	kr_value id = kr_table_reserve(h->mem, &h->value_table) ? put_value(h, entry) : (kr_value){KR_NONE};

	if (id.i != KR_NONE)
		kr_table_insert(&h->value_table, hash, id.i);
	return id;
}

/* Makes the table again, which a finished history has no more. */
static bool index_values(struct kr_history *h)
{
	for (uint32_t i = 1; i < h->values.n && !h->counted; i++) {
		if (!kr_table_reserve(h->mem, &h->value_table))
			return false;
		kr_table_insert(&h->value_table, kr_history_value_hash(&h->values.at[i]), i);
	}
	return true;
}

/* Finds or makes the entry of a fixed-size value; `word` is its content as bits. */
static kr_value intern_word(struct kr_history *h, enum kr_value_type type, uint64_t word)
{
	uint64_t hash = word_hash(type, word);
	struct kr_value_entry entry = {.type = type};
	uint32_t id;

	if (!h->value_table.slots && !index_values(h))
		return (kr_value){KR_NONE};
	KR_TABLE_FIND(id, &h->value_table, hash,
		h->values.at[id].type == type && memcmp(&h->values.at[id].integer, &word, sizeof word) == 0);
	if (id != KR_NONE)
		return (kr_value){id};
	memcpy(&entry.integer, &word, sizeof word);
	return add_value(h, hash, &entry);
}

kr_value kr_history_int(struct kr_history *h, int64_t value)
{
	return intern_word(h, KR_VALUE_INT, (uint64_t)value);
}

kr_value kr_history_real(struct kr_history *h, double value)
{
	double plain = value == 0 ? 0.0 : value;
	uint64_t word;

	memcpy(&word, &plain, sizeof word);
	return intern_word(h, KR_VALUE_REAL, word);
}

kr_value kr_history_bool(struct kr_history *h, bool value)
{
	return intern_word(h, value ? KR_VALUE_TRUE : KR_VALUE_FALSE, 0);
}

kr_value kr_history_text(struct kr_history *h, enum kr_value_type type, const char *text, size_t length)
{
	uint64_t hash = text_hash(type, text, length);
	uint32_t id;

	if (length > KR_TEXT_MOST || (!h->value_table.slots && !index_values(h)))
		return (kr_value){KR_NONE};
	KR_TABLE_FIND(id, &h->value_table, hash,
		h->values.at[id].type == type && h->values.at[id].length == length &&
			memcmp(h->values.at[id].text, text, length) == 0);
	if (id != KR_NONE)
		return (kr_value){id};

	struct kr_value_entry entry = {.type = type, .length = length & KR_TEXT_MOST};

	entry.text =
		h->counted ? kr_history_count_text(h, text, length) : kr_arena_text(&h->arena, text, length);
	if (!entry.text)
		return (kr_value){KR_NONE};

	kr_value value = add_value(h, hash, &entry);

	if (value.i == KR_NONE && h->counted)
		kr_history_count_forget_text(h, &entry);
	return value;
}

/* ---- names ---- */

/* A key is found by its name's content, not by the name's id: one look into a table of keys instead of one
 * into the far larger table of values and another one. Names of up to eight bytes, and integers, are compared
 * without going to the value; but for streams, where a key that nobody touches is to take little: there its
 * name, a text, is not in the table of values either. */
struct name {
	struct kr_key_head head;
	uint64_t hash;
	const char *text;
};

static struct name text_name(enum kr_value_type type, const char *text, size_t length)
{
	return (struct name){.head = {.word = kr_hash_word(text, length < 8 ? length : 8),
				     .length = (uint32_t)length,
				     .type = (uint8_t)type},
		.hash = text_hash(type, text, length),
		.text = text};
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

static bool is_entry(const struct kr_value_entry *e, const struct name *name)
{
	if (e->type != name->head.type)
		return false;
	if (e->type < KR_VALUE_STRING)
		return memcmp(&e->integer, &name->head.word, sizeof e->integer) == 0;
	return e->length == name->head.length && memcmp(e->text, name->text, e->length) == 0;
}

static bool is_named(const struct kr_history *h, uint32_t id, const struct name *name)
{
	if (h->counted)
		return is_entry(&h->values.at[h->keys.at[id].name.i], name);

	const struct kr_key_head *head = &h->key_heads.at[id];

	if (head->word != name->head.word || head->length != name->head.length ||
		head->type != name->head.type)
		return false;
	return head->length <= 8 ||
		memcmp(h->values.at[h->keys.at[id].name.i].text, name->text, head->length) == 0;
}

static kr_key find_key(const struct kr_history *h, const struct name *name)
{
	uint32_t id;

	KR_TABLE_FIND(id, &h->key_table, name->hash, is_named(h, id, name));
	return (kr_key){id};
}

static kr_key add_key(struct kr_history *h, const struct name *name, kr_value value)
{
	kr_key key = {h->keys.n};

	if (!kr_table_reserve(h->mem, &h->key_table) || !kr_vec_reserve(h->mem, &h->keys, 1) ||
		(!h->counted && !kr_vec_push(h->mem, &h->key_heads, name->head)))
		return (kr_key){KR_NONE};
	h->keys.at[h->keys.n++] = (struct kr_key_entry){.name = value};
	kr_history_keep(h, value);
	kr_table_insert(&h->key_table, name->hash, key.i);
	return key;
}

kr_key kr_history_find_key(const struct kr_history *h, kr_value value)
{
	struct name name = name_of(h, value);

	return find_key(h, &name);
}

kr_key kr_history_find_key_text(const struct kr_history *h, const char *text, size_t length)
{
	struct name name = text_name(KR_VALUE_STRING, text, length);

	return find_key(h, &name);
}

kr_key kr_history_key(struct kr_history *h, kr_value value)
{
	if (value.i == KR_NONE)
		return (kr_key){KR_NONE};

	struct name name = name_of(h, value);
	kr_key key = find_key(h, &name);

	return key.i != KR_NONE ? key : add_key(h, &name, value);
}

/* The name of a new key of a stream, which is looked for among keys only. */
static kr_value put_name(struct kr_history *h, const char *text, size_t length)
{
	struct kr_value_entry entry = {.type = KR_VALUE_STRING,
		.length = length & KR_TEXT_MOST,
		.text = kr_history_count_text(h, text, length)};
	kr_value value = entry.text ? put_value(h, &entry) : (kr_value){KR_NONE};

	if (value.i == KR_NONE && entry.text)
		kr_history_count_forget_text(h, &entry);
	return value;
}

kr_key kr_history_key_text(struct kr_history *h, const char *text, size_t length)
{
	if (length > KR_TEXT_MOST)
		return (kr_key){KR_NONE};

	struct name name = text_name(KR_VALUE_STRING, text, length);
	kr_key key = find_key(h, &name);

	if (key.i != KR_NONE)
		return key;

	kr_value value =
		h->counted ? put_name(h, text, length) : kr_history_text(h, KR_VALUE_STRING, text, length);

	return value.i == KR_NONE ? (kr_key){KR_NONE} : add_key(h, &name, value);
}

/* ---- waiting for memory together ---- */

/* Asks for the slot where a look-up begins, or for what the slot leads to, which it returns. */
static uint32_t expect_slot(const struct kr_table *table, uint64_t hash, enum kr_expect stage)
{
	if (stage == KR_EXPECT_ENTRY)
		return kr_table_peek(table, hash);
	kr_table_fetch(table, hash);
	/* GCC takes a function that only prefetches for one without effect and drops its calls */
	__asm__ volatile("");
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

	KR_TABLE_FIND(id, &h->session_table, hash, h->sessions.at[id].i == name.i);
	if (id != KR_NONE || name.i == KR_NONE)
		return (kr_session){id};
	id = h->sessions.n;
	if (!kr_table_reserve(h->mem, &h->session_table) || !kr_vec_reserve(h->mem, &h->sessions, 1) ||
		!kr_vec_push(h->mem, &h->session_ends, (kr_txn){KR_NONE}))
		return (kr_session){KR_NONE};
	h->sessions.at[h->sessions.n++] = name;
	kr_history_keep(h, name);
	kr_table_insert(&h->session_table, hash, id);
	return (kr_session){id};
}

kr_txn kr_history_find(const struct kr_history *h, kr_value id)
{
	return (kr_txn){id.i < h->named.n ? h->named.at[id.i] - 1 : KR_NONE};
}

/* ---- reading ---- */

const struct kr_attr *kr_history_attr(const struct kr_history *h, kr_op op)
{
	uint32_t low = 0, high = h->attrs.n;

	if (!(h->ops.at[op.i].flags & KR_OPF_HAS_ATTR))
		return NULL;
	if (op.i < high && h->attrs.at[op.i].op.i == op.i)
		return &h->attrs.at[op.i]; /* all before it have some, too */
	KR_BISECT(low, low, high, h->attrs.at[low].op.i < op.i);
	return low < h->attrs.n && h->attrs.at[low].op.i == op.i ? &h->attrs.at[low] : NULL;
}

bool kr_history_is_loose(const struct kr_history *h, kr_op op)
{
	const struct kr_attr *attr = kr_history_attr(h, op);

	return attr && !attr->cursor;
}

bool kr_history_precedes(const struct kr_history *h, kr_txn a, kr_txn b)
{
	const struct kr_transaction *ta = &h->txns.at[a.i], *tb = &h->txns.at[b.i];
	int64_t end;

	if (!(ta->flags & KR_TXN_HAS_END) || !(tb->flags & KR_TXN_HAS_BEGIN))
		return false;
	return !__builtin_add_overflow(ta->end_returned, h->clock_skew, &end) && end < tb->begin_invoked;
}
