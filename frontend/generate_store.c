/* The store that generated histories come from: versions of keys, and what a client sees of them.
 *
 * What a key holds and how it changes is the model's (frontend/model/); versions of a list or set share
 * their elements. What a transaction adds (increments, appended and added elements) is applied when it
 * commits to the newest version; once it was shown a key on top of its additions it stays with the version
 * below, and a counter with the number shown. A key is seen in O(log versions), a list or set in time of
 * its text; committing takes time of what was written. */
#include "frontend/generate_sim.h"

#include "base/hash.h"
#include "base/order.h"
#include "frontend/generate_plant.h"

#define FIELDS_EVERY 4 /* of registers, one in so many holds objects where conditions are drawn */

/* ---- keys ---- */

/* The number after x among 0 .. last in the order of decimal texts. */
static uint32_t next_by_text(uint32_t x, uint32_t last)
{
	if (x != 0 && (uint64_t)x * 10 <= last)
		return x * 10;
	while (x % 10 == 9 || x == last)
		x /= 10;
	return x + 1;
}

static char letter_of(uint8_t kind)
{
	static const char letters[] = {[KR_KIND_REGISTER] = 'k',
		[KR_KIND_COUNTER] = 'c',
		[KR_KIND_LIST] = 'l',
		[KR_KIND_SET] = 's',
		[KR_KIND_MARK] = 'm'};

	return letters[kind];
}

static void order_names(struct kr_sim *s)
{
	static const uint8_t by_letter[] = {KR_KIND_COUNTER, KR_KIND_REGISTER, KR_KIND_LIST, KR_KIND_MARK,
		KR_KIND_SET};
	uint32_t n = s->options->keys, place = 0;

	for (size_t i = 0; i < KR_COUNT(by_letter); i++) {
		for (uint32_t done = 0, k = 0; done < n; k = ++done < n ? next_by_text(k, n - 1) : 0) {
			if (s->keys[k].kind != by_letter[i])
				continue;
			s->keys[k].place = place;
			s->by_name[place++] = (kr_key){k};
		}
	}
}

static enum kr_status start_key(struct kr_sim *s, uint32_t k)
{
	struct kr_sim_key *key = &s->keys[k];
	struct kr_mem *mem = &s->ctx->mem;
	bool absent = s->options->initial == KR_INITIAL_ABSENT, grows;
	struct kr_sim_version first = {0, {.present = !absent}};
	kr_value zero = kr_history_int(s->h, 0), initial = KR_ABSENT;

	key->kind = s->kinds[k % s->kind_count];
	key->fields = key->kind == KR_KIND_REGISTER && (s->options->scans > 0 || s->options->updates > 0) &&
		k / s->kind_count % FIELDS_EVERY == FIELDS_EVERY - 1;
	key->type = kr_datatype_of(
		key->kind == KR_KIND_SET && s->options->values == 0 ? KR_KIND_LIST : key->kind);
	grows = key->type->shown == KR_VALUE_ARRAY;
	if (kr_generated_key(s->h, letter_of(key->kind), k).i == KR_NONE || zero.i == KR_NONE)
		return KR_NOMEM;
	if (!absent)
		initial = grows ? kr_history_text(s->h, KR_VALUE_ARRAY, "[0]", 3) : zero;
	if (initial.i == KR_NONE ||
		(grows && !absent && !kr_items_add(&s->items, &first.state.items, (kr_item){zero.i})))
		return KR_NOMEM;
	first.state.value = initial;
	s->h->keys.at[k].initial = s->options->initial == KR_INITIAL_GIVEN ? initial : KR_ABSENT;
	return kr_vec_add(mem, &key->versions, first);
}

static void pick_kinds(struct kr_sim *s)
{
	const struct kr_generate_options *o = s->options;
	uint32_t named =
		o->reads + o->deletes + o->incs + o->appends + o->adds + o->maxes + o->ranges + o->scans;

	if (o->incs > 0)
		s->kinds[s->kind_count++] = KR_KIND_COUNTER;
	if (o->appends > 0)
		s->kinds[s->kind_count++] = KR_KIND_LIST;
	if (o->adds > 0)
		s->kinds[s->kind_count++] = KR_KIND_SET;
	if (o->maxes > 0)
		s->kinds[s->kind_count++] = KR_KIND_MARK;
	if (named < 100 || s->kind_count == 0)
		s->kinds[s->kind_count++] = KR_KIND_REGISTER;
}

enum kr_status kr_sim_prepare_keys(struct kr_sim *s, struct kr_err *err)
{
	const struct kr_generate_options *o = s->options;

	kr_arena_init(&s->items, &s->ctx->mem);
	pick_kinds(s);
	if (o->keys < s->kind_count)
		return kr_err_set(err, KR_BAD, "%u keys, expected one at least for each of the %u kinds used",
			o->keys, s->kind_count);
	KR_TRY(kr_mem_new(&s->ctx->mem, s->keys, o->keys));
	KR_TRY(kr_mem_new(&s->ctx->mem, s->by_name, o->keys));
	for (uint32_t k = 0; k < o->keys; k++) {
		KR_TRY(start_key(s, k));
		KR_TRY(kr_ctx_tick(s->ctx));
	}
	order_names(s);
	return KR_OK;
}

void kr_sim_keys_done(struct kr_sim *s)
{
	struct kr_mem *mem = &s->ctx->mem;

	for (uint32_t k = 0; s->keys && k < s->options->keys; k++)
		kr_vec_done(mem, &s->keys[k].versions);
	kr_arena_done(&s->items);
	kr_mem_free(mem, s->keys, s->options->keys, sizeof *s->keys);
	kr_mem_free(mem, s->by_name, s->options->keys, sizeof *s->by_name);
}

/* ---- what a client sees ---- */

struct kr_sim_touch *kr_sim_touch(struct kr_sim *s, struct kr_sim_client *c, kr_key key)
{
	const struct kr_sim_touch fresh = {.key = key, .seen = KR_NONE, .base = KR_NONE};
	uint64_t hash = kr_hash_u64(key.i);
	uint32_t id;

	KR_TABLE_FIND(id, &c->index, hash, c->touches.at[id].key.i == key.i);
	if (id != KR_NONE)
		return &c->touches.at[id];
	return kr_table_push(&s->ctx->mem, &c->index, hash, &c->touches, fresh)
		? &c->touches.at[c->touches.n - 1]
		: NULL;
}

/* Place of the version of the key that the client sees. */
static uint32_t visible(const struct kr_sim *s, const struct kr_sim_client *c, kr_key key)
{
	const struct kr_sim_version *versions = s->keys[key.i].versions.at;
	uint32_t n = s->keys[key.i].versions.n, behind = n;

	if (s->options->store == KR_STORE_SNAPSHOT)
		KR_BISECT(behind, 1, n, versions[behind].commit <= c->snapshot);
	return behind - 1;
}

/* The state that shows through, below the client's own additions. */
static struct kr_state look(const struct kr_sim *s, const struct kr_sim_client *c, struct kr_sim_touch *t)
{
	bool adds = t->own.how == KR_ADD;
	uint32_t place = adds && t->base != KR_NONE ? t->base : visible(s, c, t->key);

	if (t->seen == KR_NONE)
		t->seen = place;
	if (adds)
		t->base = place;
	return s->keys[t->key.i].versions.at[place].state;
}

static void put_element(struct kr_sim *s, kr_item item)
{
	kr_str_add(&s->text, s->text.n > 1 ? "," : "");
	kr_history_json_value(s->h, (kr_value){item.i}, &s->text);
}

/* Of a set the elements below its own come in any order. */
static enum kr_status show_items(struct kr_sim *s, const struct kr_sim_touch *t, const struct kr_items *items,
	uint32_t below, kr_value *out)
{
	uint32_t start = s->keys[t->key.i].kind == KR_KIND_SET && below > 0
		? (uint32_t)kr_rng_below(&s->rng, below)
		: 0;

	s->text.n = 0;
	kr_str_add(&s->text, "[");
	for (uint32_t i = 0; i < items->n; i++)
		put_element(s, items->at[i < below ? (start + i) % below : i]);
	if (s->text.n == 1 && kr_rng_below(&s->rng, 2) == 0) { /* absent and empty are the same */
		*out = KR_ABSENT;
		return KR_OK;
	}
	kr_str_add(&s->text, "]");
	if (s->text.failed)
		return KR_NOMEM;
	*out = kr_history_text(s->h, KR_VALUE_ARRAY, s->text.at, s->text.n);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status see(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_arena *tmp, kr_value *out)
{
	const struct kr_datatype *type = s->keys[t->key.i].type;
	struct kr_state state = t->own.how == KR_SET ? (struct kr_state){.present = false} : look(s, c, t);
	uint32_t below = state.items.n;

	state.items.grows = false; /* the version's room is its successor's */
	KR_TRY(kr_apply(type, tmp, &state, &t->own));
	if (type->shown == KR_VALUE_ARRAY)
		return show_items(s, t, &state.items, below, out);
	if (t->own.how == KR_ADD && !type->parts) /* the number shown is what it leaves */
		t->own = (struct kr_effect){KR_SET, state};
	*out = type->shown == KR_VALUE_INT && state.present ? kr_history_int(s->h, state.number)
							    : state.value;
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_sim_see(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value *out)
{
	struct kr_arena tmp;

	kr_arena_init(&tmp, &s->ctx->mem);
	enum kr_status status = see(s, c, t, &tmp, out);
	kr_arena_done(&tmp);
	return status;
}

/* ---- what it writes ---- */

void kr_sim_put(struct kr_sim_touch *t, kr_value value)
{
	t->own = (struct kr_effect){KR_SET, {.present = value.i != KR_ABSENT.i, .value = value}};
}

enum kr_status kr_sim_grow(struct kr_sim *s, struct kr_sim_touch *t, kr_value more)
{
	const struct kr_datatype *type = s->keys[t->key.i].type;
	struct kr_write write = {t->key, KR_ADD, {more}, KR_UNTOLD};
	struct kr_effect addition = kr_told_addition(s->h, type, &write);

	return kr_compose(type, &s->items, &t->own, &addition);
}

/* ---- commit ---- */

bool kr_sim_may_commit(const struct kr_sim *s, const struct kr_sim_client *c)
{
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct kr_sim_touch *t = &c->touches.at[i];
		const struct kr_sim_key *key = &s->keys[t->key.i];
		uint32_t newest = key->versions.n - 1;
		bool stale = (t->seen != KR_NONE && t->seen != newest) ||
			(t->base != KR_NONE && t->base != newest);
		if (s->options->store == KR_STORE_SERIALIZABLE && stale)
			return false;
		if (s->options->store == KR_STORE_SNAPSHOT && t->own.how != KR_KEEP &&
			key->versions.at[newest].commit > c->snapshot)
			return false;
	}
	return true;
}

enum kr_status kr_sim_install(struct kr_sim *s, const struct kr_sim_client *c)
{
	s->commits++;
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct kr_sim_touch *t = &c->touches.at[i];
		struct kr_sim_key *key = &s->keys[t->key.i];
		struct kr_sim_version new = {s->commits, key->versions.at[key->versions.n - 1].state};
		KR_TRY(kr_apply(key->type, &s->items, &new.state, &t->own));
		if (t->own.how != KR_KEEP && !kr_vec_push(&s->ctx->mem, &key->versions, new))
			return KR_NOMEM;
	}
	return KR_OK;
}
