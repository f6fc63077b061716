/* A finding as data of the page: its words; a lane for each transaction that it speaks of, with the
 * statements that matter and the spans of its instants; the versions in question; and the inequalities that
 * leave no room. Times are texts, so that they stay exact; null is no bound. */
#include "report/page_findings.h"

#include <string.h>

#include "report/page.h"

struct lane {
	kr_txn txn;
	KR_VEC(uint32_t) ops;
}; /* ops: of its operations that count, in their order */
KR_VEC_NAMED(lanes, struct lane);

struct drawing {
	const struct kr_finding_report *r;
	const struct kr_finding *f;
	const struct kr_basis *basis;
	const struct kr_grounds *grounds;
	struct kr_cast *cast;
	struct kr_str *out;
	struct lanes lanes;
	bool failed;
};

/* ---- which lanes, and what is in them ---- */

static struct lane *lane_of(struct drawing *d, kr_txn t)
{
	for (uint32_t i = 0; i < d->lanes.n; i++)
		if (d->lanes.at[i].txn.i == t.i)
			return &d->lanes.at[i];
	if (!kr_vec_push(d->out->mem, &d->lanes, (struct lane){.txn = t})) {
		d->failed = true;
		return NULL;
	}
	return &d->lanes.at[d->lanes.n - 1];
}

static void add_op(struct drawing *d, kr_txn t, uint32_t op)
{
	struct lane *lane = t.i == KR_NONE || op == KR_NONE ? NULL : lane_of(d, t);
	uint32_t i = 0;

	while (lane && i < lane->ops.n && lane->ops.at[i] < op)
		i++;
	if (!lane || (i < lane->ops.n && lane->ops.at[i] == op))
		return;
	if (!kr_vec_push(d->out->mem, &lane->ops, op)) {
		d->failed = true;
		return;
	}
	memmove(lane->ops.at + i + 1, lane->ops.at + i, (lane->ops.n - 1 - i) * sizeof *lane->ops.at);
	lane->ops.at[i] = op;
}

static void add_write(struct drawing *d, kr_txn t, kr_key key)
{
	kr_op op = t.i == KR_NONE || key.i == KR_NONE ? (kr_op){KR_NONE}
						      : kr_words_last_write(d->r->history, t, key);

	if (op.i != KR_NONE)
		add_op(d, t, op.i - d->r->history->txns.at[t.i].op_first);
}

static void add_sights(struct drawing *d, kr_txn t, kr_key key)
{
	const struct kr_history *h = d->r->history;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (kr_words_sees(h, kr_history_op(h, t, i), key)) {
			add_op(d, t, i);
			return;
		}
}

static void gather(struct drawing *d)
{
	struct kr_finding_parts parts = {0};

	d->failed |= !kr_finding_parts(d->r, d->f, d->out->mem, &parts);
	for (uint32_t i = 0; i < parts.n; i++) {
		(void)lane_of(d, parts.at[i].txn);
		add_write(d, parts.at[i].txn, d->f->key);
		add_op(d, parts.at[i].txn, parts.at[i].op);
	}
	kr_vec_done(d->out->mem, &parts);
	for (uint32_t i = 0; i < d->f->edge_count; i++) {
		const struct kr_certain_edge *e = &d->r->all->edges.at[d->f->edge_first + i];
		add_op(d, e->kind == KR_WR ? e->to : e->from,
			e->kind == KR_WR || e->kind == KR_RW ? e->op : KR_NONE);
		add_write(d, e->kind == KR_RW ? (kr_txn){KR_NONE} : e->from, e->key);
		add_write(d, e->kind == KR_WR ? (kr_txn){KR_NONE} : e->to, e->key);
	}
	for (uint32_t i = 0; i < d->grounds->windows.n; i++) {
		const struct kr_sight_window *w = &d->grounds->windows.at[i];
		add_write(d, w->writer, w->key);
		add_write(d, w->seen ? w->over : (kr_txn){KR_NONE}, w->key);
		if (d->f->what == KR_FOUND_NO_COMMON_SNAPSHOT)
			add_sights(d, d->f->txns[0], w->key);
	}
	for (uint32_t i = 0; i < d->grounds->gaps.n; i++) {
		(void)lane_of(d, d->grounds->gaps.at[i].before.txn);
		(void)lane_of(d, d->grounds->gaps.at[i].after.txn);
	}
}

/* ---- small parts ---- */

static struct kr_words words(const struct drawing *d, struct kr_str *text)
{
	kr_str_init(text, d->out->mem);
	return (struct kr_words){d->r->history, d->cast, text};
}

static void add_span(struct kr_str *out, struct kr_span at)
{
	kr_page_instant(out, "from", at.from);
	kr_page_instant(out, "to", at.to);
}

static void add_called(const struct drawing *d, const char *name, kr_txn t)
{
	struct kr_str text;
	struct kr_words w = words(d, &text);

	kr_words_txn(&w, t);
	kr_str_member_made(d->out, name, &text);
}

static void add_name(const struct drawing *d, const char *name, kr_value value)
{
	struct kr_str text;
	struct kr_words w = words(d, &text);

	kr_words_name(&w, value);
	kr_str_member_made(d->out, name, &text);
}

static bool by_stamps(const struct drawing *d) { return d->r->profile->clock == KR_CLOCK_STAMPS; }

/* ---- lanes ---- */

/* An operation without times of its own lies where others of its transaction leave it. */
static void add_statement(const struct drawing *d, kr_txn t, uint32_t index, bool first)
{
	const struct kr_history *h = d->r->history;
	kr_op op = kr_history_op(h, t, index);
	const struct kr_attr *attr = kr_history_attr(h, op);
	bool timed = attr && attr->has_time && !by_stamps(d);
	struct kr_str text;
	struct kr_words w = words(d, &text);

	kr_words_op(&w, op);
	kr_str_add(d->out, first ? "{" : ", {");
	kr_str_member_made(d->out, "text", &text);
	add_span(d->out,
		timed ? (struct kr_span){attr->invoked, attr->open ? INT64_MAX : attr->returned}
		      : kr_basis_op(d->basis, t, index));
	if (!timed)
		kr_str_add(d->out, ", \"implied\": true");
	if ((t.i == d->f->txns[0].i && index == d->f->ops[0]) ||
		(t.i == d->f->txns[1].i && index == d->f->ops[1]))
		kr_str_add(d->out, ", \"named\": true");
	kr_str_add(d->out, "}");
}

static void add_end(const struct drawing *d, kr_txn t, bool first)
{
	static const char *const ends[] =
		{[KR_COMMITTED] = "commit", [KR_ABORTED] = "rollback", [KR_UNKNOWN] = "commit"};
	const struct kr_transaction *txn = &d->r->history->txns.at[t.i];

	if (!(txn->flags & KR_TXN_HAS_END) || txn->flags & KR_TXN_AUTO || by_stamps(d))
		return;
	kr_str_format(d->out, "%s{\"text\": \"%s\"", first ? "" : ", ", ends[txn->status]);
	add_span(d->out,
		(struct kr_span){txn->end_invoked,
			txn->flags & KR_TXN_END_OPEN ? INT64_MAX : txn->end_returned});
	kr_str_add(d->out, "}");
}

static bool is_known(struct kr_span at) { return at.from != INT64_MIN || at.to != INT64_MAX; }

static void add_instants(const struct drawing *d, kr_txn t)
{
	struct kr_times times = kr_basis_times(d->basis, t);
	bool ends = d->r->history->txns.at[t.i].status != KR_ABORTED, locks = d->f->mechanism == KR_MECH_ME;
	const struct {
		const char *what;
		bool shown;
		struct kr_span at;
	} all[] = {
		{"snapshot", times.has_snapshot && !locks, times.snapshot},
		{"snapshot", d->f->mechanism == KR_MECH_CR && !times.has_snapshot && t.i == d->f->txns[0].i,
			d->f->snapshot},
		{"commit", ends && !locks, times.commit},
		{"locked", locks && t.i == d->f->txns[0].i, d->f->held[0]},
		{"locked", locks && t.i == d->f->txns[1].i, d->f->held[1]},
	};
	const char *separator = "";

	kr_str_add(d->out, "], \"spans\": [");
	for (size_t i = 0; i < KR_COUNT(all); i++) {
		if (!all[i].shown || !is_known(all[i].at))
			continue;
		kr_str_format(d->out, "%s{\"what\": \"%s\"", separator, all[i].what);
		add_span(d->out, all[i].at);
		kr_str_add(d->out, "}");
		separator = ", ";
	}
	kr_str_add(d->out, "]");
}

static void add_lane(const struct drawing *d, const struct lane *lane)
{
	static const char letters[] = {[KR_COMMITTED] = 'c', [KR_ABORTED] = 'a', [KR_UNKNOWN] = 'u'};
	const struct kr_history *h = d->r->history;
	const struct kr_transaction *txn = &h->txns.at[lane->txn.i];

	kr_str_add(d->out, "{");
	add_called(d, "name", lane->txn);
	kr_str_add(d->out, ", ");
	add_name(d, "id", txn->id);
	if (txn->session.i != KR_NONE) {
		kr_str_add(d->out, ", ");
		add_name(d, "session", h->sessions.at[txn->session.i]);
	}
	kr_str_format(d->out, ", \"status\": \"%c\", \"line\": %u, \"ops\": %u%s, \"statements\": [",
		letters[txn->status], txn->line, txn->op_count,
		txn->flags & KR_TXN_AUTO ? ", \"auto\": true" : "");
	for (uint32_t i = 0; i < lane->ops.n; i++)
		add_statement(d, lane->txn, lane->ops.at[i], i == 0);
	add_end(d, lane->txn, lane->ops.n == 0);
	add_instants(d, lane->txn);
	kr_str_add(d->out, "}");
}

/* ---- what cannot be ---- */

static void say_state(const struct kr_words *w, kr_key key, kr_value value)
{
	if (value.i == KR_NONE)
		kr_str_add(w->out, "what was seen of ");
	kr_words_key(w, key);
	if (value.i == KR_NONE)
		return;
	kr_str_add(w->out, value.i == KR_ABSENT.i ? " absent" : " = ");
	if (value.i != KR_ABSENT.i)
		kr_history_print_value(w->h, value, KR_WORDS_VALUE, w->out);
}

static void say_point(const struct kr_words *w, const struct kr_point *p, const char *when)
{
	static const char *const names[] = {
		[KR_INSTANT_SNAPSHOT] = "snapshot of ",
		[KR_INSTANT_STATEMENT] = "statement of ",
		[KR_INSTANT_BEGIN] = "begin of ",
		[KR_INSTANT_COMMIT] = "commit of ",
		[KR_INSTANT_LOCK] = "lock of ",
		[KR_INSTANT_RELEASE] = "release by ",
	};

	if (p->what == KR_INSTANT_SEEN) {
		say_state(w, p->key, p->value);
	} else {
		kr_str_add(w->out, names[p->what]);
		kr_words_txn(w, p->txn);
	}
	kr_str_format(w->out, " %s %lld", when, (long long)p->at);
}

static void add_gap(struct drawing *d, const struct kr_gap *gap)
{
	bool points = by_stamps(d), seen = gap->before.what == KR_INSTANT_SEEN;
	struct kr_str text;
	struct kr_words w = words(d, &text);

	say_point(&w, &gap->before, points ? "at" : seen ? "until" : "by");
	kr_str_add(&text, gap->touches ? " \u2264 " : " < ");
	say_point(&w, &gap->after, points ? "at" : "from");
	kr_str_add(d->out, "{");
	kr_str_member_made(d->out, "text", &text);
	kr_page_instant(d->out, "from", gap->before.at);
	kr_page_instant(d->out, "to", gap->after.at);
	if (gap->basis)
		kr_str_add(d->out, ", \"basis\": true");
	if (gap->edge != KR_NONE)
		kr_str_format(d->out, ", \"edge\": %u", gap->edge);
	kr_str_format(d->out, ", \"lanes\": [%td, %td]}", lane_of(d, gap->before.txn) - d->lanes.at,
		lane_of(d, gap->after.txn) - d->lanes.at);
}

static void add_window(const struct drawing *d, const struct kr_sight_window *window)
{
	struct kr_str text;
	struct kr_words w = words(d, &text);

	say_state(&w, window->key, window->value);
	if (window->writer.i != KR_NONE) {
		kr_str_add(&text, " of ");
		kr_words_txn(&w, window->writer);
	}
	kr_str_add(d->out, "{");
	kr_str_member_made(d->out, "text", &text);
	kr_str_format(d->out, ", \"seen\": %s", window->seen ? "true" : "false");
	add_span(d->out, window->at);
	kr_str_add(d->out, "}");
}

static void add_edge(struct drawing *d, const struct kr_certain_edge *e)
{
	struct kr_str text;
	struct kr_words w = words(d, &text);

	kr_finding_edge_says(&w, e);
	kr_str_format(d->out, "{\"from\": %td, \"to\": %td, \"kind\": \"%s\", ",
		lane_of(d, e->from) - d->lanes.at, lane_of(d, e->to) - d->lanes.at, kr_edge_name(e->kind));
	kr_str_member_made(d->out, "why", &text);
	if (e->predicate)
		kr_str_add(d->out, ", \"predicate\": true");
	if (e->key.i != KR_NONE) {
		kr_str_add(d->out, ", ");
		add_name(d, "key", d->r->history->keys.at[e->key.i].name);
	}
	kr_str_add(d->out, "}");
}

#define ADD_ALL(d, name, list, add) \
	do { \
		kr_str_add((d)->out, ",\n\"" name "\": ["); \
		for (uint32_t each = 0; each < (list).n && !(d)->failed; each++) { \
			kr_str_add((d)->out, each > 0 ? ",\n" : ""); \
			add((d), &(list).at[each]); \
		} \
		kr_str_add((d)->out, "]"); \
	} while (0)

static void draw(struct drawing *d)
{
	const struct {
		const struct kr_certain_edge *at;
		uint32_t n;
	} edges = {d->r->all->edges.at + d->f->edge_first, d->f->edge_count};

	gather(d);
	ADD_ALL(d, "lanes", d->lanes, add_lane);
	ADD_ALL(d, "windows", d->grounds->windows, add_window);
	ADD_ALL(d, "gaps", d->grounds->gaps, add_gap);
	ADD_ALL(d, "edges", edges, add_edge);
}

/* ---- the whole ---- */

/* The text first: it numbers the transactions. */
static void add_texts(const struct drawing *d)
{
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str text, why;
	struct kr_words told = {d->r->history, d->cast, &text};

	kr_report_finding_class(d->r, d->f, name);
	kr_str_init(&text, d->out->mem);
	kr_str_init(&why, d->out->mem);
	kr_finding_explain(&told, d->r, d->f);
	kr_finding_says(d->r, d->f, &why);
	kr_str_add(d->out, "{");
	kr_str_member(d->out, "mechanism", kr_mechanism_name(d->f->mechanism));
	kr_str_member(d->out, "class", name);
	kr_str_add(d->out, ",\n");
	kr_str_member_made(d->out, "why", &why);
	kr_str_add(d->out, ",\n");
	kr_str_member_made(d->out, "text", &text);
}

enum kr_status kr_report_page_finding(const struct kr_finding_report *r, const struct kr_finding *f,
	struct kr_basis *basis, struct kr_str *out)
{
	struct kr_grounds grounds;
	struct kr_cast cast;
	struct kr_str json;
	struct drawing d = {.r = r, .f = f, .basis = basis, .grounds = &grounds, .cast = &cast, .out = &json};
	enum kr_status status = kr_basis_of(basis, f, &grounds);

	kr_str_init(&json, out->mem);
	kr_cast_init(&cast, out->mem, r->history);
	/* it was told with a class that only more of the history shows; what was noted holds */
	if (status == KR_BAD)
		status = KR_OK;
	if (!status) {
		add_texts(&d);
		draw(&d);
		kr_str_add(&json, "}");
		json.failed |= cast.failed || d.failed;
		kr_page_data(out, "finding", &json);
	}
	for (uint32_t i = 0; i < d.lanes.n; i++)
		kr_vec_done(out->mem, &d.lanes.at[i].ops);
	kr_vec_done(out->mem, &d.lanes);
	kr_cast_done(&cast);
	kr_grounds_done(&grounds);
	return status;
}
