/* A snapshot has of each key the versions that were committed when it was taken. Who writes a key waits until
 * the writer before has committed, so these are the first ones of the key's chain, and the last of them is
 * what is seen: found by bisection. The reader's own number counts as not seen, whatever the snapshot says of
 * it; what it has written itself so far is seen by program order, and not asked here.
 *
 * What a range or scan returned must be those of the versions seen that are there and fulfil the condition,
 * and no others. Where a key was not returned that should have been, its version is named, so that a check
 * finds that, too. Other keys that were not returned are left unnamed: what they were is no question. */
#include "lab/chains.h"

#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "base/rng.h"

uint64_t kl_chains_hash(const char *text)
{
	struct kr_rng mix;
	uint64_t hash = 0;

	for (; *text; text++) {
		kr_rng_init(&mix, hash ^ (unsigned char)*text);
		hash = kr_rng_u64(&mix);
	}
	return hash;
}

bool kl_chains_add(struct kl_chains *c, const char *key, struct kl_version version)
{
	uint64_t hash = kl_chains_hash(key);
	kr_table_iter it = kr_table_find(&c->by_key, hash);
	struct kl_chain new = {.of = {0}};
	uint32_t i;

	while ((i = kr_table_next(&c->by_key, &it)) != KR_NONE)
		if (strcmp(c->all.at[i].key, key) == 0)
			return kr_vec_push(c->mem, &c->all.at[i].of, version);
	(void)snprintf(new.key, sizeof new.key, "%s", key);
	if (!kr_table_reserve(c->mem, &c->by_key) || !kr_vec_push(c->mem, &c->all, new))
		return false;
	kr_table_insert(&c->by_key, hash, c->all.n - 1);
	return kr_vec_push(c->mem, &c->all.at[c->all.n - 1].of, version);
}

static int by_key(const void *data, uint32_t a, uint32_t b)
{
	const struct kl_chains *c = data;

	return strcmp(c->all.at[a].key, c->all.at[b].key);
}

bool kl_chains_sort(struct kl_chains *c)
{
	if (c->all.n == 0)
		return true;
	uint32_t *other = kr_mem_alloc(c->mem, c->all.n, sizeof *other);
	bool fine = other && kr_vec_reserve(c->mem, &c->sorted, c->all.n);

	kr_vec_clear(&c->sorted);
	for (uint32_t i = 0; i < c->all.n && fine; i++)
		c->sorted.at[c->sorted.n++] = i;
	if (fine)
		kr_sort_ids(c->sorted.at, other, c->sorted.n, by_key, c);
	kr_mem_free(c->mem, other, c->all.n, sizeof *other);
	return fine;
}

void kl_chains_done(struct kl_chains *c)
{
	for (uint32_t i = 0; i < c->all.n; i++)
		kr_vec_done(c->mem, &c->all.at[i].of);
	kr_vec_done(c->mem, &c->all);
	kr_vec_done(c->mem, &c->sorted);
	kr_table_done(c->mem, &c->by_key);
}

/* ---- looks ---- */

/* What was asked: keys from `low` to before `high`, to `last`, or that begin with `low`; values. */
struct condition {
	const char *low, *high, *last;
	int64_t ge, lt;
};

static bool covers(const struct condition *c, const char *key)
{
	if (c->last)
		return strcmp(key, c->last) <= 0;
	return c->high ? strcmp(key, c->high) < 0 : strncmp(key, c->low, strlen(c->low)) == 0;
}

static bool returns(const struct condition *c, const struct kl_version *version)
{
	return version && version->present && version->value >= c->ge && version->value < c->lt;
}

static const struct kl_version *seen(const struct kl_looks *l, const struct kl_chain *chain, const char *view)
{
	uint32_t n;

	KR_BISECT(n, 0, chain->of.n, chain->of.at[n].mark != l->own && l->sees(view, chain->of.at[n].mark));
	return n > 0 ? &chain->of.at[n - 1] : NULL;
}

static void look(struct kl_looks *l, const struct condition *c, const struct kl_chain *chain,
	const char *view, const json_t *rows)
{
	const struct kl_version *version = seen(l, chain, view);
	const json_t *value = json_object_get(rows, chain->key);
	bool fits = returns(c, version) ? value && json_integer_value(value) == version->value : !value;

	l->fit += fits;
	l->differ += !fits;
	if (!value && !fits)
		l->name(l->data, chain->key, version);
}

static void look_at_all(struct kl_looks *l, const struct condition *c, const char *view, const json_t *rows)
{
	const struct kl_chains *chains = l->chains;
	uint32_t i;

	KR_BISECT(i, 0, chains->sorted.n, strcmp(chains->all.at[chains->sorted.at[i]].key, c->low) < 0);
	for (; i < chains->sorted.n; i++) {
		const struct kl_chain *chain = &chains->all.at[chains->sorted.at[i]];

		if (!covers(c, chain->key))
			break;
		if (chain->of.at[0].valued && !json_object_get(l->mine, chain->key))
			look(l, c, chain, view, rows);
	}
}

/* What the operation wrote. */
static void take_own(struct kl_looks *l, const char *name, const json_t *op)
{
	const char *key = json_string_value(json_array_get(op, 1));
	json_t *row;
	size_t i;

	if (strcmp(name, "update") == 0)
		json_array_foreach(json_array_get(op, 3), i, row)(void)
			json_object_set_new(l->mine, json_string_value(json_array_get(row, 0)), json_true());
	else if (key &&
		(strcmp(name, "w") == 0 || strcmp(name, "inc") == 0 ||
			(strcmp(name, "d") == 0 && json_is_true(json_array_get(op, 2))) ||
			(strcmp(name, "insert") == 0 && json_is_true(json_array_get(op, 3)))))
		(void)json_object_set_new(l->mine, key, json_true());
}

void kl_looks_take(struct kl_looks *l, json_t *op)
{
	const char *name = json_string_value(json_array_get(op, 0));
	const json_t *attributes = json_array_get(op, json_array_size(op) - 1), *value;
	const char *view = json_string_value(json_object_get(attributes, "sees"));
	bool range = name && strcmp(name, "range") == 0;
	struct condition c = {.ge = INT64_MIN, .lt = INT64_MAX};
	json_t *rows = json_array_get(op, range ? 3 : 2), *by_name = json_object(), *row;
	size_t i;

	if (!view) {
		take_own(l, name ? name : "", op);
		json_decref(by_name);
		return;
	}
	json_array_foreach(rows, i, row)(void)
		json_object_set(by_name, json_string_value(json_array_get(row, 0)), json_array_get(row, 1));
	if (range) {
		c.low = json_string_value(json_array_get(op, 1));
		c.high = json_string_value(json_array_get(op, 2));
		value = json_object_get(attributes, "limit");
		if (value && json_array_size(rows) == (size_t)json_integer_value(value))
			c.last = json_string_value(
				json_array_get(json_array_get(rows, json_array_size(rows) - 1), 0));
	} else {
		c.low = json_string_value(json_object_get(json_array_get(op, 1), "key_prefix"));
		value = json_object_get(json_array_get(op, 1), "value");
		if (json_object_get(value, "ge"))
			c.ge = json_integer_value(json_object_get(value, "ge"));
		if (json_object_get(value, "lt"))
			c.lt = json_integer_value(json_object_get(value, "lt"));
	}
	look_at_all(l, &c, view, by_name);
	json_decref(by_name);
}
