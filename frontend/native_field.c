/* Native format: the fields of its objects.
 *
 * Unknown fields are ignored, so that a trace can carry notes. One that is called nearly as a known one, or
 * as other tools call it, is probably meant as that one: what it tells is then lost, and nobody sees it. Such
 * fields are noted, once each, unless the object has the known one, too. "Nearly": the case and '_' aside the
 * same, or, of names of five letters and more, a letter in four wrong (base/guess.h). Cost: a look-up among
 * the unknown names seen so far for each unknown field; beyond NAMES_MOST names further ones are not
 * judged. */
#include "frontend/native.h"

#include <stddef.h>
#include <string.h>

#include "base/guess.h"

#define NAMES_MOST 64
#define NAME_MOST 64   /* bytes of a name that is judged */
#define FUZZY_LEAST 5u /* letters of a name that may be misspelt */

#define NOWHERE SIZE_MAX

#define FIELD(place, name) \
	{ \
#name, place, offsetof(struct kr_native_fields, name) \
	}
static const struct {
	const char *name;
	enum kr_native_place place;
	size_t offset; /* NOWHERE: not of a line */
} fields[] = {
	FIELD(KR_NATIVE_TXN, id),
	FIELD(KR_NATIVE_TXN, s),
	FIELD(KR_NATIVE_TXN, ops),
	FIELD(KR_NATIVE_TXN, begin),
	FIELD(KR_NATIVE_TXN, end),
	FIELD(KR_NATIVE_TXN, status),
	FIELD(KR_NATIVE_TXN, serial),
	FIELD(KR_NATIVE_TXN, snapshot),
	FIELD(KR_NATIVE_TXN, commit_ts),
	{"auto", KR_NATIVE_TXN, offsetof(struct kr_native_fields, autocommit)},
	FIELD(KR_NATIVE_TXN, snapshot_t),
	FIELD(KR_NATIVE_TXN, failed),
	FIELD(KR_NATIVE_EVENT, txn),
	FIELD(KR_NATIVE_EVENT, op),
	FIELD(KR_NATIVE_EVENT, now),
	FIELD(KR_NATIVE_ORDER, version_order),
	FIELD(KR_NATIVE_ORDER, writers),
	FIELD(KR_NATIVE_HEADER, krait),
	FIELD(KR_NATIVE_HEADER, name),
	FIELD(KR_NATIVE_HEADER, time_unit),
	FIELD(KR_NATIVE_HEADER, initial),
	FIELD(KR_NATIVE_HEADER, clock_skew),
	FIELD(KR_NATIVE_HEADER, universe),
	FIELD(KR_NATIVE_HEADER, ordered_keys),
	FIELD(KR_NATIVE_HEADER, kinds),
	FIELD(KR_NATIVE_HEADER, txns),
	FIELD(KR_NATIVE_HEADER, row_separator),
	FIELD(KR_NATIVE_HEADER, profile),
	FIELD(KR_NATIVE_HEADER, stream),
	FIELD(KR_NATIVE_HEADER, sessions),
	{"t", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"cursor", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"lock", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"read", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"row", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"versions", KR_NATIVE_ATTRIBUTES, NOWHERE},
	{"limit", KR_NATIVE_RANGE, NOWHERE},
	{"reverse", KR_NATIVE_RANGE, NOWHERE},
};
#undef FIELD

/* What others call them. */
static const struct {
	const char *known, *others; /* separated by blanks */
	enum kr_native_place place;
} aliases[] = {
	{"id", "txid tid xid txn txn_id transaction transaction_id", KR_NATIVE_TXN},
	{"s", "session session_id sid process client client_id thread worker connection conn", KR_NATIVE_TXN},
	{"status", "state outcome result", KR_NATIVE_TXN},
	{"begin", "start start_time begin_time started begun invoke invoked timestamp time ts",
		KR_NATIVE_TXN},
	{"end",
		"ends ended finish finished end_time finish_time commit_time complete completed stop stopped "
		"return returned",
		KR_NATIVE_TXN},
	{"ops", "op operations actions events", KR_NATIVE_TXN},
	{"snapshot", "snapshot_ts start_ts begin_ts read_ts start_timestamp sts", KR_NATIVE_TXN},
	{"commit_ts", "commit_timestamp cts", KR_NATIVE_TXN},
	{"serial", "serial_order", KR_NATIVE_TXN},
	{"auto", "autocommit auto_commit", KR_NATIVE_TXN},
	{"txn", "id txid tid xid txn_id transaction transaction_id", KR_NATIVE_EVENT},
	{"op", "ops operation", KR_NATIVE_EVENT},
	{"row_separator", "separator column_separator", KR_NATIVE_HEADER},
	{"initial", "init initially initial_state initial_values", KR_NATIVE_HEADER},
	{"clock_skew", "skew clock clock_error clock_uncertainty max_skew", KR_NATIVE_HEADER},
	{"time_unit", "unit units", KR_NATIVE_HEADER},
	{"ordered_keys", "key_order order_keys keys_order", KR_NATIVE_HEADER},
	{"universe", "keys", KR_NATIVE_HEADER},
	{"txns", "transactions history", KR_NATIVE_HEADER},
	{"t", "time times at ts timestamp interval", KR_NATIVE_ATTRIBUTES},
	{"lock", "locked locking for_update", KR_NATIVE_ATTRIBUTES},
	{"versions", "version", KR_NATIVE_ATTRIBUTES},
	{"limit", "max most count top", KR_NATIVE_RANGE},
	{"reverse", "desc descending backward backwards", KR_NATIVE_RANGE},
};

/* Does `place` have the fields of `of`? */
static bool has(enum kr_native_place place, enum kr_native_place of)
{
	return place == of || (place == KR_NATIVE_RANGE && of == KR_NATIVE_ATTRIBUTES) ||
		(place == KR_NATIVE_EVENT && of == KR_NATIVE_TXN);
}

/* Is field i one of some line, as `place` is? In a transaction line those of events are notes. */
static bool is_of_lines(size_t i, enum kr_native_place place)
{
	return fields[i].offset != NOWHERE && place < KR_NATIVE_ATTRIBUTES &&
		(place != KR_NATIVE_TXN || fields[i].place != KR_NATIVE_EVENT);
}

static bool is_known(const char *name, enum kr_native_place place)
{
	for (size_t i = 0; i < KR_COUNT(fields); i++)
		if (strcmp(name, fields[i].name) == 0 &&
			(has(place, fields[i].place) || is_of_lines(i, place)))
			return true;
	return false;
}

void kr_native_get_fields(const struct kr_node *object, struct kr_native_fields *out)
{
	size_t known = 0;

	*out = (struct kr_native_fields){0};
	for (const struct kr_node *at = kr_node_member(object, NULL); at; at = kr_node_member(object, at)) {
		const char *name = at->text;
		for (size_t i = 0; i < KR_COUNT(fields) && fields[i].offset != NOWHERE; i++) {
			if (name[0] == fields[i].name[0] && strcmp(name, fields[i].name) == 0) {
				const struct kr_node *value = kr_node_value(at);
				memcpy((char *)out + fields[i].offset, &value, sizeof value);
				known++;
				break;
			}
		}
	}
	if (out->ops)
		known -= (size_t)(!!out->txn + !!out->op + !!out->now);
	out->ignored = kr_node_members(object) - known;
}

/* ---- what is meant ---- */

struct nearest {
	const char *name, *known;
	uint32_t distance;
};

static void judge(struct nearest *nearest, const char *candidate, const char *known)
{
	size_t typed = strlen(nearest->name), length = strlen(candidate),
	       longer = typed > length ? typed : length;
	uint32_t distance = kr_guess_distance(nearest->name, candidate);

	if (distance > 0 && (length < FUZZY_LEAST || distance > longer / 4))
		return;
	if (nearest->known && nearest->distance <= distance)
		return;
	nearest->known = known;
	nearest->distance = distance;
}

/* The field that `name` looks like, or NULL. */
static const char *find_meant(const char *name, enum kr_native_place place)
{
	struct nearest nearest = {.name = name};
	char other[NAME_MOST];

	if (strlen(name) >= NAME_MOST)
		return NULL;
	for (size_t i = 0; i < KR_COUNT(fields); i++)
		if (has(place, fields[i].place))
			judge(&nearest, fields[i].name, fields[i].name);
	for (size_t i = 0; i < KR_COUNT(aliases); i++) {
		const char *at = aliases[i].others;
		for (size_t length; has(place, aliases[i].place) && *at;
			at += length + strspn(at + length, " ")) {
			length = strcspn(at, " ");
			memcpy(other, at, length);
			other[length] = '\0';
			judge(&nearest, other, aliases[i].known);
		}
	}
	return nearest.known;
}

const char *kr_native_field_meant(const struct kr_node *object, const char *known, enum kr_native_place place)
{
	for (const struct kr_node *at = kr_node_member(object, NULL); at; at = kr_node_member(object, at)) {
		const char *name = at->text, *meant = is_known(name, place) ? NULL : find_meant(name, place);
		if (meant && strcmp(meant, known) == 0)
			return name;
	}
	return NULL;
}

/* ---- what is noted ---- */

/* The place of the name in n->ignored, KR_NONE: it is not judged. */
static enum kr_status look_up(struct kr_native *n, const char *name, enum kr_native_place place,
	uint32_t *out)
{
	struct kr_native_ignored new = {.place = (uint8_t)place, .near = KR_NONE};

	for (*out = 0; *out < n->ignored.n; ++*out)
		if (n->ignored.at[*out].place == place && strcmp(n->ignored.at[*out].name, name) == 0)
			return KR_OK;
	if (*out == NAMES_MOST) {
		*out = KR_NONE;
		return KR_OK;
	}
	new.name = kr_arena_text(&n->h->arena, name, strlen(name));
	new.meant = find_meant(name, place);
	return new.name &&kr_vec_push(n->h->mem, &n->ignored, new) ? KR_OK : KR_NOMEM;
}

static enum kr_status ignore(struct kr_native *n, const struct kr_node *object, const char *name,
	enum kr_native_place place)
{
	/* by enum kr_native_place */
	static const char *const places[] = {"header", "transaction", "event", "version order", "operation",
		"range"};
	struct kr_history *h = n->h;
	uint32_t i;
	enum kr_status status = look_up(n, name, place, &i);
	struct kr_native_ignored *found = status || i == KR_NONE ? NULL : &n->ignored.at[i];

	if (!found || !found->meant || kr_node_get(object, found->meant))
		return status;
	if (found->near == KR_NONE) {
		found->near = h->near_fields.n;
		KR_TRY(kr_vec_add(h->mem, &h->near_fields,
			(struct kr_near_field){found->name, found->meant, places[place], 0, n->line}));
	}
	h->near_fields.at[found->near].count++;
	return KR_OK;
}

enum kr_status kr_native_fields_ignored(struct kr_native *n, const struct kr_node *object, size_t count,
	enum kr_native_place place)
{
	if (count == 0)
		return KR_OK;
	for (const struct kr_node *at = kr_node_member(object, NULL); at; at = kr_node_member(object, at))
		if (!is_known(at->text, place))
			KR_TRY(ignore(n, object, at->text, place));
	return KR_OK;
}
