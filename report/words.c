/* Phrases about operations, versions and dependencies. Long values are cut, so that a line stays a line;
 * everything else is said in full. The order of a version's words follows the trace ("x = 5"), so that it can
 * be searched for there. */
#include "report/words.h"

#include <string.h>

#include "base/order.h"
#include "report/evidence.h"

#include "frontend/model/operation.h"

static const struct kr_operation *op_at(const struct kr_history *h, kr_op op) { return &h->ops.at[op.i]; }

static bool scan_row(const struct kr_history *h, const struct kr_operation *op, kr_key k, kr_value *value)
{
	const struct kr_scan *scan = &h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + i];
		if (row->key.i == k.i) {
			*value = row->value;
			return true;
		}
	}
	return false;
}

static bool writes(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	return kr_write_of(h, op, k, &(struct kr_write){0});
}

static bool reads(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	kr_value value;

	if (kr_op_scans(op))
		return scan_row(h, op, k, &value);
	return op->key.i == k.i && kr_op_view(op).when != KR_UNSEEN;
}

bool kr_words_writes(const struct kr_history *h, kr_op op, kr_key k) { return writes(h, op_at(h, op), k); }

bool kr_words_sees(const struct kr_history *h, kr_op op, kr_key k) { return reads(h, op_at(h, op), k); }

kr_value kr_words_value(const struct kr_history *h, kr_op op, kr_key k)
{
	kr_value value = KR_UNTOLD;

	if (!kr_op_scans(op_at(h, op)))
		return op_at(h, op)->a;
	(void)scan_row(h, op_at(h, op), k, &value);
	return value;
}

bool kr_words_finds(const struct kr_history *h, kr_op op, kr_key k)
{
	kr_value value = KR_UNTOLD;

	return !kr_op_scans(op_at(h, op)) ? op_at(h, op)->a.i != KR_ABSENT.i
					  : scan_row(h, op_at(h, op), k, &value);
}

bool kr_words_reads(const struct kr_history *h, kr_txn t, kr_key k)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];
	struct kr_write write;

	for (uint32_t i = 0; i < txn->op_count; i++) {
		if (reads(h, &h->ops.at[txn->op_first + i], k))
			return true;
		if (kr_write_of(h, &h->ops.at[txn->op_first + i], k, &write) && write.how != KR_ADD)
			return false;
	}
	return false;
}

kr_op kr_words_last_write(const struct kr_history *h, kr_txn t, kr_key k)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];

	for (uint32_t i = txn->op_count; i > 0; i--)
		if (writes(h, &h->ops.at[txn->op_first + i - 1], k))
			return (kr_op){txn->op_first + i - 1};
	return (kr_op){KR_NONE};
}

/* ---- the cast ---- */

#define NAME_MOST 12 /* bytes of an id that is no longer than it is easily read */

/* "T7", "r1", "alice-leaves": a word that nobody takes for a value. */
static bool is_name(const struct kr_value_entry *id)
{
	bool name = id->type == KR_VALUE_STRING && id->length > 0 && id->length <= NAME_MOST &&
		!(id->text[0] >= '0' && id->text[0] <= '9');

	for (uint32_t i = 0; name && i < id->length; i++) {
		char c = id->text[i];
		name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '-' || c == '_' || c == '.' || (c == '#' && i == 0);
	}
	return name;
}

/* "T7", "t7": taken for a number of the cast. */
static bool is_numbered(const struct kr_value_entry *id)
{
	uint32_t i = 1;

	if (id->type != KR_VALUE_STRING || id->length < 2 || (id->text[0] != 'T' && id->text[0] != 't'))
		return false;
	while (i < id->length && id->text[i] >= '0' && id->text[i] <= '9')
		i++;
	return i == id->length;
}

void kr_cast_init(struct kr_cast *cast, struct kr_mem *mem, const struct kr_history *h)
{
	*cast = (struct kr_cast){.mem = mem, .ntxns = h->txns.n};
	cast->number = kr_mem_alloc(mem, h->txns.n, sizeof *cast->number);
	cast->failed = !cast->number;
	bool names = true, numbered = false;
	for (uint32_t t = 0; t < h->txns.n && !numbered; t++) {
		const struct kr_value_entry *id = kr_history_value(h, h->txns.at[t].id);
		names = names && is_name(id) && kr_history_find_key(h, h->txns.at[t].id).i == KR_NONE;
		numbered = is_numbered(id);
	}
	cast->by_id = names || numbered;
}

void kr_cast_done(struct kr_cast *cast)
{
	kr_mem_free(cast->mem, cast->number, cast->ntxns, sizeof *cast->number);
	kr_vec_done(cast->mem, &cast->txns);
	kr_vec_done(cast->mem, &cast->ops);
	*cast = (struct kr_cast){.mem = cast->mem};
}

void kr_words_mention(const struct kr_words *w, kr_op op)
{
	struct kr_cast *cast = w->cast;

	if (cast && op.i != KR_NONE && !cast->failed)
		cast->failed = !kr_vec_push(cast->mem, &cast->ops, op);
}

/* A number is called a transaction, lest "2 read key 1 = 2" read as arithmetic, and so is what is a key's
 * name, too. */
static void add_id(const struct kr_words *w, kr_txn t)
{
	const struct kr_value_entry *id = kr_history_value(w->h, w->h->txns.at[t.i].id);

	if (id->type != KR_VALUE_STRING || (id->length > 0 && id->text[0] >= '0' && id->text[0] <= '9') ||
		kr_history_find_key(w->h, w->h->txns.at[t.i].id).i != KR_NONE)
		kr_str_add(w->out, "transaction ");
	kr_words_name(w, w->h->txns.at[t.i].id);
}

void kr_words_txn(const struct kr_words *w, kr_txn t)
{
	struct kr_cast *cast = w->cast;

	if (!cast || cast->failed) {
		add_id(w, t);
		return;
	}
	if (cast->number[t.i] == 0) {
		cast->failed = !kr_vec_push(cast->mem, &cast->txns, t);
		cast->number[t.i] = cast->txns.n;
	}
	if (cast->by_id)
		kr_words_name(w, w->h->txns.at[t.i].id);
	else
		kr_str_format(w->out, "T%u", cast->number[t.i]);
}

/* ---- versions ---- */

void kr_words_name(const struct kr_words *w, kr_value name)
{
	if (kr_history_value(w->h, name)->length > KR_WORDS_VALUE)
		kr_history_print_value(w->h, name, KR_WORDS_VALUE, w->out);
	else
		kr_history_print_name(w->h, name, w->out);
}

/* A number is called a key, lest "9 = 2" read as arithmetic. */
void kr_words_key(const struct kr_words *w, kr_key k)
{
	const struct kr_value_entry *name = kr_history_value(w->h, w->h->keys.at[k.i].name);

	if (name->type != KR_VALUE_STRING ||
		(name->length > 0 && name->text[0] >= '0' && name->text[0] <= '9'))
		kr_str_add(w->out, "key ");
	kr_words_name(w, w->h->keys.at[k.i].name);
}

void kr_words_add_value(const struct kr_words *w, kr_value value)
{
	kr_history_print_value(w->h, value, KR_WORDS_VALUE, w->out);
}

/* "x = 5", "x absent" */
static void add_state(const struct kr_words *w, kr_key k, kr_value value)
{
	kr_words_key(w, k);
	if (value.i == KR_ABSENT.i) {
		kr_str_add(w->out, " absent");
		return;
	}
	kr_str_add(w->out, " = ");
	kr_words_add_value(w, value);
}

/* The value of the version that the operation leaves, KR_UNTOLD: it follows from what was there. */
static kr_value value_left(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	struct kr_write write;

	return kr_write_of(h, op, k, &write) ? write.told : KR_UNTOLD;
}

/* Where an operation is to be named, and not the value it leaves: "VERB x" of a delete; "VERB 5 PLACE x" of
 * what makes a key grow. */
struct act {
	const char *noun, *past, *brief, *place;
	bool key_first; /* "VERB x PLACE 5" */
};

static const struct act *act_of(const struct kr_operation *op)
{
	static const struct act acts[KR_OP_KINDS] = {
		[KR_OP_DELETE] = {"delete of ", "deleted ", "deleted", NULL, false},
		[KR_OP_APPEND] = {"append of ", "appended ", "append ", " to ", false},
		[KR_OP_ADD] = {"addition of ", "added ", "add ", " to ", false},
		[KR_OP_MAX] = {"raise of ", "raised ", "raise to ", " to ", true},
		[KR_OP_INC] = {"addition of ", "added ", "add ", " to ", false},
	};

	return op->kind == KR_OP_INC && op->flags & KR_OPF_KNOWN ? &acts[KR_OP_READ] : &acts[op->kind];
}

static void add_act(const struct kr_words *w, const struct kr_operation *op, kr_key k, const char *verb)
{
	const struct act *act = act_of(op);

	kr_str_add(w->out, verb);
	if (act->place && !act->key_first) {
		kr_words_add_value(w, op->a);
		kr_str_add(w->out, act->place);
	}
	kr_words_key(w, k);
	if (act->key_first) {
		kr_str_add(w->out, act->place);
		kr_words_add_value(w, op->a);
	}
}

/* The initial version: nothing where the trace does not tell it. */
static kr_value initial_value(const struct kr_history *h, kr_key k)
{
	return kr_history_untold(h) ? (kr_value){KR_NONE} : h->keys.at[k.i].initial;
}

/* The operation that left the version by `writer`, KR_NONE for the initial one, now one that matters; and its
 * value, as value_left. */
static kr_op find_left(const struct kr_words *w, kr_key k, kr_txn writer, kr_value *value)
{
	kr_op at = writer.i == KR_NONE ? (kr_op){KR_NONE} : kr_words_last_write(w->h, writer, k);

	*value = at.i == KR_NONE ? initial_value(w->h, k) : value_left(w->h, op_at(w->h, at), k);
	kr_words_mention(w, at);
	return at;
}

void kr_words_version(const struct kr_words *w, kr_key k, kr_txn writer)
{
	kr_value value;
	kr_op at = find_left(w, k, writer, &value);

	if (at.i != KR_NONE && act_of(op_at(w->h, at))->noun) {
		add_act(w, op_at(w->h, at), k, act_of(op_at(w->h, at))->noun);
	} else if (value.i != KR_NONE) {
		add_state(w, k, value);
	} else {
		kr_words_key(w, k);
		kr_str_add(w->out, " = its initial value");
	}
}

/* A version among others of its key: "5 (T1)", "deleted (T1)", "append 5 (T1)". */
static void add_owned(const struct kr_words *w, kr_key k, kr_txn writer)
{
	kr_value value;
	kr_op at = find_left(w, k, writer, &value);
	const struct act *act = at.i == KR_NONE ? NULL : act_of(op_at(w->h, at));

	if (act && act->brief) {
		kr_str_add(w->out, act->brief);
		if (act->place)
			kr_words_add_value(w, op_at(w->h, at)->a);
	} else if (value.i == KR_ABSENT.i) {
		kr_str_add(w->out, "absent");
	} else if (value.i != KR_NONE) {
		kr_words_add_value(w, value);
	} else {
		kr_str_add(w->out, "its initial value");
	}
	kr_str_add(w->out, " (");
	if (writer.i == KR_NONE)
		kr_str_add(w->out, "initial");
	else
		kr_words_txn(w, writer);
	kr_str_add(w->out, ")");
}

void kr_words_order(const struct kr_words *w, kr_key k, kr_txn a, const char *verb, kr_txn b)
{
	kr_words_key(w, k);
	kr_str_add(w->out, ": ");
	add_owned(w, k, a);
	kr_str_format(w->out, " %s ", verb);
	add_owned(w, k, b);
}

bool kr_words_order_is_given(const struct kr_history *h, kr_key k, kr_txn a, kr_txn b)
{
	for (uint32_t i = 0; i < h->version_orders.n; i++) {
		const struct kr_version_order *order = &h->version_orders.at[i];
		bool before = a.i == KR_NONE;
		if (order->key.i != k.i)
			continue;
		for (uint32_t j = 0; j < order->writer_count; j++) {
			kr_txn writer = h->order_writers.at[order->writer_first + j];
			if (writer.i == b.i)
				return before;
			before |= writer.i == a.i;
		}
	}
	return false;
}

void kr_words_wrote(const struct kr_words *w, kr_txn t, kr_key k)
{
	kr_op at = kr_words_last_write(w->h, t, k);

	if (at.i != KR_NONE && act_of(op_at(w->h, at))->past) {
		kr_words_mention(w, at);
		add_act(w, op_at(w->h, at), k, act_of(op_at(w->h, at))->past);
	} else {
		kr_str_add(w->out, "wrote ");
		kr_words_version(w, k, t);
	}
}

/* ---- what was seen ---- */

/* Of a range, scan or update. */
static void add_seen_row(const struct kr_words *w, const struct kr_operation *op, kr_key k)
{
	kr_value value;
	bool row = scan_row(w->h, op, k, &value);

	if (op->kind == KR_OP_UPDATE) {
		kr_str_add(w->out, row ? "matched " : "did not match ");
		kr_words_key(w, k); /* its row has the value written, not the one that was there */
		return;
	}
	kr_str_add(w->out, row ? "found " : "did not find ");
	if (row)
		add_state(w, k, value);
	else
		kr_words_key(w, k);
}

/* What the transaction had itself put on top of what it then read. */
static void add_own(const struct kr_words *w, kr_op at, kr_key k)
{
	enum { LISTED_MOST = 3 };
	uint8_t kind = w->h->keys.at[k.i].kind;
	uint32_t t, own = 0, first;
	struct kr_write write;

	KR_BISECT(t, 0u, w->h->txns.n, w->h->txns.at[t].op_first + w->h->txns.at[t].op_count <= at.i);
	first = w->h->txns.at[t].op_first;
	for (uint32_t i = at.i; i-- > first;)
		if (kr_write_of(w->h, &w->h->ops.at[i], k, &write) && write.how != KR_ADD)
			first = i + 1;
	for (uint32_t i = first; i < at.i; i++) {
		if (!kr_write_of(w->h, &w->h->ops.at[i], k, &write) ||
			(kind == KR_KIND_MARK ? write.value.i != kr_words_value(w->h, at, k).i
					      : kind != KR_KIND_COUNTER &&
						!kr_shows_element(w->h, at, k, write.value)))
			continue;
		if (++own > LISTED_MOST)
			continue;
		kr_str_add(w->out, own == 1 ? " (" : ", ");
		kr_words_add_value(w, write.value);
	}
	if (own > LISTED_MOST)
		kr_str_format(w->out, " and %u more", (unsigned)own - LISTED_MOST);
	kr_str_add(w->out, own > 0 ? " its own)" : "");
}

/* An increment that tells its result tells what it found. */
static void add_counted(const struct kr_words *w, const struct kr_operation *op, kr_key k)
{
	const struct kr_value_entry *delta = kr_history_value(w->h, op->a),
				    *result = kr_history_value(w->h, op->b);
	int64_t found;

	if (result->type != KR_VALUE_INT || delta->type != KR_VALUE_INT ||
		__builtin_sub_overflow(result->integer, delta->integer, &found)) {
		kr_str_add(w->out, "made ");
		add_state(w, k, op->b);
		return;
	}
	kr_str_add(w->out, "found ");
	kr_words_key(w, k);
	kr_str_format(w->out, " = %lld", (long long)found);
}

void kr_words_seen(const struct kr_words *w, kr_op at, kr_key k)
{
	const struct kr_operation *op = op_at(w->h, at);
	struct kr_view view = kr_op_view(op);
	bool absent = view.value.i == KR_ABSENT.i;

	kr_words_mention(w, at);
	if (kr_op_scans(op)) {
		add_seen_row(w, op, k);
	} else if (view.when == KR_SEEN_AFTER) {
		add_counted(w, op, k);
	} else if (!view.other) {
		kr_str_add(w->out, absent ? "found " : "read ");
		add_state(w, k, view.value);
		if (kr_op_is_read(op))
			add_own(w, at, k);
	} else {
		kr_str_add(w->out, "found ");
		kr_words_key(w, k);
		kr_str_add(w->out, absent ? " present" : " other than ");
		if (!absent)
			kr_words_add_value(w, view.value);
	}
}

/* ---- texts with words in braces ---- */

/* Cut where values are, before a character. */
static void add_piece(const struct kr_words *w, struct kr_piece e)
{
	size_t n = e.length <= KR_WORDS_VALUE ? e.length : KR_WORDS_VALUE;

	while (n < e.length && n > 0 && ((unsigned char)e.text[n] & 0xC0) == 0x80)
		n--;
	kr_str_add_bytes(w->out, e.text, n);
	kr_str_add(w->out, n < e.length ? "..." : "");
}

void kr_words_say(const struct kr_words *w, const char *text, struct kr_said said)
{
	for (const char *brace, *end; (brace = strchr(text, '{')); text = end + 1) {
		end = strchr(brace, '}');
		uint32_t i = end[-1] >= '0' && end[-1] <= '2' ? (uint32_t)(end[-1] - '0') : 0;
		kr_str_add_bytes(w->out, text, (size_t)(brace - text));
		switch (brace[1]) {
		case 'd': kr_str_add(w->out, said.did); break;
		case 'e': add_piece(w, said.element); break;
		case 'k': kr_words_key(w, said.key); break;
		case 'l': kr_words_version(w, said.key, said.txns[i]); break;
		case 'o': kr_words_op(w, said.ops[i]); break;
		case 's': kr_words_seen(w, said.ops[i], said.key); break;
		case 'v':
			kr_words_mention(w, said.ops[i]);
			kr_words_add_value(w, op_at(w->h, said.ops[i])->a);
			break;
		case 'w': kr_words_wrote(w, said.txns[i], said.key); break;
		default: kr_words_txn(w, said.txns[i]); break;
		}
	}
	kr_str_add(w->out, text);
}

struct kr_said kr_said_edge(const struct kr_history *h, const struct kr_cert_edge *e)
{
	return (struct kr_said){.txns = {e->from, e->to, e->source},
		.key = e->key,
		.ops = {kr_history_op(h, e->kind == KR_WR ? e->to : e->from, e->op)}};
}
