/* The scanner of JSON. A loop over the tokens, with a stack of the containers that are open; at the end of an
 * object its names are compared with each other. Cost: the text, and for objects of many members sorting
 * their names. */
#include "frontend/node.h"

#include <stdlib.h>

enum {
	DEPTH_MOST = 2048, /* of values in each other, as jansson */
	DIGITS_MOST = 18,  /* of an integer that certainly fits */
	FEW_MEMBERS = 16
};

/* Of a string: what may stand in it as it is. */
static const bool plain[256] = {
	[0x20 ... 0x21] = true,
	[0x23 ... 0x5b] = true,
	[0x5d ... 0x7f] = true,
};

/* Goes on with a number that is no short integer. */
static const bool in_number[256] =
	{['0' ... '9'] = true, ['.'] = true, ['e'] = true, ['E'] = true, ['+'] = true, ['-'] = true};

/* Functions that scan take where something begins, and return where it ends; NULL: malformed, or no
 * memory. */
struct scan {
	struct kr_nodes *nodes;
	bool no_memory;
};

void kr_nodes_init(struct kr_nodes *nodes, struct kr_mem *mem)
{
	*nodes = (struct kr_nodes){.mem = mem};
	kr_arena_init(&nodes->texts, mem);
}

void kr_nodes_done(struct kr_nodes *nodes)
{
	kr_vec_done(nodes->mem, &nodes->list);
	kr_vec_done(nodes->mem, &nodes->open);
	kr_vec_done(nodes->mem, &nodes->names);
	kr_arena_done(&nodes->texts);
}

static void clear(struct kr_nodes *nodes)
{
	kr_vec_clear(&nodes->list);
	kr_vec_clear(&nodes->open);
	kr_arena_done(&nodes->texts);
}

static bool take(struct kr_nodes *nodes, const json_t *json);

static inline char *skip_blanks(char *at)
{
	while ((unsigned char)*at <= ' ' && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
		at++;
	return at;
}

/* A new node, of which the caller fills in what its type has beside the span; NULL: no memory. */
static inline struct kr_node *add(struct scan *s, enum kr_node_type type)
{
	struct kr_nodes *nodes = s->nodes;

	if (!kr_vec_reserve(nodes->mem, &nodes->list, 1)) {
		s->no_memory = true;
		return NULL;
	}

	struct kr_node *node = &nodes->list.at[nodes->list.n++];

	node->type = (uint8_t)type;
	node->in_text = false;
	node->length = 0;
	node->span = 1;
	return node;
}

/* ---- scalars ---- */

/* The token from `from` to `to`, by jansson. */
static char *scan_token(struct scan *s, const char *from, char *to)
{
	json_error_t error;
	json_t *json = json_loadb(from, (size_t)(to - from), JSON_DECODE_ANY | KR_NODE_JANSSON, &error);
	bool good = json && take(s->nodes, json);

	s->no_memory |= json && !good;
	json_decref(json);
	return good ? to : NULL;
}

static char *scan_number(struct scan *s, char *from)
{
	char *digits = from + (*from == '-'), *at = digits;
	uint64_t number = 0;

	while (*at >= '0' && *at <= '9' && at - digits < DIGITS_MOST)
		number = 10 * number + (uint64_t)(*at++ - '0');
	if (at == digits || (*digits == '0' && at - digits > 1))
		return NULL;
	if (in_number[(unsigned char)*at])
		return scan_token(s, from, at + strspn(at, "0123456789+-.eE"));

	struct kr_node *node = add(s, KR_NODE_INT);

	if (!node)
		return NULL;
	node->integer = digits > from ? -(int64_t)number : (int64_t)number;
	return at;
}

static char *scan_string(struct scan *s, char *from)
{
	char *at = from + 1;

	while (plain[(unsigned char)*at])
		at++;
	if (*at == '"') {
		struct kr_node *node = add(s, KR_NODE_STRING);
		if (!node)
			return NULL;
		*at = '\0';
		node->in_text = true;
		node->length = (uint32_t)(at - from) - 1;
		node->text = from + 1;
		return at + 1;
	}
	while (*at != '"') {
		at += *at == '\\';
		if (*at == '\0')
			return NULL;
		at++;
	}
	return scan_token(s, from, at + 1);
}

static char *scan_word(struct scan *s, char *at, const char *word, enum kr_node_type type)
{
	size_t length = strlen(word);

	return strncmp(at, word, length) == 0 && add(s, type) ? at + length : NULL;
}

/* ---- names ---- */

static inline bool same_name(const struct kr_node *a, const struct kr_node *b)
{
	return a->length == b->length && a->text[0] == b->text[0] && memcmp(a->text, b->text, a->length) == 0;
}

static int by_name(const void *a, const void *b)
{
	const struct kr_node *x = *(const struct kr_node *const *)a, *y = *(const struct kr_node *const *)b;

	return x->length != y->length ? (x->length < y->length ? -1 : 1)
				      : memcmp(x->text, y->text, x->length);
}

static bool names_differ_of_many(struct scan *s, const struct kr_node *object)
{
	kr_vec_clear(&s->nodes->names);
	for (const struct kr_node *name = kr_node_member(object, NULL); name;
		name = kr_node_member(object, name))
		if (!kr_vec_push(s->nodes->mem, &s->nodes->names, name)) {
			s->no_memory = true;
			return false;
		}
	qsort(s->nodes->names.at, s->nodes->names.n, sizeof *s->nodes->names.at, by_name);
	for (uint32_t i = 1; i < s->nodes->names.n; i++)
		if (same_name(s->nodes->names.at[i - 1], s->nodes->names.at[i]))
			return false;
	return true;
}

static bool names_differ(struct scan *s, const struct kr_node *object)
{
	const struct kr_node *names[FEW_MEMBERS];
	uint32_t n = 0;

	if (object->length > FEW_MEMBERS)
		return names_differ_of_many(s, object);
	for (const struct kr_node *name = kr_node_member(object, NULL); name;
		name = kr_node_member(object, name)) {
		for (uint32_t i = 0; i < n; i++)
			if (same_name(names[i], name))
				return false;
		names[n++] = name;
	}
	return true;
}

/* `"name":`, behind which its value stands. A name may hold no NUL. */
static char *scan_name(struct scan *s, char *at)
{
	if (*at != '"' || !(at = scan_string(s, at)))
		return NULL;

	const struct kr_node *name = &s->nodes->list.at[s->nodes->list.n - 1];

	if (!name->in_text && strlen(name->text) != name->length)
		return NULL;
	at = skip_blanks(at);
	return *at == ':' ? skip_blanks(at + 1) : NULL;
}

/* ---- values ---- */

static char *open_container(struct scan *s, char *at, enum kr_node_type type)
{
	struct kr_nodes *nodes = s->nodes;
	struct kr_node *node = add(s, type);

	if (!node)
		return NULL;
	node->text = at;
	if (kr_vec_push(nodes->mem, &nodes->open, nodes->list.n - 1))
		return at + 1;
	s->no_memory = true;
	return NULL;
}

/* A scalar, or the beginning of a container. */
static char *scan_value(struct scan *s, char *at)
{
	if (s->nodes->open.n == DEPTH_MOST)
		return NULL;
	switch (*at) {
	case '"': return scan_string(s, at);
	case '[': return open_container(s, at, KR_NODE_ARRAY);
	case '{': return open_container(s, at, KR_NODE_OBJECT);
	case 'n': return scan_word(s, at, "null", KR_NODE_NULL);
	case 't': return scan_word(s, at, "true", KR_NODE_TRUE);
	case 'f': return scan_word(s, at, "false", KR_NODE_FALSE);
	default: return scan_number(s, at);
	}
}

/* All up to the end of the innermost container, or the beginning of another one. */
static char *scan_parts(struct scan *s, char *at)
{
	struct kr_nodes *nodes = s->nodes;
	uint32_t in = nodes->open.at[nodes->open.n - 1], open = nodes->open.n,
		 length = nodes->list.at[in].length;
	bool object = nodes->list.at[in].type == KR_NODE_OBJECT;

	while (at && nodes->open.n == open) {
		at = skip_blanks(at);
		if (*at == (object ? '}' : ']')) {
			nodes->list.at[in].length = length;
			nodes->list.at[in].span = nodes->list.n - in;
			nodes->open.n--;
			return !object || names_differ(s, &nodes->list.at[in]) ? at + 1 : NULL;
		}
		if (length++ > 0) {
			if (*at != ',')
				return NULL;
			at = skip_blanks(at + 1);
		}
		if (object && !(at = scan_name(s, at)))
			return NULL;
		at = scan_value(s, at);
	}
	nodes->list.at[in].length = length;
	return at;
}

static void restore(const struct kr_nodes *nodes, char *text)
{
	for (uint32_t i = 0; i < nodes->list.n; i++)
		if (nodes->list.at[i].in_text)
			text[(nodes->list.at[i].text - text) + (ptrdiff_t)nodes->list.at[i].length] = '"';
}

enum kr_status kr_nodes_scan(struct kr_nodes *nodes, char *text, size_t length, const struct kr_node **out)
{
	struct scan s = {.nodes = nodes};

	clear(nodes);
	char *at = skip_blanks(text);
	at = length < UINT32_MAX && (*at == '[' || *at == '{') ? scan_value(&s, at) : NULL;
	while (at && nodes->open.n > 0)
		at = scan_parts(&s, at);
	if (at && skip_blanks(at) == text + length) {
		*out = nodes->list.at;
		return KR_OK;
	}
	restore(nodes, text);
	return s.no_memory ? KR_NOMEM : KR_BAD;
}

/* ---- of jansson's ---- */

static bool take_text(struct kr_nodes *nodes, const char *text, size_t length)
{
	const char *copy = kr_arena_text(&nodes->texts, text, length);
	struct kr_node node = {.type = KR_NODE_STRING, .span = 1, .length = (uint32_t)length, .text = copy};

	return copy && kr_vec_push(nodes->mem, &nodes->list, node);
}

static bool take_parts(struct kr_nodes *nodes, const json_t *json)
{
	uint32_t at = nodes->list.n;
	bool array = json_is_array(json), good;
	struct kr_node node = {.type = array ? KR_NODE_ARRAY : KR_NODE_OBJECT,
		.length = (uint32_t)(array ? json_array_size(json) : json_object_size(json))};
	json_t *object = (json_t *)(uintptr_t)json, *value; /* jansson's iterators take what is not const */
	const char *name;
	size_t i;

	good = kr_vec_push(nodes->mem, &nodes->list, node);
	json_array_foreach(json, i, value) good = good && take(nodes, value);
	json_object_foreach(object, name, value) good =
		good && take_text(nodes, name, strlen(name)) && take(nodes, value);
	if (good)
		nodes->list.at[at].span = nodes->list.n - at;
	return good;
}

static bool take(struct kr_nodes *nodes, const json_t *json)
{
	struct kr_node node = {.span = 1};

	switch (json_typeof(json)) {
	case JSON_NULL: node.type = KR_NODE_NULL; break;
	case JSON_FALSE: node.type = KR_NODE_FALSE; break;
	case JSON_TRUE: node.type = KR_NODE_TRUE; break;
	case JSON_INTEGER:
		node.type = KR_NODE_INT;
		node.integer = json_integer_value(json);
		break;
	case JSON_REAL:
		node.type = KR_NODE_REAL;
		node.real = json_real_value(json);
		break;
	case JSON_STRING: return take_text(nodes, json_string_value(json), json_string_length(json));
	default: return take_parts(nodes, json);
	}
	return kr_vec_push(nodes->mem, &nodes->list, node);
}

enum kr_status kr_nodes_take(struct kr_nodes *nodes, const json_t *json, const struct kr_node **out)
{
	clear(nodes);
	if (!take(nodes, json))
		return KR_NOMEM;
	*out = nodes->list.at;
	return KR_OK;
}

/* ---- looking ---- */

const struct kr_node *kr_node_get(const struct kr_node *object, const char *name)
{
	for (const struct kr_node *at = kr_node_member(object, NULL); at; at = kr_node_member(object, at))
		if (strcmp(at->text, name) == 0)
			return kr_node_value(at);
	return NULL;
}
