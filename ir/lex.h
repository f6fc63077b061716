/* Words of the line-oriented text forms of ASG and IR. Blank lines and lines that begin with '#' are skipped.
 * Every error is KR_BAD (KR_NOMEM for texts) and names the line, what was found and what was expected. */
#ifndef KR_IR_LEX_H
#define KR_IR_LEX_H

#include "base/arena.h"
#include "base/err.h"

struct kr_lex {
	const char *at;     /* into a terminated text that outlives the reading */
	uint32_t line;      /* 1-based line of `at` */
	struct kr_err *err; /* may be NULL */
};

struct kr_text {
	const char *at;
	size_t length;
}; /* may hold NUL */

/* Moves to the first word of the next line that has one; false at the end of the text. */
bool kr_lex_line(struct kr_lex *lex);

/* Steps over `word` and returns true if it comes next. A word that ends in a letter or digit must end there
 * in the text, too. */
bool kr_lex_accept(struct kr_lex *lex, const char *word);

enum kr_status kr_lex_expect(struct kr_lex *lex, const char *word);
/* a number below `limit` */
enum kr_status kr_lex_u32(struct kr_lex *lex, const char *what, uint32_t limit, uint32_t *out);
/* the number that a line gives to what it describes: the next one */
enum kr_status kr_lex_next(struct kr_lex *lex, uint32_t next);
/* a word and such a number behind it */
enum kr_status kr_lex_field(struct kr_lex *lex, const char *word, const char *what, uint32_t limit,
	uint32_t *out);
/* one of the words, as its place among them */
enum kr_status kr_lex_one_of(struct kr_lex *lex, const char *const *words, unsigned n, const char *what,
	unsigned *out);
enum kr_status kr_lex_i64(struct kr_lex *lex, const char *what, int64_t *out);
/* a JSON string, decoded */
enum kr_status kr_lex_string(struct kr_lex *lex, const char *what, struct kr_arena *arena,
	struct kr_text *out);
/* what is left of the line, not nothing */
enum kr_status kr_lex_rest(struct kr_lex *lex, const char *what, struct kr_arena *arena, struct kr_text *out);
enum kr_status kr_lex_end(struct kr_lex *lex); /* nothing but the end of the line; steps over it */

/* Sets the error "found "...", expected WHAT". */
enum kr_status kr_lex_fail(struct kr_lex *lex, const char *what);

#endif
