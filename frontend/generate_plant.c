/* Anomalies to plant in generated histories.
 *
 * A plant is a table of transactions: session, times of begin and end, status, operations as words: a letter
 * for the operation (`words`), the key (x, y), then values (digits; i: the initial one, -: absent). The first
 * transaction of those on registers pins the initial values, so that a plant says the same when they are not
 * told; others need to know them. It is right because its keys are its own: nothing else in the history reads
 * or writes them, or looks where they are, so that the dependencies among its transactions are those of the
 * table, and since no other transaction is open meanwhile, no path through the rest of the history leads from
 * a transaction of the plant to another one but along session or real-time order. Version orders tell what
 * reads alone cannot (g0). */
#include "frontend/generate_plant.h"

#include "base/rng.h"

#include <string.h>

#define MOST_TXNS 6
#define KEY_LETTER 'z'   /* of the names of plants' keys: none of the others is behind them */
#define STEP INT64_C(10) /* clock units between two events of a table */

struct plant_txn {
	uint8_t session, begin, end;
	char status; /* c or a */
	const char *ops;
};

struct kr_plant {
	const char *name, *title;
	bool needs_times, needs_initial;
	/* version orders: the key and its writers, oldest first, as places in the table */
	const char *orders;
	struct plant_txn txns[MOST_TXNS]; /* those without operations are not there */
};

static const struct kr_plant plants[] = {
	{.name = "garbage",
		.title = "a value that nobody wrote is read",
		.txns = {{0, 0, 1, 'c', "rxi"}, {1, 2, 4, 'c', "wx1"}, {2, 3, 5, 'c', "rx9"}}},
	{.name = "g1a",
		.title = "the value of an aborted transaction is read",
		.txns = {{0, 0, 1, 'c', "rxi"}, {1, 2, 4, 'a', "wx1"}, {2, 3, 5, 'c', "rx1"}}},
	{.name = "g1b",
		.title = "a value is read that its writer overwrote itself",
		.txns = {{0, 0, 1, 'c', "rxi"}, {1, 2, 4, 'c', "wx1 wx2"}, {2, 3, 5, 'c', "rx1"}}},
	{.name = "g1c",
		.title = "two transactions read what the other wrote",
		.txns = {{0, 0, 1, 'c', "rxi ryi"}, {1, 2, 4, 'c', "wx1 ry1"}, {2, 3, 5, 'c', "wy1 rx1"}}},
	{.name = "g0",
		.title = "two transactions overwrite each other, shown by version orders",
		.orders = "x12 y21",
		.txns = {{0, 0, 1, 'c', "rxi ryi"}, {1, 2, 4, 'c', "wx1 wy1"}, {2, 3, 5, 'c', "wx2 wy2"}}},
	{.name = "lost-update",
		.title = "two transactions read one version and both overwrite it",
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {1, 2, 4, 'c', "rx1 wx2"}, {2, 3, 5, 'c', "rx1 wx3"}}},
	{.name = "read-skew",
		.title =
			"a transaction reads one key before and one key after another transaction (G-single)",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 3, 4, 'c', "wx2 wy2"},
			{2, 2, 5, 'c', "rx1 ry2"}}},
	{.name = "write-skew",
		.title = "two transactions read two keys and each writes another one of them",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 4, 'c', "rx1 ry1 wx2"},
			{2, 3, 5, 'c', "rx1 ry1 wy2"}}},
	{.name = "long-fork",
		.title = "two readers see two independent writes in opposite orders",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 6, 'c', "wx2"}, {2, 3, 7, 'c', "wy2"},
			{3, 4, 8, 'c', "rx2 ry1"}, {4, 5, 9, 'c', "rx1 ry2"}}},
	{.name = "stale-read-session",
		.title = "a client reads what it has overwritten itself before: violates session order only",
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {0, 2, 3, 'c', "wx2"}, {0, 4, 5, 'c', "rx1"}}},
	{.name = "stale-read-realtime",
		.title = "a read that began later misses a write: violates real-time order only",
		.needs_times = true,
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {1, 2, 3, 'c', "wx2"}, {2, 4, 5, 'c', "rx1"}}},
	{.name = "double-cas",
		.title = "two compare-and-sets of one key succeed on the same value",
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {1, 2, 4, 'c', "Cx12"}, {2, 3, 5, 'c', "Cx13"}}},
	{.name = "double-insert",
		.title = "two inserts of one key find it absent",
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {1, 2, 3, 'c', "rx1 dx"}, {2, 4, 6, 'c', "Ix2"},
			{3, 5, 7, 'c', "Ix3"}}},
	{.name = "phantom",
		.title = "two transactions find a range empty and each writes a key into it",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 3, 'c', "rx1 ry1 dx dy"},
			{2, 4, 6, 'c', "p Ix2"}, {3, 5, 7, 'c', "p Iy3"}}},
	{.name = "fractured-range",
		.title = "a range shows one of two keys that one transaction wrote",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 3, 'c', "rx1 ry1 dx dy"},
			{2, 4, 6, 'c', "p wx2 wy3"}, {3, 5, 7, 'c', "px2"}}},
	{.name = "own-write-missed",
		.title = "a range misses what its own transaction wrote",
		.txns = {{0, 0, 1, 'c', "dx dy"}, {1, 2, 4, 'c', "wx1"}, {2, 3, 5, 'c', "wy1 p"}}},
	{.name = "lost-increment",
		.title = "two increments of one counter give the same number",
		.needs_initial = true,
		.txns = {{0, 0, 1, 'c', "+x11"}, {1, 2, 4, 'c', "+x12"}, {2, 3, 5, 'c', "+x12"}}},
	{.name = "lost-append",
		.title = "two transactions read the same list and append to it, and one of the elements is "
			 "not there",
		.needs_initial = true,
		.txns = {{0, 0, 1, 'c', "ax1"}, {1, 2, 4, 'c', "lx1 ax2"}, {2, 3, 5, 'c', "lx1 ax3"},
			{3, 6, 7, 'c', "lx13"}}},
	{.name = "duplicate-element",
		.title = "a list shows an element twice",
		.needs_initial = true,
		.txns = {{0, 0, 1, 'c', "ax1"}, {1, 2, 4, 'c', "ax2"}, {2, 3, 5, 'c', "lx122"}}},
	{.name = "incompatible-order",
		.title = "two reads of a list show its elements in different orders",
		.needs_initial = true,
		.txns = {{0, 0, 1, 'c', "ax1"}, {1, 2, 4, 'c', "ax2"}, {2, 3, 5, 'c', "lx12"},
			{3, 6, 7, 'c', "lx21"}}},
	{.name = "forked-set",
		.title = "two reads of a set each miss an element that the other one shows",
		.needs_initial = true,
		.txns = {{0, 0, 1, 'c', "ex1"}, {1, 2, 4, 'c', "ex2"}, {2, 3, 5, 'c', "lx1"},
			{3, 6, 7, 'c', "lx2"}}},
};

const char *kr_generate_anomaly(size_t i, const char **title)
{
	if (i >= KR_COUNT(plants))
		return NULL;
	if (title)
		*title = plants[i].title;
	return plants[i].name;
}

const struct kr_plant *kr_plant_find(const char *name)
{
	for (size_t i = 0; i < KR_COUNT(plants); i++)
		if (strcmp(plants[i].name, name) == 0)
			return &plants[i];
	return NULL;
}

bool kr_plant_needs_times(const struct kr_plant *plant) { return plant->needs_times; }
bool kr_plant_needs_initial(const struct kr_plant *plant) { return plant->needs_initial; }

static kr_value numbered(struct kr_history *h, char letter, uint32_t number)
{
	char text[16];
	size_t at = sizeof text;

	do
		text[--at] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	text[--at] = letter;
	return kr_history_text(h, KR_VALUE_STRING, text + at, sizeof text - at);
}

kr_key kr_generated_key(struct kr_history *h, char letter, uint32_t number)
{
	return kr_history_key(h, numbered(h, letter, number));
}

kr_session kr_generated_session(struct kr_history *h, uint32_t number)
{
	return kr_history_session(h, numbered(h, 's', number));
}

/* ---- words ---- */

static kr_key plant_key(struct kr_history *h, char letter)
{
	return kr_generated_key(h, KEY_LETTER, (uint32_t)(letter - 'x'));
}

static kr_value plant_value(struct kr_history *h, char letter)
{
	if (letter == '-' || (letter == 'i' && h->initial == KR_INITIAL_ABSENT))
		return KR_ABSENT;
	return kr_history_int(h, letter == 'i' ? 0 : letter - '0');
}

/* The digits up to the end of the word, as a list. */
static kr_value plant_list(struct kr_history *h, const char *digits)
{
	char text[16] = "[";
	size_t n = 1;

	for (; *digits && *digits != ' ' && n < sizeof text - 2; digits++) {
		if (n > 1)
			text[n++] = ',';
		text[n++] = *digits;
	}
	text[n++] = ']';
	return kr_history_text(h, KR_VALUE_ARRAY, text, n);
}

/* A range over the plant's keys; pairs of key and value up to the end of the word are its rows. */
static bool plant_range(struct kr_history *h, const char *pairs, struct kr_operation *op)
{
	static const char low[] = {KEY_LETTER}, high[] = {KEY_LETTER, KEY_LETTER};
	struct kr_scan scan = {.limit = -1, .row_first = h->rows.n};

	scan.low = kr_history_text(h, KR_VALUE_STRING, low, sizeof low);
	scan.high = kr_history_text(h, KR_VALUE_STRING, high, sizeof high);
	for (; *pairs && *pairs != ' '; pairs += 2, scan.row_count++) {
		struct kr_row row = {plant_key(h, pairs[0]), plant_value(h, pairs[1])};
		if (row.key.i == KR_NONE || row.value.i == KR_NONE || !kr_vec_push(h->mem, &h->rows, row))
			return false;
	}
	op->scan = h->scans.n;
	return scan.low.i != KR_NONE && scan.high.i != KR_NONE && kr_vec_push(h->mem, &h->scans, scan);
}

static const struct {
	char letter;
	enum kr_op_kind kind;
	uint8_t flags;
	uint8_t values; /* that follow the key; 9: a list */
} words[] = {
	{'r', KR_OP_READ, KR_OPF_KNOWN, 1},
	{'l', KR_OP_READ, KR_OPF_KNOWN, 9},
	{'w', KR_OP_WRITE, 0, 1},
	{'d', KR_OP_DELETE, 0, 0},
	{'I', KR_OP_INSERT, KR_OPF_DONE, 1},
	{'C', KR_OP_CAS, KR_OPF_DONE, 2},
	{'+', KR_OP_INC, KR_OPF_KNOWN, 2},
	{'a', KR_OP_APPEND, 0, 1},
	{'e', KR_OP_ADD, 0, 1},
	{'p', KR_OP_RANGE, 0, 0},
};

static enum kr_status plant_op(const struct kr_plant_site *site, const char *word)
{
	struct kr_history *h = site->h;
	struct kr_operation op = {.key = {KR_NONE}};
	size_t i = 0;

	while (words[i].letter != word[0])
		i++;
	op.kind = words[i].kind;
	op.flags = words[i].flags & 15u;
	if (op.kind == KR_OP_RANGE)
		return plant_range(h, word + 1, &op) && kr_vec_push(h->mem, &h->ops, op) ? KR_OK : KR_NOMEM;
	op.key = plant_key(h, word[1]);
	if (words[i].values > 0)
		op.a = words[i].values == 9 ? plant_list(h, word + 2) : plant_value(h, word[2]);
	if (words[i].values == 2)
		op.b = plant_value(h, word[3]);
	if (op.key.i == KR_NONE || op.a.i == KR_NONE || op.b.i == KR_NONE ||
		!kr_vec_push(h->mem, &h->ops, op))
		return KR_NOMEM;
	return KR_OK;
}

/* Registers of a plant start as all keys do. */
static enum kr_status plant_initial(const struct kr_plant *plant, struct kr_history *h)
{
	kr_value zero = kr_history_int(h, 0);

	if (zero.i == KR_NONE)
		return KR_NOMEM;
	for (char letter = 'x'; letter <= 'y' && h->initial == KR_INITIAL_GIVEN && !plant->needs_initial;
		letter++) {
		kr_key key = plant_key(h, letter);
		if (key.i == KR_NONE)
			return KR_NOMEM;
		h->keys.at[key.i].initial = zero;
	}
	return KR_OK;
}

/* ---- transactions ---- */

static enum kr_status plant_txn(const struct kr_plant_site *site, const struct plant_txn *t,
	kr_session session, struct kr_err *err)
{
	struct kr_history *h = site->h;
	struct kr_transaction txn = {.id = {KR_NONE},
		.session = session,
		.status = t->status == 'a' ? KR_ABORTED : KR_COMMITTED};

	for (const char *word = t->ops; word; word = strchr(word, ' '))
		KR_TRY(plant_op(site, word += *word == ' '));
	if (site->times) {
		txn.flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
		txn.begin_invoked = *site->clock + t->begin * STEP;
		txn.begin_returned = txn.begin_invoked + 1;
		txn.end_invoked = *site->clock + t->end * STEP;
		txn.end_returned = txn.end_invoked + 1;
	}
	return kr_history_add(h, txn, NULL, err);
}

static enum kr_status plant_orders(const struct kr_plant *plant, const struct kr_plant_site *site,
	uint32_t first_txn)
{
	struct kr_history *h = site->h;

	for (const char *word = plant->orders; word; word = strchr(word, ' ')) {
		word += *word == ' ';
		struct kr_version_order order = {.key = plant_key(h, *word),
			.writer_first = h->order_writers.n};
		for (const char *writer = word + 1; *writer && *writer != ' '; writer++, order.writer_count++)
			KR_TRY(kr_vec_add(h->mem, &h->order_writers,
				(kr_txn){first_txn + (uint32_t)(*writer - '0')}));
		if (order.key.i == KR_NONE || !kr_vec_push(h->mem, &h->version_orders, order))
			return KR_NOMEM;
	}
	return KR_OK;
}

enum kr_status kr_plant_add(const struct kr_plant *plant, const struct kr_plant_site *site,
	struct kr_err *err)
{
	uint32_t first_txn = site->h->txns.n;
	uint32_t start, most = 0;
	int64_t last = 0;
	KR_TRY(plant_initial(plant, site->h));

	for (uint32_t i = 0; i < MOST_TXNS && plant->txns[i].ops; i++) {
		most = plant->txns[i].session > most ? plant->txns[i].session : most;
		last = plant->txns[i].end > last ? plant->txns[i].end : last;
	}
	uint32_t names = site->sessions > most ? site->sessions : most + 1;

	start = (uint32_t)kr_rng_below(site->rng, names);
	for (uint32_t i = 0; i < MOST_TXNS && plant->txns[i].ops; i++) {
		kr_session session = kr_generated_session(site->h, (start + plant->txns[i].session) % names);
		KR_TRY(session.i == KR_NONE ? KR_NOMEM : plant_txn(site, &plant->txns[i], session, err));
	}
	*site->clock += (last + 1) * STEP;
	return plant_orders(plant, site, first_txn);
}
