/* Two passes over the trace. The first one collects what stands for transactions in the database: its own
 * number of each (`own`), places that answers had (`at`), places of its log. The second one rewrites each
 * line. Places need not be unique: who only read at a place comes behind who wrote there, and of these any
 * order will do. */
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
	struct kr_order_told *told;
};

static uint64_t hash_number(uint64_t n)
{
	struct kr_rng mix;

	kr_rng_init(&mix, n);
	return kr_rng_u64(&mix);
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash_number(hash ^ (unsigned char)*text);
	return hash;
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
	kr_table_iter it = kr_table_find(&o->by_id, hash_text(id));

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
		kr_table_insert(&o->by_id, hash_text(txn.id), o->txns.n);
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

/* The attribute `marks` of an operation becomes `versions`. One's own versions are no news. */
static void name_versions(struct order *o, json_t *op, uint64_t own)
{
	json_t *attributes = json_array_get(op, json_array_size(op) - 1),
	       *marks = json_object_get(attributes, "marks"), *versions = json_object();

	for (void *at = json_object_iter(marks); at; at = json_object_iter_next(marks, at)) {
		uint64_t mark = (uint64_t)json_integer_value(json_object_iter_value(at));
		const struct txn *writer = by_own(o, mark);

		if (mark == own)
			continue;
		if (mark != o->loader && !writer) {
			o->told->strangers++;
			continue;
		}
		(void)json_object_set_new(versions, json_object_iter_key(at),
			writer ? json_string(writer->id) : json_null());
		o->told->named++;
	}
	if (marks)
		(void)json_object_del(attributes, "marks");
	if (json_object_size(versions) > 0)
		(void)json_object_set(attributes, "versions", versions);
	json_decref(versions);
}

static bool rewrite(struct order *o, const char *line, size_t length, FILE *out)
{
	json_t *json = json_loadb(line, length, 0, NULL), *ops = json_object_get(json, "ops");
	const char *id = json_string_value(json_object_get(json, "id"));
	const struct txn *txn = id ? by_id(o, id) : NULL;
	char *text = NULL;

	if (txn) {
		for (size_t i = 0; i < json_array_size(ops); i++)
			name_versions(o, json_array_get(ops, i), txn->own);
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

struct chain {
	char key[64];
	uint32_t first, last;
};
struct link {
	uint32_t txn, next;
};

/* Versions come in one order for all keys; a line is written for each key. */
struct chains {
	KR_VEC(struct chain) all;
	KR_VEC(struct link) links;
	struct kr_table by_key;
};

static struct chain *chain_of(struct order *o, struct chains *c, const char *key)
{
	uint64_t hash = hash_text(key);
	kr_table_iter it = kr_table_find(&c->by_key, hash);
	struct chain new = {.first = KR_NONE, .last = KR_NONE};

	for (uint32_t i; (i = kr_table_next(&c->by_key, &it)) != KR_NONE;)
		if (strcmp(c->all.at[i].key, key) == 0)
			return &c->all.at[i];
	(void)snprintf(new.key, sizeof new.key, "%s", key);
	if (!kr_table_reserve(&o->mem, &c->by_key) || !kr_vec_push(&o->mem, &c->all, new))
		return NULL;
	kr_table_insert(&c->by_key, hash, c->all.n - 1);
	return &c->all.at[c->all.n - 1];
}

static bool add_version(struct order *o, struct chains *c, const char *key, const struct txn *writer)
{
	struct chain *chain = chain_of(o, c, key);
	if (!chain)
		return false;

	uint32_t txn = (uint32_t)(writer - o->txns.at);

	if (chain->last != KR_NONE && c->links.at[chain->last].txn == txn)
		return true; /* it wrote the key twice */
	if (!kr_vec_push(&o->mem, &c->links, (struct link){txn, KR_NONE}))
		return false;
	if (chain->last == KR_NONE)
		chain->first = c->links.n - 1;
	else
		c->links.at[chain->last].next = c->links.n - 1;
	chain->last = c->links.n - 1;
	o->told->versions++;
	return true;
}

static void write_chains(const struct order *o, const struct chains *c, FILE *out)
{
	for (uint32_t i = 0; i < c->all.n; i++) {
		(void)fprintf(out, "{\"version_order\":\"%s\",\"writers\":[", c->all.at[i].key);
		for (uint32_t l = c->all.at[i].first; l != KR_NONE; l = c->links.at[l].next)
			(void)fprintf(out, "\"%s\"%s", o->txns.at[c->links.at[l].txn].id,
				c->links.at[l].next == KR_NONE ? "" : ",");
		(void)fprintf(out, "]}\n");
	}
	o->told->keys = c->all.n;
}

static bool write_orders(struct order *o, FILE *sink, FILE *out)
{
	struct chains chains = {0};
	char key[64], id[32], *line = NULL;
	uint64_t mark = 0;
	size_t size = 0;
	bool fine = true;

	rewind(sink);
	while (fine && getline(&line, &size, sink) > 0) {
		bool numbered = sscanf(line, "v %63s %" SCNu64, key, &mark) == 2;

		if (!numbered && sscanf(line, "w %63s %31s", key, id) != 2)
			continue;
		const struct txn *writer = numbered ? by_own(o, mark) : by_id(o, id);
		if (writer)
			fine = add_version(o, &chains, key, writer);
		else
			o->told->strangers += !numbered || mark != o->loader;
	}
	free(line);
	if (fine)
		write_chains(o, &chains, out);
	kr_vec_done(&o->mem, &chains.all);
	kr_vec_done(&o->mem, &chains.links);
	kr_table_done(&o->mem, &chains.by_key);
	return fine;
}

bool kr_order_apply(FILE *in, FILE *sink, FILE *out, bool serial, struct kr_order_told *told)
{
	struct order o = {.told = told};

	*told = (struct kr_order_told){0};
	kr_mem_init(&o.mem, SIZE_MAX);

	bool fine = walk(&o, in, collect, NULL);

	if (fine && sink)
		collect_places(&o, sink);
	for (uint32_t i = 0; i < o.txns.n; i++)
		o.txns.at[i].serial = -1;
	fine = fine && (!serial || number_places(&o)) && walk(&o, in, rewrite, out) &&
		(!sink || write_orders(&o, sink, out));
	kr_vec_done(&o.mem, &o.txns);
	kr_table_done(&o.mem, &o.by_own);
	kr_table_done(&o.mem, &o.by_id);
	return fine;
}
