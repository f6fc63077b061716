/* Anomalies to plant in generated histories.
 *
 * A plant is a table of transactions: session, times of begin and end, status, operations as words of three letters: r or w, the key (x, y), the value
 * (a digit; i for the initial one). The first transaction of each pins the initial values, so that a plant says the same when initial values are
 * not told. It is right because its keys are its own: nothing else in the history reads or writes them, so that the dependencies among its
 * transactions are those of the table, and since no other transaction is open meanwhile, no path through the rest of the history leads from a
 * transaction of the plant to another one but along session or real-time order. Version orders tell what reads alone cannot (g0). */
#include "frontend/generate_plant.h"

#include "base/rng.h"

#include <string.h>

#define MOST_TXNS 6
#define STEP INT64_C(10) /* clock units between two events of a table */

struct plant_txn {
	uint8_t session, begin, end;
	char status; /* c or a */
	const char *ops;
};

struct kr_plant {
	const char *name, *title;
	bool needs_times;
	const char *orders;               /* version orders: the key and its writers, oldest first, as places in the table */
	struct plant_txn txns[MOST_TXNS]; /* those without operations are not there */
};

static const struct kr_plant plants[] = {
	{.name = "garbage", .title = "a value that nobody wrote is read", .txns = {{0, 0, 1, 'c', "rxi"}, {1, 2, 4, 'c', "wx1"}, {2, 3, 5, 'c', "rx9"}}},
	{.name = "g1a", .title = "the value of an aborted transaction is read", .txns = {{0, 0, 1, 'c', "rxi"}, {1, 2, 4, 'a', "wx1"}, {2, 3, 5, 'c', "rx1"}}},
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
		.title = "a transaction reads one key before and one key after another transaction (G-single)",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 3, 4, 'c', "wx2 wy2"}, {2, 2, 5, 'c', "rx1 ry2"}}},
	{.name = "write-skew",
		.title = "two transactions read two keys and each writes another one of them",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 4, 'c', "rx1 ry1 wx2"}, {2, 3, 5, 'c', "rx1 ry1 wy2"}}},
	{.name = "long-fork",
		.title = "two readers see two independent writes in opposite orders",
		.txns = {{0, 0, 1, 'c', "rxi ryi wx1 wy1"}, {1, 2, 6, 'c', "wx2"}, {2, 3, 7, 'c', "wy2"}, {3, 4, 8, 'c', "rx2 ry1"},
			{4, 5, 9, 'c', "rx1 ry2"}}},
	{.name = "stale-read-session",
		.title = "a client reads what it has overwritten itself before: violates session order only",
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {0, 2, 3, 'c', "wx2"}, {0, 4, 5, 'c', "rx1"}}},
	{.name = "stale-read-realtime",
		.title = "a read that began later misses a write: violates real-time order only",
		.needs_times = true,
		.txns = {{0, 0, 1, 'c', "rxi wx1"}, {1, 2, 3, 'c', "wx2"}, {2, 4, 5, 'c', "rx1"}}},
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

kr_key kr_generated_key(struct kr_history *h, uint32_t number)
{
	kr_value name = numbered(h, 'k', number);

	return name.i == KR_NONE ? (kr_key){KR_NONE} : kr_history_key(h, name);
}

kr_session kr_generated_session(struct kr_history *h, uint32_t number)
{
	kr_value name = numbered(h, 's', number);

	return name.i == KR_NONE ? (kr_session){KR_NONE} : kr_history_session(h, name);
}

static enum kr_status plant_op(const struct kr_plant_site *site, const char *word)
{
	struct kr_history *h = site->h;
	bool read = word[0] == 'r';
	struct kr_operation op = {.kind = read ? KR_OP_READ : KR_OP_WRITE, .flags = read ? KR_OPF_KNOWN : 0, .scan = KR_NONE};

	op.key = kr_generated_key(h, site->keys + (uint32_t)(word[1] - 'x'));
	op.a = word[2] == 'i' ? site->initial : kr_history_int(h, word[2] - '0');
	if (op.key.i == KR_NONE || op.a.i == KR_NONE || !kr_vec_push(h->mem, &h->ops, op))
		return KR_NOMEM;
	h->keys.at[op.key.i].initial = h->initial == KR_INITIAL_GIVEN ? site->initial : KR_ABSENT;
	return KR_OK;
}

static enum kr_status plant_txn(const struct kr_plant_site *site, const struct plant_txn *t, kr_session session, struct kr_err *err)
{
	struct kr_history *h = site->h;
	struct kr_transaction txn = {.id = {KR_NONE}, .session = session, .status = t->status == 'a' ? KR_ABORTED : KR_COMMITTED};

	for (const char *word = t->ops; word; word = strchr(word, ' ')) {
		enum kr_status status = plant_op(site, word += *word == ' ');
		if (status)
			return status;
	}
	if (site->times) {
		txn.flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
		txn.begin_invoked = *site->clock + t->begin * STEP;
		txn.begin_returned = txn.begin_invoked + 1;
		txn.end_invoked = *site->clock + t->end * STEP;
		txn.end_returned = txn.end_invoked + 1;
	}
	return kr_history_add(h, txn, h->txns.n + 1, err);
}

static enum kr_status plant_orders(const struct kr_plant *plant, const struct kr_plant_site *site, uint32_t first_txn)
{
	struct kr_history *h = site->h;

	for (const char *word = plant->orders; word; word = strchr(word, ' ')) {
		word += *word == ' ';
		struct kr_version_order order = {.key = kr_generated_key(h, site->keys + (uint32_t)(*word - 'x')), .writer_first = h->order_writers.n};
		for (const char *writer = word + 1; *writer && *writer != ' '; writer++, order.writer_count++)
			if (!kr_vec_push(h->mem, &h->order_writers, (kr_txn){first_txn + (uint32_t)(*writer - '0')}))
				return KR_NOMEM;
		if (order.key.i == KR_NONE || !kr_vec_push(h->mem, &h->version_orders, order))
			return KR_NOMEM;
	}
	return KR_OK;
}

enum kr_status kr_plant_add(const struct kr_plant *plant, const struct kr_plant_site *site, struct kr_err *err)
{
	uint32_t first_txn = site->h->txns.n;
	uint32_t start, most = 0;
	int64_t last = 0;

	for (uint32_t i = 0; i < MOST_TXNS && plant->txns[i].ops; i++) {
		most = plant->txns[i].session > most ? plant->txns[i].session : most;
		last = plant->txns[i].end > last ? plant->txns[i].end : last;
	}
	uint32_t names = site->sessions > most ? site->sessions : most + 1;

	start = (uint32_t)kr_rng_below(site->rng, names);
	for (uint32_t i = 0; i < MOST_TXNS && plant->txns[i].ops; i++) {
		kr_session session = kr_generated_session(site->h, (start + plant->txns[i].session) % names);
		enum kr_status status = session.i == KR_NONE ? KR_NOMEM : plant_txn(site, &plant->txns[i], session, err);
		if (status)
			return status;
	}
	*site->clock += (last + 1) * STEP;
	return plant_orders(plant, site, first_txn);
}
