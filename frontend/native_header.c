/* Native format: the header, version orders, and what can be settled only at the end of the trace.
 *
 * JSON has only strings for field names. So a name in "initial", "kinds" or "versions" that looks like an
 * integer means the integer key when the trace uses that one as a key and not the string; otherwise the
 * string: where the trace does not tell them apart, the history says so (`guessed`). In a stream, which has
 * no end to wait for, it means whichever of the two keys comes first. */
#include "frontend/foreign.h"
#include "frontend/history_count.h"
#include "frontend/native.h"

#include <string.h>

/* Whether text is an integer as JSON writes it, within 64 bits. */
static bool is_integer(const char *text, int64_t *out)
{
	const char *digits = text + (text[0] == '-');

	return (digits[0] != '0' || (digits == text && digits[1] == '\0')) &&
		kr_foreign_int(&text, true, out) && *text == '\0';
}

static enum kr_status settle_name(struct kr_native *n, kr_key key, struct kr_native_use use)
{
	if (key.i == KR_NONE)
		return KR_NOMEM;
	if (use.seen != KR_NONE) {
		n->h->seen.at[use.seen].key = key;
		return KR_OK;
	}

	enum kr_status status = use.kind == KR_KIND_ANY
		? kr_history_set_initial(n->h, key, use.initial, n->err)
		: kr_history_set_kind(n->h, key, use.kind, n->err);

	if (status == KR_BAD)
		kr_err_at(n->err, n->h->files.at[0], n->header_line, 0);
	return status;
}

/* The key that the name means, as far as the trace has been read. */
static kr_key key_named(const struct kr_native *n, const struct kr_native_name *name)
{
	kr_key key = kr_history_find_key(n->h, name->text);
	kr_value number = key.i == KR_NONE ? kr_history_int(n->h, name->number) : KR_ABSENT;

	if (number.i == KR_NONE)
		return key;
	if (key.i == KR_NONE)
		key = kr_history_find_key(n->h, number);
	return key.i == KR_NONE ? kr_history_key(n->h, name->text) : key;
}

enum kr_status kr_native_field_name(struct kr_native *n, const char *text, struct kr_native_use use)
{
	struct kr_native_name name = {.text = kr_history_text(n->h, KR_VALUE_STRING, text, strlen(text)),
		.use = use};

	if (name.text.i == KR_NONE)
		return KR_NOMEM;
	if (!is_integer(text, &name.number))
		return settle_name(n, kr_history_key(n->h, name.text), use);
	if (n->h->sink && use.seen != KR_NONE)
		return settle_name(n, key_named(n, &name), use);
	kr_history_keep(n->h, name.text);
	kr_history_keep(n->h, use.initial);
	return kr_vec_add(n->h->mem, &n->names, name);
}

static enum kr_status settle_names(struct kr_native *n)
{
	for (uint32_t i = 0; i < n->names.n; i++) {
		const struct kr_native_name *name = &n->names.at[i];
		kr_value number = kr_history_int(n->h, name->number);
		if (number.i == KR_NONE)
			return KR_NOMEM;
		bool text = kr_history_find_key(n->h, name->text).i != KR_NONE,
		     integer = kr_history_find_key(n->h, number).i != KR_NONE;
		kr_key key = key_named(n, name);
		if (text == integer && n->h->guessed.i == KR_NONE)
			n->h->guessed = key;
		KR_TRY(settle_name(n, key, name->use));
	}
	return KR_OK;
}

/* Gives key k what waits for its name. */
static enum kr_status settle_key(struct kr_native *n, kr_key k)
{
	const struct kr_value_entry name = *kr_history_value(n->h, n->h->keys.at[k.i].name);

	for (uint32_t i = n->names.n; i-- > 0;) {
		struct kr_native_name waiting = n->names.at[i];

		if (kr_history_find_key(n->h, waiting.text).i != k.i &&
			(name.type != KR_VALUE_INT || name.integer != waiting.number))
			continue;
		n->names.at[i] = n->names.at[--n->names.n];
		KR_TRY(settle_name(n, k, waiting.use));
	}
	return KR_OK;
}

enum kr_status kr_native_settle_keys(struct kr_native *n, uint32_t from)
{
	for (kr_key k = {from}; k.i < n->h->keys.n && n->names.n > 0; k.i++)
		KR_TRY(settle_key(n, k));
	return KR_OK;
}

/* ---- header ---- */

static enum kr_status put_text(struct kr_native *n, const struct kr_node *json, const char *what,
	const char **out)
{
	if (!json)
		return KR_OK;
	if (!kr_node_is(json, KR_NODE_STRING))
		return kr_native_wrong(n, json, what, "a string");
	*out = kr_arena_text(&n->h->arena, json->text, json->length);
	return *out ? KR_OK : KR_NOMEM;
}

static enum kr_status put_initial(struct kr_native *n, const struct kr_node *json)
{
	const char *text = kr_node_is(json, KR_NODE_STRING) ? json->text : "";

	if (!json || strcmp(text, "absent") == 0)
		return KR_OK;
	if (strcmp(text, "unknown") == 0 || strcmp(text, "unwritten") == 0) {
		n->h->initial = text[2] == 'k' ? KR_INITIAL_UNKNOWN : KR_INITIAL_UNWRITTEN;
		return KR_OK;
	}
	if (!kr_node_is(json, KR_NODE_OBJECT))
		return kr_native_wrong(n, json, "\"initial\"",
			"\"absent\", \"unknown\", \"unwritten\" or an object of values by key");
	n->h->initial = KR_INITIAL_GIVEN;
	for (const struct kr_node *at = kr_node_member(json, NULL); at; at = kr_node_member(json, at)) {
		kr_value initial = kr_native_value(n, kr_node_value(at));
		KR_TRY(initial.i == KR_NONE
				? KR_NOMEM
				: kr_native_field_name(n, at->text,
					  (struct kr_native_use){.initial = initial, .seen = KR_NONE}));
	}
	return KR_OK;
}

enum kr_status kr_native_initial(struct kr_ctx *ctx, struct kr_history *h, char *text, size_t length,
	struct kr_err *err)
{
	const struct kr_node *json;
	struct kr_native n;

	kr_native_begin(&n, ctx, h, err);
	enum kr_status status = kr_nodes_scan(&n.nodes, text, length, &json);
	if (status == KR_BAD || (!status && !kr_node_is(json, KR_NODE_OBJECT)))
		status = kr_err_set(err, KR_BAD,
			"found no JSON object, expected one of initial values by key");
	if (!status)
		status = put_initial(&n, json);
	if (!status)
		status = settle_names(&n);
	kr_native_done(&n);
	return status;
}

static enum kr_status put_kinds(struct kr_native *n, const struct kr_node *json)
{
	char found[80];

	if (!json)
		return KR_OK;
	if (!kr_node_is(json, KR_NODE_OBJECT))
		return kr_native_wrong(n, json, "\"kinds\"", "an object of kinds by key");
	for (const struct kr_node *at = kr_node_member(json, NULL); at; at = kr_node_member(json, at)) {
		const struct kr_node *name = kr_node_value(at);
		enum kr_key_kind kind =
			kr_node_is(name, KR_NODE_STRING) ? kr_history_kind(name->text) : KR_KIND_ANY;
		if (kind == KR_KIND_ANY)
			return kr_native_bad(n,
				"\"kinds\" says %s of %.60s, expected \"register\", \"counter\", \"list\", "
				"\"set\" or \"mark\"",
				kr_native_found(name, found), at->text);
		KR_TRY(kr_native_field_name(n, at->text,
			(struct kr_native_use){.kind = kind, .seen = KR_NONE}));
	}
	return KR_OK;
}

static enum kr_status put_universe(struct kr_native *n, const struct kr_node *json)
{
	kr_key key;

	if (!json)
		return KR_OK;
	if (!kr_node_is(json, KR_NODE_ARRAY))
		return kr_native_wrong(n, json, "\"universe\"", "an array of keys");
	n->element = 0;
	for (const struct kr_node *name = kr_node_element(json, NULL); name;
		name = kr_node_element(json, name), n->element++) {
		KR_TRY(kr_native_put_key(n, name, "element # of \"universe\"", &key));
	}
	return KR_OK;
}

static enum kr_status put_order_of_keys(struct kr_native *n, const struct kr_node *json)
{
	static const char *const names[] = {"bytes", "numbers"}; /* by enum kr_key_order - 1 */
	int order = kr_native_word(json, names, KR_COUNT(names));

	if (json && order < 0)
		return kr_native_wrong(n, json, "\"ordered_keys\"", "\"bytes\" or \"numbers\"");
	if (json)
		n->h->key_order = (enum kr_key_order)(order + 1);
	return KR_OK;
}

static enum kr_status put_separator(struct kr_native *n, const struct kr_node *json)
{
	if (json &&
		(!kr_node_is(json, KR_NODE_STRING) || json->length == 0 ||
			strlen(json->text) != json->length))
		return kr_native_wrong(n, json, "\"row_separator\"", "a string between a row and its column");
	return put_text(n, json, "\"row_separator\"", &n->h->row_separator);
}

/* "sessions" of a stream are known before they come. */
static enum kr_status put_stream(struct kr_native *n, const struct kr_native_fields *f)
{
	kr_session session;
	KR_TRY(f->stream ? kr_native_put_bool(n, f->stream, "\"stream\"", &n->h->stream) : KR_OK);

	if (f->sessions && !kr_node_is(f->sessions, KR_NODE_ARRAY))
		return kr_native_wrong(n, f->sessions, "\"sessions\"", "an array of their names");
	for (const struct kr_node *name = kr_node_element(f->sessions, NULL); name;
		name = kr_node_element(f->sessions, name))
		KR_TRY(kr_native_session(n, name, "an element of \"sessions\"", &session));
	return KR_OK;
}

enum kr_status kr_native_header(struct kr_native *n, const struct kr_node *header,
	const struct kr_native_fields *f)
{
	if (f->krait && (!kr_node_is(f->krait, KR_NODE_INT) || f->krait->integer != 1))
		return kr_native_wrong(n, f->krait, "\"krait\"", "1, the format version");
	if (f->ops)
		return kr_native_bad(n, "both \"krait\" and \"ops\", expected a header or a transaction");
	n->header_line = n->line;
	KR_TRY(put_text(n, f->name, "\"name\"", &n->h->name));
	KR_TRY(put_text(n, f->time_unit, "\"time_unit\"", &n->h->time_unit));
	KR_TRY(put_text(n, f->profile, "\"profile\"", &n->h->profile));
	KR_TRY(put_separator(n, f->row_separator));
	KR_TRY(put_stream(n, f));
	if (f->clock_skew)
		KR_TRY(kr_native_put_int(n, f->clock_skew, "\"clock_skew\"", &n->h->clock_skew));
	if (n->h->clock_skew < 0)
		return kr_native_bad(n, "\"clock_skew\" is %lld, expected 0 or more",
			(long long)n->h->clock_skew);
	KR_TRY(put_initial(n, f->initial));
	KR_TRY(put_kinds(n, f->kinds));
	KR_TRY(put_universe(n, f->universe));
	KR_TRY(kr_native_fields_ignored(n, header, f->ignored, KR_NATIVE_HEADER));
	return put_order_of_keys(n, f->ordered_keys);
}

/* ---- version orders ---- */

enum kr_status kr_native_order(struct kr_native *n, const struct kr_node *order,
	const struct kr_native_fields *f)
{
	struct kr_event event = kr_event_of(KR_EVENT_ORDER, (kr_session){KR_NONE}, (kr_value){KR_NONE});
	kr_value id;

	KR_TRY(kr_native_put_key(n, f->version_order, "\"version_order\"", &event.key));
	if (!kr_node_is(f->writers, KR_NODE_ARRAY))
		return kr_native_wrong(n, f->writers, "\"writers\"", "an array of transaction ids");
	kr_vec_clear(&n->ids);
	n->element = 0;
	for (const struct kr_node *writer = kr_node_element(f->writers, NULL); writer;
		writer = kr_node_element(f->writers, writer), n->element++) {
		KR_TRY(kr_native_put_name(n, writer, "writer # of the version order", &id));
		KR_TRY(kr_vec_add(n->h->mem, &n->ids, id));
	}
	KR_TRY(kr_native_fields_ignored(n, order, f->ignored, KR_NATIVE_ORDER));
	event.line = n->line;
	event.writers = n->ids.at;
	event.writer_count = n->ids.n;
	return kr_history_take(n->h, &event, n->err);
}

enum kr_status kr_native_finish(struct kr_native *n)
{
	KR_TRY(settle_names(n));
	return kr_assembly_finish(n->h, n->err);
}
