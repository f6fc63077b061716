/* Garbage reads of lists and sets: an element that nobody ever added and that was not there at first; or some
 * of the initial elements without the others, for who deletes takes them all away, and of a list not at its
 * beginning.
 *
 * An initial value that is not told must hold every shown element that nobody added, and where one of those
 * is shown, or nobody deletes, be shown whole: it is a common beginning of those lists, as short as that
 * allows, or a common part of those sets. Linear in what was shown. */
#include "verify/garbage.h"

#include <string.h>

struct pieces {
	const struct kr_value_entry *array;
	size_t at;
	struct kr_piece piece;
};

static struct pieces pieces_of(const struct kr_garbage *g, kr_value value)
{
	return (struct pieces){kr_history_value(g->h, value), 1, {NULL, 0}};
}

static bool next(struct pieces *p)
{
	return p->array->type == KR_VALUE_ARRAY &&
		kr_piece_next(p->array->text, p->array->length, &p->at, &p->piece);
}

static bool same(struct kr_piece a, struct kr_piece b)
{
	return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool holds(const struct kr_garbage *g, kr_value array, struct kr_piece piece)
{
	for (struct pieces p = pieces_of(g, array); next(&p);)
		if (same(p.piece, piece))
			return true;
	return false;
}

static bool is_array(const struct kr_garbage *g, kr_value value)
{
	return value.i == KR_ABSENT.i || kr_history_value(g->h, value)->type == KR_VALUE_ARRAY;
}

static bool is_nothing(const struct kr_garbage *g, kr_value array)
{
	struct pieces p = pieces_of(g, array);

	return !next(&p);
}

static bool is_added(const struct kr_garbage *g, kr_key k, struct kr_piece piece)
{
	return kr_written_element(g->written, k, piece);
}

/* How many of the elements come first up to the last one that nobody added. */
static uint32_t unadded(const struct kr_garbage *g, kr_key k, kr_value array)
{
	uint32_t n = 0, last = 0;

	for (struct pieces p = pieces_of(g, array); next(&p);) {
		n++;
		if (!is_added(g, k, p.piece))
			last = n;
	}
	return last;
}

static bool shows_whole(const struct kr_garbage *g, kr_key k, kr_value array, kr_value initial)
{
	struct pieces p = pieces_of(g, array), q = pieces_of(g, initial);

	while (next(&q))
		if (g->h->keys.at[k.i].kind == KR_KIND_SET ? !holds(g, array, q.piece)
							   : !next(&p) || !same(p.piece, q.piece))
			return false;
	return true;
}

static bool array_explained(const struct kr_garbage *g, kr_key k, kr_value array)
{
	kr_value initial = g->h->keys.at[k.i].initial;

	if (!is_array(g, array))
		return false;
	for (struct pieces p = pieces_of(g, array); next(&p);)
		if (!is_added(g, k, p.piece) && !holds(g, initial, p.piece))
			return false;
	return shows_whole(g, k, array, initial) || (g->deleted[k.i] && unadded(g, k, array) == 0);
}

/* Whether what a list or set holds, if it holds anything, meets the conditions. */
static enum kr_status arrays_match(const struct kr_garbage *g, kr_key k, const struct kr_saw *saw, bool *out)
{
	const struct kr_scan *scan = &g->h->scans.at[saw->scan];
	const struct kr_operand operand = {.type = KR_VALUE_ARRAY, .text = {"[\"?\"]", 5}};

	if (kr_where_of_elements(g->h, scan))
		return kr_garbage_vague(g, k, "what a condition says of the elements");
	*out = kr_where_holds_of(g->h, scan, k, &operand);
	return KR_OK;
}

enum kr_status kr_garbage_array_explained(struct kr_garbage *g, kr_key k, const struct kr_seen_at *at,
	bool *out)
{
	struct kr_saw saw = kr_garbage_saw(g, at, k);
	bool there = g->put[k.i] || !is_nothing(g, g->h->keys.at[k.i].initial);

	switch (saw.test) {
	case KR_SAW_VALUE: *out = array_explained(g, k, saw.value); return KR_OK;
	case KR_SAW_OTHER: *out = there; return KR_OK;
	default: break;
	}

	bool matches = false;

	*out = saw.test == KR_SAW_NO_MATCH && kr_garbage_may_be_absent(g, k);
	if (*out || !there)
		return KR_OK;
	KR_TRY(arrays_match(g, k, &saw, &matches));
	*out = matches == (saw.test == KR_SAW_MATCH);
	return KR_OK;
}

/* ---- untold ---- */

/* What is known of an initial value, by the arrays that must show it whole. */
struct start {
	bool fits, any, needed; /* any: there are such arrays; needed: it must not be nothing */
	kr_value common;        /* the first of them */
	/* of a list: how many elements of it are needed, at least; how many all of them begin with */
	uint32_t least, most;
};

static uint32_t length_of(const struct kr_garbage *g, kr_value array)
{
	uint32_t n = 0;

	for (struct pieces p = pieces_of(g, array); next(&p);)
		n++;
	return n;
}

/* How many elements both begin with. */
static uint32_t beginning(const struct kr_garbage *g, kr_value a, kr_value b)
{
	struct pieces p = pieces_of(g, a), q = pieces_of(g, b);
	uint32_t n = 0;

	while (next(&p) && next(&q) && same(p.piece, q.piece))
		n++;
	return n;
}

/* Whether `b` shows all that `a` shows and nobody added. */
static bool shares_unadded(const struct kr_garbage *g, kr_key k, kr_value a, kr_value b)
{
	for (struct pieces p = pieces_of(g, a); next(&p);)
		if (!is_added(g, k, p.piece) && !holds(g, b, p.piece))
			return false;
	return true;
}

/* Whether the array must show the initial value whole: nobody deletes it, or it shows what nobody added. */
static bool must_show(const struct kr_garbage *g, kr_key k, kr_value array)
{
	return !g->deleted[k.i] || unadded(g, k, array) > 0;
}

static void narrow(const struct kr_garbage *g, kr_key k, kr_value array, struct start *s)
{
	uint32_t least = unadded(g, k, array), both;

	if (!must_show(g, k, array))
		return;
	if (!s->any) {
		s->common = array;
		s->most = length_of(g, array);
	}
	s->any = true;
	s->least = least > s->least ? least : s->least;
	both = beginning(g, array, s->common);
	s->most = both < s->most ? both : s->most;
	if (g->h->keys.at[k.i].kind == KR_KIND_SET)
		s->fits &= shares_unadded(g, k, array, s->common) && shares_unadded(g, k, s->common, array);
}

/* Whether every element of the first `n` of a list is one that nobody added. */
static bool none_added(const struct kr_garbage *g, kr_key k, kr_value array, uint32_t n)
{
	for (struct pieces p = pieces_of(g, array); n > 0 && next(&p); n--)
		if (is_added(g, k, p.piece))
			return false;
	return true;
}

static bool list_fits(const struct kr_garbage *g, kr_key k, const struct start *s)
{
	bool unwritten = g->h->initial == KR_INITIAL_UNWRITTEN;

	if (!s->any)
		return true;
	if (s->least > s->most || (unwritten && !none_added(g, k, s->common, s->least)))
		return false;
	return !s->needed || s->least > 0 || (s->most > 0 && !unwritten);
}

/* Whether there is an element that all sets show which must show the initial value. */
static bool have_common(const struct kr_garbage *g, kr_key k, uint32_t n, const struct start *s)
{
	bool all = false;

	for (struct pieces p = pieces_of(g, s->common); !all && next(&p);) {
		all = true;
		for (uint32_t i = 0; i < n && all; i++) {
			struct kr_saw saw = kr_garbage_saw(g, &g->list.at[i], k);

			all = saw.test != KR_SAW_VALUE || !must_show(g, k, saw.value) ||
				holds(g, saw.value, p.piece);
		}
	}
	return all;
}

/* That they agree on what nobody added has been seen to. */
static bool sets_fit(const struct kr_garbage *g, kr_key k, uint32_t n, const struct start *s)
{
	return !s->any || !s->needed || s->least > 0 ||
		(g->h->initial != KR_INITIAL_UNWRITTEN && have_common(g, k, n, s));
}

enum kr_status kr_garbage_arrays_fit(struct kr_garbage *g, kr_key k, uint32_t n, bool *out)
{
	struct start s = {.fits = true, .common = {KR_NONE}};
	bool set = g->h->keys.at[k.i].kind == KR_KIND_SET, met = false;

	for (uint32_t i = 0; i < n && s.fits; i++) {
		struct kr_saw saw = kr_garbage_saw(g, &g->list.at[i], k);

		if (saw.test == KR_SAW_VALUE) {
			narrow(g, k, saw.value, &s);
			s.fits &= is_array(g, saw.value);
		} else if (saw.test == KR_SAW_OTHER) {
			s.needed |= !g->put[k.i];
		} else if (saw.test != KR_SAW_NOTHING) {
			KR_TRY(arrays_match(g, k, &saw, &met));
			if (met)
				narrow(g, k, KR_ABSENT, &s);
		}
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	*out = s.fits && (set ? sets_fit(g, k, n, &s) : list_fits(g, k, &s));
	return KR_OK;
}
