/* Ranges, scans and updates of generated histories.
 *
 * Keys are looked at in the order of their names, options->span of them or few more: a range from the key
 * drawn, sometimes to an open end, backwards or with a limit; a scan by the longest prefixes of a name that
 * span keys share at most, with conditions on values where the keys' kind has values to compare. Every key
 * looked at counts as seen, returned or not, so that the store's rules hold for the whole. An update writes
 * what matched. Cost: the keys looked at. */
#include "frontend/generate_sim.h"

#include "frontend/where.h"

#include <string.h>

/* one range in so many has an open end, a limit, goes backwards */
enum { OPEN_END = 16, WITH_LIMIT = 4, REVERSE = 4, TRIES = 8, MOST_TAGS = 3 };

static bool one_in(struct kr_sim *s, uint32_t n) { return kr_rng_below(&s->rng, n) == 0; }

static enum kr_status push_row(struct kr_sim *s, struct kr_sim_client *c, struct kr_scan *scan, kr_key key,
	kr_value value)
{
	scan->row_count++;
	return kr_vec_add(&s->ctx->mem, &c->rows, (struct kr_row){key, value});
}

static enum kr_status push_scan(struct kr_sim *s, struct kr_sim_client *c, const struct kr_scan *scan,
	struct kr_operation *op)
{
	op->scan = c->scans.n;
	return kr_vec_add(&s->ctx->mem, &c->scans, *scan);
}

static enum kr_status see_key(struct kr_sim *s, struct kr_sim_client *c, kr_key key, kr_value *out)
{
	struct kr_sim_touch *t = kr_sim_touch(s, c, key);
	enum kr_status status = t ? kr_sim_see(s, c, t, out) : KR_NOMEM;

	if (!status && kr_history_value(s->h, *out)->type == KR_VALUE_ARRAY &&
		kr_history_value(s->h, *out)->length == 2)
		*out = KR_ABSENT; /* an empty list is no row */
	return status ? status : kr_ctx_tick(s->ctx);
}

static kr_value name_at(const struct kr_sim *s, uint32_t place)
{
	return s->h->keys.at[s->by_name[place].i].name;
}

/* ---- ranges ---- */

enum kr_status kr_sim_range(struct kr_sim *s, struct kr_sim_client *c, kr_key key, struct kr_operation *op)
{
	uint32_t n = s->options->keys, span = s->options->span < n ? s->options->span : n;
	uint32_t low = s->keys[key.i].place, high;
	struct kr_scan scan = {.limit = -1, .row_first = c->rows.n};

	if (one_in(s, OPEN_END))
		low = one_in(s, 2) ? 0 : n - span;
	high = low + span < n ? low + span : n;
	scan.low = low > 0 || one_in(s, 2) ? name_at(s, low) : KR_ABSENT;
	if (high < n)
		scan.high = name_at(s, high);
	else if (s->options->anomaly) /* its keys come later */
		scan.high = kr_history_text(s->h, KR_VALUE_STRING, "y", 1);
	if (one_in(s, WITH_LIMIT))
		scan.limit = (int64_t)kr_rng_below(&s->rng, (uint64_t)span + 1);
	scan.reverse = one_in(s, REVERSE);
	if (scan.high.i == KR_NONE)
		return KR_NOMEM;
	for (uint32_t i = low; i < high && (scan.limit < 0 || scan.row_count < (uint64_t)scan.limit); i++) {
		kr_key k = s->by_name[scan.reverse ? high - 1 - (i - low) : i];
		kr_value value;
		KR_TRY(see_key(s, c, k, &value));
		if (value.i != KR_ABSENT.i)
			KR_TRY(push_row(s, c, &scan, k, value));
	}
	return push_scan(s, c, &scan, op);
}

/* ---- conditions ---- */

struct run {
	uint32_t first, count;
	size_t prefix;
}; /* of keys whose names share so many bytes, by place */

static bool shares(const struct kr_sim *s, uint32_t place, const char *name, size_t prefix)
{
	return strncmp(kr_history_value(s->h, name_at(s, place))->text, name, prefix) == 0;
}

/* Keys around `place` that share `prefix` bytes of its name. */
static struct run run_around(const struct kr_sim *s, uint32_t place, size_t prefix)
{
	const char *name = kr_history_value(s->h, name_at(s, place))->text;
	struct run run = {place, 1, prefix};

	while (run.first > 0 && shares(s, run.first - 1, name, prefix)) {
		run.first--;
		run.count++;
	}
	while (run.first + run.count < s->options->keys && shares(s, run.first + run.count, name, prefix))
		run.count++;
	return run;
}

/* The most keys around, not more than the span if that can be had, that a prefix of at least `least` bytes
 * picks. */
static struct run draw_run(struct kr_sim *s, uint32_t place, size_t least)
{
	size_t length = kr_history_value(s->h, name_at(s, place))->length;
	struct run run = run_around(s, place, length);

	while (length > least) {
		struct run wider = run_around(s, place, --length);
		if (wider.count > s->options->span)
			break;
		run = wider;
	}
	return run;
}

static enum kr_status push_cond(struct kr_sim *s, struct kr_scan *scan, struct kr_cond cond)
{
	scan->cond_count++;
	return cond.value.i != KR_NONE && cond.field.i != KR_NONE &&
			kr_vec_push(s->h->mem, &s->h->conds, cond)
		? KR_OK
		: KR_NOMEM;
}

static kr_value draw_number(struct kr_sim *s, kr_key key, uint32_t most)
{
	uint32_t bound = s->options->values != 0 ? s->options->values : s->keys[key.i].handed;

	return kr_history_int(s->h, (int64_t)kr_rng_below(&s->rng, (most != 0 ? most : (uint64_t)bound) + 1));
}

static enum kr_status push_in(struct kr_sim *s, struct kr_scan *scan, kr_key key)
{
	kr_value some[3];

	s->text.n = 0;
	for (size_t i = 0; i < KR_COUNT(some); i++) {
		some[i] = draw_number(s, key, 0);
		if (some[i].i == KR_NONE)
			return KR_NOMEM;
		kr_str_add(&s->text, i == 0 ? "[" : ",");
		kr_history_json_value(s->h, some[i], &s->text);
	}
	kr_str_add(&s->text, "]");
	if (s->text.failed)
		return KR_NOMEM;
	return push_cond(s, scan,
		(struct kr_cond){KR_COND_VALUE, KR_COND_IN, KR_ABSENT,
			kr_history_text(s->h, KR_VALUE_ARRAY, s->text.at, s->text.n)});
}

/* One or two comparisons of a value or field. */
static enum kr_status push_tests(struct kr_sim *s, struct kr_scan *scan, kr_key key)
{
	static const enum kr_cond_test pairs[][2] = {{KR_COND_EQ, KR_COND_EQ}, {KR_COND_NE, KR_COND_NE},
		{KR_COND_LT, KR_COND_LT}, {KR_COND_LE, KR_COND_LE}, {KR_COND_GT, KR_COND_GT},
		{KR_COND_GE, KR_COND_GE}, {KR_COND_GE, KR_COND_LE}, {KR_COND_GT, KR_COND_LT},
		{KR_COND_GE, KR_COND_NE}};
	const enum kr_cond_test *pair = pairs[kr_rng_below(&s->rng, KR_COUNT(pairs))];
	bool fields = s->keys[key.i].fields, tag = fields && one_in(s, 2);
	struct kr_cond cond = {fields ? KR_COND_FIELD : KR_COND_VALUE, pair[0], KR_ABSENT, KR_ABSENT};

	if (fields)
		cond.field = tag ? kr_history_text(s->h, KR_VALUE_STRING, "tag", 3)
				 : kr_history_text(s->h, KR_VALUE_STRING, "n", 1);
	for (size_t i = 0; i < 2 && (i == 0 || pair[0] != pair[1]); i++) {
		cond.test = pair[i];
		cond.value = draw_number(s, key, tag ? MOST_TAGS - 1 : 0);
		KR_TRY(push_cond(s, scan, cond));
	}
	return KR_OK;
}

/* Conditions go to the history's end for as long as they are evaluated. */
static enum kr_status draw_where(struct kr_sim *s, const struct run *run, kr_key key, bool values,
	struct kr_scan *scan)
{
	const char *name = kr_history_value(s->h, s->h->keys.at[key.i].name)->text;

	scan->cond_first = s->h->conds.n;
	if (run->prefix > 0)
		KR_TRY(push_cond(s, scan,
			(struct kr_cond){KR_COND_KEY_PREFIX, KR_COND_PREFIX, KR_ABSENT,
				kr_history_text(s->h, KR_VALUE_STRING, name, run->prefix)}));
	if (values && !one_in(s, 4))
		KR_TRY(one_in(s, 8) && !s->keys[key.i].fields ? push_in(s, scan, key)
							      : push_tests(s, scan, key));
	return KR_OK;
}

/* Moves the conditions to the client's. */
static enum kr_status keep_conds(struct kr_sim *s, struct kr_sim_client *c, struct kr_scan *scan)
{
	uint32_t from = scan->cond_first;

	scan->cond_first = c->conds.n;
	s->h->conds.n = from;
	if (!kr_vec_reserve(&s->ctx->mem, &c->conds, scan->cond_count))
		return KR_NOMEM;
	for (uint32_t i = 0; i < scan->cond_count; i++)
		c->conds.at[c->conds.n++] = s->h->conds.at[from + i];
	return KR_OK;
}

/* ---- scans and updates ---- */

static enum kr_status collect(struct kr_sim *s, struct kr_sim_client *c, const struct run *run,
	struct kr_scan *scan)
{
	scan->row_first = c->rows.n;
	for (uint32_t i = 0; i < run->count; i++) {
		kr_key k = s->by_name[run->first + i];
		kr_value value;
		bool match = false;
		KR_TRY(see_key(s, c, k, &value));
		if (value.i != KR_ABSENT.i)
			KR_TRY(kr_where_holds(s->h, scan, k, value, &match, NULL));
		if (match)
			KR_TRY(push_row(s, c, scan, k, value));
	}
	return KR_OK;
}

/* Writes one value to all rows, a new one of each. */
static enum kr_status write_rows(struct kr_sim *s, struct kr_sim_client *c, struct kr_scan *scan, kr_key key)
{
	uint32_t number = kr_sim_number(s, key);

	for (uint32_t i = 0; s->options->values == 0 && i < scan->row_count; i++) {
		uint32_t handed = s->keys[c->rows.at[scan->row_first + i].key.i].handed;
		number = handed >= number ? handed + 1 : number;
	}
	scan->set = kr_history_int(s->h, number);
	if (scan->set.i == KR_NONE)
		return KR_NOMEM;
	for (uint32_t i = 0; i < scan->row_count; i++) {
		struct kr_row *row = &c->rows.at[scan->row_first + i];
		struct kr_sim_touch *t = kr_sim_touch(s, c, row->key);
		if (!t)
			return KR_NOMEM;
		row->value = scan->set;
		kr_sim_put(t, scan->set);
		if (s->options->values == 0)
			s->keys[row->key.i].handed = number;
	}
	return KR_OK;
}

enum kr_status kr_sim_scan(struct kr_sim *s, struct kr_sim_client *c, kr_key key, struct kr_operation *op)
{
	bool update = op->kind == KR_OP_UPDATE;
	uint8_t kind = s->keys[key.i].kind;
	bool values = kind == KR_KIND_REGISTER ||
		(kind == KR_KIND_COUNTER && s->options->untold == 0 && s->options->blank == 0);
	struct kr_scan scan = {.limit = -1};

	values = values && (update || one_in(s, 2));

	/* values are compared in keys of one kind only, and keys of planted anomalies are nobody else's */
	bool all = !s->options->anomaly && (s->kind_count == 1 || (!update && !values));
	struct run run = draw_run(s, s->keys[key.i].place, all ? 0 : 1);

	/* another key of its kind, with a longer name */
	for (int i = 0; i < TRIES && run.count > s->options->span; i++) {
		key.i = key.i % s->kind_count +
			s->kind_count * (uint32_t)kr_rng_below(&s->rng, s->options->keys / s->kind_count);
		run = draw_run(s, s->keys[key.i].place, all ? 0 : 1);
	}
	KR_TRY(draw_where(s, &run, key, values, &scan));
	KR_TRY(collect(s, c, &run, &scan));
	KR_TRY(keep_conds(s, c, &scan));
	if (update)
		KR_TRY(write_rows(s, c, &scan, key));
	return push_scan(s, c, &scan, op);
}
