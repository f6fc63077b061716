/* A small text format: a first line "pairs 1", then a transaction a line: its id, its session, and operations "r KEY VALUE" or "w KEY VALUE" with commas between them. A value is a word, '-' for
 * nothing. Everything committed. */
#include <string.h>

#include <krait/reader.h>

#include "plugin.h"

static const char header[] = "pairs 1";

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	return length >= sizeof header - 1 && memcmp(head, header, sizeof header - 1) == 0 ? 100 : 0;
}

/* The next word of *at, cut off there; NULL: none. */
static char *word(char **at)
{
	char *start = *at + strspn(*at, " ");
	size_t length = strcspn(start, " ");

	if (length == 0)
		return NULL;
	*at = start + length + (start[length] != '\0');
	start[length] = '\0';
	return start;
}

static bool read_op(krait_builder *b, char *text)
{
	char *kind = word(&text), *key = word(&text), *value = word(&text);

	if (!kind || !key || !value || (strcmp(kind, "r") != 0 && strcmp(kind, "w") != 0))
		return false;
	krait_build_op(b, &(struct krait_operation){
				  .kind = kind[0] == 'r' ? KRAIT_READ : KRAIT_WRITE,
				  .key = krait_text(key),
				  .value = strcmp(value, "-") == 0 ? krait_absent() : krait_text(value),
			  });
	return true;
}

static bool read_transaction(krait_builder *b, char *line, uint32_t number)
{
	char *id = word(&line), *session = word(&line);
	bool good = id && session;

	if (!good)
		return false;
	krait_build_begin(b, &(struct krait_transaction){.id = krait_text(id), .session = krait_text(session), .line = number});
	for (char *comma; good && line; line = comma) {
		comma = strchr(line, ',');
		if (comma)
			*comma++ = '\0';
		good = read_op(b, line);
	}
	krait_build_end(b); /* what fails in here is told by krait_read_done */
	return good;
}

static enum kr_status read(struct kr_ctx *ctx, const char *path, struct kr_source *source, struct kr_history *h, struct kr_err *err)
{
	krait_builder *b = NULL;
	char *line;
	size_t length;
	enum kr_status status = krait_read_into(ctx, h, &b, err);

	while (!status && !(status = krait_source_line(source, &line, &length, err)) && line) {
		uint32_t number = krait_source_line_number(source);

		if (length == 0 || (number == 1 && strcmp(line, header) == 0) || read_transaction(b, line, number))
			continue;
		status = krait_fail(err, KR_BAD, "expected ID SESSION, then \"r KEY VALUE\" or \"w KEY VALUE\" with commas between them");
		krait_fail_at(err, path, number);
	}
	return krait_read_done(b, status, err);
}

const struct kr_format pairs = {
	.name = "pairs",
	.title = "a small text format, as an example",
	.source = "examples/plugin/pairs.c",
	.sniff = sniff,
	.read = read,
};
