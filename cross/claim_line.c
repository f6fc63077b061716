/* The verdict in a line of a checker's output. What stands in brackets counts only where nothing else does
 * (`[time] [info] accept: true`, but `[[[[ ACCEPT ]]]]`), what is in parentheses and a period behind a word
 * not at all. Of the words left one must be the verdict, alone, behind the name of a history, or before true
 * or false: a sentence that has such a word in it is no verdict. */
#include "cross/claim_file.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORDS_MOST 4

struct word {
	const char *at;
	size_t length;
	bool bracket, named; /* a colon follows */
};

static const struct {
	const char *text;
	enum kr_outcome verdict;
} words[] = {{"satisfied", KR_SATISFIED}, {"violated", KR_VIOLATED}, {"accept", KR_SATISFIED},
	{"reject", KR_VIOLATED}, {"accepted", KR_SATISFIED}, {"rejected", KR_VIOLATED},
	{"valid", KR_SATISFIED}, {"invalid", KR_VIOLATED}, {"pass", KR_SATISFIED}, {"fail", KR_VIOLATED},
	{"passed", KR_SATISFIED}, {"failed", KR_VIOLATED}, {"consistent", KR_SATISFIED},
	{"inconsistent", KR_VIOLATED}, {"unknown", KR_UNDECIDED}, {"undecided", KR_UNDECIDED},
	{"timeout", KR_UNDECIDED}};

static bool is(const struct word *w, const char *text)
{
	return w->length == strlen(text) && strncasecmp(w->at, text, w->length) == 0;
}

bool kr_claim_word(const char *text, size_t length, enum kr_outcome *out)
{
	const struct word w = {.at = text, .length = length};

	for (size_t i = 0; i < KR_COUNT(words); i++) {
		if (!is(&w, words[i].text))
			continue;
		*out = words[i].verdict;
		return true;
	}
	return false;
}

/* Up to WORDS_MOST + 1 words. */
static uint32_t split(const char *line, struct word out[WORDS_MOST + 1])
{
	uint32_t n = 0, brackets = 0, parentheses = 0;

	for (const char *at = line; *at && n <= WORDS_MOST;) {
		size_t length = strcspn(at, " \t\r,;=:()[]");
		if (length > 0 && parentheses == 0)
			out[n++] = (struct word){at, length - (length > 1 && at[length - 1] == '.'),
				brackets > 0, at[length] == ':' || at[length] == '='};
		at += length;
		brackets += *at == '[';
		brackets -= *at == ']' && brackets > 0;
		parentheses += *at == '(';
		parentheses -= *at == ')' && parentheses > 0;
		at += *at != '\0';
	}
	return n;
}

static uint32_t drop_brackets(struct word *w, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!w[i].bracket)
			w[kept++] = w[i];
	return kept > 0 ? kept : n;
}

/* A history's: such as no sentence begins with. */
static bool is_name(const struct word *w)
{
	if (w->named || is(w, "result") || is(w, "verdict"))
		return true;
	for (size_t i = 0; i < w->length; i++)
		if (isdigit((unsigned char)w->at[i]))
			return true;
	return false;
}

bool kr_claim_line(const char *line, enum kr_outcome *out)
{
	struct word w[WORDS_MOST + 1];
	uint32_t n = split(line, w);
	enum kr_outcome verdict;

	n = drop_brackets(w, n);
	if (n == 0 || n > WORDS_MOST)
		return false;
	if (n == 2 && kr_claim_word(w[0].at, w[0].length, &verdict) && w[0].named &&
		verdict != KR_UNDECIDED && (is(&w[1], "true") || is(&w[1], "false"))) {
		bool as_said = is(&w[1], "true");
		*out = as_said == (verdict == KR_SATISFIED) ? KR_SATISFIED : KR_VIOLATED;
		return true;
	}
	if (!kr_claim_word(w[n - 1].at, w[n - 1].length, &verdict) || (n > 1 && !is_name(&w[n - 2])))
		return false;
	*out = verdict;
	return true;
}
