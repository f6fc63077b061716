/* Names of a history, looked up from JSON (names.h). */
#include "verify/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

const char *kr_names_describe(const json_t *json)
{
	static const char *const names[] = {"an object", "an array", "a string", "an integer",
		"a real number", "true", "false", "null"};

	return json ? names[json_typeof(json)] : "nothing";
}

__attribute__((format(printf, 2, 3))) static enum kr_status bad(struct kr_names *n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(n->why, sizeof n->why, format, args);
	va_end(args);
	return KR_BAD;
}

static uint64_t hash_word(uint64_t word, unsigned type) { return kr_hash_pair(word, type); }

static uint64_t hash_real(double value)
{
	uint64_t word;

	value += 0.0; /* -0.0 becomes 0.0 */
	memcpy(&word, &value, sizeof word);
	return hash_word(word, KR_VALUE_REAL);
}

static uint64_t hash_entry(const struct kr_value_entry *e)
{
	if (e->type == KR_VALUE_INT)
		return hash_word((uint64_t)e->integer, KR_VALUE_INT);
	if (e->type == KR_VALUE_REAL)
		return hash_real(e->real);
	if (e->type != KR_VALUE_STRING)
		return hash_word(0, e->type);
	return hash_word(e->length ? kr_hash_bytes(e->text, e->length) : 0, KR_VALUE_STRING);
}

static bool is_name(const json_t *json) { return json_is_string(json) || json_is_number(json); }

static uint64_t hash_json(const json_t *json)
{
	if (json_is_integer(json))
		return hash_word((uint64_t)json_integer_value(json), KR_VALUE_INT);
	if (json_is_real(json))
		return hash_real(json_real_value(json));
	if (json_is_boolean(json))
		return hash_word(0, json_is_true(json) ? KR_VALUE_TRUE : KR_VALUE_FALSE);
	return hash_word(json_string_length(json)
			? kr_hash_bytes(json_string_value(json), json_string_length(json))
			: 0,
		KR_VALUE_STRING);
}

static bool equals(const struct kr_value_entry *e, const json_t *json)
{
	switch (e->type) {
	case KR_VALUE_INT: return json_is_integer(json) && json_integer_value(json) == e->integer;
	case KR_VALUE_REAL: return json_is_real(json) && json_real_value(json) == e->real;
	case KR_VALUE_STRING:
		return json_is_string(json) && json_string_length(json) == e->length &&
			memcmp(json_string_value(json), e->text, e->length) == 0;
	case KR_VALUE_FALSE: return json_is_false(json);
	case KR_VALUE_TRUE: return json_is_true(json);
	default: return false;
	}
}

static kr_value name_at(const struct kr_names *n, bool of_keys, uint32_t i)
{
	return of_keys ? n->h->keys.at[i].name : n->h->txns.at[i].id;
}

static enum kr_status fill_names(struct kr_names *n, bool of_keys)
{
	struct kr_table *table = of_keys ? &n->keys : &n->txns;
	uint32_t count = of_keys ? n->h->keys.n : n->h->txns.n;

	for (uint32_t i = table->n; i < count; i++) {
		if (!kr_table_reserve(n->mem, table))
			return KR_NOMEM;
		kr_table_insert(table, hash_entry(kr_history_value(n->h, name_at(n, of_keys, i))), i);
	}
	return KR_OK;
}

static enum kr_status find_name(struct kr_names *n, bool of_keys, const json_t *json, uint32_t *out)
{
	const struct kr_table *table = of_keys ? &n->keys : &n->txns;
	KR_TRY(fill_names(n, of_keys));

	if (!is_name(json))
		return bad(n, "expected the %s, found %s", of_keys ? "name of a key" : "id of a transaction",
			kr_names_describe(json));
	KR_TABLE_FIND(*out, table, hash_json(json),
		equals(kr_history_value(n->h, name_at(n, of_keys, *out)), json));
	if (*out != KR_NONE)
		return KR_OK;
	if (json_is_string(json))
		return bad(n, "the trace has no %s \"%.80s\"", of_keys ? "key" : "transaction",
			json_string_value(json));
	return bad(n, "the trace has no such %s", of_keys ? "key" : "transaction");
}

static bool is_compound(const struct kr_value_entry *e)
{
	return e->type == KR_VALUE_ARRAY || e->type == KR_VALUE_OBJECT;
}

static enum kr_status fill_values(struct kr_names *n)
{
	for (uint32_t i = 1; i < n->h->values.n && !n->has_values; i++) {
		const struct kr_value_entry *e = &n->h->values.at[i];

		if (is_compound(e))
			continue;
		if (!kr_table_reserve(n->mem, &n->values))
			return KR_NOMEM;
		kr_table_insert(&n->values, hash_entry(e), i);
	}
	n->has_values = true;
	return KR_OK;
}

/* Equality as JSON of a value of the trace that is an array or an object. */
static bool equals_compound(const struct kr_value_entry *e, const json_t *json)
{
	json_t *other = is_compound(e) ? json_loadb(e->text, e->length, JSON_ALLOW_NUL, NULL) : NULL;
	bool equal = other && json_equal(other, json);

	json_decref(other);
	return equal;
}

/* Compound values are few: these are looked for one by one. */
enum kr_status kr_names_value(struct kr_names *n, const json_t *json, kr_value *out)
{
	KR_TRY(fill_values(n));
	bool compound = json_is_array(json) || json_is_object(json);

	for (out->i = 1; compound && out->i < n->h->values.n; out->i++)
		if (equals_compound(&n->h->values.at[out->i], json))
			return KR_OK;
	if (!compound) {
		KR_TABLE_FIND(out->i, &n->values, hash_json(json), equals(&n->h->values.at[out->i], json));
		if (out->i != KR_NONE)
			return KR_OK;
	}
	return bad(n, "the trace has no such value");
}

enum kr_status kr_names_txn(struct kr_names *n, const json_t *json, kr_txn *out)
{
	return find_name(n, false, json, &out->i);
}
enum kr_status kr_names_key(struct kr_names *n, const json_t *json, kr_key *out)
{
	return find_name(n, true, json, &out->i);
}

void kr_names_done(struct kr_names *n)
{
	kr_table_done(n->mem, &n->txns);
	kr_table_done(n->mem, &n->keys);
	kr_table_done(n->mem, &n->values);
}
