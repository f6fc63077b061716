/* Which levels, in which order, by which checker. Names are ids and aliases of the registry, separated by
 * commas; a name that fixes an order ("strict-...") does so unless --order is given. */
#include "cli/levels_option.h"

#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"

#define DEFAULT_LEVEL "ser"
#define ALL "all"
#define NAME_MOST 128

struct asking {
	const struct kr_args *args;
	const struct kr_checker *checker; /* NULL: the level's own */
	bool has_order;
	enum kr_order order;
	struct kr_asked_list *out;
};

const struct kr_level *kr_level_named(const struct kr_modules *more, const char *name, enum kr_order *order)
{
	const char *meanings = kr_level_meanings(name);
	const struct kr_level *level = meanings ? NULL : kr_level_find(more, name, order);
	struct kr_guess guess = {.typed = name};

	if (meanings) {
		kr_usage("level '%s' has several meanings: %s", name, meanings);
	} else if (!level) {
		kr_level_guess(more, &guess);
		kr_unknown("level", &guess, "krait levels");
	}
	return level;
}

static int ask(struct asking *a, const struct kr_level *level, enum kr_order order)
{
	struct kr_asked asked = {level, a->has_order ? a->order : order,
		a->checker ? a->checker : kr_checker_for(a->args->modules, level)};

	for (uint32_t i = 0; i < a->out->n; i++)
		if (a->out->at[i].level == asked.level && a->out->at[i].order == asked.order)
			return KR_EXIT_SATISFIED;
	return kr_vec_push(a->args->mem, a->out, asked) ? KR_EXIT_SATISFIED : kr_fail("out of memory");
}

static int ask_all(struct asking *a)
{
	const struct kr_level *level;

	for (size_t i = 0; (level = kr_level_at(a->args->modules, i)) != NULL; i++) {
		if (a->checker && !kr_checker_decides(a->checker, level))
			continue;
		int status = ask(a, level, level->default_order);
		if (status != KR_EXIT_SATISFIED)
			return status;
	}
	return KR_EXIT_SATISFIED;
}

static int ask_name(struct asking *a, const char *name)
{
	enum kr_order order;
	const struct kr_level *level;

	if (strcmp(name, ALL) == 0)
		return ask_all(a);
	if (!(level = kr_level_named(a->args->modules, name, &order)))
		return KR_EXIT_USAGE;
	if (a->checker && !kr_checker_decides(a->checker, level))
		return kr_usage("checker '%s' does not decide level '%s'; see 'krait checkers'",
			a->checker->name, level->id);
	return ask(a, level, order);
}

static int ask_list(struct asking *a, const char *list)
{
	for (;;) {
		size_t length = strcspn(list, ",");
		char name[NAME_MOST];
		if (length >= sizeof name)
			return kr_usage("unknown level '%.40s...'; see 'krait levels'", list);
		memcpy(name, list, length);
		name[length] = '\0';
		int status = ask_name(a, name);
		if (status != KR_EXIT_SATISFIED || !list[length])
			return status;
		list += length + 1;
	}
}

static int find_checker(struct asking *a, const char *name)
{
	struct kr_guess guess = {.typed = name};
	const struct kr_checker *checker;

	if (!name)
		return KR_EXIT_SATISFIED;
	a->checker = kr_checker_find(a->args->modules, name);
	if (a->checker)
		return KR_EXIT_SATISFIED;
	for (size_t i = 0; (checker = kr_checker_at(a->args->modules, i)) != NULL; i++)
		kr_guess_try(&guess, checker->name);
	return kr_unknown("checker", &guess, "krait checkers");
}

int kr_levels_asked(const struct kr_args *args, struct kr_asked_list *out)
{
	struct asking a = {.args = args, .out = out};
	const char *order = kr_args_value(args, "order");
	int status = find_checker(&a, kr_args_value(args, "checker"));
	bool given = false;

	if (status != KR_EXIT_SATISFIED)
		return status;
	a.has_order = order != NULL;
	if (order && !kr_order_parse(order, &a.order))
		return kr_usage("unknown order '%s', expected none, session or realtime", order);
	for (uint32_t i = 0; i < args->given.n; i++) {
		if (strcmp(args->given.at[i].option->name, "level") != 0)
			continue;
		given = true;
		status = ask_list(&a, args->given.at[i].value);
		if (status != KR_EXIT_SATISFIED)
			return status;
	}
	return given ? KR_EXIT_SATISFIED : ask_name(&a, DEFAULT_LEVEL);
}

bool kr_levels_all_asked(const struct kr_args *args)
{
	for (uint32_t i = 0; i < args->given.n; i++) {
		const char *list = args->given.at[i].value;

		if (strcmp(args->given.at[i].option->name, "level") != 0)
			continue;
		for (size_t length; *list; list += length + (list[length] == ',')) {
			length = strcspn(list, ",");
			if (length == strlen(ALL) && strncmp(list, ALL, length) == 0)
				return true;
		}
	}
	return false;
}

bool kr_passes_asked(const struct kr_args *args, const char **out)
{
	struct kr_err err;

	*out = kr_args_value(args, "passes");
	kr_err_init(&err);
	return !*out || kr_passes_check(args->modules, *out, &err) == KR_OK ||
		kr_refuse("option '--passes': %s", err.text);
}
