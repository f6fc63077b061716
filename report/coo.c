/* Names of schedules for violations of histories. An edge of a cycle is a pair of operations: which ones is
 * what the edge rests on, whether the first one's transaction was still open at the second one is what times
 * say (coo/executed.h). Where the trace has no times, or clocks differ too much to tell, every possibility is
 * tried; a cycle of which all transactions had ended before the next one acted cannot be. */
#include "report/coo.h"

#include <stdio.h>

#include "frontend/model/operation.h"
#include "report/anomaly.h"

struct span {
	bool known;
	int64_t from, to;
};

static struct span time_of(const struct kr_history *h, kr_op op)
{
	const struct kr_attr *attr = kr_history_attr(h, op);

	if (!attr || !attr->has_time || attr->open)
		return (struct span){false, 0, 0};
	return (struct span){true, attr->invoked, attr->returned};
}

static struct span end_of(const struct kr_history *h, kr_txn t)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];
	bool known = (txn->flags & KR_TXN_HAS_END) && !(txn->flags & KR_TXN_END_OPEN) &&
		txn->status == KR_COMMITTED;

	return (struct span){known, txn->end_invoked, txn->end_returned};
}

/* a ended before b began, whatever clocks differ by. */
static bool certainly_before(const struct kr_history *h, struct span a, struct span b)
{
	return a.known && b.known && b.from > a.to && b.from - a.to > h->clock_skew;
}

/* ---- operations ---- */

/* Sets it: a schedule has no other writes. */
static bool writes(const struct kr_history *h, kr_op op, kr_key k, kr_value *value)
{
	struct kr_write write;
	bool sets = kr_write_of(h, &h->ops.at[op.i], k, &write) && write.how == KR_SET;

	if (sets)
		*value = write.value;
	return sets;
}

/* Does it show this value of the key? */
static bool shows(const struct kr_history *h, kr_op op, kr_key k, kr_value value)
{
	const struct kr_operation *o = &h->ops.at[op.i];

	if (o->kind == KR_OP_READ)
		return o->key.i == k.i && o->flags & KR_OPF_KNOWN && o->a.i == value.i;
	for (uint32_t i = 0;
		(o->kind == KR_OP_RANGE || o->kind == KR_OP_SCAN) && i < h->scans.at[o->scan].row_count;
		i++) {
		const struct kr_row *row = &h->rows.at[h->scans.at[o->scan].row_first + i];
		if (row->key.i == k.i && row->value.i == value.i)
			return true;
	}
	return false;
}

/* The first, or else the last, operation of t that writes k; i KR_NONE: there is none. */
static kr_op write_of(const struct kr_history *h, kr_txn t, kr_key k, bool last)
{
	kr_op found = {KR_NONE};
	kr_value value;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (writes(h, kr_history_op(h, t, i), k, &value) && (last || found.i == KR_NONE))
			found = kr_history_op(h, t, i);
	return found;
}

/* The second operation of an edge: of those that justify it the first one. KR_NONE: not known. */
static kr_op second_of(const struct kr_history *h, const struct kr_cert_edge *e)
{
	kr_value value;

	if (e->kind == KR_RW)
		return write_of(h, e->to, e->key, false);
	kr_op write = write_of(h, e->from, e->key, true);
	if (write.i == KR_NONE)
		return write;
	if (e->kind == KR_WW) {
		/* those of `to` that lie behind it, of which the last does */
		for (uint32_t i = 0; i < h->txns.at[e->to.i].op_count; i++) {
			kr_op op = kr_history_op(h, e->to, i);
			struct span a = time_of(h, op), b = time_of(h, write);
			if (writes(h, op, e->key, &value) && a.known && b.known && a.to > b.to)
				return op;
		}
		return write_of(h, e->to, e->key, true);
	}
	(void)writes(h, write, e->key, &value);
	for (uint32_t i = 0; i < h->txns.at[e->to.i].op_count; i++)
		if (shows(h, kr_history_op(h, e->to, i), e->key, value))
			return kr_history_op(h, e->to, i);
	return e->op == KR_NONE ? (kr_op){KR_NONE} : kr_history_op(h, e->to, e->op);
}

/* ---- cycles ---- */

enum { EDGES = KR_COO_TXNS };

struct naming {
	const struct kr_history *h;
	const struct kr_cert_edge *edges;
	uint32_t n;
	struct span second[EDGES];
	bool bare[EDGES], ended[EDGES]; /* what each edge may be */
	struct kr_coo_named *out;
};

static bool take_edge(struct naming *x, uint32_t i)
{
	const struct kr_cert_edge *e = &x->edges[i];
	kr_op q = e->kind == KR_WR || e->kind == KR_WW || e->kind == KR_RW ? second_of(x->h, e)
									   : (kr_op){KR_NONE};
	struct span end = end_of(x->h, e->from);

	if (q.i == KR_NONE || e->part.i != KR_NONE || x->h->keys.at[e->key.i].kind > KR_KIND_REGISTER)
		return false;
	x->second[i] = time_of(x->h, q);

	bool open = certainly_before(x->h, x->second[i], end),
	     over = certainly_before(x->h, end, x->second[i]);
	bool timed = x->second[i].known && end.known;

	x->out->certain = x->out->certain && (open || over);
	x->bare[i] = open || !timed || (e->kind == KR_RW && !over);
	x->ended[i] = over || !timed || (e->kind != KR_RW && !open);
	return true;
}

static enum kr_pop_kind kind_of(const struct kr_cert_edge *e, bool ended)
{
	enum kr_pop_kind bare = e->kind == KR_WR ? KR_POP_WR : e->kind == KR_WW ? KR_POP_WW : KR_POP_RW;

	return ended ? bare + KR_POP_WCR : bare;
}

static void note(struct naming *x, const struct kr_pop *const *cycle)
{
	uint8_t number = kr_coo_number(cycle, x->n, &x->out->class, &x->out->size);

	if (number == 0 || x->out->may[number])
		return;
	x->out->may[number] = true;
	x->out->number = number;
	x->out->count++;
}

/* `ended`: a bit for each edge. */
static void try_kinds(struct naming *x, uint32_t ended)
{
	struct kr_pop pops[EDGES];
	const struct kr_pop *cycle[EDGES], *turned[2];

	for (uint32_t i = 0; i < x->n; i++) {
		const struct kr_cert_edge *e = &x->edges[i];
		bool is_ended = ended >> i & 1;
		if (!(is_ended ? x->ended[i] : x->bare[i]))
			return;
		pops[i] = (struct kr_pop){.kind = (uint8_t)kind_of(e, is_ended),
			.object = e->key.i == x->edges[0].key.i ? 'x' : 'y'};
		cycle[i] = &pops[i];
	}
	turned[0] = cycle[1];
	turned[1] = cycle[0];
	if (x->n > 2) {
		note(x, cycle);
		return;
	}
	bool timed = x->second[0].known && x->second[1].known;
	if (!timed || x->second[1].to >= x->second[0].to)
		note(x, cycle);
	if (!timed || x->second[0].to >= x->second[1].to)
		note(x, turned);
}

static void name_cycle(const struct kr_history *h, const struct kr_cert_edge *edges, uint32_t n,
	struct kr_coo_named *out)
{
	struct naming x = {.h = h, .edges = edges, .n = n, .out = out};
	bool good = n >= 2 && n <= EDGES;

	out->certain = true;
	for (uint32_t i = 0; i < n && good; i++)
		good = take_edge(&x, i);
	/* not all had ended: each before the next one acted */
	for (uint32_t ended = 0; good && ended + 1 < UINT32_C(1) << n; ended++)
		try_kinds(&x, ended);
	if (n == 2 && good)
		out->certain = out->certain &&
			(certainly_before(h, x.second[0], x.second[1]) ||
				certainly_before(h, x.second[1], x.second[0]));
}

/* ---- single operations ---- */

/* Who wrote the value that the read shows, and with what; KR_NONE: nobody but t. */
static kr_op writer_of(const struct kr_history *h, kr_txn t, kr_op read, kr_key k, kr_txn *writer)
{
	kr_value value;

	for (uint32_t i = 0; i < h->txns.n; i++)
		for (uint32_t o = 0; i != t.i && o < h->txns.at[i].op_count; o++) {
			kr_op op = kr_history_op(h, (kr_txn){i}, o);
			*writer = (kr_txn){i};
			if (writes(h, op, k, &value) && shows(h, read, k, value))
				return op;
		}
	return (kr_op){KR_NONE};
}

static void set_one(struct kr_coo_named *out, uint8_t number, bool may)
{
	if (!may || out->may[number])
		return;
	out->may[number] = true;
	out->number = number;
	out->count++;
}

/* One of two numbers: by whether a transaction had ended before an operation. */
static void set_by_end(const struct kr_history *h, struct span end, struct span op, uint8_t open,
	uint8_t ended, struct kr_coo_named *out)
{
	bool over = certainly_before(h, end, op), timed = end.known && op.known;

	set_one(out, open, !over);
	set_one(out, ended, over || !timed);
	out->certain = over || certainly_before(h, op, end);
}

static void name_operation(const struct kr_history *h, const struct kr_certificate *cert,
	struct kr_coo_named *out)
{
	kr_txn t = cert->anomaly.txn, writer = {KR_NONE};
	kr_op read = kr_history_op(h, t, cert->anomaly.op),
	      write = writer_of(h, t, read, cert->anomaly.key, &writer), next;

	out->class = KR_COO_RAT;
	out->size = KR_COO_SDA;
	if (write.i == KR_NONE)
		return;
	switch (cert->anomaly.kind) {
	case KR_ABORTED_READ:
		set_one(out, 1, true);
		out->certain = true;
		break;
	case KR_INTERMEDIATE_READ:
		next = write_of(h, writer, cert->anomaly.key, true);
		set_by_end(h, end_of(h, t), time_of(h, next), 3, 4, out);
		break;
	case KR_INTERNAL_INCONSISTENCY:
		set_by_end(h, end_of(h, writer), time_of(h, read), 5, 19, out);
		out->class = out->may[5] ? KR_COO_RAT : KR_COO_WAT;
		break;
	default: break;
	}
}

/* Of one operation without explanation, or of one cycle of wr, ww and rw; of other violations count is 0. */
static void name_violation(const struct kr_history *h, const struct kr_certificate *cert,
	struct kr_coo_named *out)
{
	*out = (struct kr_coo_named){.count = 0};
	if (cert->kind == KR_CERT_ANOMALY)
		name_operation(h, cert, out);
	else if (cert->kind == KR_CERT_CYCLES && cert->cycles.n == 1 && kr_anomaly_torn(cert) == KR_TORN_NOT)
		name_cycle(h, cert->edges.at + cert->cycles.at[0].first, cert->cycles.at[0].count, out);
}

/* ---- telling ---- */

static bool name_report(const struct kr_report *r, struct kr_coo_named *out)
{
	if (kr_report_outcome(r) != KR_VIOLATED)
		return false;
	name_violation(r->history, &r->verdict->certificate, out);
	return out->count > 0;
}

void kr_coo_json(const struct kr_report *r, const char *before, struct kr_str *out)
{
	struct kr_coo_named named;
	const char *comma = "";

	if (!name_report(r, &named))
		return;
	kr_str_format(out, "%s\"coo\": {", before);
	if (named.count == 1) {
		kr_str_format(out, "\"number\": %d, ", named.number);
		kr_str_member(out, "name", kr_coo_name(named.number));
		kr_str_member(out, "class", kr_coo_class_name(named.class));
		kr_str_add(out, ", ");
	} else {
		kr_str_add(out, "\"one_of\": [");
		for (int i = 1; i < KR_COO_NUMBERS; i++)
			if (named.may[i]) {
				kr_str_format(out, "%s%d", comma, i);
				comma = ", ";
			}
		kr_str_add(out, "], ");
	}
	kr_str_member(out, "size", kr_coo_size_name(named.size));
	kr_str_format(out, ", \"certain\": %s}", named.count == 1 && named.certain ? "true" : "false");
}

void kr_coo_explain(const struct kr_report *r, struct kr_str *out)
{
	struct kr_coo_named named;

	if (name_report(r, &named) && named.count == 1)
		kr_str_format(out, "As a schedule this is %d %s (%s, %s)%s.\n", named.number,
			kr_coo_name(named.number), kr_coo_class_name(named.class),
			kr_coo_size_name(named.size), named.certain ? "" : ", by times that overlap");
}
