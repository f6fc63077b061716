/* Fressian (https://github.com/Datomic/fressian): values as bytes, read one at a time as forms. Inside of the
 * reader of Jepsen's stores. */
#ifndef KR_FRONTEND_FRESSIAN_H
#define KR_FRONTEND_FRESSIAN_H

#include "frontend/form.h"

/* An object that later ones name by its number: forms of `kept`. */
struct kr_fressian_kept { uint32_t first, count; };

/* A tag that was told, and how many values are behind it. */
struct kr_fressian_struct {
	const char *name;
	uint32_t length;
	int64_t fields;
	const struct kr_fressian_tag *known; /* NULL: it is not */
};

/* What is being read: a list, or values of a tag. */
struct kr_fressian_frame {
	uint8_t what;
	uint32_t node;    /* its first form */
	uint64_t left;    /* values to come; UINT64_MAX: up to its end */
	uint32_t slot;    /* where it is kept */
	struct kr_fressian_struct tag;
};

struct kr_fressian {
	struct kr_forms *forms;   /* what is read is its `nodes` */
	const unsigned char *at, *end;
	const unsigned char *file; /* where messages count from */
	bool entered;             /* a list, */
	uint64_t left;            /* with so many values to come; UINT64_MAX: up to its end */
	KR_VEC(struct kr_form) kept;
	KR_VEC(struct kr_fressian_kept) cache;
	KR_VEC(struct kr_fressian_struct) structs;
	KR_VEC(struct kr_fressian_frame) frames;
	struct kr_str text; /* scratch */
};

/* `file` is the file's text, and the values are in it; texts that do not stand in it go to the history. */
void kr_fressian_init(struct kr_fressian *s, struct kr_forms *forms, const void *file);
void kr_fressian_done(struct kr_fressian *s);

/* From now on values [at, at + length). */
void kr_fressian_begin(struct kr_fressian *s, const void *at, size_t length);

/* Goes into the list that comes next; nothing (null) is an empty one. KR_BAD: something else comes. */
enum kr_status kr_fressian_enter(struct kr_fressian *s);

/* The next value, or element of the list that was entered; *found false at the end. KR_BAD: malformed. */
enum kr_status kr_fressian_next(struct kr_fressian *s, bool *found);

/* Sets the error, with the byte of the file that `at` is, and that history.edn can be read instead. Returns
 * KR_BAD. */
enum kr_status kr_fressian_bad(struct kr_fressian *s, const unsigned char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The number that these bytes are, most significant first. */
uint64_t kr_word_at(const unsigned char *at, unsigned size);

/* ---- shared by fressian*.c only ---- */

enum kr_status kr_fressian_bad_end(struct kr_fressian *s); /* of the block, inside a value */

/* Adds a form, which is no list. */
enum kr_status kr_fressian_put(struct kr_fressian *s, struct kr_form form);
enum kr_status kr_fressian_put_text(struct kr_fressian *s, enum kr_form_type type, const char *text,
	size_t length);

/* What comes next, without a form of it: an integer; how many bytes or values follow, which are there; a
 * text. */
enum kr_status kr_fressian_int(struct kr_fressian *s, int64_t *out);
enum kr_status kr_fressian_count(struct kr_fressian *s, uint64_t *out);
enum kr_status kr_fressian_text(struct kr_fressian *s, const char **text, size_t *length);

/* Adds the form of a value whose code has been taken; *found false (and nothing done): it is no scalar. */
enum kr_status kr_fressian_scalar(struct kr_fressian *s, unsigned char code, bool *found);

#endif
