#include "stores.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 5, TXNS = 16, ITEMS = 64, SESSIONS = 4, UNTOLD = -1 };
enum kind { REGISTER, OBJECT, COUNTER, LIST, SET, KINDS };

struct state { /* of a key */
	bool present;
	int n;      /* register, counter: the number; list, set: how many elements */
	int items[ITEMS];
};

/* What a transaction has done to a key itself. */
struct own {
	bool written;  /* anything */
	bool known;    /* it set or deleted it: `state` is what it leaves, whatever others did */
	struct state state; /* known */
	int sum, n, items[ITEMS]; /* not known: what it added */
	bool based;    /* it was shown what it added on top of `base`, and goes on seeing that */
	struct state base;
};

struct txn {
	int session; /* UNTOLD: none */
	bool committed, told; /* it took effect; its client knows */
	uint32_t sees; /* bits of earlier transactions; in the end, of its last operation */
	uint32_t wrote; /* bits of keys */
	struct own own[KEYS];
	struct state installed[KEYS]; /* its versions */
};

struct sim {
	enum store store;
	struct kr_rng *rng;
	struct kr_str *out;
	int nkeys;
	int values; /* written: 1 .. values */
	enum kind kinds[KEYS];
	char names[KEYS][4];
	struct state first[KEYS];
	struct txn txns[TXNS];
	int n; /* transactions so far, the one at hand excluded */
	bool some; /* operations so far in the transaction */
};

static int draw(struct sim *s, int n) { return (int)kr_rng_below(s->rng, (uint64_t)n); }
static bool chance(struct sim *s, int percent) { return draw(s, 100) < percent; }

/* ---- states ---- */

static bool grows(enum kind kind) { return kind == COUNTER || kind == LIST || kind == SET; }

static void put_in(struct state *x, enum kind kind, int item)
{
	for (int i = 0; kind == SET && i < x->n; i++)
		if (x->items[i] == item)
			return;
	if (x->n < ITEMS)
		x->items[x->n++] = item;
}

/* What others' version becomes with the transaction's own writes on top. */
static struct state on_top(enum kind kind, const struct state *below, const struct own *own)
{
	struct state x = *below;

	if (!own->written)
		return x;
	if (own->known)
		return own->state;
	if (!x.present)
		x.n = 0;
	x.present = true;
	if (kind == COUNTER)
		x.n += own->sum;
	for (int i = 0; i < own->n; i++)
		put_in(&x, kind, own->items[i]);
	return x;
}

static const struct state *version_before(const struct sim *s, uint32_t among, int key)
{
	for (int t = s->n - 1; t >= 0; t--)
		if (among >> t & 1 && s->txns[t].committed && s->txns[t].wrote >> key & 1)
			return &s->txns[t].installed[key];
	return &s->first[key];
}

/* What the transaction at hand sees of the key. */
static struct state see(const struct sim *s, int key)
{
	const struct txn *t = &s->txns[s->n];
	const struct own *own = &t->own[key];

	return on_top(s->kinds[key], own->based ? &own->base : version_before(s, t->sees, key), own);
}

/* ---- visibility ---- */

static uint32_t below(int n) { return (UINT32_C(1) << n) - 1; }

/* With all that those in it saw, and their sessions' transactions before them. */
static uint32_t closed(const struct sim *s, uint32_t set)
{
	for (int t = s->n - 1; t >= 0; t--)
		if (set >> t & 1)
			set |= s->txns[t].sees;
	return set;
}

static uint32_t of_session(const struct sim *s, int session)
{
	uint32_t set = 0;

	for (int t = 0; t < s->n; t++)
		if (session != UNTOLD && s->txns[t].session == session && s->txns[t].told && s->txns[t].committed)
			set |= UINT32_C(1) << t;
	return set;
}

static uint32_t any_of(struct sim *s, int percent)
{
	uint32_t set = 0;

	for (int t = 0; t < s->n; t++)
		if (chance(s, percent))
			set |= UINT32_C(1) << t;
	return set;
}

static uint32_t visible_at_first(struct sim *s, int session)
{
	uint32_t least = of_session(s, session);
	int last = 0;

	switch (s->store) {
	case STORE_SER: return below(s->n);
	case STORE_SI:
	case STORE_PC:
		while (least >> last)
			last++;
		return below(last + draw(s, s->n - last + 1));
	case STORE_PSI:
	case STORE_CC: return closed(s, least | any_of(s, 40));
	case STORE_RA: return least | any_of(s, 40);
	default: return any_of(s, 40);
	}
}

static void next_operation(struct sim *s)
{
	if (s->store == STORE_RC)
		s->txns[s->n].sees |= any_of(s, 25);
}

/* Whether somebody whom it does not see has written what it writes. */
static bool loses(const struct sim *s)
{
	const struct txn *t = &s->txns[s->n];

	for (int w = 0; w < s->n; w++)
		if (!(t->sees >> w & 1) && s->txns[w].committed && s->txns[w].wrote & t->wrote)
			return true;
	return false;
}

/* ---- writing lines ---- */

static void say_value(struct sim *s, int key, const struct state *x)
{
	if (!x->present) {
		kr_str_add(s->out, "null");
	} else if (s->kinds[key] == OBJECT) {
		kr_str_format(s->out, "{\"c\": %d}", x->n);
	} else if (s->kinds[key] == LIST || s->kinds[key] == SET) {
		int start = s->kinds[key] == SET && x->n > 0 ? draw(s, x->n) : 0;
		kr_str_add(s->out, "[");
		for (int i = 0; i < x->n; i++)
			kr_str_format(s->out, "%s%d", i ? ", " : "", x->items[(start + i) % x->n]);
		kr_str_add(s->out, "]");
	} else {
		kr_str_format(s->out, "%d", x->n);
	}
}

static void begin_op(struct sim *s, const char *name)
{
	kr_str_format(s->out, "%s[\"%s\"", s->some ? ", " : "", name);
	s->some = true;
}

static void begin_key_op(struct sim *s, const char *name, int key)
{
	begin_op(s, name);
	kr_str_format(s->out, ", \"%s\"", s->names[key]);
}

static void end_op(struct sim *s) { kr_str_add(s->out, "]"); }

static void say_bool(struct sim *s, bool value) { kr_str_add(s->out, value ? ", true" : ", false"); }

/* ---- operations ---- */

static void set_to(struct sim *s, int key, bool present, int n)
{
	struct own *own = &s->txns[s->n].own[key];

	own->written = own->known = true;
	own->state = (struct state){.present = present, .n = n};
	s->txns[s->n].wrote |= UINT32_C(1) << key;
}

/* The key is shown. What is shown below own additions stays so. */
static struct state show(struct sim *s, int key)
{
	struct txn *t = &s->txns[s->n];
	struct own *own = &t->own[key];

	if (own->written && !own->known && !own->based) {
		own->base = *version_before(s, t->sees, key);
		own->based = true;
	}
	return see(s, key);
}

static void do_read(struct sim *s, int key)
{
	struct state x;

	begin_key_op(s, "r", key);
	if (!chance(s, 5)) {
		x = show(s, key);
		kr_str_add(s->out, ", ");
		say_value(s, key, &x);
	}
	end_op(s);
}

static void do_write(struct sim *s, int key)
{
	struct state x = {.present = true, .n = 1 + draw(s, s->values)};

	begin_key_op(s, "w", key);
	kr_str_add(s->out, ", ");
	say_value(s, key, &x);
	end_op(s);
	set_to(s, key, true, x.n);
}

static void do_delete(struct sim *s, int key)
{
	bool told = chance(s, 70);
	struct state x;

	begin_key_op(s, "d", key);
	if (told) {
		x = see(s, key);
		say_bool(s, x.present);
	}
	end_op(s);
	if (!told || x.present)
		set_to(s, key, false, 0);
}

static void do_insert(struct sim *s, int key)
{
	struct state x = see(s, key), new = {.present = true, .n = 1 + draw(s, s->values)};

	begin_key_op(s, "insert", key);
	kr_str_add(s->out, ", ");
	say_value(s, key, &new);
	say_bool(s, !x.present);
	end_op(s);
	if (!x.present)
		set_to(s, key, true, new.n);
}

static void do_cas(struct sim *s, int key)
{
	struct state x = see(s, key), new = {.present = true, .n = 1 + draw(s, s->values)};
	struct state expected = chance(s, 60) ? x : (struct state){.present = chance(s, 70), .n = 1 + draw(s, s->values)};
	bool done = x.present == expected.present && (!x.present || x.n == expected.n);

	begin_key_op(s, "cas", key);
	kr_str_add(s->out, ", ");
	say_value(s, key, &expected);
	kr_str_add(s->out, ", ");
	say_value(s, key, &new);
	say_bool(s, done);
	end_op(s);
	if (done)
		set_to(s, key, true, new.n);
}

static void do_grow(struct sim *s, int key)
{
	static const char *const names[KINDS] = {[COUNTER] = "inc", [LIST] = "append", [SET] = "add"};
	struct own *own = &s->txns[s->n].own[key];
	int item = s->kinds[key] == COUNTER ? draw(s, 4) - 1 : 1 + draw(s, s->values);

	begin_key_op(s, names[s->kinds[key]], key);
	kr_str_format(s->out, ", %d", item);
	s->txns[s->n].wrote |= UINT32_C(1) << key;
	own->written = true;
	if (own->known && !own->state.present)
		own->state = (struct state){.present = true};
	if (s->kinds[key] == COUNTER)
		*(own->known ? &own->state.n : &own->sum) += item;
	else if (own->known)
		put_in(&own->state, s->kinds[key], item);
	else
		own->items[own->n++] = item;
	if (s->kinds[key] == COUNTER && chance(s, 60)) {
		struct state x = show(s, key);
		kr_str_format(s->out, ", %d", x.n);
	}
	end_op(s);
}

static void say_row(struct sim *s, int key, const struct state *x, bool *first)
{
	kr_str_format(s->out, "%s[\"%s\", ", *first ? "" : ", ", s->names[key]);
	say_value(s, key, x);
	kr_str_add(s->out, "]");
	*first = false;
}

/* Keys are numbered in the order of their names. */
static void do_range(struct sim *s)
{
	int low = draw(s, s->nkeys + 1) - 1, high = draw(s, s->nkeys + 1), limit = chance(s, 40) ? draw(s, 3) : s->nkeys, left = limit;
	bool reverse = chance(s, 40), first = true;

	begin_op(s, "range");
	kr_str_format(s->out, low < 0 ? ", null" : ", \"%s\"", low < 0 ? "" : s->names[low]);
	kr_str_format(s->out, high == s->nkeys ? ", null, [" : ", \"%s\", [", high == s->nkeys ? "" : s->names[high]);
	for (int i = 0; i < s->nkeys && left > 0; i++) {
		int key = reverse ? s->nkeys - 1 - i : i;
		struct state x;
		if (key < low || key >= high)
			continue;
		x = show(s, key);
		if (!x.present)
			continue;
		say_row(s, key, &x, &first);
		left--;
	}
	kr_str_add(s->out, "]");
	if (limit < s->nkeys || reverse)
		kr_str_format(s->out, ", {\"limit\": %d, \"reverse\": %s}", limit, reverse ? "true" : "false");
	end_op(s);
}

struct where { char prefix; bool field, compared; int least; };

static void say_where(struct sim *s, const struct where *w)
{
	kr_str_add(s->out, ", {");
	if (w->prefix)
		kr_str_format(s->out, "\"key_prefix\": \"%c\"%s", w->prefix, w->compared ? ", " : "");
	if (w->compared && w->field)
		kr_str_format(s->out, "\"field\": {\"c\": {\"ge\": %d}}", w->least);
	else if (w->compared)
		kr_str_format(s->out, "\"value\": {\"ge\": %d}", w->least);
	kr_str_add(s->out, "}");
}

static bool matches(const struct sim *s, const struct where *w, int key, const struct state *x)
{
	if (!x->present || (w->prefix && s->names[key][0] != w->prefix))
		return false;
	if (!w->compared)
		return true;
	return (w->field ? s->kinds[key] == OBJECT : s->kinds[key] == REGISTER || s->kinds[key] == COUNTER) && x->n >= w->least;
}

static void do_scan(struct sim *s, bool update)
{
	struct where w = {.prefix = (char)(chance(s, 50) ? s->names[draw(s, s->nkeys)][0] : 0), .field = chance(s, 30), .compared = chance(s, 60),
		.least = draw(s, s->values + 1)};
	struct state new = {.present = true, .n = 1 + draw(s, s->values)};
	bool first = true;

	if (update) /* of what can be written so */
		w.prefix = 'r';
	begin_op(s, update ? "update" : "scan");
	say_where(s, &w);
	if (update)
		kr_str_format(s->out, ", {\"set\": %d}", new.n);
	kr_str_add(s->out, ", [");
	for (int key = 0; key < s->nkeys; key++) {
		struct state x;
		if (w.prefix && s->names[key][0] != w.prefix)
			continue;
		x = show(s, key);
		if (!matches(s, &w, key, &x))
			continue;
		say_row(s, key, update ? &new : &x, &first);
		if (update)
			set_to(s, key, true, new.n);
	}
	kr_str_add(s->out, "]");
	end_op(s);
}

static void operation(struct sim *s)
{
	int key = draw(s, s->nkeys), d = draw(s, 100);
	bool grown = grows(s->kinds[key]);

	next_operation(s);
	if (d < 8)
		do_range(s);
	else if (d < 15)
		do_scan(s, false);
	else if (d < 19)
		do_scan(s, true);
	else if (d < 52)
		do_read(s, key);
	else if (d < 60)
		do_delete(s, key);
	else if (grown)
		do_grow(s, key);
	else if (d < 80)
		do_write(s, key);
	else if (d < 90)
		do_insert(s, key);
	else
		do_cas(s, key);
}

/* ---- transactions ---- */

static void transaction(struct sim *s, int session)
{
	struct txn *t = &s->txns[s->n];
	int outcome = draw(s, 100), nops = 1 + draw(s, 4);
	const char *status;

	*t = (struct txn){.session = session, .sees = visible_at_first(s, session)};
	kr_str_format(s->out, "{\"id\": \"t%d\", ", s->n);
	if (session != UNTOLD)
		kr_str_format(s->out, "\"s\": %d, ", session);
	kr_str_add(s->out, "\"ops\": [");
	s->some = false;
	for (int i = 0; i < nops; i++)
		operation(s);
	t->committed = outcome >= 10;
	if ((s->store == STORE_SI || s->store == STORE_PSI) && loses(s))
		t->committed = false;
	t->told = outcome >= 5 && outcome < 90;
	status = !t->told ? "unknown" : t->committed ? "committed" : "aborted";
	kr_str_format(s->out, "], \"status\": \"%s\"}\n", status);
	for (int key = 0; key < s->nkeys; key++)
		if (t->wrote >> key & 1)
			t->installed[key] = on_top(s->kinds[key], version_before(s, below(s->n), key), &t->own[key]);
	s->n++;
}

static struct state some_state(struct sim *s, enum kind kind)
{
	struct state x = {.present = chance(s, 60)};

	if (!x.present)
		return x;
	if (kind != LIST && kind != SET) {
		x.n = draw(s, s->values + 1);
		return x;
	}
	for (int i = 1 + draw(s, 2); i > 0; i--)
		put_in(&x, kind, draw(s, s->values + 1));
	return x;
}

static void header(struct sim *s, enum store_initial initial)
{
	bool first = true;

	for (int key = 0; key < s->nkeys; key++)
		if (initial != STORE_ABSENT)
			s->first[key] = some_state(s, s->kinds[key]);
	kr_str_add(s->out, "{\"krait\": 1, \"universe\": [");
	for (int key = 0; key < s->nkeys; key++)
		kr_str_format(s->out, "%s\"%s\"", key ? ", " : "", s->names[key]);
	kr_str_add(s->out, "], \"kinds\": {");
	for (int key = 0; key < s->nkeys; key++)
		if (s->kinds[key] == SET)
			kr_str_format(s->out, "\"%s\": \"set\"", s->names[key]);
	kr_str_format(s->out, "}, \"initial\": %s", initial == STORE_GIVEN ? "{" : initial == STORE_ABSENT ? "\"absent\"" : "\"unknown\"");
	for (int key = 0; initial == STORE_GIVEN && key < s->nkeys; key++) {
		if (!s->first[key].present)
			continue;
		kr_str_format(s->out, "%s\"%s\": ", first ? "" : ", ", s->names[key]);
		say_value(s, key, &s->first[key]);
		first = false;
	}
	kr_str_add(s->out, initial == STORE_GIVEN ? "}}\n" : "}\n");
}

/* Some keys' true order of versions, of transactions whose effect is known. */
static void version_orders(struct sim *s)
{
	for (int key = 0; key < s->nkeys; key++) {
		bool first = true;
		if (!chance(s, 10))
			continue;
		kr_str_format(s->out, "{\"version_order\": \"%s\", \"writers\": [", s->names[key]);
		for (int t = 0; t < s->n; t++) {
			if (!s->txns[t].committed || !s->txns[t].told || !(s->txns[t].wrote >> key & 1))
				continue;
			kr_str_format(s->out, "%s\"t%d\"", first ? "" : ", ", t);
			first = false;
		}
		kr_str_add(s->out, "]}\n");
	}
}

void store_trace(enum store store, enum store_initial initial, uint32_t ntxns, struct kr_rng *rng, struct kr_str *out)
{
	static const char letters[KINDS] = {[COUNTER] = 'c', [LIST] = 'l', [OBJECT] = 'o', [REGISTER] = 'r', [SET] = 's'};
	static const enum kind by_letter[KINDS] = {COUNTER, LIST, OBJECT, REGISTER, SET};
	struct sim *s = malloc(sizeof *s);
	int sessions = (int)kr_rng_below(rng, SESSIONS + 1);

	*s = (struct sim){.store = store, .rng = rng, .out = out, .values = 2 + (int)kr_rng_below(rng, 6)};
	for (int kind = 0; kind < KINDS; kind++) {
		int more = by_letter[kind] == REGISTER ? 1 + draw(s, 2) : draw(s, 2);
		for (int i = 0; i < more && s->nkeys < KEYS; i++, s->nkeys++) {
			s->kinds[s->nkeys] = by_letter[kind];
			snprintf(s->names[s->nkeys], sizeof s->names[0], "%c%d", letters[by_letter[kind]], i % 10);
		}
	}
	header(s, initial);
	for (uint32_t i = 0; i < ntxns && i < TXNS; i++)
		transaction(s, sessions > 0 && chance(s, 90) ? draw(s, sessions) : UNTOLD);
	version_orders(s);
	free(s);
}

/* ---- what they keep ---- */

const char *store_name(enum store store)
{
	static const char *const names[STORES] = {"ser", "si", "psi", "pc", "cc", "ra", "rc"};

	return names[store];
}

const char *const *store_keeps(enum store store)
{
	static const char *const ser[] = {"ser", "pl-3u", "pl-2.99", "si", "pc", "psi", "pl-2+", "cc", "ra", "rc-ax", "pl-2l", "pl-cs", "pl-2", "pl-1", NULL};
	static const char *const si[] = {"si", "pc", "psi", "pl-2+", "cc", "ra", "rc-ax", "pl-2l", "pl-cs", "pl-2", "pl-1", NULL};
	static const char *const psi[] = {"psi", "pl-2+", "cc", "ra", "rc-ax", "pl-2l", "pl-cs", "pl-2", "pl-1", NULL};
	static const char *const pc[] = {"pc", "cc", "ra", "rc-ax", "pl-2l", "pl-2", "pl-1", NULL};
	static const char *const cc[] = {"cc", "ra", "rc-ax", "pl-2", "pl-1", NULL};
	static const char *const ra[] = {"ra", "rc-ax", "pl-2", "pl-1", NULL};
	static const char *const rc[] = {"rc-ax", "pl-2", "pl-1", NULL};
	static const char *const *const keeps[STORES] = {ser, si, psi, pc, cc, ra, rc};

	return keeps[store];
}
