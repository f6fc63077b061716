/* Native format: attributes of an operation, the object that may end it. */
#include "frontend/native.h"

#include <string.h>

static bool is_times(const json_t *json)
{
	const json_t *returned = json_array_get(json, 1);

	return json_is_array(json) && json_array_size(json) == 2 && json_is_integer(json_array_get(json, 0)) &&
		(json_is_integer(returned) || json_is_null(returned));
}

/* The place of a string among `count` names; -1: no string, or none of them. */
static int find_word(const json_t *json, const char *const *names, int count)
{
	for (int i = 0; json_is_string(json) && i < count; i++)
		if (strcmp(json_string_value(json), names[i]) == 0)
			return i;
	return -1;
}

static const char *const locks[] = {"shared", "exclusive"};               /* by enum kr_lock - 1 */
static const char *const modes[] = {"snapshot", "latest", "uncommitted"}; /* by enum kr_read_mode - 1 */

static int find_lock(const json_t *json) { return find_word(json, locks, KR_COUNT(locks)); }
static int find_mode(const json_t *json) { return find_word(json, modes, KR_COUNT(modes)); }

/* The attributes in an operation's last object; NULL where missing. */
struct fields {
	json_t *t, *cursor, *lock, *read, *row, *versions;
	size_t known;
};

/* One pass over the object, which has a member or two. */
static struct fields fields_of(json_t *json)
{
	struct fields f = {0};

	for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
		const char *name = json_object_iter_key(at);
		json_t **field = strcmp(name, "t") == 0 ? &f.t
			: strcmp(name, "cursor") == 0   ? &f.cursor
			: strcmp(name, "lock") == 0     ? &f.lock
			: strcmp(name, "read") == 0     ? &f.read
			: strcmp(name, "row") == 0      ? &f.row
			: strcmp(name, "versions") == 0 ? &f.versions
							: NULL;
		if (!field)
			continue;
		*field = json_object_iter_value(at);
		f.known++;
	}
	return f;
}

/* A read's value may be an object, too; "row" is for writes. */
bool kr_native_is_attributes(json_t *json)
{
	struct fields f = fields_of(json);

	return f.known != 0 && !f.row && f.known == json_object_size(json) && (!f.t || is_times(f.t)) && (!f.cursor || json_is_boolean(f.cursor)) &&
		(!f.lock || find_lock(f.lock) >= 0) && (!f.read || find_mode(f.read) >= 0) && (!f.versions || json_is_object(f.versions));
}

static enum kr_status put_versions(struct kr_native *n, json_t *versions, struct kr_attr *attr)
{
	struct kr_history *h = n->h;
	char found[80];

	if (!json_is_object(versions))
		return kr_native_bad(n, "\"versions\" is %s, expected an object of writers by key", kr_native_found(versions, found));
	attr->seen_first = h->seen.n;
	for (void *at = json_object_iter(versions); at; at = json_object_iter_next(versions, at)) {
		json_t *writer = json_object_iter_value(at);
		struct kr_seen seen = {.key = {KR_NONE}, .writer = KR_ABSENT};
		enum kr_status status = json_is_null(writer) ? KR_OK : kr_native_put_name(n, writer, "the writer in \"versions\"", &seen.writer);
		if (!status && !kr_vec_push(h->mem, &h->seen, seen))
			status = KR_NOMEM;
		if (!status)
			status = kr_native_field_name(n, json_object_iter_key(at), (struct kr_native_use){.seen = h->seen.n - 1});
		if (status)
			return status;
	}
	attr->seen_count = h->seen.n - attr->seen_first;
	return KR_OK;
}

static enum kr_status put_words(struct kr_native *n, const struct fields *f, struct kr_attr *attr)
{
	int lock = find_lock(f->lock), mode = find_mode(f->read);
	const json_t *row = f->row;
	char found[80];

	if (f->lock && lock < 0)
		return kr_native_bad(n, "\"lock\" is %s, expected \"shared\" or \"exclusive\"", kr_native_found(f->lock, found));
	if (f->read && mode < 0)
		return kr_native_bad(n, "\"read\" is %s, expected \"snapshot\", \"latest\" or \"uncommitted\"", kr_native_found(f->read, found));
	if (row && (!json_is_string(row) || strcmp(json_string_value(row), "old") != 0))
		return kr_native_bad(n, "\"row\" is %s, expected \"old\"", kr_native_found(row, found));
	if (row && n->h->ops.at[n->h->ops.n - 1].kind != KR_OP_WRITE)
		return kr_native_bad(n, "\"row\" of \"%s\", expected it of \"w\" only", kr_op_name(n->h->ops.at[n->h->ops.n - 1].kind));
	attr->lock = (enum kr_lock)(lock + 1);
	attr->read = (enum kr_read_mode)(mode + 1);
	attr->row_is_old = row != NULL;
	return KR_OK;
}

enum kr_status kr_native_time(struct kr_native *n, json_t *times, struct kr_attr *attr)
{
	int64_t interval[2];
	enum kr_status status = times ? kr_native_put_times(n, times, "\"t\"", interval, &attr->open) : KR_OK;

	if (status || !times)
		return status;
	attr->has_time = true;
	attr->invoked = interval[0];
	attr->returned = interval[1];
	return KR_OK;
}

enum kr_status kr_native_attributes(struct kr_native *n, json_t *json)
{
	struct kr_history *h = n->h;
	struct fields f = fields_of(json);
	struct kr_attr attr = {.op = {h->ops.n - 1}, .cursor = true};
	bool range = h->ops.at[h->ops.n - 1].kind == KR_OP_RANGE;
	enum kr_status status = kr_native_fields_ignored(n, json, json_object_size(json) - f.known, range ? KR_NATIVE_RANGE : KR_NATIVE_ATTRIBUTES);

	if (status || f.known == 0)
		return status; /* notes, or a range's options */
	if ((status = kr_native_time(n, f.t, &attr)))
		return status;
	if (f.cursor && (status = kr_native_put_bool(n, f.cursor, "\"cursor\"", &attr.cursor)))
		return status;
	if ((status = put_words(n, &f, &attr)))
		return status;
	if (f.versions && (status = put_versions(n, f.versions, &attr)))
		return status;
	h->ops.at[h->ops.n - 1].flags |= KR_OPF_HAS_ATTR;
	return kr_vec_push(h->mem, &h->attrs, attr) ? KR_OK : KR_NOMEM;
}
