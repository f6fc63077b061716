/* Two passes over the trace. The first one collects what stands for transactions in the database: its own
 * number of each (`own`), places that answers had (`at`), places and versions of its log. The second one
 * rewrites each line. Places need not be unique: who only read at a place comes behind who wrote there, and
 * of these any order will do. */
#define _GNU_SOURCE /* getline */
#include "lab/order.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rng.h"
#include "base/table.h"
#include "base/vec.h"
#include "lab/chains.h"

struct txn {
	char id[24];
	uint64_t own, place;
	int64_t end, serial;
	bool placed, reads_only, committed, aborted;
};

struct order {
	struct kr_mem mem;
	KR_VEC(struct txn) txns; /* in the order of the trace */
	struct kr_table by_own, by_id;
	uint64_t loader;
	struct kl_chains chains;
	bool (*sees)(const char *view, uint64_t mark);
	struct kr_order_told *told;
};

static uint64_t hash_number(uint64_t n)
{
	struct kr_rng mix;

	kr_rng_init(&mix, n);
	return kr_rng_u64(&mix);
}

/* A database that was killed may give a number again whose transaction has left no trace in it: it is that of
 * who took effect. */
static struct txn *by_own(struct order *o, uint64_t own)
{
	kr_table_iter it = kr_table_find(&o->by_own, hash_number(own));
	struct txn *found = NULL;

	for (uint32_t i; own && (i = kr_table_next(&o->by_own, &it)) != KR_NONE;) {
		struct txn *txn = &o->txns.at[i];

		if (txn->own == own && (!found || txn->committed || (found->aborted && !txn->aborted)))
			found = txn;
	}
	return found;
}

static struct txn *by_id(struct order *o, const char *id)
{
	kr_table_iter it = kr_table_find(&o->by_id, kl_chains_hash(id));

	for (uint32_t i; (i = kr_table_next(&o->by_id, &it)) != KR_NONE;)
		if (strcmp(o->txns.at[i].id, id) == 0)
			return &o->txns.at[i];
	return NULL;
}

static bool collect_line(struct order *o, const char *line, size_t length)
{
	json_t *json = json_loadb(line, length, 0, NULL), *at = json_object_get(json, "at");
	const char *id = json_string_value(json_object_get(json, "id")),
		   *status = json_string_value(json_object_get(json, "status"));
	struct txn txn = {.own = (uint64_t)json_integer_value(json_object_get(json, "own"))};
	bool fine =
		id && status && kr_table_reserve(&o->mem, &o->by_own) && kr_table_reserve(&o->mem, &o->by_id);

	if (fine) {
		(void)snprintf(txn.id, sizeof txn.id, "%s", id);
		txn.committed = strcmp(status, "committed") == 0;
		txn.aborted = strcmp(status, "aborted") == 0;
		txn.end = json_integer_value(json_array_get(json_object_get(json, "end"), 1));
		txn.placed = at != NULL;
		txn.place = (uint64_t)json_integer_value(json_array_get(at, 0));
		txn.reads_only = json_integer_value(json_array_get(at, 1)) != 0;
		if (txn.own)
			kr_table_insert(&o->by_own, hash_number(txn.own), o->txns.n);
		kr_table_insert(&o->by_id, kl_chains_hash(txn.id), o->txns.n);
		fine = kr_vec_push(&o->mem, &o->txns, txn);
	}
	json_decref(json);
	return fine;
}

typedef bool each_line(struct order *o, const char *line, size_t length, FILE *out);

/* Each line but the header. */
static bool walk(struct order *o, FILE *in, each_line *each, FILE *out)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	bool fine = true;

	rewind(in);
	for (bool header = true; fine && (n = getline(&line, &size, in)) > 0; header = false)
		fine = header || each(o, line, (size_t)n, out);
	free(line);
	return fine;
}

static bool collect(struct order *o, const char *line, size_t length, FILE *out)
{
	(void)out;
	return collect_line(o, line, length);
}

/* ---- places ---- */

static void collect_places(struct order *o, FILE *sink)
{
	char id[32];
	uint64_t number;
	char *line = NULL;
	size_t size = 0;

	rewind(sink);
	while (getline(&line, &size, sink) > 0) {
		if (sscanf(line, "l %" SCNu64, &number) == 1)
			o->loader = number;
		if (sscanf(line, "p %31s %" SCNu64, id, &number) != 2)
			continue;

		struct txn *txn = by_id(o, id);

		if (!txn) {
			o->told->strangers++;
			continue;
		}
		txn->placed = txn->committed = true; /* whatever its client learned */
		txn->reads_only = false;
		txn->place = number;
	}
	free(line);
}

static int compare(const void *a, const void *b)
{
	const struct txn *x = *(struct txn *const *)a, *y = *(struct txn *const *)b;

	return kr_then(KR_ORDER(x->place, y->place),
		kr_then(KR_ORDER(x->reads_only, y->reads_only), KR_ORDER(x->end, y->end)));
}

static bool number_places(struct order *o)
{
	struct txn **sorted = kr_mem_alloc(&o->mem, o->txns.n, sizeof *sorted);
	uint32_t n = 0;

	if (!sorted)
		return false;
	for (uint32_t i = 0; i < o->txns.n; i++) {
		o->txns.at[i].serial = -1;
		if (o->txns.at[i].placed && o->txns.at[i].committed)
			sorted[n++] = &o->txns.at[i];
	}
	KR_SORT(sorted, n, compare);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i]->serial = i;
		o->told->readers += sorted[i]->reads_only;
	}
	o->told->places = n;
	kr_mem_free(&o->mem, sorted, o->txns.n, sizeof *sorted);
	return true;
}

/* ---- versions ---- */

/* On the way to the attribute `versions` of an operation. */
struct naming {
	struct order *o;
	json_t *versions;
};

/* Who wrote it; NULL: the initial rows. */
static void name_version(struct order *o, json_t *versions, const char *key, const struct txn *writer)
{
	(void)json_object_set_new(versions, key, writer ? json_string(writer->id) : json_null());
	o->told->named++;
}

static void name_seen(void *data, const char *key, const struct kl_version *version)
{
	const struct naming *n = data;
	if (version->txn != KR_NONE || version->mark == n->o->loader)
		name_version(n->o, n->versions, key,
			version->txn == KR_NONE ? NULL : &n->o->txns.at[version->txn]);
}

/* The attribute `marks` of an operation becomes `versions`. One's own versions are no news. What should have
 * been returned has no mark: the snapshot tells (chains.h). */
static void name_versions(struct order *o, json_t *op, struct kl_looks *looks)
{
	json_t *attributes = json_array_get(op, json_array_size(op) - 1),
	       *marks = json_object_get(attributes, "marks");
	struct naming naming = {o, json_object()};

	for (void *at = json_object_iter(marks); at; at = json_object_iter_next(marks, at)) {
		uint64_t mark = (uint64_t)json_integer_value(json_object_iter_value(at));
		const struct txn *writer = by_own(o, mark);

		if (mark == looks->own)
			continue;
		if (mark != o->loader && !writer)
			o->told->strangers++;
		else
			name_version(o, naming.versions, json_object_iter_key(at), writer);
	}
	looks->data = &naming;
	if (looks->sees)
		kl_looks_take(looks, op);
	if (marks)
		(void)json_object_del(attributes, "marks");
	if (json_object_size(naming.versions) > 0)
		(void)json_object_set(attributes, "versions", naming.versions);
	json_decref(naming.versions);
}

static void name_all_versions(struct order *o, json_t *ops, uint64_t own)
{
	struct kl_looks looks = {.chains = &o->chains,
		.sees = o->sees,
		.own = own,
		.mine = json_object(),
		.name = name_seen};

	for (size_t i = 0; i < json_array_size(ops); i++)
		name_versions(o, json_array_get(ops, i), &looks);
	o->told->fit += looks.fit;
	o->told->differ += looks.differ;
	json_decref(looks.mine);
}

static bool rewrite(struct order *o, const char *line, size_t length, FILE *out)
{
	json_t *json = json_loadb(line, length, 0, NULL), *ops = json_object_get(json, "ops");
	const char *id = json_string_value(json_object_get(json, "id"));
	const struct txn *txn = id ? by_id(o, id) : NULL;
	char *text = NULL;

	if (txn) {
		name_all_versions(o, ops, txn->own);
		if (!o->sees) /* else it is what snapshots speak of */
			(void)json_object_del(json, "own");
		(void)json_object_del(json, "at");
		if (txn->serial >= 0)
			(void)json_object_set_new(json, "serial", json_integer(txn->serial));
		text = json_dumps(json, JSON_COMPACT);
	}
	if (text)
		(void)fprintf(out, "%s\n", text);
	free(text);
	json_decref(json);
	return text != NULL;
}

/* The versions that the database told, in one order for all keys. */
static bool collect_versions(struct order *o, FILE *sink)
{
	char key[64], id[32], value[24], *line = NULL;
	uint64_t mark = 0;
	size_t size = 0;
	bool fine = true;

	rewind(sink);
	while (fine && getline(&line, &size, sink) > 0) {
		bool numbered = sscanf(line, "v %63s %" SCNu64 " %23s", key, &mark, value) == 3;

		if (!numbered && sscanf(line, "w %63s %31s", key, id) != 2)
			continue;
		const struct txn *writer = numbered ? by_own(o, mark) : by_id(o, id);
		o->told->strangers += !writer && (!numbered || mark != o->loader);
		fine = kl_chains_add(&o->chains, key,
			(struct kl_version){.mark = numbered ? mark : 0,
				.txn = writer ? (uint32_t)(writer - o->txns.at) : KR_NONE,
				.valued = numbered,
				.present = numbered && strcmp(value, "-") != 0,
				.value = numbered ? strtoll(value, NULL, 10) : 0});
	}
	free(line);
	return fine && kl_chains_sort(&o->chains);
}

/* Of a chain those whose writers are in the trace; who wrote several versions in turn stands there once. */
static void write_chain(const struct order *o, const struct kl_chain *chain, FILE *out)
{
	uint32_t last = KR_NONE;

	for (uint32_t i = 0; i < chain->of.n; i++) {
		uint32_t txn = chain->of.at[i].txn;

		if (txn == KR_NONE || txn == last)
			continue;
		if (last == KR_NONE)
			(void)fprintf(out, "{\"version_order\":\"%s\",\"writers\":[", chain->key);
		(void)fprintf(out, "%s\"%s\"", last == KR_NONE ? "" : ",", o->txns.at[txn].id);
		o->told->versions++;
		last = txn;
	}
	if (last == KR_NONE)
		return;
	(void)fprintf(out, "]}\n");
	o->told->keys++;
}

bool kr_order_apply(FILE *in, FILE *sink, FILE *out, const struct kr_order_asked *asked,
	struct kr_order_told *told)
{
	struct order o = {.told = told, .sees = sink ? asked->sees : NULL};

	*told = (struct kr_order_told){0};
	kr_mem_init(&o.mem, SIZE_MAX);
	o.chains.mem = &o.mem;

	bool fine = walk(&o, in, collect, NULL);

	if (fine && sink)
		collect_places(&o, sink);
	for (uint32_t i = 0; i < o.txns.n; i++)
		o.txns.at[i].serial = -1;
	fine = fine && (!asked->serial || number_places(&o)) && (!sink || collect_versions(&o, sink)) &&
		walk(&o, in, rewrite, out);
	for (uint32_t i = 0; i < o.chains.all.n && fine; i++)
		write_chain(&o, &o.chains.all.at[i], out);
	kl_chains_done(&o.chains);
	kr_vec_done(&o.mem, &o.txns);
	kr_table_done(&o.mem, &o.by_own);
	kr_table_done(&o.mem, &o.by_id);
	return fine;
}
