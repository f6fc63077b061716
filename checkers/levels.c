/* The registry of levels and checkers: look-up by id or name. Levels are the union of what the checkers
 * define. Longer than usual: look-ups of levels by id, by name and by what is near to one. */
#include <ctype.h>
#include <string.h>

#include "checkers/checker.h"

/* SQL's spellings that stand for several levels, and these. */
static const struct {
	const char *name;
	const char *meanings;
} ambiguous[] = {
	{"read committed", "pl-2 (Adya) or rc-ax (Biswas and Enea)"},
	{"repeatable read",
		"pl-2.99 (Adya), si (PostgreSQL's level of that name) or pl-2l (less, as MySQL's)"},
	{"snapshot",
		"si (any snapshot), strong-session-snapshot-isolation or strong-snapshot-isolation (the "
		"newest)"},
	{"snapshot isolation",
		"si (any snapshot), strong-session-snapshot-isolation or strong-snapshot-isolation (the "
		"newest)"},
};

static int folded(char c) { return c == '_' || c == ' ' ? '-' : tolower((unsigned char)c); }

/* Equal up to case and with '_' or ' ' as '-'. */
static bool same_name(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct kr_checker *kr_checker_at(const struct kr_modules *more, size_t i)
{
	return KR_MODULE_AT(kr_checker_registry, kr_checker_registry_count, more, checkers, i);
}

const struct kr_level *kr_level_at(const struct kr_modules *more, size_t i)
{
	const struct kr_checker *checker;

	for (size_t c = 0; (checker = kr_checker_at(more, c)) != NULL; c++) {
		for (const struct kr_level *level = checker->levels; level && level->id; level++) {
			if (i-- == 0)
				return level;
		}
	}
	return NULL;
}

const struct kr_level *kr_level_find(const struct kr_modules *more, const char *name, enum kr_order *order)
{
	const struct kr_level *level;
	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++) {
		if (same_name(level->id, name)) {
			*order = level->default_order;
			return level;
		}
		for (const struct kr_level_name *n = level->names; n && n->name; n++) {
			if (same_name(n->name, name)) {
				*order = n->has_order ? n->order : level->default_order;
				return level;
			}
		}
	}
	return NULL;
}

const struct kr_level *kr_level_of_id(const struct kr_modules *more, const char *id)
{
	const struct kr_level *level;

	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++)
		if (strcmp(level->id, id) == 0)
			return level;
	return NULL;
}

void kr_level_guess(const struct kr_modules *more, struct kr_guess *guess)
{
	const struct kr_level *level;

	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++) {
		kr_guess_try(guess, level->id);
		for (const struct kr_level_name *n = level->names; n && n->name; n++)
			kr_guess_try(guess, n->name);
	}
}

const char *kr_level_meanings(const char *name)
{
	if (!strchr(name, ' '))
		return NULL;
	for (size_t i = 0; i < KR_COUNT(ambiguous); i++)
		if (same_name(ambiguous[i].name, name))
			return ambiguous[i].meanings;
	return NULL;
}

const struct kr_checker *kr_checker_find(const struct kr_modules *more, const char *name)
{
	const struct kr_checker *checker;

	for (size_t c = 0; (checker = kr_checker_at(more, c)) != NULL; c++)
		if (strcmp(checker->name, name) == 0)
			return checker;
	return NULL;
}

static bool defines(const struct kr_checker *checker, const struct kr_level *level)
{
	for (const struct kr_level *own = checker->levels; own && own->id; own++)
		if (own == level)
			return true;
	return false;
}

bool kr_checker_decides(const struct kr_checker *checker, const struct kr_level *level)
{
	return kr_level_is_among(level, checker->decides) || defines(checker, level);
}

const struct kr_checker *kr_checker_for(const struct kr_modules *more, const struct kr_level *level)
{
	const struct kr_checker *checker;

	for (size_t c = 0; (checker = kr_checker_at(more, c)) != NULL; c++)
		if (defines(checker, level))
			return checker;
	return NULL;
}
