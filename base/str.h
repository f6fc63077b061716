/* Growing text buffer, for reports and text forms. After a failed allocation the buffer keeps what it has and
 * `failed` is set: check once at the end. */
#ifndef KR_BASE_STR_H
#define KR_BASE_STR_H

#include <stdarg.h>

#include "base/mem.h"

struct kr_str {
	struct kr_mem *mem;
	char *at;    /* terminated whenever not NULL */
	size_t n;    /* bytes without the terminator */
	size_t cap;
	bool failed;
};

void kr_str_init(struct kr_str *str, struct kr_mem *mem);
void kr_str_done(struct kr_str *str);
void kr_str_add(struct kr_str *str, const char *text);
void kr_str_add_bytes(struct kr_str *str, const char *text, size_t length);
void kr_str_vformat(struct kr_str *str, const char *format, va_list args);
void kr_str_format(struct kr_str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A member of a JSON object, "NAME": "TEXT", with a comma before it where it is not the first and none was
 * written; of a text that is not ours (shown); of one that was made for it, which is freed, and whose failure
 * is the buffer's; only its name, for a value that follows. */
void kr_str_member(struct kr_str *str, const char *name, const char *text);
void kr_str_member_shown(struct kr_str *str, const char *name, const char *text);
void kr_str_member_made(struct kr_str *str, const char *name, struct kr_str *text);
void kr_str_member_name(struct kr_str *str, const char *name);
/* as a quoted JSON string, valid for any bytes of UTF-8 */
void kr_str_json(struct kr_str *str, const char *text, size_t length);
/* Length of the well-formed UTF-8 sequence that `text` starts with, of `left` > 0 bytes; 0: there is none. */
size_t kr_utf8_length(const char *text, size_t left);
/* Writes the UTF-8 of a character, which is one, and returns how many bytes that are. */
size_t kr_utf8_put(char out[4], uint32_t code);
/* Length of the character that `text` starts with, of `left` > 0 bytes. *escape: "", or what stands for it
 * where people read it, since it breaks a line or a field, is obeyed by terminals, turns the direction of
 * what follows, or is no UTF-8. */
size_t kr_char_shown(const char *text, size_t left, char escape[8]);
/* A file name or another text that is not ours, for people: such characters escaped. */
void kr_str_shown(struct kr_str *str, const char *text);
void kr_str_shown_bytes(struct kr_str *str, const char *text, size_t length);
const char *kr_str_text(const struct kr_str *str); /* never NULL */

#endif
