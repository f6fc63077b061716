/* Whether the modules of a plug-in can join those that there are: names are new, texts and functions are
 * there, lists of passes can run, back ends decide, levels are of shapes that every part of krait knows.
 * Passes and back ends join first, since the plug-in's checkers may use them. */
#include <ctype.h>
#include <string.h>

#include "api/plugins.h"
#include "checkers/checker.h"
#include "frontend/format.h"
#include "verify/verify.h"

enum { NAME_MOST = 63 };
/* of all plug-ins and krait itself: checkers/lattice.c has sets of them in a word */
enum { LEVELS_MOST = 64 };

/* Small letters, digits, '-', '.' and '+'. */
static bool is_name(const char *name)
{
	if (!name || !*name)
		return false;
	for (const char *c = name; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("-.+", *c))
			return false;
	return true;
}

static bool is_line(const char *text) { return text && *text && !strpbrk(text, "\n\r"); }

/* What modules of every kind have. */
static enum kr_status check_texts(const char *kind, const char *name, const char *title, const char *source,
	bool taken, struct kr_err *err)
{
	if (!is_name(name))
		return kr_err_set(err, KR_BAD,
			"a %s is named '%.40s', expected small letters, digits, '-', '.' and '+'", kind,
			name ? name : "");
	if (strlen(name) > NAME_MOST)
		return kr_err_set(err, KR_BAD, "%s '%.40s...': the name has more than %d bytes", kind, name,
			(int)NAME_MOST);
	if (taken || strcmp(name, "all") == 0)
		return kr_err_set(err, KR_BAD, "%s '%s': the name is taken", kind, name);
	if (!is_line(title) || !is_line(source))
		return kr_err_set(err, KR_BAD, "%s '%s' has no %s, expected one line", kind, name,
			is_line(title) ? "source" : "title");
	return KR_OK;
}

/* ---- formats ---- */

static enum kr_status join_format(struct kr_plugins *p, const struct kr_format *f, struct kr_err *err)
{
	KR_TRY(check_texts("format", f->name, f->title, f->source,
		f->name && kr_format_find(&p->modules, f->name), err));
	char alias[64];

	if (!f->sniff || !f->read)
		return kr_err_set(err, KR_BAD, "format '%s' has no function to %s", f->name,
			f->sniff ? "read" : "sniff");
	for (const char *at = f->aliases ? f->aliases : ""; *(at += strspn(at, " "));
		at += strcspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length >= sizeof alias)
			return kr_err_set(err, KR_BAD, "format '%s' has an alias of more than %d bytes",
				f->name, (int)sizeof alias - 1);
		memcpy(alias, at, length);
		alias[length] = '\0';
		if (kr_format_find(&p->modules, alias))
			return kr_err_set(err, KR_BAD, "format '%s': the alias '%s' is taken", f->name,
				alias);
	}
	return kr_vec_add(&p->mem, &p->modules.formats, f);
}

/* ---- passes and back ends ---- */

/* What plug-ins have no functions for: they add ww and rw. */
enum { KRAITS_OWN = KR_FACT_SO | KR_FACT_RT | KR_FACT_WR | KR_FACT_CLOCK };

static const char *lowest_fact(uint32_t facts) { return kr_fact_name((enum kr_fact)(facts & -facts)); }

static enum kr_status join_pass(struct kr_plugins *p, const struct kr_pass *x, struct kr_err *err)
{
	KR_TRY(check_texts("pass", x->name, x->title, x->source,
		x->name && kr_pass_find(&p->modules, x->name), err));
	if (!x->run)
		return kr_err_set(err, KR_BAD, "pass '%s' has no function to run", x->name);
	if ((x->requires | x->provides | x->breaks) >> KR_FACTS)
		return kr_err_set(err, KR_BAD,
			"pass '%s' names a fact that there is not in `requires`, `provides` or `breaks`",
			x->name);
	if (x->provides & x->breaks)
		return kr_err_set(err, KR_BAD, "pass '%s' breaks the fact '%s', which it provides", x->name,
			lowest_fact(x->provides & x->breaks));
	if (x->provides & KRAITS_OWN)
		return kr_err_set(err, KR_BAD,
			"pass '%s' provides the fact '%s', which only krait's own pass can establish",
			x->name, lowest_fact(x->provides & KRAITS_OWN));
	return kr_vec_add(&p->mem, &p->modules.passes, x);
}

static enum kr_status join_backend(struct kr_plugins *p, const struct kr_backend *b, struct kr_err *err)
{
	KR_TRY(check_texts("back end", b->name, b->title, b->source,
		b->name && kr_backend_find(&p->modules, b->name), err));
	if (!b->solve && !b->write)
		return kr_err_set(err, KR_BAD, "back end '%s' has no function to solve or write", b->name);
	return kr_vec_add(&p->mem, &p->modules.backends, b);
}

/* ---- levels and checkers ---- */

/* Is it the one that is found by the name? Another one has it, then. */
static bool owns(const struct kr_plugins *p, const struct kr_level *level, const char *name)
{
	enum kr_order order;

	return kr_level_find(&p->modules, name, &order) == level && strcmp(name, "all") != 0 &&
		!kr_level_meanings(name);
}

static enum kr_status check_names(const struct kr_plugins *p, const struct kr_level *level,
	struct kr_err *err)
{
	for (const struct kr_level_name *n = level->names; n && n->name; n++) {
		if (!is_name(n->name) || strlen(n->name) > NAME_MOST)
			return kr_err_set(err, KR_BAD,
				"level '%s' has a further name '%.40s', expected small letters, digits, '-', "
				"'.' and '+', %d at most",
				level->id, n->name, (int)NAME_MOST);
		if (!owns(p, level, n->name))
			return kr_err_set(err, KR_BAD, "level '%s': its name '%s' is taken", level->id,
				n->name);
		if (n->has_order && (unsigned)n->order > KR_ORDER_REALTIME)
			return kr_err_set(err, KR_BAD,
				"level '%s': its name '%s' has an order that there is not", level->id,
				n->name);
	}
	return KR_OK;
}

/* Of a level that has joined. */
static enum kr_status check_level(const struct kr_plugins *p, const struct kr_level *level,
	struct kr_err *err)
{
	KR_TRY(check_texts("level", level->id, level->title, level->source,
		is_name(level->id) && !owns(p, level, level->id), err));
	int pattern;

	if (!is_line(level->definition))
		return kr_err_set(err, KR_BAD, "level '%s' has no definition, expected one line", level->id);
	KR_TRY(check_names(p, level, err));
	if ((unsigned)level->default_order > KR_ORDER_REALTIME)
		return kr_err_set(err, KR_BAD, "level '%s': `default_order` is %d, which there is not",
			level->id, (int)level->default_order);
	if ((unsigned)level->model > KR_NODES_PREFIX)
		return kr_err_set(err, KR_BAD, "level '%s': `model` is %d, which there is not", level->id,
			(int)level->model);
	if (level->anomalies & ~KR_ANOMALIES_ALL)
		return kr_err_set(err, KR_BAD, "level '%s': `anomalies` names one that there is not",
			level->id);

	const char *why = kr_verify_states(level, &pattern);

	if (!why && (why = kr_level_wrong_model(level)))
		pattern = 0;
	if (why)
		return kr_err_set(err, KR_BAD, "level '%s', pattern %d: %s; see docs/writing-a-checker.md",
			level->id, pattern + 1, why);
	return KR_OK;
}

static enum kr_status check_levels(const struct kr_plugins *p, const struct kr_checker *c, struct kr_err *err)
{
	if (kr_level_at(&p->modules, LEVELS_MOST))
		return kr_err_set(err, KR_BAD, "there would be more than %d levels", (int)LEVELS_MOST);
	for (const struct kr_level *level = c->levels; level && level->id; level++)
		KR_TRY(check_level(p, level, err));
	return KR_OK;
}

/* An id that is to be one of another level. */
static enum kr_status check_id(const struct kr_plugins *p, const char *kind, const char *name,
	const char *field, const char *id, struct kr_err *err)
{
	const struct kr_level *level = kr_level_of_id(&p->modules, id);
	struct kr_guess guess = {.typed = id};
	char near[128];

	if (level && (strcmp(kind, "level") != 0 || strcmp(level->id, name) != 0))
		return KR_OK;
	if (level)
		return kr_err_set(err, KR_BAD, "level '%s': `%s` names the level itself", name, field);
	for (size_t i = 0; (level = kr_level_at(&p->modules, i)) != NULL; i++)
		kr_guess_try(&guess, level->id);
	return kr_err_set(err, KR_BAD, "%s '%s': `%s` names '%.80s', which is no level's id%s", kind, name,
		field, id, kr_guess_text(&guess, "krait levels", near));
}

/* Levels may name each other: after all of them have joined. */
static enum kr_status check_references(const struct kr_plugins *p, const struct kr_checker *c,
	struct kr_err *err)
{
	for (const char *const *id = c->decides; id && *id; id++)
		KR_TRY(check_id(p, "checker", c->name, "decides", *id, err));
	for (const struct kr_level *level = c->levels; level && level->id; level++) {
		for (int order = 0; order <= KR_ORDER_REALTIME; order++)
			for (const char *const *id = level->implies[order]; id && *id; id++)
				KR_TRY(check_id(p, "level", level->id, "implies", *id, err));
		for (const char *const *id = level->implied_by; id && *id; id++)
			KR_TRY(check_id(p, "level", level->id, "implied_by", *id, err));
	}
	return KR_OK;
}

static enum kr_status check_checker(const struct kr_plugins *p, const struct kr_checker *c,
	struct kr_err *err)
{
	const struct kr_backend *backend = c->backend ? kr_backend_find(&p->modules, c->backend) : NULL;
	struct kr_err why;

	kr_err_init(&why);
	if (c->decide || c->qualify)
		return kr_err_set(err, KR_BAD, "checker '%s' has a function to %s, which is for krait's own",
			c->name, c->decide ? "decide" : "qualify");
	if (!(c->levels && c->levels[0].id) && !(c->decides && c->decides[0]))
		return kr_err_set(err, KR_BAD, "checker '%s' has neither `levels` nor `decides`", c->name);
	if (!c->passes || kr_passes_check_order(&p->modules, c->passes, KR_ORDER_REALTIME, &why))
		return kr_err_set(err, KR_BAD, "checker '%s': %.300s", c->name,
			c->passes ? why.text : "it has no passes");
	if (!backend || !backend->solve)
		return kr_err_set(err, KR_BAD, "checker '%s': '%.80s' is no back end that decides", c->name,
			c->backend ? c->backend : "");
	return KR_OK;
}

static enum kr_status join_checker(struct kr_plugins *p, const struct kr_checker *c, struct kr_err *err)
{
	KR_TRY(check_texts("checker", c->name, c->title, c->source,
		c->name && kr_checker_find(&p->modules, c->name), err));
	KR_TRY(check_checker(p, c, err));
	KR_TRY(kr_vec_add(&p->mem, &p->modules.checkers, c));
	return check_levels(p, c, err);
}

/* Lists end with NULL. */
static bool is_empty(const void *const *list) { return !list || !list[0]; }

enum kr_status kr_plugins_join(struct kr_plugins *p, const struct kr_plugin *plugin, struct kr_err *err)
{
	if (!is_line(plugin->name) || !is_line(plugin->version))
		return kr_err_set(err, KR_BAD, "the plug-in has no %s, expected one line",
			is_line(plugin->name) ? "version" : "name");
	if (is_empty((const void *const *)plugin->formats) && is_empty((const void *const *)plugin->passes) &&
		is_empty((const void *const *)plugin->backends) &&
		is_empty((const void *const *)plugin->checkers))
		return kr_err_set(err, KR_BAD,
			"the plug-in has no modules: `formats`, `passes`, `backends` and `checkers` are "
			"empty");
	for (const struct kr_format *const *f = plugin->formats; f && *f; f++)
		KR_TRY(join_format(p, *f, err));
	for (const struct kr_pass *const *x = plugin->passes; x && *x; x++)
		KR_TRY(join_pass(p, *x, err));
	for (const struct kr_backend *const *b = plugin->backends; b && *b; b++)
		KR_TRY(join_backend(p, *b, err));
	for (const struct kr_checker *const *c = plugin->checkers; c && *c; c++)
		KR_TRY(join_checker(p, *c, err));
	for (const struct kr_checker *const *c = plugin->checkers; c && *c; c++)
		KR_TRY(check_references(p, *c, err));
	return KR_OK;
}
