/* Profiles as JSON: the fields of struct kr_profile as a table, by which they are written and read. A file is
 * one object; `reads` and `locks` must stand in it, other fields default to what claims least. */
#include "mechanisms/profile.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SEES WORDS("snapshot", "latest")
#define MODES WORDS("none", "S", "X")
#define AT(field) offsetof(struct kr_profile, field)

const struct kr_profile_field kr_profile_fields[] = {
	{"reads", KR_PROFILE_WORD, AT(reads), WORDS("statement", "transaction", "latest", "uncommitted"),
		NULL, NULL},
	{"auto_snapshot", KR_PROFILE_BOOL, AT(auto_snapshot), NULL, NULL, NULL},
	{"snapshot_at", KR_PROFILE_WORD, AT(snapshot_at),
		WORDS("none", "statement", "plain-read", "begin", "commit"), "none", NULL},
	{"locking_reads", KR_PROFILE_WORD, AT(locking_reads), SEES, "latest", NULL},
	{"dml_reads", KR_PROFILE_WORD, AT(dml_reads), SEES, "latest", NULL},
	{"read", KR_PROFILE_WORD, AT(locks.read), MODES, NULL, "locks"},
	{"share", KR_PROFILE_WORD, AT(locks.share), MODES, NULL, "locks"},
	{"update", KR_PROFILE_WORD, AT(locks.update), MODES, NULL, "locks"},
	{"write", KR_PROFILE_WORD, AT(locks.write), MODES, NULL, "locks"},
	{"lock_scope", KR_PROFILE_WORD, AT(lock_scope), WORDS("row", "table", "database"), "row", NULL},
	{"range_locks", KR_PROFILE_WORD, AT(range_locks), WORDS("none", "locking", "all"), "none", NULL},
	{"fuw", KR_PROFILE_BOOL, AT(fuw), NULL, NULL, NULL},
	{"fuw_new_row", KR_PROFILE_WORD, AT(fuw_new_row), WORDS("exempt", "checked"), "exempt", NULL},
	{"insert_certified", KR_PROFILE_BOOL, AT(insert_certified), NULL, NULL, NULL},
	{"noop", KR_PROFILE_WORD, AT(noop), WORDS("version", "none"), "none", NULL},
	{"follows_rows", KR_PROFILE_BOOL, AT(follows_rows), NULL, NULL, NULL},
	{"own_row", KR_PROFILE_WORD, AT(own_row), SEES, "snapshot", NULL},
	{"dup_rows", KR_PROFILE_WORD, AT(dup_rows), WORDS("report", "own"), "own", NULL},
	{"validate", KR_PROFILE_BOOL, AT(validate), NULL, NULL, NULL},
	{"clock", KR_PROFILE_WORD, AT(clock), WORDS("client", "timestamps"), "client", NULL},
	{NULL, KR_PROFILE_TEXT, 0, NULL, NULL, NULL},
};

/* ---- writing ---- */

static const char *word_of(const struct kr_profile *profile, const struct kr_profile_field *f)
{
	unsigned value;

	memcpy(&value, (const char *)profile + f->offset, sizeof value);
	return f->words[value];
}

static bool bool_of(const struct kr_profile *profile, const struct kr_profile_field *f)
{
	return *(const bool *)(const void *)((const char *)profile + f->offset);
}

void kr_profile_json(const struct kr_profile *profile, struct kr_str *out)
{
	const char *group = NULL;

	for (const struct kr_profile_field *f = kr_profile_fields; f->name; f++) {
		if (group && !f->group)
			kr_str_add(out, "}");
		if (f->group && !group)
			kr_str_format(out, ", \"%s\": {", f->group);
		else
			kr_str_add(out, ", ");
		group = f->group;
		if (f->kind == KR_PROFILE_BOOL)
			kr_str_format(out, "\"%s\": %s", f->name, bool_of(profile, f) ? "true" : "false");
		else
			kr_str_format(out, "\"%s\": \"%s\"", f->name, word_of(profile, f));
	}
	kr_str_format(out, ", \"certify\": \"%s", profile->certify ? profile->certify : "none");
	if (profile->certify && profile->certify_order != KR_ORDER_NONE)
		kr_str_format(out, " %s", kr_order_name(profile->certify_order));
	kr_str_add(out, "\"");
}

/* ---- reading ---- */

static enum kr_status bad(struct kr_err *err, const char *field, const char *expected)
{
	return kr_err_set(err, KR_BAD, "profile: field \"%s\": expected %s", field, expected);
}

static enum kr_status take_word(const struct kr_profile_field *f, const char *word, struct kr_profile *out,
	struct kr_err *err)
{
	char expected[160] = "", name[40];

	for (unsigned i = 0; f->words[i]; i++) {
		if (word && strcmp(word, f->words[i]) == 0) {
			memcpy((char *)out + f->offset, &i, sizeof i);
			return KR_OK;
		}
		strncat(expected, i ? ", " : "one of ", sizeof expected - strlen(expected) - 1);
		strncat(expected, f->words[i], sizeof expected - strlen(expected) - 1);
	}
	snprintf(name, sizeof name, "%s%s%s", f->group ? f->group : "", f->group ? "." : "", f->name);
	return bad(err, name, expected);
}

static enum kr_status take_field(const struct kr_profile_field *f, const json_t *root, struct kr_profile *out,
	struct kr_err *err)
{
	const json_t *object = f->group ? json_object_get(root, f->group) : root;
	const json_t *value = json_object_get(object, f->name);

	if (f->group && !json_is_object(object))
		return bad(err, f->group, "an object with \"read\", \"share\", \"update\" and \"write\"");
	if (f->kind == KR_PROFILE_WORD)
		return take_word(f, value ? json_string_value(value) : f->fallback, out, err);
	if (value && !json_is_boolean(value))
		return bad(err, f->name, "true or false");
	*(bool *)(void *)((char *)out + f->offset) = json_is_true(value);
	return KR_OK;
}

/* "LEVEL" or "LEVEL ORDER". */
static enum kr_status take_certify(const json_t *root, struct kr_arena *arena, struct kr_profile *out,
	struct kr_err *err)
{
	const json_t *value = json_object_get(root, "certify");
	const char *text = json_string_value(value);
	size_t length = text ? strcspn(text, " ") : 0;

	if (!value || (text && strcmp(text, "none") == 0))
		return KR_OK;
	if (length == 0 || (text[length] && !kr_order_parse(text + length + 1, &out->certify_order)))
		return bad(err, "certify", "a level, perhaps with a blank and an order, or \"none\"");
	out->certify = kr_arena_text(arena, text, length);
	return out->certify ? KR_OK : KR_NOMEM;
}

static enum kr_status take_text(const json_t *root, const char *name, const char *fallback,
	struct kr_arena *arena, const char **out, struct kr_err *err)
{
	const json_t *value = json_object_get(root, name);
	const char *text = value ? json_string_value(value) : fallback;

	if (!text)
		return bad(err, name, "a text");
	*out = kr_arena_text(arena, text, strlen(text));
	return *out ? KR_OK : KR_NOMEM;
}

static bool is_known(const char *name, const char *group)
{
	static const char *const others[] = {"name", "title", "source", "certify", "locks", NULL};

	for (const struct kr_profile_field *f = kr_profile_fields; f->name; f++)
		if (strcmp(f->name, name) == 0 && (f->group != NULL) == (group != NULL))
			return true;
	for (size_t i = 0; others[i] && !group; i++)
		if (strcmp(others[i], name) == 0)
			return true;
	return false;
}

/* What `krait profiles --json` tells of a row beside its fields: a row of it is a file, too. */
static bool is_told(const char *name)
{
	return strcmp(name, "id") == 0 || strcmp(name, "aliases") == 0 || strcmp(name, "product") == 0 ||
		strcmp(name, "live") == 0;
}

/* A misspelt field would be taken for one that is left out. */
static enum kr_status refuse_unknown(json_t *object, const char *group, struct kr_err *err)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name,
		value) if (!is_known(name, group) && (group || !is_told(name))) return kr_err_set(err, KR_BAD,
		"profile: unknown field \"%.60s\"", name);
	return KR_OK;
}

static enum kr_status parse(json_t *root, struct kr_arena *arena, struct kr_profile *out, struct kr_err *err)
{
	if (!json_is_object(root))
		return kr_err_set(err, KR_BAD, "profile: expected one JSON object");
	KR_TRY(refuse_unknown(root, NULL, err));
	KR_TRY(refuse_unknown(json_object_get(root, "locks"), "locks", err));
	for (const struct kr_profile_field *f = kr_profile_fields; f->name; f++)
		KR_TRY(take_field(f, root, out, err));
	KR_TRY(take_certify(root, arena, out, err));
	KR_TRY(take_text(root, json_object_get(root, "name") ? "name" : "id", "custom", arena, &out->name,
		err));
	KR_TRY(take_text(root, "title", "", arena, &out->title, err));
	return take_text(root, "source", "", arena, &out->source, err);
}

enum kr_status kr_profile_parse(const char *text, size_t length, struct kr_arena *arena,
	struct kr_profile *out, struct kr_err *err)
{
	json_error_t error;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
	struct kr_profile profile = {.name = NULL};

	if (!root)
		return kr_err_set(err, KR_BAD, "profile: %s", error.text);
	enum kr_status status = parse(root, arena, &profile, err);
	json_decref(root);
	if (!status)
		*out = profile;
	return status;
}
