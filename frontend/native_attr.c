/* Native format: attributes of an operation, the object that may end it. */
#include "frontend/native.h"

#include <string.h>

static bool is_times(const json_t *json)
{
	return json_is_array(json) && json_array_size(json) == 2 && json_is_integer(json_array_get(json, 0)) && json_is_integer(json_array_get(json, 1));
}

static bool find_lock(const json_t *json, enum kr_lock *out)
{
	const char *name = json_is_string(json) ? json_string_value(json) : "";
	bool shared = strcmp(name, "shared") == 0;

	*out = shared ? KR_LOCK_SHARED : KR_LOCK_EXCLUSIVE;
	return shared || strcmp(name, "exclusive") == 0;
}

bool kr_native_is_attributes(const json_t *json)
{
	const json_t *times = json_object_get(json, "t"), *cursor = json_object_get(json, "cursor");
	const json_t *lock = json_object_get(json, "lock"), *versions = json_object_get(json, "versions");
	size_t known = !!times + !!cursor + !!lock + !!versions;
	enum kr_lock ignored;

	return known != 0 && known == json_object_size(json) && (!times || is_times(times)) && (!cursor || json_is_boolean(cursor)) &&
		(!lock || find_lock(lock, &ignored)) && (!versions || json_is_object(versions));
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

static enum kr_status put_lock(struct kr_native *n, const json_t *lock, struct kr_attr *attr)
{
	char found[80];

	if (!find_lock(lock, &attr->lock))
		return kr_native_bad(n, "\"lock\" is %s, expected \"shared\" or \"exclusive\"", kr_native_found(lock, found));
	return KR_OK;
}

enum kr_status kr_native_attributes(struct kr_native *n, json_t *json)
{
	struct kr_history *h = n->h;
	json_t *times = json_object_get(json, "t"), *cursor = json_object_get(json, "cursor");
	json_t *lock = json_object_get(json, "lock"), *versions = json_object_get(json, "versions");
	struct kr_attr attr = {.op = {h->ops.n - 1}, .has_time = times != NULL, .cursor = true};
	size_t known = !!times + !!cursor + !!lock + !!versions;
	bool range = h->ops.at[h->ops.n - 1].kind == KR_OP_RANGE;
	enum kr_status status = kr_native_fields_ignored(n, json, json_object_size(json) - known, range ? KR_NATIVE_RANGE : KR_NATIVE_ATTRIBUTES);
	int64_t interval[2];

	if (status || known == 0)
		return status; /* notes, or a range's options */
	if (times) {
		if ((status = kr_native_put_times(n, times, "\"t\"", interval)))
			return status;
		attr.invoked = interval[0];
		attr.returned = interval[1];
	}
	if (cursor && (status = kr_native_put_bool(n, cursor, "\"cursor\"", &attr.cursor)))
		return status;
	if (lock && (status = put_lock(n, lock, &attr)))
		return status;
	if (versions && (status = put_versions(n, versions, &attr)))
		return status;
	h->ops.at[h->ops.n - 1].flags |= KR_OPF_HAS_ATTR;
	return kr_vec_push(h->mem, &h->attrs, attr) ? KR_OK : KR_NOMEM;
}
