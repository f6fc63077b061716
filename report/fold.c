/* Folds lines that are wider than a screen at blanks outside quotes, with what follows indented under what it
 * continues: a line "  - text" goes on under its text. Columns are counted in characters; a word that is
 * wider than the screen stays whole. Linear. */
#include "report/fold.h"

#include <string.h>

/* Where the text of the line begins: behind blanks and "- " or "[7] ". */
static size_t text_at(const char *line, size_t n)
{
	size_t i = 0, number;

	while (i < n && line[i] == ' ')
		i++;
	if (i + 1 < n && line[i] == '-' && line[i + 1] == ' ')
		return i + 2;
	for (number = i + 1;
		i < n && line[i] == '[' && number < n && line[number] >= '0' && line[number] <= '9';)
		number++;
	return i < n && line[i] == '[' && number + 1 < n && line[number] == ']' && line[number + 1] == ' '
		? number + 2
		: i;
}

/* May a line end at the blank at `i`? Not within "x = 5" or "key 9", nor behind a word of one letter. */
static bool may_break(const char *text, size_t n, size_t i)
{
	bool key = i >= 3 && memcmp(text + i - 3, "key", 3) == 0;

	return i > 1 && text[i - 2] != ' ' && !key && (i + 1 == n || text[i + 1] != '=');
}

/* How much of the text fits in `columns`: up to a blank outside quotes, or all of it, or its first word. */
static size_t fitting(const char *text, size_t n, size_t columns)
{
	size_t blank = 0, width = 0;
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
			quoted = !quoted;
		if (i >= 3 && memcmp(text + i - 3, "...", 3) == 0 && text[i] == ' ')
			quoted = false; /* what was cut has no end of its own */
		if (text[i] == ' ' && !quoted && may_break(text, n, i)) {
			if (width > columns && blank > 0)
				return blank;
			blank = i;
		}
		width += ((unsigned char)text[i] & 0xC0) != 0x80;
	}
	return width <= columns || blank == 0 ? n : blank;
}

static void fold_line(const char *line, size_t n, struct kr_str *out)
{
	size_t hang = text_at(line, n), done = hang, fits;

	kr_str_add_bytes(out, line, hang);
	while (done < n) {
		fits = fitting(line + done, n - done,
			KR_FOLD_COLUMNS - (hang < KR_FOLD_COLUMNS / 2 ? hang : KR_FOLD_COLUMNS / 2));
		kr_str_add_bytes(out, line + done, fits);
		done += fits;
		while (done < n && line[done] == ' ')
			done++;
		if (done == n)
			break;
		kr_str_add(out, "\n");
		for (size_t i = 0; i < hang; i++)
			kr_str_add(out, " ");
	}
}

void kr_fold(const struct kr_str *text, struct kr_str *out)
{
	const char *at = kr_str_text(text), *end = at + text->n;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		fold_line(at, (size_t)((line_end ? line_end : end) - at), out);
		if (line_end)
			kr_str_add(out, "\n");
		at = line_end ? line_end + 1 : end;
	}
	out->failed |= text->failed;
}
