/* Fressian: values as bytes, into flat trees of forms.
 *
 * The first byte of a value, its code, says what it is: small numbers, short texts and
 * short lists are in it. Two caches that reader and writer fill alike save what is told again: objects, by a
 * code that says "keep what follows", and tags, of which each is kept. Known tags (the table `tags`) become
 * the forms that EDN has for them; of others only their names are left, as KR_FORM_OTHER. One loop with a
 * stack of what is open. Cost: one pass; what is kept is copied. Not read: footers and metadata, which
 * Jepsen does not write. */
#include "frontend/fressian.h"

#include <string.h>

enum { MOST_DEPTH = 1000, OPERATION_FIELDS = 7 };

#define UNTIL_END UINT64_MAX

enum what { LIST, TAG, KEEP };

enum meaning {
	OTHER, /* nothing that krait has forms for */
	PLAIN, /* what its only field is */
	LAST,  /* what its last field is */
	TUPLE, /* a list of its fields */
	SET,
	MAP,
	NAMED, /* a namespace, or null, and a name */
	CHARACTER,
	OPERATION /* of Jepsen: the fields of `operation`, and a map of others */
};

static const struct kr_fressian_tag {
	const char *name;
	uint8_t code; /* its own; 0: it is told by its name */
	uint8_t fields, meaning;
} tags[] = {
	{"map", 0xc0, 1, MAP},
	{"set", 0xc1, 1, SET},
	{"regex", 0xc4, 1, OTHER},
	{"uri", 0xc5, 1, PLAIN},
	{"inst", 0xc8, 1, OTHER},
	{"sym", 0xc9, 2, NAMED},
	{"key", 0xca, 2, NAMED},
	{"char", 0, 1, CHARACTER},
	{"byte", 0, 1, PLAIN},
	{"record", 0, 2, LAST},
	{"vec", 0, 1, PLAIN},
	{"map-entry", 0, 2, TUPLE},
	{"persistent-hash-set", 0, 1, SET},
	{"persistent-sorted-set", 0, 1, SET},
	{"atom", 0, 1, PLAIN},
	{"instant", 0, 1, PLAIN},
	{"block-ref", 0, 1, PLAIN},
	{"jepsen.history.Op", 0, OPERATION_FIELDS, OPERATION},
};

static const char *const operation[OPERATION_FIELDS] = {"index", "time", "type", "process", "f", "value"};

static struct kr_mem *mem(const struct kr_fressian *s) { return s->forms->h->mem; }

/* ---- what opens something ---- */

static enum kr_status open(struct kr_fressian *s, struct kr_fressian_frame frame)
{
	if (s->frames.n >= MOST_DEPTH)
		return kr_fressian_bad(s, s->at, "values are nested more than %d deep", MOST_DEPTH);
	frame.node = s->forms->nodes.n;
	return kr_vec_add(mem(s), &s->frames, frame);
}

static enum kr_status open_list(struct kr_fressian *s, uint64_t count)
{
	if (count != UNTIL_END && count > (uint64_t)(s->end - s->at))
		return kr_fressian_bad_end(s);
	KR_TRY(open(s, (struct kr_fressian_frame){.what = LIST, .left = count}));
	return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_LIST});
}

static enum kr_status read_list_end(struct kr_fressian *s)
{
	struct kr_fressian_frame *top = s->frames.n ? &s->frames.at[s->frames.n - 1] : NULL;

	if (!top || top->what != LIST || top->left != UNTIL_END)
		return kr_fressian_bad(s, s->at - 1, "found the end of a list, expected a value");
	top->left = 0;
	return KR_OK;
}

static const struct kr_fressian_tag *known_tag(const char *name, size_t length)
{
	for (size_t i = 0; i < KR_COUNT(tags); i++)
		if (strlen(tags[i].name) == length && memcmp(tags[i].name, name, length) == 0)
			return &tags[i];
	return NULL;
}

/* The name of a field of an operation, before its value; the map of others has none. */
static enum kr_status put_field(struct kr_fressian *s, uint64_t field)
{
	return operation[field]
		? kr_fressian_put_text(s, KR_FORM_NAME, operation[field], strlen(operation[field]))
		: KR_OK;
}

static enum kr_status open_tag(struct kr_fressian *s, struct kr_fressian_struct tag)
{
	enum meaning meaning = tag.known ? tag.known->meaning : OTHER;

	if (tag.fields < 0 || (tag.known && tag.fields != tag.known->fields))
		return kr_fressian_bad(s, s->at, "a %.*s of %lld fields, expected %u", (int)tag.length,
			tag.name, (long long)tag.fields, tag.known ? tag.known->fields : 0u);
	KR_TRY(open(s, (struct kr_fressian_frame){.what = TAG, .left = (uint64_t)tag.fields, .tag = tag}));
	if (meaning == TUPLE)
		return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_LIST});
	if (meaning != OPERATION)
		return KR_OK;
	KR_TRY(kr_fressian_put(s, (struct kr_form){.type = KR_FORM_MAP}));
	return put_field(s, 0);
}

static enum kr_status read_tag(struct kr_fressian *s, unsigned char code)
{
	for (size_t i = 0; i < KR_COUNT(tags); i++)
		if (tags[i].code == code)
			return open_tag(s,
				(struct kr_fressian_struct){.name = tags[i].name,
					.length = (uint32_t)strlen(tags[i].name),
					.fields = tags[i].fields,
					.known = &tags[i]});
	return kr_fressian_bad(s, s->at - 1, "found the byte 0x%02x, expected a value", code);
}

static enum kr_status read_new_tag(struct kr_fressian *s)
{
	struct kr_fressian_struct tag;
	size_t length;

	KR_TRY(kr_fressian_text(s, &tag.name, &length));
	KR_TRY(kr_fressian_int(s, &tag.fields));
	tag.length = (uint32_t)(length < 100 ? length : 100);
	tag.known = known_tag(tag.name, length);
	return kr_vec_push(mem(s), &s->structs, tag) ? open_tag(s, tag) : KR_NOMEM;
}

/* The number of an object or a tag; one that none has where it is too large. */
static enum kr_status take_number(struct kr_fressian *s, unsigned *out)
{
	int64_t number;

	KR_TRY(kr_fressian_int(s, &number));
	*out = number >= 0 && number < UINT32_MAX ? (unsigned)number : KR_NONE;
	return KR_OK;
}

static enum kr_status read_old_tag(struct kr_fressian *s, unsigned n)
{
	return n < s->structs.n ? open_tag(s, s->structs.at[n])
				: kr_fressian_bad(s, s->at - 1, "names a tag that has not been told");
}

static enum kr_status read_kept(struct kr_fressian *s, unsigned n)
{
	struct kr_forms *f = s->forms;
	uint32_t base = f->nodes.n;

	if (n >= s->cache.n || s->cache.at[n].count == 0)
		return kr_fressian_bad(s, s->at - 1, "names an object that has not been told");

	struct kr_fressian_kept kept = s->cache.at[n];

	if (!kr_vec_reserve(mem(s), &f->nodes, kept.count))
		return KR_NOMEM;
	for (uint32_t i = 0; i < kept.count; i++) {
		struct kr_form form = s->kept.at[kept.first + i];

		form.end += base;
		form.line = f->line;
		f->nodes.at[f->nodes.n++] = form;
	}
	return KR_OK;
}

static enum kr_status read_keep(struct kr_fressian *s)
{
	KR_TRY(kr_vec_add(mem(s), &s->cache, (struct kr_fressian_kept){0, 0}));
	return open(s, (struct kr_fressian_frame){.what = KEEP, .left = 1, .slot = s->cache.n - 1});
}

/* Only between values: what is open may be in the caches. */
static enum kr_status read_reset(struct kr_fressian *s)
{
	if (s->frames.n > 0)
		return kr_fressian_bad(s, s->at - 1, "empties the caches inside a value, expected a value");
	s->kept.n = s->cache.n = s->structs.n = 0;
	return KR_OK;
}

/* ---- what closes ---- */

/* The map's or set's only field is a list, or null, which stands for an empty one. */
static enum kr_status close_collection(struct kr_fressian *s, uint32_t node, bool map)
{
	struct kr_form *nodes = s->forms->nodes.at;
	uint32_t count = 0;

	if (nodes[node].type == KR_FORM_NIL)
		nodes[node].type = KR_FORM_LIST;
	if (nodes[node].type != KR_FORM_LIST)
		return kr_fressian_bad(s, s->at, "a %s that is no list, expected one", map ? "map" : "set");
	if (!map)
		return kr_form_sort(mem(s), nodes, node);
	for (uint32_t at = node + 1; at < nodes[node].end; at = nodes[at].end)
		count++;
	if (count % 2)
		return kr_fressian_bad(s, s->at, "a map with a key without a value, expected both");
	nodes[node].type = KR_FORM_MAP;
	return KR_OK;
}

/* Takes the forms [from, to) out of those that end the nodes. */
static void take_out(struct kr_fressian *s, uint32_t from, uint32_t to)
{
	struct kr_form *nodes = s->forms->nodes.at;
	uint32_t n = s->forms->nodes.n - to;

	memmove(nodes + from, nodes + to, n * sizeof *nodes);
	for (uint32_t i = from; i < from + n; i++)
		nodes[i].end -= to - from;
	s->forms->nodes.n = from + n;
}

static enum kr_status close_named(struct kr_fressian *s, uint32_t node)
{
	struct kr_forms *f = s->forms;
	struct kr_form *space = &f->nodes.at[node], *name = space + 1;
	bool spaced = space->type == KR_FORM_STRING;

	if (f->nodes.n != node + 2 || !(spaced || space->type == KR_FORM_NIL) || name->type != KR_FORM_STRING)
		return kr_fressian_bad(s, s->at, "a name that is no text, expected one");
	name->type = KR_FORM_NAME;
	if (spaced) {
		uint32_t length = space->length + 1 + name->length;
		char *both = kr_arena_alloc(&f->h->arena, length, 1);

		if (!both)
			return KR_NOMEM;
		memcpy(both, space->text, space->length);
		both[space->length] = '/';
		memcpy(both + space->length + 1, name->text, name->length);
		name->text = both;
		name->length = length;
	}
	take_out(s, node, node + 1);
	return KR_OK;
}

static enum kr_status close_character(struct kr_fressian *s, uint32_t node)
{
	struct kr_form *form = &s->forms->nodes.at[node];
	int64_t code = form->type == KR_FORM_INT ? form->integer : -1;
	char utf8[4];

	if (code < 0 || code > 0xffff || (code >= 0xd800 && code < 0xe000))
		return kr_fressian_bad(s, s->at, "a character that is none, expected one");
	size_t n = kr_utf8_put(utf8, (uint32_t)code);
	form->type = KR_FORM_NAME;
	form->length = (uint32_t)n;
	form->text = kr_arena_text(&s->forms->h->arena, utf8, n);
	return form->text ? KR_OK : KR_NOMEM;
}

/* Other fields of an operation, a map or null, from `others` on, are among its own. */
static enum kr_status close_operation(struct kr_fressian *s, uint32_t node)
{
	struct kr_forms *f = s->forms;
	uint32_t others = node + 1;

	for (int i = 0; i < 2 * (OPERATION_FIELDS - 1); i++)
		others = f->nodes.at[others].end;
	if (f->nodes.at[others].type != KR_FORM_MAP && f->nodes.at[others].type != KR_FORM_NIL)
		return kr_fressian_bad(s, s->at,
			"an operation whose further fields are no map, expected one");
	take_out(s, others, others + 1);
	f->nodes.at[node].end = f->nodes.n;
	return KR_OK;
}

static enum kr_status close_tag(struct kr_fressian *s, const struct kr_fressian_frame *frame)
{
	struct kr_forms *f = s->forms;

	switch (frame->tag.known ? (enum meaning)frame->tag.known->meaning : OTHER) {
	case PLAIN: break;
	case LAST: take_out(s, frame->node, f->nodes.at[frame->node].end); break;
	case TUPLE: f->nodes.at[frame->node].end = f->nodes.n; break;
	case SET: return close_collection(s, frame->node, false);
	case MAP: return close_collection(s, frame->node, true);
	case NAMED: return close_named(s, frame->node);
	case CHARACTER: return close_character(s, frame->node);
	case OPERATION: return close_operation(s, frame->node);
	case OTHER:
		f->nodes.n = frame->node;
		return kr_fressian_put_text(s, KR_FORM_OTHER, frame->tag.name, frame->tag.length);
	}
	return KR_OK;
}

static enum kr_status close_keep(struct kr_fressian *s, const struct kr_fressian_frame *frame)
{
	const struct kr_forms *f = s->forms;
	uint32_t first = s->kept.n, count = f->nodes.n - frame->node;

	if (!kr_vec_reserve(mem(s), &s->kept, count))
		return KR_NOMEM;
	for (uint32_t i = 0; i < count; i++) {
		s->kept.at[first + i] = f->nodes.at[frame->node + i];
		s->kept.at[first + i].end -= frame->node;
	}
	s->kept.n += count;
	s->cache.at[frame->slot] = (struct kr_fressian_kept){first, count};
	return KR_OK;
}

/* One of what is open has got all its values. */
static enum kr_status close_top(struct kr_fressian *s)
{
	struct kr_fressian_frame frame = kr_vec_pop(&s->frames);

	switch ((enum what)frame.what) {
	case LIST: s->forms->nodes.at[frame.node].end = s->forms->nodes.n; break;
	case TAG: return close_tag(s, &frame);
	case KEEP: return close_keep(s, &frame);
	}
	return KR_OK;
}

/* Counts a value that is `whole`, and closes what that completes. */
static enum kr_status settle(struct kr_fressian *s, bool whole)
{
	while (s->frames.n > 0) {
		struct kr_fressian_frame *top = &s->frames.at[s->frames.n - 1];

		if (whole && top->left != UNTIL_END)
			top->left--;
		if (top->left > 0)
			return whole && top->what == TAG && top->tag.known &&
					top->tag.known->meaning == OPERATION
				? put_field(s, OPERATION_FIELDS - top->left)
				: KR_OK;
		KR_TRY(close_top(s));
		whole = true;
	}
	return KR_OK;
}

/* ---- values ---- */

static enum kr_status read_structure(struct kr_fressian *s, unsigned char code)
{
	unsigned number = KR_NONE;
	uint64_t count = UNTIL_END;

	if (code == 0xcc || code == 0xf0)
		KR_TRY(take_number(s, &number));
	if (code == 0xec || (code >= 0xb0 && code <= 0xb5))
		KR_TRY(kr_fressian_count(s, &count));
	switch (code) {
	case 0x80 ... 0x9f: return read_kept(s, code - 0x80u);
	case 0xa0 ... 0xaf: return read_old_tag(s, code - 0xa0u);
	case 0xb0 ... 0xb5: /* arrays of numbers and so on */
	case 0xec:
	case 0xed: return open_list(s, count);
	case 0xcc: return read_kept(s, number);
	case 0xcd: return read_keep(s);
	case 0xe4 ... 0xeb: return open_list(s, code - 0xe4u);
	case 0xef: return read_new_tag(s);
	case 0xf0: return read_old_tag(s, number);
	case 0xfd: return read_list_end(s);
	case 0xfe: return read_reset(s);
	default: return read_tag(s, code);
	}
}

/* A code and what is behind it. */
static enum kr_status read_piece(struct kr_fressian *s)
{
	uint32_t frames = s->frames.n, nodes = s->forms->nodes.n;
	bool scalar;

	if (s->at == s->end)
		return kr_fressian_bad_end(s);
	KR_TRY(kr_fressian_scalar(s, *s->at++, &scalar));
	if (!scalar)
		KR_TRY(read_structure(s, s->at[-1]));
	return settle(s, s->frames.n == frames && s->forms->nodes.n > nodes);
}

enum kr_status kr_fressian_next(struct kr_fressian *s, bool *found)
{
	s->forms->nodes.n = 0;
	s->frames.n = 0;
	*found = false;
	if (s->entered ? s->left == 0 : s->at == s->end)
		return KR_OK;
	if (s->left == UNTIL_END && s->at < s->end && *s->at == 0xfd) {
		s->left = 0;
		return KR_OK;
	}
	do {
		KR_TRY(read_piece(s));
		KR_TRY(kr_ctx_tick(s->forms->ctx));
	} while (s->frames.n > 0 || s->forms->nodes.n == 0);
	s->left -= s->entered && s->left != UNTIL_END;
	*found = true;
	return KR_OK;
}

enum kr_status kr_fressian_enter(struct kr_fressian *s)
{
	const unsigned char *code = s->at;

	if (s->at == s->end)
		return kr_fressian_bad_end(s);
	s->entered = true;
	s->at++;
	if (*code == 0xec)
		return kr_fressian_count(s, &s->left);
	if (*code != 0xed && *code != 0xf7 && (*code < 0xe4 || *code > 0xeb))
		return kr_fressian_bad(s, code, "found the byte 0x%02x, expected a list", *code);
	s->left = *code == 0xed ? UNTIL_END : *code == 0xf7 ? 0 : *code - 0xe4u;
	return KR_OK;
}

void kr_fressian_init(struct kr_fressian *s, struct kr_forms *forms, const void *file)
{
	*s = (struct kr_fressian){.forms = forms, .file = file, .at = file, .end = file};
	kr_str_init(&s->text, forms->h->mem);
}

void kr_fressian_begin(struct kr_fressian *s, const void *at, size_t length)
{
	s->at = at;
	s->end = s->at + length;
	s->entered = false;
	s->left = 0;
	s->kept.n = s->cache.n = s->structs.n = 0;
}

void kr_fressian_done(struct kr_fressian *s)
{
	kr_vec_done(mem(s), &s->kept);
	kr_vec_done(mem(s), &s->cache);
	kr_vec_done(mem(s), &s->structs);
	kr_vec_done(mem(s), &s->frames);
	kr_str_done(&s->text);
}
