/* Forms: the values of EDN, of JSON and of Fressian, read one at a time as a flat tree. Inside of the
 * readers of foreign formats. */
#ifndef KR_FRONTEND_FORM_H
#define KR_FRONTEND_FORM_H

#include "frontend/format.h"

enum kr_form_type {
	KR_FORM_NIL, /* nil, null */
	KR_FORM_FALSE,
	KR_FORM_TRUE,
	KR_FORM_INT,
	KR_FORM_REAL,
	KR_FORM_BIG,    /* a number that krait cannot hold exactly; text */
	KR_FORM_OTHER,  /* Fressian: an object of Java that is none of these; text: its tag */
	KR_FORM_STRING,
	KR_FORM_NAME,   /* EDN keyword (without its colon), symbol or character */
	KR_FORM_LIST,   /* vector, list, set (sorted); JSON array */
	KR_FORM_MAP     /* its children are keys and values in turn */
};

struct kr_form {
	uint8_t type;    /* enum kr_form_type */
	uint32_t line;   /* 1-based, where it begins */
	uint32_t end;    /* index behind its last descendant: the next sibling's */
	uint32_t length; /* of text */
	union {
		int64_t integer;
		double real;
		const char *text; /* not terminated, in the file's text */
	};
};

/* A list or map being read. */
struct kr_form_frame {
	uint32_t node;  /* KR_NONE: entered by the caller */
	uint32_t count; /* children so far */
	uint32_t line;
	char close;     /* its closing bracket; '_': discards the next form */
	bool separator; /* JSON: a comma or colon stands since the last child */
	bool set;       /* EDN: its elements have no order */
};

struct kr_forms {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	const char *path;
	/* what kr_forms_next does where values are not in a text; NULL: they are */
	enum kr_status (*next)(struct kr_forms *f, bool *found);
	void *from; /* its own */
	bool json;
	char *text; /* of the file; escapes are decoded in place */
	size_t length, at;
	uint32_t line;
	KR_VEC(struct kr_form) nodes; /* of the form read last; the form itself is nodes.at[0] */
	KR_VEC(struct kr_form_frame) frames;

	/* scratch */
	struct kr_str value;
	KR_VEC(uint32_t) open;
};

/* Takes all that is left of `source`. JSON or EDN is told from the text. The caller frees with _done in every
 * case, before the source. */
enum kr_status kr_forms_init(struct kr_forms *f, struct kr_ctx *ctx, struct kr_history *h, const char *path,
	struct kr_source *source, struct kr_err *err);
/* The same where values are not in a text: the caller sets `next` and `from`. */
void kr_forms_begin(struct kr_forms *f, struct kr_ctx *ctx, struct kr_history *h, const char *path,
	struct kr_err *err);
void kr_forms_done(struct kr_forms *f);

/* Reads the next form of the file, or of the list or map that was entered last; *found false at the end of
 * either (a closing bracket is consumed). KR_BAD: malformed. */
enum kr_status kr_forms_next(struct kr_forms *f, bool *found);

/* Goes into the list or map that comes next, without reading it whole; *bracket 0 (and nothing done) if
 * something else comes, or nothing. */
enum kr_status kr_forms_enter(struct kr_forms *f, char *bracket);

/* Sets the error, at a line. Returns KR_BAD. */
enum kr_status kr_forms_bad(struct kr_forms *f, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same: "WHAT ..., expected EXPECTED", with what the form is; and "\"NAME\" is ..., expected ...". */
enum kr_status kr_forms_wrong(struct kr_forms *f, uint32_t line, const char *what, uint32_t form,
	const char *expected);
enum kr_status kr_forms_wrong_field(struct kr_forms *f, uint32_t line, const char *name, uint32_t form,
	const char *expected);

/* KR_NONE: as nil */
static inline enum kr_form_type kr_form_type(const struct kr_forms *f, uint32_t form)
{
	return form == KR_NONE ? KR_FORM_NIL : (enum kr_form_type)f->nodes.at[form].type;
}
/* a name or string of these bytes; KR_NONE is none */
bool kr_form_is(const struct kr_forms *f, uint32_t form, const char *text);
/* for messages; KR_NONE: "nothing" */
const char *kr_form_found(const struct kr_forms *f, uint32_t form, char out[80]);

/* Finds fields of a map: out[i] is the value of names[i], or KR_NONE. KR_BAD: one of them stands twice. */
enum kr_status kr_forms_fields(struct kr_forms *f, uint32_t map, const char *const *names, uint32_t *out,
	uint32_t count);

/* Puts the elements of the set, which is complete, into the one order that equal sets have. */
enum kr_status kr_form_sort(struct kr_mem *mem, struct kr_form *nodes, uint32_t set);

/* Interns a form as a value: names become strings, nil absent, sets arrays. */
enum kr_status kr_forms_value(struct kr_forms *f, uint32_t form, kr_value *out);
/* number, string, name; others by their JSON text */
enum kr_status kr_forms_key(struct kr_forms *f, uint32_t form, kr_key *out);
/* the key [first, second] */
enum kr_status kr_forms_pair_key(struct kr_forms *f, uint32_t first, uint32_t second, kr_key *out);

#endif
