/* Native format: attributes of an operation, the object that may end it. */
#include "frontend/native.h"

#include <string.h>

static bool is_times(const struct kr_node *json)
{
	const struct kr_node *returned = kr_node_at(json, 1);

	return kr_node_is(json, KR_NODE_ARRAY) && kr_node_size(json) == 2 &&
		kr_node_is(kr_node_at(json, 0), KR_NODE_INT) &&
		(kr_node_is(returned, KR_NODE_INT) || kr_node_is(returned, KR_NODE_NULL));
}

int kr_native_word(const struct kr_node *json, const char *const *names, int count)
{
	for (int i = 0; kr_node_is(json, KR_NODE_STRING) && i < count; i++)
		if (strcmp(json->text, names[i]) == 0)
			return i;
	return -1;
}

static const char *const locks[] = {"shared", "exclusive"};               /* by enum kr_lock - 1 */
static const char *const modes[] = {"snapshot", "latest", "uncommitted"}; /* by enum kr_read_mode - 1 */

static int find_lock(const struct kr_node *json) { return kr_native_word(json, locks, KR_COUNT(locks)); }
static int find_mode(const struct kr_node *json) { return kr_native_word(json, modes, KR_COUNT(modes)); }

/* The attributes in an operation's last object; NULL where missing. */
struct fields {
	const struct kr_node *t, *cursor, *lock, *read, *row, *versions;
	size_t known;
};

/* One pass over the object, which has a member or two. */
static struct fields fields_of(const struct kr_node *json)
{
	struct fields f = {0};

	for (const struct kr_node *at = kr_node_member(json, NULL); at; at = kr_node_member(json, at)) {
		const char *name = at->text;
		const struct kr_node **field = strcmp(name, "t") == 0 ? &f.t
			: strcmp(name, "cursor") == 0                 ? &f.cursor
			: strcmp(name, "lock") == 0                   ? &f.lock
			: strcmp(name, "read") == 0                   ? &f.read
			: strcmp(name, "row") == 0                    ? &f.row
			: strcmp(name, "versions") == 0               ? &f.versions
								      : NULL;
		if (!field)
			continue;
		*field = kr_node_value(at);
		f.known++;
	}
	return f;
}

/* A read's value may be an object, too; "row" is for writes. */
bool kr_native_is_attributes(const struct kr_node *json)
{
	struct fields f = fields_of(json);

	return f.known != 0 && !f.row && f.known == kr_node_members(json) && (!f.t || is_times(f.t)) &&
		(!f.cursor || kr_node_is_bool(f.cursor)) && (!f.lock || find_lock(f.lock) >= 0) &&
		(!f.read || find_mode(f.read) >= 0) &&
		(!f.versions || kr_node_is(f.versions, KR_NODE_OBJECT));
}

static enum kr_status put_versions(struct kr_native *n, const struct kr_node *versions, struct kr_attr *attr)
{
	struct kr_history *h = n->h;

	if (!kr_node_is(versions, KR_NODE_OBJECT))
		return kr_native_wrong(n, versions, "\"versions\"", "an object of writers by key");
	attr->seen_first = h->seen.n;
	for (const struct kr_node *at = kr_node_member(versions, NULL); at;
		at = kr_node_member(versions, at)) {
		const struct kr_node *writer = kr_node_value(at);
		struct kr_seen seen = {.key = {KR_NONE}, .writer = KR_ABSENT};
		KR_TRY(kr_node_is(writer, KR_NODE_NULL)
				? KR_OK
				: kr_native_put_name(n, writer, "the writer in \"versions\"", &seen.writer));
		KR_TRY(kr_vec_add(h->mem, &h->seen, seen));
		KR_TRY(kr_native_field_name(n, at->text, (struct kr_native_use){.seen = h->seen.n - 1}));
	}
	attr->seen_count = h->seen.n - attr->seen_first;
	return KR_OK;
}

static enum kr_status put_words(struct kr_native *n, const struct fields *f, struct kr_entry *e)
{
	int lock = find_lock(f->lock), mode = find_mode(f->read);
	const struct kr_node *row = f->row;

	if (f->lock && lock < 0)
		return kr_native_wrong(n, f->lock, "\"lock\"", "\"shared\" or \"exclusive\"");
	if (f->read && mode < 0)
		return kr_native_wrong(n, f->read, "\"read\"", "\"snapshot\", \"latest\" or \"uncommitted\"");
	if (row && kr_native_word(row, (const char *const[]){"old"}, 1) < 0)
		return kr_native_wrong(n, row, "\"row\"", "\"old\"");
	if (row && e->op.kind != KR_OP_WRITE)
		return kr_native_bad(n, "\"row\" of \"%s\", expected it of \"w\" only",
			kr_op_name(e->op.kind));
	e->attr.lock = (enum kr_lock)(lock + 1);
	e->attr.read = (enum kr_read_mode)(mode + 1);
	e->attr.row_is_old = row != NULL;
	return KR_OK;
}

enum kr_status kr_native_time(struct kr_native *n, const struct kr_node *times, struct kr_attr *attr)
{
	int64_t interval[2];

	if (!times)
		return KR_OK;
	KR_TRY(kr_native_put_times(n, times, "\"t\"", interval, &attr->open));
	attr->has_time = true;
	attr->invoked = interval[0];
	attr->returned = interval[1];
	return KR_OK;
}

enum kr_status kr_native_attributes(struct kr_native *n, const struct kr_node *json, struct kr_entry *e)
{
	struct fields f = fields_of(json);
	bool range = e->op.kind == KR_OP_RANGE;
	KR_TRY(kr_native_fields_ignored(n, json, kr_node_members(json) - f.known,
		range ? KR_NATIVE_RANGE : KR_NATIVE_ATTRIBUTES));
	if (f.known == 0)
		return KR_OK; /* notes, or a range's options */
	e->op.flags |= KR_OPF_HAS_ATTR;
	KR_TRY(kr_native_time(n, f.t, &e->attr));
	if (f.cursor)
		KR_TRY(kr_native_put_bool(n, f.cursor, "\"cursor\"", &e->attr.cursor));
	KR_TRY(put_words(n, &f, e));
	return f.versions ? put_versions(n, f.versions, &e->attr) : KR_OK;
}
