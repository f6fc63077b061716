/* What came of a schedule. The answers have a serial explanation if some order of the committed transactions,
 * run on a map, gives all of them and the final state: every order is tried, and each transaction of which it
 * is not known whether it committed both ways. Pairs are those of what was executed (coo/executed.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "lab/provoke.h"

/* ---- serial orders ---- */

static bool same(struct kr_shown a, struct kr_shown b) { return a.there == b.there && a.value == b.value; }

static void say_seen(char *out, size_t size, struct kr_shown s)
{
	if (s.there)
		(void)snprintf(out, size, "%" PRId64, s.value);
	else
		(void)snprintf(out, size, "nothing");
}

static bool differs(char difference[120], const char *who, char object, struct kr_shown seen,
	struct kr_shown serial)
{
	char a[24], b[24];

	if (same(seen, serial))
		return false;
	say_seen(a, sizeof a, seen);
	say_seen(b, sizeof b, serial);
	(void)snprintf(difference, 120, "%s %c = %s, and %s in this order", who, object, a, b);
	return true;
}

/* One step on the map; false: its answer is another one. */
static bool replay_step(const struct kr_done *step, struct kr_shown *map, char difference[120])
{
	struct kr_shown *at = step->op.object ? &map[kr_coo_index(step->op.object)] : NULL;
	char who[24], objects[2];
	bool done;

	(void)snprintf(who, sizeof who, "T%d read", step->op.txn);
	switch ((enum kr_coo_kind)step->op.kind) {
	case KR_COO_READ:
	case KR_COO_LOCK_READ: return !differs(difference, who, step->op.object, step->seen[0], *at);
	case KR_COO_QUERY:
	case KR_COO_UPDATE:
		kr_coo_range(step->op.object, objects);
		for (int i = 0; i < KR_SEEN; i++) {
			struct kr_shown *o = &map[kr_coo_index(objects[i])];

			if (step->op.kind == KR_COO_UPDATE && o->there)
				o->value = step->op.value;
			if (differs(difference, who, objects[i], step->seen[i], *o))
				return false;
		}
		return true;
	case KR_COO_WRITE: *at = (struct kr_shown){true, step->op.value}; return true;
	case KR_COO_DELETE:
	case KR_COO_INSERT:
		done = at->there == (step->op.kind == KR_COO_DELETE);
		if (done != step->done)
			(void)snprintf(difference, 120, "T%d %s %c: %s, and %s in this order", step->op.txn,
				step->op.kind == KR_COO_DELETE ? "deletes" : "inserts", step->op.object,
				step->done ? "done" : "not done", done ? "done" : "not done");
		if (done)
			*at = (struct kr_shown){step->op.kind == KR_COO_INSERT, step->op.value};
		if (step->op.kind == KR_COO_DELETE)
			at->value = 0;
		return done == step->done;
	default: return true;
	}
}

struct orders {
	const struct kr_coo_schedule *s;
	const struct kr_attempt *a;
	struct kr_judgement *out;
	uint8_t txns[KR_COO_TXNS];
	uint32_t n;
};

static bool replay(const struct orders *x, char difference[120])
{
	struct kr_shown map[KR_COO_OBJECTS] = {{false, 0}};

	for (char o = 'd'; o <= 'z'; o++) {
		struct kr_shown *at = &map[kr_coo_index(o)];
		at->there = kr_coo_initial(x->s, o, &at->value);
		if (!at->there)
			at->value = 0;
	}
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < x->a->steps_n; k++) {
			const struct kr_done *step = &x->a->steps[k];
			if (step->op.txn == x->txns[i] && step->answered_at_all && step->answer == KL_OK &&
				!replay_step(step, map, difference))
				return false;
		}
	for (uint32_t k = 0; k < x->a->steps_n; k++) {
		char objects[2] = {x->a->steps[k].op.object, x->a->steps[k].op.object};
		if (objects[0] && objects[0] < 'd')
			kr_coo_range(objects[0], objects);
		for (int i = 0; i < 2 && objects[0]; i++)
			if (differs(difference, "in the end", objects[i],
				    x->a->final[kr_coo_index(objects[i])], map[kr_coo_index(objects[i])]))
				return false;
	}
	return true;
}

static void try_order(struct orders *x)
{
	struct kr_serial order = {.difference = ""};
	bool fits = replay(x, order.difference);

	memcpy(order.txns, x->txns, x->n);
	x->out->serial = fits;
	x->out->orders_tried++;
	if (x->out->orders_n < KR_SERIAL_SHOWN || fits)
		x->out->orders[x->out->orders_n < KR_SERIAL_SHOWN ? x->out->orders_n++
								  : KR_SERIAL_SHOWN - 1] = order;
}

/* The next order of x->txns by size. False: that was the last. */
static bool permute(struct orders *x)
{
	uint32_t i = x->n, k = x->n;

	while (i > 1 && x->txns[i - 2] > x->txns[i - 1])
		i--;
	if (i < 2)
		return false;
	while (x->txns[k - 1] < x->txns[i - 2])
		k--;

	uint8_t moved = x->txns[k - 1];

	x->txns[k - 1] = x->txns[i - 2];
	x->txns[i - 2] = moved;
	for (uint32_t low = i - 1, high = x->n - 1; low < high; low++, high--) {
		moved = x->txns[low];
		x->txns[low] = x->txns[high];
		x->txns[high] = moved;
	}
	return true;
}

/* `subset`: a bit for each transaction of unknown outcome, whether it counts. */
static void try_orders(struct orders *x, uint32_t subset)
{
	uint32_t unknown = 0;

	x->n = 0;
	for (uint8_t t = 1; t <= KR_COO_TXNS; t++) {
		const struct kr_lab_part *part = &x->a->parts[t];
		bool open = part->outcome == KR_PART_UNKNOWN && (subset >> unknown++ & 1);

		if (part->outcome == KR_PART_COMMITTED || open)
			x->txns[x->n++] = t;
	}
	do
		try_order(x);
	while (!x->out->serial && permute(x));
}

static void find_serial(const struct kr_coo_schedule *s, const struct kr_attempt *a, struct kr_judgement *out)
{
	struct orders x = {.s = s, .a = a, .out = out};
	uint32_t unknown = 0;

	for (int t = 1; t <= KR_COO_TXNS; t++)
		unknown += a->parts[t].outcome == KR_PART_UNKNOWN;
	for (uint32_t subset = 0; subset < UINT32_C(1) << unknown && !out->serial; subset++)
		try_orders(&x, subset);
}

/* ---- pairs ---- */

struct accesses {
	KR_VEC(struct kr_coo_access) at;
};

static bool counts(const struct kr_done *step)
{
	return step->sent_at_all && step->answered_at_all && step->answer == KL_OK;
}

static bool writes(const struct kr_done *step, char object)
{
	char objects[2];

	switch ((enum kr_coo_kind)step->op.kind) {
	case KR_COO_WRITE: return step->op.object == object;
	case KR_COO_DELETE:
	case KR_COO_INSERT: return step->op.object == object && step->done;
	case KR_COO_UPDATE:
		kr_coo_range(step->op.object, objects);
		return (objects[0] == object && step->seen[0].there) ||
			(objects[1] == object && step->seen[1].there);
	default: return false;
	}
}

/* When its writes take effect. */
static int64_t effect(const struct kr_attempt *a, const struct kr_done *step, bool buffered, bool to)
{
	const struct kr_lab_part *part = &a->parts[step->op.txn];

	if (buffered)
		return part->end[to];
	return to ? step->answered : step->sent;
}

uint32_t kr_versions_find(const struct kr_attempt *a, char object, bool buffered, uint32_t out[KR_STEPS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->steps_n; i++) {
		const struct kr_done *step = &a->steps[i];
		uint32_t at = n;

		if (!counts(step) || !writes(step, object) ||
			(buffered && a->parts[step->op.txn].outcome != KR_PART_COMMITTED))
			continue;
		while (at > 0 &&
			effect(a, &a->steps[out[at - 1]], buffered, true) > effect(a, step, buffered, true)) {
			out[at] = out[at - 1];
			at--;
		}
		out[at] = i;
		n++;
	}
	return n;
}

static struct kr_shown version_seen(const struct kr_coo_schedule *s, const struct kr_attempt *a, char object,
	const uint32_t *versions, uint32_t number)
{
	const struct kr_done *step = number > 0 ? &a->steps[versions[number - 1]] : NULL;
	struct kr_shown seen = {false, 0};

	if (step)
		return step->op.kind == KR_COO_DELETE ? seen : (struct kr_shown){true, step->op.value};
	seen.there = kr_coo_initial(s, object, &seen.value);
	if (!seen.there)
		seen.value = 0;
	return seen;
}

struct pairing {
	struct kr_mem *mem;
	const struct kr_coo_schedule *s;
	const struct kr_attempt *a;
	bool buffered;
	struct accesses all;
};

/* A read of the object. What nobody has written makes no pair, nor do reads of own writes. */
static bool add_read(struct pairing *x, uint32_t place, char object, struct kr_shown seen,
	const uint32_t *versions, uint32_t n)
{
	const struct kr_done *step = &x->a->steps[place];
	struct kr_coo_access access = {.txn = step->op.txn,
		.object = object,
		.from = step->sent,
		.to = step->answered,
		.at = place};
	bool some = false;

	for (uint32_t v = 0; v <= n; v++) {
		if (!same(seen, version_seen(x->s, x->a, object, versions, v)))
			continue;
		if (v > 0 && x->a->steps[versions[v - 1]].op.txn == step->op.txn)
			return true;
		access.least = some ? access.least : v;
		access.most = v;
		some = true;
	}
	return !some || kr_vec_push(x->mem, &x->all.at, access);
}

static bool add_object(struct pairing *x, char object)
{
	uint32_t versions[KR_STEPS], n = kr_versions_find(x->a, object, x->buffered, versions);
	bool good = true;

	for (uint32_t v = 0; v < n && good; v++) {
		const struct kr_done *step = &x->a->steps[versions[v]];
		good = kr_vec_push(x->mem, &x->all.at,
			(struct kr_coo_access){step->op.txn, object, true, v + 1, v + 1,
				effect(x->a, step, x->buffered, false), effect(x->a, step, x->buffered, true),
				versions[v]});
	}
	for (uint32_t i = 0; i < x->a->steps_n && good; i++) {
		const struct kr_done *step = &x->a->steps[i];
		char objects[2] = {step->op.object, step->op.object};
		bool single = step->op.kind == KR_COO_READ || step->op.kind == KR_COO_LOCK_READ;

		if (!counts(step) || (!single && step->op.kind != KR_COO_QUERY))
			continue;
		if (!single)
			kr_coo_range(step->op.object, objects);
		for (int k = 0; k < (single ? 1 : 2) && good; k++)
			if (objects[k] == object)
				good = add_read(x, i, object, step->seen[k], versions, n);
	}
	return good;
}

static enum kr_status find_pops(struct kr_mem *mem, const struct kr_coo_schedule *s,
	const struct kr_attempt *a, bool buffered, struct kr_judgement *out)
{
	static const enum kr_coo_how hows[] = {KR_COO_OPEN, KR_COO_COMMITTED, KR_COO_ABORTED,
		KR_COO_COMMITTED};
	struct pairing x = {.mem = mem, .s = s, .a = a, .buffered = buffered};
	struct kr_coo_fate fates[KR_COO_TXNS + 1];
	bool good = true;

	for (int t = 0; t <= KR_COO_TXNS; t++)
		fates[t] = (struct kr_coo_fate){hows[a->parts[t].outcome], a->parts[t].end[0],
			a->parts[t].end[1]};
	for (char object = 'd'; object <= 'z' && good; object++)
		good = add_object(&x, object);
	enum kr_status status =
		good ? kr_coo_executed(mem, x.all.at.at, x.all.at.n, fates, buffered, &out->pops) : KR_NOMEM;
	kr_vec_done(mem, &x.all.at);
	return status ? status : kr_coo_executed_classify(mem, &out->pops, &out->anomaly, &out->cyclic);
}

/* ---- the letter ---- */

static char letter_of(enum kl_answer answer)
{
	static const char letters[] = {[KL_OK] = 'P',
		[KL_STATEMENT] = 'T',
		[KL_REFUSED] = 'R',
		[KL_DEADLOCK] = 'D',
		[KL_TIMEOUT] = 'T',
		[KL_BUSY] = 'B',
		[KL_GONE] = 'E',
		[KL_BUG] = 'E'};

	return letters[answer];
}

static void add_letters(const struct kr_attempt *a, struct kr_judgement *out)
{
	size_t n = 0;
	int64_t last = INT64_MIN;
	const char *mark = "";

	for (;;) {
		const struct kr_done *next = NULL;

		for (uint32_t i = 0; i < a->steps_n; i++) {
			const struct kr_done *step = &a->steps[i];
			if (step->sent_at_all && step->answer != KL_OK && step->answered > last &&
				(!next || step->answered < next->answered))
				next = step;
		}
		if (!next || n + 4 > sizeof out->letters)
			break;
		last = next->answered;
		n += (size_t)snprintf(out->letters + n, sizeof out->letters - n, "%s%c", n ? "+" : "",
			letter_of((enum kl_answer)next->answer));
	}
	if (n == 0)
		out->letters[n++] = out->serial ? 'P' : 'A';
	if (out->letters[0] != 'A')
		mark = !out->serial ? "*" : out->cyclic ? "w" : "";
	(void)snprintf(out->letters + n, sizeof out->letters - n, "%s", mark);
	(void)snprintf(out->letter, sizeof out->letter, "%c%s", out->letters[0], mark);
}

/* ---- what was executed ---- */

/* When it took effect, for people: what waited did so behind the end that it waited for, even if that was
 * answered later. */
static int64_t place_of(const struct kr_attempt *a, const struct kr_done *step)
{
	int64_t at = step->answered;

	for (uint32_t i = 0; i < a->steps_n && step->blocked; i++) {
		const struct kr_done *other = &a->steps[i];
		if (other->op.txn != step->op.txn && other->op.kind >= KR_COO_COMMIT && counts(other) &&
			other->answered >= step->waited_until && other->sent < step->answered &&
			other->answered > at)
			at = other->answered;
	}
	return at;
}

/* Steps in the order in which they took effect, as far as that can be told: places in a->steps. How many. */
static uint32_t executed_order(const struct kr_attempt *a, uint32_t out[KR_STEPS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->steps_n; i++) {
		const struct kr_done *step = &a->steps[i];
		uint32_t at = n;

		if (!step->sent_at_all || !step->answered_at_all)
			continue;
		while (at > 0 && place_of(a, &a->steps[out[at - 1]]) > place_of(a, step)) {
			out[at] = out[at - 1];
			at--;
		}
		out[at] = i;
		n++;
	}
	return n;
}

static void add_seen(struct kr_str *out, struct kr_shown seen)
{
	if (seen.there)
		kr_str_format(out, "%" PRId64, seen.value);
	else
		kr_str_add(out, "-");
}

static void executed_text(const struct kr_attempt *a, struct kr_str *out)
{
	uint32_t order[KR_STEPS], n = executed_order(a, order);

	for (uint32_t i = 0; i < n; i++) {
		const struct kr_done *step = &a->steps[order[i]];

		kr_str_add(out, i > 0 ? " " : "");
		if (step->answer != KL_OK) { /* with it the transaction was over */
			kr_str_format(out, "A%d", step->op.txn);
			continue;
		}
		kr_coo_print_op(&step->op, out);
		if (step->op.kind == KR_COO_READ || step->op.kind == KR_COO_LOCK_READ)
			add_seen(out, step->seen[0]);
		for (int k = 0; k < KR_SEEN && step->op.kind == KR_COO_QUERY; k++) {
			kr_str_add(out, k ? "," : "(");
			add_seen(out, step->seen[k]);
			kr_str_add(out, k ? ")" : "");
		}
	}
}

/* ---- the judgement ---- */

enum kr_status kr_judge(struct kr_mem *mem, const struct kr_coo_schedule *s, const struct kr_attempt *a,
	bool buffered, struct kr_judgement *out)
{
	static const char *const letters[] = {"?", "X", "", "-", "X"};
	struct kr_str text;

	*out = (struct kr_judgement){.orders_n = 0};
	if (a->progress != KR_FINISHED || a->stuck) {
		(void)snprintf(out->letter, sizeof out->letter, "%s", a->stuck ? "T" : letters[a->progress]);
		(void)snprintf(out->letters, sizeof out->letters, "%s", out->letter);
		return KR_OK;
	}
	find_serial(s, a, out);
	enum kr_status status = find_pops(mem, s, a, buffered, out);
	kr_str_init(&text, mem);
	executed_text(a, &text);
	(void)snprintf(out->executed, sizeof out->executed, "%s", kr_str_text(&text));
	kr_str_done(&text);
	add_letters(a, out);
	return status;
}

void kr_judgement_done(struct kr_mem *mem, struct kr_judgement *j) { kr_vec_done(mem, &j->pops); }

bool kr_attempts_alike(struct kr_mem *mem, const struct kr_attempt *a, const struct kr_attempt *b)
{
	struct kr_str x, y;

	kr_str_init(&x, mem);
	kr_str_init(&y, mem);
	executed_text(a, &x);
	executed_text(b, &y);
	bool alike = strcmp(kr_str_text(&x), kr_str_text(&y)) == 0;
	kr_str_done(&x);
	kr_str_done(&y);
	return alike;
}
