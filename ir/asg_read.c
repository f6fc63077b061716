/* Text form of the ASG, the reading half; the grammar is in docs/asg.md. One line at a time into growing
 * arrays, which the arena of the new ASG takes over at the end. Every reference must be to something already
 * read, so a line is checked when it is read and the error names it; kr_asg_verify then confirms the promises
 * of asg.h. Linear in the text. Names and values stay as texts in the arena: nothing is asked of a
 * history. */
#include "base/order.h"
#include "ir/asg.h"
#include "ir/lex.h"

#include <stdlib.h>
#include <string.h>

struct label {
	uint32_t number;
	struct kr_text text;
};

struct asg_texts {
	const struct kr_text *txns, *keys, *values;
	const struct label *labels; /* ascending, each once */
	uint32_t nlabels;
}; /* what names.data points to; at == NULL: no name */

struct reader {
	struct kr_lex lex;
	struct kr_ctx *ctx;
	struct kr_asg asg;
	bool has_sessions, has_values;
	KR_VEC(struct kr_asg_txn) txns;
	KR_VEC(int64_t) times; /* begin and end of each */
	KR_VEC(struct kr_asg_key) keys;
	KR_VEC(struct kr_asg_version) versions;
	KR_VEC(struct kr_asg_set) sets;
	KR_VEC(kr_version) members;
	KR_VEC(struct kr_observation) obs;
	KR_VEC(struct kr_asg_order) orders;
	KR_VEC(struct kr_asg_part) parts;
	KR_VEC(struct kr_asg_sum) sums;
	KR_VEC(struct kr_asg_term) terms;
	KR_VEC(struct label) labels;
	KR_VEC(struct kr_text) txn_names, key_names, values;
};

static enum kr_status pushed(bool done) { return done ? KR_OK : KR_NOMEM; }

static enum kr_status read_name(struct reader *r, struct kr_text *name)
{
	*name = (struct kr_text){0};
	while (*r->lex.at == ' ' || *r->lex.at == '\t')
		r->lex.at++;
	return *r->lex.at == '"' ? kr_lex_string(&r->lex, "a name", &r->asg.arena, name) : KR_OK;
}

static enum kr_status read_presence(struct reader *r, struct kr_asg_txn *txn)
{
	unsigned presence = KR_OPEN;

	KR_TRY(kr_lex_one_of(&r->lex, kr_presence_names, KR_OPEN + 1, "present, open or absent", &presence));
	txn->presence = (uint8_t)presence;
	txn->outcome_unknown = kr_lex_accept(&r->lex, "unknown");
	return txn->presence == KR_OPEN && !txn->outcome_unknown
		? kr_lex_fail(&r->lex, "unknown, since only such a transaction is open")
		: KR_OK;
}

static enum kr_status read_txn(struct reader *r)
{
	struct kr_asg_txn txn = {.session = KR_NONE};
	struct kr_text name;
	int64_t begin = 0, end = 0;

	KR_TRY(kr_lex_next(&r->lex, r->txns.n));
	KR_TRY(read_name(r, &name));
	KR_TRY(read_presence(r, &txn));
	if (kr_lex_accept(&r->lex, "session")) {
		uint32_t limit = r->has_sessions ? r->asg.nsessions : KR_NONE;

		KR_TRY(kr_lex_u32(&r->lex, "the number of a session", limit, &txn.session));
		if (txn.session >= r->asg.nsessions)
			r->asg.nsessions = txn.session + 1;
	}
	if (kr_lex_accept(&r->lex, "begin")) {
		txn.has_begin = true;
		KR_TRY(kr_lex_i64(&r->lex, "a time", &begin));
	}
	if (kr_lex_accept(&r->lex, "end")) {
		txn.has_end = true;
		KR_TRY(kr_lex_i64(&r->lex, "a time", &end));
	}
	return pushed(kr_vec_push(r->asg.mem, &r->times, begin) && kr_vec_push(r->asg.mem, &r->times, end) &&
		kr_vec_push(r->asg.mem, &r->txns, txn) && kr_vec_push(r->asg.mem, &r->txn_names, name));
}

static enum kr_status read_key(struct reader *r)
{
	struct kr_asg_key key = {.first = KR_NONE};
	struct kr_text name;

	KR_TRY(kr_lex_next(&r->lex, r->keys.n));
	KR_TRY(read_name(r, &name));
	key.open_initial = kr_lex_accept(&r->lex, "open");
	return pushed(kr_vec_push(r->asg.mem, &r->keys, key) && kr_vec_push(r->asg.mem, &r->key_names, name));
}

/* Behind the keys; its name is that of the key that it is part of, and its label's. */
static enum kr_status read_part(struct reader *r)
{
	struct kr_asg_key key = {.first = KR_NONE};
	struct kr_asg_part part = {.label = KR_NONE};

	KR_TRY(kr_lex_next(&r->lex, r->keys.n));
	KR_TRY(kr_lex_field(&r->lex, "of", "the number of a key", r->keys.n - r->parts.n, &part.of.i));
	key.open_initial = kr_lex_accept(&r->lex, "open");
	if (kr_lex_accept(&r->lex, "label")) {
		struct label label = {0};

		KR_TRY(kr_lex_u32(&r->lex, "the number of a label", KR_NONE, &label.number));
		part.label = label.number;
		while (*r->lex.at == ' ' || *r->lex.at == '\t')
			r->lex.at++;
		if (*r->lex.at != '\0' && *r->lex.at != '\n' && *r->lex.at != '\r')
			KR_TRY(kr_lex_rest(&r->lex, "a label", &r->asg.arena, &label.text));
		KR_TRY(pushed(kr_vec_push(r->asg.mem, &r->labels, label)));
	}

	struct kr_text name = r->key_names.at[part.of.i];

	return pushed(kr_vec_push(r->asg.mem, &r->keys, key) &&
		kr_vec_push(r->asg.mem, &r->key_names, name) && kr_vec_push(r->asg.mem, &r->parts, part));
}

/* "initial" for the first version of the next key, "by TXN" for one of the same key as before with a later
 * writer. */
static enum kr_status read_writer(struct reader *r, struct kr_asg_version *version)
{
	uint32_t n = r->versions.n;
	const struct kr_asg_version *last = n ? &r->versions.at[n - 1] : NULL;

	version->writer = (kr_txn){KR_NONE};
	if (!last || last->key.i != version->key.i) {
		if (version->key.i != (last ? last->key.i + 1 : 0) || !kr_lex_accept(&r->lex, "initial"))
			return kr_lex_fail(&r->lex,
				"the initial version of the next key, or a version of the same key");
		r->keys.at[version->key.i].first = n;
		return KR_OK;
	}
	KR_TRY(kr_lex_expect(&r->lex, "by"));

	const char *before = r->lex.at;

	KR_TRY(kr_lex_u32(&r->lex, "the number of a transaction", r->txns.n, &version->writer.i));
	if (last->writer.i == KR_NONE || last->writer.i < version->writer.i)
		return KR_OK;
	r->lex.at = before;
	return kr_lex_fail(&r->lex, "a later transaction than of the version before");
}

static enum kr_status read_version(struct reader *r)
{
	struct kr_asg_version version;
	struct kr_text value = {0};

	KR_TRY(kr_lex_next(&r->lex, r->versions.n));
	KR_TRY(kr_lex_field(&r->lex, "key", "the number of a key", r->keys.n, &version.key.i));
	KR_TRY(read_writer(r, &version));
	if (kr_lex_accept(&r->lex, "value")) {
		r->has_values = true;
		KR_TRY(kr_lex_rest(&r->lex, "a value", &r->asg.arena, &value));
	}
	return pushed(
		kr_vec_push(r->asg.mem, &r->versions, version) && kr_vec_push(r->asg.mem, &r->values, value));
}

static enum kr_status read_member(struct reader *r, const struct kr_asg_set *set)
{
	kr_version v;
	const char *before = r->lex.at;

	KR_TRY(kr_ctx_tick(r->ctx));
	KR_TRY(kr_lex_u32(&r->lex, "the number of a version or }", r->versions.n, &v.i));
	if (r->members.n > set->first) {
		kr_version last = r->members.at[r->members.n - 1];

		if (v.i <= last.i || r->versions.at[v.i].key.i != r->versions.at[last.i].key.i) {
			r->lex.at = before;
			return kr_lex_fail(&r->lex, "a later version of the same key");
		}
	}
	return pushed(kr_vec_push(r->asg.mem, &r->members, v));
}

static enum kr_status read_set(struct reader *r)
{
	struct kr_asg_set set = {.first = r->members.n};

	KR_TRY(kr_lex_next(&r->lex, r->sets.n));
	set.complement = kr_lex_accept(&r->lex, "not");
	KR_TRY(kr_lex_expect(&r->lex, "{"));
	while (!kr_lex_accept(&r->lex, "}"))
		KR_TRY(read_member(r, &set));
	set.count = (r->members.n - set.first) & KR_ASG_MEMBERS_MOST;
	return pushed(kr_vec_push(r->asg.mem, &r->sets, set));
}

/* The observation's set must be one of its key, and it must not come before the last one. */
static enum kr_status check_observation(struct reader *r, const struct kr_observation *obs)
{
	const struct kr_asg_set *set = &r->sets.at[obs->set];
	const struct kr_observation *last = r->obs.n ? &r->obs.at[r->obs.n - 1] : NULL;

	if (set->count > 0 && r->versions.at[r->members.at[set->first].i].key.i != obs->key.i)
		return kr_lex_fail(&r->lex, "a set of the same key");
	if (last && (obs->txn.i < last->txn.i || (obs->txn.i == last->txn.i && obs->op < last->op)))
		return kr_lex_fail(&r->lex, "observations in the order of transactions and operations");
	return KR_OK;
}

static enum kr_status read_observation(struct reader *r)
{
	struct kr_observation obs = {0};
	uint32_t op;

	KR_TRY(kr_lex_field(&r->lex, "txn", "the number of a transaction", r->txns.n, &obs.txn.i));
	KR_TRY(kr_lex_field(&r->lex, "op", "the number of an operation", KR_ASG_OP_LAST, &op));
	KR_TRY(kr_lex_field(&r->lex, "key", "the number of a key", r->keys.n, &obs.key.i));
	KR_TRY(kr_lex_field(&r->lex, "set", "the number of a set", r->sets.n, &obs.set));
	obs.op = op & KR_ASG_OP_LAST;
	obs.predicate = kr_lex_accept(&r->lex, "predicate");
	obs.loose = kr_lex_accept(&r->lex, "loose");
	KR_TRY(check_observation(r, &obs));
	return pushed(kr_vec_push(r->asg.mem, &r->obs, obs));
}

static enum kr_status read_order(struct reader *r)
{
	struct kr_asg_order order = {.guard = {KR_NONE}};

	KR_TRY(kr_lex_u32(&r->lex, "the number of a version", r->versions.n, &order.before.i));
	KR_TRY(kr_lex_field(&r->lex, "<", "the number of a version", r->versions.n, &order.after.i));
	if (r->versions.at[order.before.i].key.i != r->versions.at[order.after.i].key.i ||
		order.before.i == order.after.i || r->versions.at[order.after.i].writer.i == KR_NONE)
		return kr_lex_fail(&r->lex, "two versions of one key, the second not the initial one");
	if (kr_lex_accept(&r->lex, "if"))
		KR_TRY(kr_lex_u32(&r->lex, "the number of a transaction", r->txns.n, &order.guard.i));
	return pushed(kr_vec_push(r->asg.mem, &r->orders, order));
}

static enum kr_status read_term(struct reader *r)
{
	struct kr_asg_term term;

	KR_TRY(kr_ctx_tick(r->ctx));
	KR_TRY(kr_lex_field(&r->lex, "obs", "the number of an observation", r->obs.n, &term.obs.i));
	KR_TRY(kr_lex_field(&r->lex, "=", "the number of a version", r->versions.n, &term.seen.i));
	KR_TRY(kr_lex_expect(&r->lex, "weight"));
	KR_TRY(kr_lex_i64(&r->lex, "a weight", &term.weight));
	return pushed(kr_vec_push(r->asg.mem, &r->terms, term));
}

static enum kr_status read_sum(struct reader *r)
{
	struct kr_asg_sum sum = {.first = r->terms.n};

	KR_TRY(kr_lex_field(&r->lex, "txn", "the number of a transaction", r->txns.n, &sum.txn.i));
	KR_TRY(kr_lex_field(&r->lex, "op", "the number of an operation", KR_NONE, &sum.op));
	KR_TRY(kr_lex_field(&r->lex, "key", "the number of a key", r->keys.n - r->parts.n, &sum.key.i));
	KR_TRY(kr_lex_expect(&r->lex, "total"));
	KR_TRY(kr_lex_i64(&r->lex, "a total", &sum.total));
	KR_TRY(kr_lex_expect(&r->lex, "{"));
	while (!kr_lex_accept(&r->lex, "}"))
		KR_TRY(read_term(r));
	sum.count = r->terms.n - sum.first;
	return pushed(kr_vec_push(r->asg.mem, &r->sums, sum));
}

static enum kr_status read_head(struct reader *r)
{
	if (!kr_lex_line(&r->lex))
		return kr_lex_fail(&r->lex, "asg 1");
	KR_TRY(kr_lex_expect(&r->lex, "asg"));
	KR_TRY(kr_lex_expect(&r->lex, "1"));
	if (kr_lex_accept(&r->lex, "sessions")) {
		r->has_sessions = true;
		KR_TRY(kr_lex_u32(&r->lex, "a number of sessions", KR_NONE, &r->asg.nsessions));
	}
	if (kr_lex_accept(&r->lex, "skew"))
		KR_TRY(kr_lex_i64(&r->lex, "a clock skew", &r->asg.clock_skew));
	return kr_lex_end(&r->lex);
}

static enum kr_status read_lines(struct reader *r)
{
	static const struct {
		const char *word;
		enum kr_status (*read)(struct reader *r);
	} lines[] = {
		{"txn", read_txn},
		{"key", read_key},
		{"part", read_part},
		{"version", read_version},
		{"set", read_set},
		{"observe", read_observation},
		{"order", read_order},
		{"sum", read_sum},
	};
	/* a line may not be of an earlier kind than the one before it: references go back */
	size_t section = 0;

	while (kr_lex_line(&r->lex)) {
		KR_TRY(kr_ctx_tick(r->ctx));
		if (kr_lex_accept(&r->lex, "end")) {
			KR_TRY(kr_lex_expect(&r->lex, "asg"));
			return kr_lex_end(&r->lex);
		}
		while (section < KR_COUNT(lines) && !kr_lex_accept(&r->lex, lines[section].word))
			section++;
		if (section == KR_COUNT(lines))
			break;
		KR_TRY(lines[section].read(r));
		KR_TRY(kr_lex_end(&r->lex));
	}
	return kr_lex_fail(&r->lex,
		"txn, key, part, version, set, observe, order, sum (in this sequence) or end asg");
}

#define SEAL(field, vec) \
	do { \
		asg->n##field = (vec).n; \
		asg->field = kr_arena_take(&asg->arena, &(vec)); \
		if (!asg->field) \
			return KR_NOMEM; \
	} while (0)

static enum kr_status seal_arrays(struct reader *r)
{
	struct kr_asg *asg = &r->asg;

	SEAL(txns, r->txns);
	const int64_t *times = kr_arena_take(&asg->arena, &r->times);
	if (!times)
		return KR_NOMEM;
	asg->times = (struct kr_asg_times){times, times + 1, 2};
	SEAL(keys, r->keys);
	asg->nkeys--; /* the last one only closes the one before it */
	SEAL(versions, r->versions);
	SEAL(sets, r->sets);
	SEAL(members, r->members);
	SEAL(obs, r->obs);
	SEAL(orders, r->orders);
	SEAL(parts, r->parts);
	SEAL(sums, r->sums);
	SEAL(terms, r->terms);
	KR_TRY(kr_arena_new(&asg->arena, asg->obs_first, (size_t)asg->ntxns + 1));
	for (uint32_t o = 0; o < asg->nobs; o++)
		asg->obs_first[asg->obs[o].txn.i + 1] = o + 1;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->obs_first[t + 1] < asg->obs_first[t])
			asg->obs_first[t + 1] = asg->obs_first[t];
	return kr_asg_index(asg);
}

static void print_text(const struct kr_text *text, struct kr_str *out)
{
	if (text->at)
		kr_str_add_bytes(out, text->at, text->length);
}

static void txn_name(const void *data, kr_txn t, struct kr_str *out)
{
	print_text(&((const struct asg_texts *)data)->txns[t.i], out);
}

static void key_name(const void *data, kr_key k, struct kr_str *out)
{
	print_text(&((const struct asg_texts *)data)->keys[k.i], out);
}

static void value_text(const void *data, kr_version v, struct kr_str *out)
{
	print_text(&((const struct asg_texts *)data)->values[v.i], out);
}

KR_BY(by_number, struct label, number);

static void part_label(const void *data, uint32_t label, struct kr_str *out)
{
	const struct asg_texts *texts = data;
	struct label key = {.number = label};
	const struct label *found = bsearch(&key, texts->labels, texts->nlabels, sizeof key, by_number);

	if (found)
		print_text(&found->text, out);
}

/* One text for each label, or none at all. */
static enum kr_status seal_labels(struct reader *r, struct asg_texts *texts)
{
	uint32_t n = 0;

	KR_SORT(r->labels.at, r->labels.n, by_number);
	for (uint32_t i = 0; i < r->labels.n; i++) {
		const struct label *label = &r->labels.at[i];
		const struct label *last = n ? &r->labels.at[n - 1] : NULL;

		if ((label->text.at != NULL) != (r->labels.at[0].text.at != NULL))
			return kr_err_set(r->lex.err, KR_BAD,
				"found names for some labels, expected one for each or none");
		if (!last || last->number != label->number)
			r->labels.at[n++] = *label;
		else if (label->text.length != last->text.length ||
			(label->text.at && memcmp(label->text.at, last->text.at, label->text.length) != 0))
			return kr_err_set(r->lex.err, KR_BAD, "found two names for label %u, expected one",
				label->number);
	}
	texts->nlabels = r->labels.n = n;
	texts->labels = kr_arena_take(&r->asg.arena, &r->labels);
	return texts->labels ? KR_OK : KR_NOMEM;
}

/* Names are all or none: a file may leave them out, but not some of them. */
static enum kr_status seal_names(struct reader *r)
{
	struct kr_asg *asg = &r->asg;
	struct asg_texts *texts = KR_NEW(&asg->arena, struct asg_texts);
	bool txns = r->txn_names.n > 0 && r->txn_names.at[0].at;
	bool keys = r->key_names.n > 0 && r->key_names.at[0].at;

	if (!texts)
		return KR_NOMEM;
	for (uint32_t t = 0; t < r->txn_names.n; t++)
		if ((r->txn_names.at[t].at != NULL) != txns)
			return kr_err_set(r->lex.err, KR_BAD,
				"found names for some transactions, expected one for each or none");
	for (uint32_t k = 0; k < r->key_names.n; k++)
		if ((r->key_names.at[k].at != NULL) != keys)
			return kr_err_set(r->lex.err, KR_BAD,
				"found names for some keys, expected one for each or none");
	texts->txns = kr_arena_take(&asg->arena, &r->txn_names);
	texts->keys = kr_arena_take(&asg->arena, &r->key_names);
	texts->values = kr_arena_take(&asg->arena, &r->values);
	if (!texts->txns || !texts->keys || !texts->values)
		return KR_NOMEM;
	KR_TRY(seal_labels(r, texts));

	bool labels = texts->nlabels > 0 && texts->labels[0].text.at;

	asg->names = (struct kr_asg_names){texts, txns ? txn_name : NULL, keys ? key_name : NULL,
		r->has_values ? value_text : NULL, labels ? part_label : NULL};
	return KR_OK;
}

static enum kr_status read_all(struct reader *r)
{
	KR_TRY(read_head(r));
	KR_TRY(read_lines(r));

	uint32_t keys = r->versions.n ? r->versions.at[r->versions.n - 1].key.i + 1 : 0;

	if (keys != r->keys.n)
		return kr_err_set(r->lex.err, KR_BAD,
			"found no versions of key %u, expected at least its initial one", keys);
	KR_TRY(kr_vec_add(r->asg.mem, &r->keys, (struct kr_asg_key){.first = r->versions.n}));
	KR_TRY(seal_names(r));
	KR_TRY(seal_arrays(r));
	return kr_asg_verify(&r->asg, r->lex.err);
}

enum kr_status kr_asg_read(struct kr_asg *asg, struct kr_ctx *ctx, const char *text, const char **rest,
	struct kr_err *err)
{
	struct reader r = {.lex = {.at = text, .line = 1, .err = err}, .ctx = ctx};
	struct kr_mem *mem = &ctx->mem;

	kr_asg_init(&r.asg, mem);

	enum kr_status status = read_all(&r);

	kr_vec_done(mem, &r.txns);
	kr_vec_done(mem, &r.times);
	kr_vec_done(mem, &r.keys);
	kr_vec_done(mem, &r.versions);
	kr_vec_done(mem, &r.sets);
	kr_vec_done(mem, &r.members);
	kr_vec_done(mem, &r.obs);
	kr_vec_done(mem, &r.orders);
	kr_vec_done(mem, &r.parts);
	kr_vec_done(mem, &r.sums);
	kr_vec_done(mem, &r.terms);
	kr_vec_done(mem, &r.labels);
	kr_vec_done(mem, &r.txn_names);
	kr_vec_done(mem, &r.key_names);
	kr_vec_done(mem, &r.values);
	if (status) {
		kr_asg_done(&r.asg);
		return status;
	}
	*asg = r.asg;
	if (rest)
		*rest = r.lex.at;
	return KR_OK;
}
