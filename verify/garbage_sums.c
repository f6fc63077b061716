/* Garbage reads of counters: a number that no set of increments gives, on top of what the counter started
 * with or, if somebody deleted it, of nothing.
 *
 * The sums of sets are kept as spans of whole numbers; increments are added by size, small ones first, so
 * that they mostly run together. Exact; where there are too many spans it cannot be told. An initial value
 * that is not told must be absent, or one number from which all that was shown is reached. */
#include "verify/garbage.h"

#include "base/order.h"

enum { SPANS_MOST = 20000, STARTS_MOST = 2000 };

/* ---- spans ---- */

static bool has(const struct kr_number_spans *s, kr_wide number)
{
	uint32_t at;

	KR_BISECT(at, 0, s->n, s->at[at].high < number);
	return at < s->n && s->at[at].low <= number;
}

/* Appends a span that does not begin before the last one. */
static bool join(struct kr_mem *mem, struct kr_number_spans *s, struct kr_number_span span)
{
	struct kr_number_span *last = s->n ? &s->at[s->n - 1] : NULL;

	if (!last || last->high + 1 < span.low)
		return kr_vec_push(mem, s, span);
	if (last->high < span.high)
		last->high = span.high;
	return true;
}

/* s becomes the numbers of s, and these with delta added. */
static enum kr_status widen(struct kr_garbage *g, struct kr_number_spans *s, int64_t delta)
{
	uint32_t i = 0, j = 0;
	bool fits = true;

	kr_vec_clear(&g->scratch);
	while ((i < s->n || j < s->n) && fits) {
		struct kr_number_span shifted = j < s->n
			? (struct kr_number_span){s->at[j].low + delta, s->at[j].high + delta}
			: (struct kr_number_span){0, 0};
		bool plain = i < s->n && (j == s->n || s->at[i].low <= shifted.low);

		fits = join(g->mem, &g->scratch, plain ? s->at[i] : shifted);
		*(plain ? &i : &j) += 1;
	}
	if (!fits)
		return KR_NOMEM;

	struct kr_number_spans swap = *s;

	*s = g->scratch;
	g->scratch = swap;
	return kr_ctx_tick(g->ctx);
}

/* The sums of k's increments, all but the `without`-th (KR_NONE: all). */
static enum kr_status add_up(struct kr_garbage *g, kr_key k, uint32_t without)
{
	enum kr_status status = KR_OK;

	g->summed.i = without == KR_NONE ? k.i : KR_NONE;
	kr_vec_clear(&g->sums);
	KR_TRY(kr_vec_add(g->mem, &g->sums, (struct kr_number_span){0, 0}));
	for (uint32_t i = g->amount_first[k.i]; i < g->amount_first[k.i + 1] && status == KR_OK; i++) {
		if (i != without)
			status = widen(g, &g->sums, g->amounts.at[i].delta);
		if (status == KR_OK && g->sums.n > SPANS_MOST)
			status = kr_garbage_vague(g, k, "too many sums of the increments");
	}
	if (status != KR_OK)
		g->summed.i = KR_NONE;
	return status;
}

static enum kr_status sums_of(struct kr_garbage *g, kr_key k)
{
	return g->summed.i == k.i ? KR_OK : add_up(g, k, KR_NONE);
}

/* Whether some increments add up to nothing. */
static enum kr_status cancel_out(struct kr_garbage *g, kr_key k, bool *out)
{
	*out = false;
	for (uint32_t i = g->amount_first[k.i]; i < g->amount_first[k.i + 1] && !*out; i++) {
		if (i > g->amount_first[k.i] && g->amounts.at[i].delta == g->amounts.at[i - 1].delta)
			continue;
		KR_TRY(add_up(g, k, i));
		*out = has(&g->sums, -(kr_wide)g->amounts.at[i].delta);
	}
	return KR_OK;
}

/* ---- what was shown ---- */

struct shown {
	/* STRANGE: neither a number nor absent */
	enum { NOTHING, NUMBER, ABSENT, PRESENT, MATCH, NO_MATCH, STRANGE } what;
	int64_t number;
	bool or_absent; /* of a read that shows 0 */
	uint32_t scan;
};

static struct shown what_was_shown(const struct kr_garbage *g, kr_key k, const struct kr_seen_at *at)
{
	const struct kr_operation *op = kr_garbage_op(g, at);
	struct kr_saw saw = kr_garbage_saw(g, at, k);
	kr_value value = op->kind == KR_OP_INC ? op->b : saw.value;
	bool plain = op->kind == KR_OP_INC || op->kind == KR_OP_READ;
	const struct kr_value_entry *e = kr_history_value(g->h,
		saw.test == KR_SAW_VALUE || saw.test == KR_SAW_UNTOLD ? value : KR_ABSENT);

	switch (saw.test) {
	case KR_SAW_NOTHING: break;
	case KR_SAW_OTHER: return (struct shown){.what = PRESENT};
	case KR_SAW_MATCH: return (struct shown){.what = MATCH, .scan = saw.scan};
	case KR_SAW_NO_MATCH: return (struct shown){.what = NO_MATCH, .scan = saw.scan};
	default:
		if (e->type == KR_VALUE_INT)
			return (struct shown){.what = NUMBER,
				.number = e->integer,
				.or_absent = plain && e->integer == 0};
		return (struct shown){.what = e->type == KR_VALUE_ABSENT ? ABSENT : STRANGE};
	}
	return (struct shown){.what = NOTHING};
}

/* What a counter starts with, or is set back to by a delete. */
struct base {
	bool absent;
	kr_wide number;
};

/* Whether some number that is reached fails, or meets, the conditions. */
static enum kr_status some_number(struct kr_garbage *g, kr_key k, const struct shown *s, struct base base,
	bool *out)
{
	const struct kr_scan *scan = &g->h->scans.at[s->scan];
	uint32_t tried = 0;

	*out = false;
	for (uint32_t i = 0; i < g->sums.n; i++)
		for (kr_wide sum = g->sums.at[i].low; sum <= g->sums.at[i].high; sum++) {
			kr_wide number = base.number + sum;
			struct kr_operand operand = {.type = KR_VALUE_INT, .integer = (int64_t)number};

			if (base.absent && sum == 0)
				continue; /* nothing added, or as good as that */
			if (number < INT64_MIN || number > INT64_MAX || tried++ == SPANS_MOST)
				return kr_garbage_vague(g, k, "conditions on too many numbers");
			if (kr_where_holds_of(g->h, scan, k, &operand) == (s->what == MATCH)) {
				*out = true;
				return KR_OK;
			}
		}
	return KR_OK;
}

static enum kr_status base_explains(struct kr_garbage *g, kr_key k, const struct shown *s, struct base base,
	bool *out)
{
	*out = false;
	switch (s->what) {
	case NOTHING: *out = true; return KR_OK;
	case STRANGE: return KR_OK;
	case ABSENT: *out = base.absent; return KR_OK;
	case PRESENT: *out = !base.absent || g->put[k.i]; return KR_OK;
	case NO_MATCH:
	case MATCH:
		*out = base.absent && s->what == NO_MATCH;
		KR_TRY(*out ? KR_OK : sums_of(g, k));
		return *out ? KR_OK : some_number(g, k, s, base, out);
	case NUMBER: break;
	}
	*out = base.absent && s->or_absent;
	if (*out)
		return KR_OK;
	if (base.absent && s->number == 0)
		return cancel_out(g, k, out);
	KR_TRY(sums_of(g, k));
	*out = has(&g->sums, s->number - base.number);
	return KR_OK;
}

static const struct base nothing = {.absent = true, .number = 0};

enum kr_status kr_garbage_sum_explained(struct kr_garbage *g, kr_key k, const struct kr_seen_at *at,
	bool *out)
{
	const struct kr_value_entry *initial = kr_history_value(g->h, g->h->keys.at[k.i].initial);
	struct base base = initial->type == KR_VALUE_INT ? (struct base){false, initial->integer} : nothing;
	struct shown s = what_was_shown(g, k, at);
	enum kr_status status = base_explains(g, k, &s, base, out);

	return status != KR_OK || *out || !g->deleted[k.i] ? status : base_explains(g, k, &s, nothing, out);
}

/* ---- untold ---- */

/* Whether the base explains all that a delete and what came after do not. */
static enum kr_status base_fits(struct kr_garbage *g, kr_key k, uint32_t n, struct base base, bool *out)
{
	*out = true;
	for (uint32_t i = 0; i < n && *out; i++) {
		struct shown s = what_was_shown(g, k, &g->list.at[i]);

		KR_TRY(base_explains(g, k, &s, base, out));
		if (!*out && g->deleted[k.i])
			KR_TRY(base_explains(g, k, &s, nothing, out));
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	return KR_OK;
}

/* Numbers that nobody showed. */
static enum kr_status any_number_fits(struct kr_garbage *g, kr_key k, uint32_t n, bool *out)
{
	enum kr_status status = base_fits(g, k, n, (struct base){false, INT64_MAX / 2}, out);

	if (status == KR_OK && !*out)
		status = base_fits(g, k, n, (struct base){false, INT64_MIN / 2}, out);
	for (uint32_t i = 0; i < n && status == KR_OK && !*out; i++)
		if (what_was_shown(g, k, &g->list.at[i]).what == NO_MATCH)
			return kr_garbage_vague(g, k,
				"what conditions say of an initial value that is not told,");
	return status;
}

/* A number that only the base explains; false: there is none. */
static enum kr_status find_number(struct kr_garbage *g, kr_key k, uint32_t n, struct shown *number,
	bool *found)
{
	bool explained = false;

	*found = false;
	for (uint32_t i = 0; i < n && !*found; i++) {
		*number = what_was_shown(g, k, &g->list.at[i]);
		if (number->what != NUMBER)
			continue;
		if (g->deleted[k.i])
			KR_TRY(base_explains(g, k, number, nothing, &explained));
		*found = !explained;
	}
	return KR_OK;
}

enum kr_status kr_garbage_sums_fit(struct kr_garbage *g, kr_key k, uint32_t n, bool *out)
{
	struct shown number;
	bool found;
	uint32_t tried = 0;
	KR_TRY(base_fits(g, k, n, nothing, out));

	if (*out)
		return KR_OK;
	KR_TRY(find_number(g, k, n, &number, &found));
	if (!found)
		return any_number_fits(g, k, n, out);
	KR_TRY(sums_of(g, k));
	for (uint32_t i = 0; i < g->sums.n && !*out; i++)
		for (kr_wide sum = g->sums.at[i].low; sum <= g->sums.at[i].high && !*out; sum++) {
			if (tried++ == STARTS_MOST)
				return kr_garbage_vague(g, k, "too many initial values");
			KR_TRY(base_fits(g, k, n, (struct base){false, number.number - sum}, out));
			KR_TRY(sums_of(g, k));
		}
	return KR_OK;
}
