/* "did you mean": the candidate with the smallest optimal-string-alignment distance (insert, delete, replace
 * a character, swap two neighbours), case and '_' for '-' ignored. Near is at most a third of the typed
 * word's length, or a candidate that begins with it, or ends with it as a word of its own; what is near to
 * the first words of a candidate is one farther from all of it. Of equally near ones the one that begins and
 * ends most alike goes first. */
#include "base/guess.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 64

static char plain(char c) { return c == '_' ? '-' : (char)tolower((unsigned char)c); }

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

uint32_t kr_guess_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	uint32_t rows[3][LONGEST + 1]; /* the row being filled and the two before it */

	if (na > LONGEST || nb > LONGEST)
		return UINT32_MAX;
	for (size_t i = 0; i <= na; i++) {
		uint32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		row[0] = (uint32_t)i;
		for (size_t j = 1; j <= nb; j++) {
			if (i == 0) {
				row[j] = (uint32_t)j;
				continue;
			}
			bool same = plain(a[i - 1]) == plain(b[j - 1]);
			row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + !same);
			if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) &&
				plain(a[i - 2]) == plain(b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

static bool begins(const char *text, const char *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (plain(text[i]) != plain(with[i]))
			return false;
	return true;
}

/* How many characters are the same at the beginning and at the end. */
static uint32_t alike(const char *a, size_t na, const char *b, size_t nb)
{
	uint32_t first = 0, last = 0;

	while (first < na && first < nb && plain(a[first]) == plain(b[first]))
		first++;
	while (last < na && last < nb && plain(a[na - 1 - last]) == plain(b[nb - 1 - last]))
		last++;
	return first + last;
}

/* To the nearest of what stands before a '-' in the candidate. */
static uint32_t distance_to_words(const char *typed, const char *candidate)
{
	uint32_t nearest = UINT32_MAX;
	char words[LONGEST + 1];

	for (size_t i = 0; candidate[i] && i <= LONGEST; i++) {
		if (candidate[i] == '-') {
			words[i] = '\0';
			nearest = least(nearest, kr_guess_distance(typed, words));
		}
		words[i] = candidate[i];
	}
	return nearest;
}

void kr_guess_try(struct kr_guess *guess, const char *candidate)
{
	size_t na = strlen(guess->typed), nb = strlen(candidate);

	uint32_t d = kr_guess_distance(guess->typed, candidate);

	if (na == 0 || d == UINT32_MAX)
		return;

	uint32_t words = na >= 4 ? distance_to_words(guess->typed, candidate) : UINT32_MAX;

	if (words < UINT32_MAX)
		d = least(d, words + 1);
	if (na >= 2 && nb > na && begins(candidate, guess->typed, na))
		d = 1;
	if (na >= 4 && nb > na && plain(candidate[nb - na - 1]) == '-' &&
		begins(candidate + nb - na, guess->typed, na))
		d = 1;
	if (d > (na + 2) / 3)
		return;
	d = d * 2 * (LONGEST + 1) - alike(guess->typed, na, candidate, nb);
	if (!guess->best || d < guess->distance) {
		guess->best = candidate;
		guess->distance = d;
	}
}

const char *kr_guess_text(const struct kr_guess *guess, const char *where, char out[128])
{
	if (guess->best)
		(void)snprintf(out, 128, "; did you mean '%s'?", guess->best);
	else
		(void)snprintf(out, 128, "; see '%s'", where);
	return out;
}
