/* Whether the modules of a plug-in can join those that there are: names are new, texts and functions are there, lists of passes can run, back ends decide, levels are of shapes that
 * every part of krait knows. Passes and back ends join first, since the plug-in's checkers may use them. */
#include <ctype.h>
#include <string.h>

#include "api/plugins.h"
#include "backend/graph.h"
#include "checkers/checker.h"
#include "frontend/format.h"
#include "verify/verify.h"

enum { LEVELS_MOST = 64 }; /* of all plug-ins and krait itself: checkers/lattice.c has sets of them in a word */

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

static bool is_line(const char *text) { return text && *text && !strchr(text, '\n'); }

/* What modules of every kind have. */
static enum kr_status check_texts(const char *kind, const char *name, const char *title, const char *source, bool taken, struct kr_err *err)
{
	if (!is_name(name))
		return kr_err_set(err, KR_BAD, "a %s is named '%.40s', expected small letters, digits, '-', '.' and '+'", kind, name ? name : "");
	if (taken || strcmp(name, "all") == 0)
		return kr_err_set(err, KR_BAD, "%s '%.80s': the name is taken", kind, name);
	if (!is_line(title) || !is_line(source))
		return kr_err_set(err, KR_BAD, "%s '%.80s' has no %s, expected one line", kind, name, is_line(title) ? "source" : "title");
	return KR_OK;
}

/* ---- formats ---- */

static enum kr_status join_format(struct kr_plugins *p, const struct kr_format *f, struct kr_err *err)
{
	enum kr_status status = check_texts("format", f->name, f->title, f->source, f->name && kr_format_find(&p->modules, f->name), err);
	char alias[64];

	if (status)
		return status;
	if (!f->sniff || !f->read)
		return kr_err_set(err, KR_BAD, "format '%s' has no function to %s", f->name, f->sniff ? "read" : "sniff");
	for (const char *at = f->aliases ? f->aliases : ""; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (length >= sizeof alias)
			return kr_err_set(err, KR_BAD, "format '%s' has an alias of more than %d bytes", f->name, (int)sizeof alias - 1);
		memcpy(alias, at, length);
		alias[length] = '\0';
		if (kr_format_find(&p->modules, alias))
			return kr_err_set(err, KR_BAD, "format '%s': the alias '%s' is taken", f->name, alias);
	}
	return kr_vec_push(&p->mem, &p->modules.formats, f) ? KR_OK : KR_NOMEM;
}

/* ---- passes and back ends ---- */

static enum kr_status join_pass(struct kr_plugins *p, const struct kr_pass *x, struct kr_err *err)
{
	enum kr_status status = check_texts("pass", x->name, x->title, x->source, x->name && kr_pass_find(&p->modules, x->name), err);

	if (status)
		return status;
	if (!x->run)
		return kr_err_set(err, KR_BAD, "pass '%s' has no function to run", x->name);
	if ((x->requires | x->provides | x->breaks) >> KR_FACTS || x->provides & x->breaks)
		return kr_err_set(err, KR_BAD, "pass '%s' names a fact that there is not, or breaks what it provides", x->name);
	return kr_vec_push(&p->mem, &p->modules.passes, x) ? KR_OK : KR_NOMEM;
}

static enum kr_status join_backend(struct kr_plugins *p, const struct kr_backend *b, struct kr_err *err)
{
	enum kr_status status = check_texts("back end", b->name, b->title, b->source, b->name && kr_backend_find(&p->modules, b->name), err);

	if (status)
		return status;
	if (!b->solve && !b->write)
		return kr_err_set(err, KR_BAD, "back end '%s' has no function to solve or write", b->name);
	return kr_vec_push(&p->mem, &p->modules.backends, b) ? KR_OK : KR_NOMEM;
}

/* ---- levels and checkers ---- */

static enum kr_status check_level(const struct kr_plugins *p, const struct kr_level *level, struct kr_err *err)
{
	int pattern;
	const char *why = kr_verify_states(level, &pattern);
	enum kr_order order;
	enum kr_status status = check_texts("level", level->id, level->title, level->source, kr_level_find(&p->modules, level->id, &order) != NULL, err);

	if (status)
		return status;
	if (!is_line(level->definition))
		return kr_err_set(err, KR_BAD, "level '%s' has no definition, expected one line", level->id);
	for (const struct kr_level_name *n = level->names; n && n->name; n++)
		if (!is_name(n->name) || kr_level_find(&p->modules, n->name, &order) || strcmp(n->name, "all") == 0)
			return kr_err_set(err, KR_BAD, "level '%s': its name '%.80s' is %s", level->id, n->name, is_name(n->name) ? "taken" : "none");
	if ((unsigned)level->default_order > KR_ORDER_REALTIME || (unsigned)level->model > KR_NODES_PREFIX)
		return kr_err_set(err, KR_BAD, "level '%s' has a default order or node model that there is not", level->id);
	if (!why)
		why = kr_graph_covers(level, &pattern);
	if (why)
		return kr_err_set(err, KR_BAD, "level '%s', pattern %d: %s; see docs/writing-a-checker.md", level->id, pattern + 1, why);
	return KR_OK;
}

static enum kr_status check_levels(const struct kr_plugins *p, const struct kr_checker *c, struct kr_err *err)
{
	uint32_t n = 0;
	enum kr_status status = KR_OK;

	while (kr_level_at(&p->modules, n))
		n++;
	for (const struct kr_level *level = c->levels; level && level->id && !status; level++, n++) {
		status = n < LEVELS_MOST ? check_level(p, level, err) : kr_err_set(err, KR_BAD, "there would be more than %d levels", (int)LEVELS_MOST);
		for (const struct kr_level *other = c->levels; other < level && !status; other++)
			if (strcmp(other->id, level->id) == 0)
				status = kr_err_set(err, KR_BAD, "level '%s': the name is taken", level->id);
	}
	return status;
}

static enum kr_status join_checker(struct kr_plugins *p, const struct kr_checker *c, struct kr_err *err)
{
	enum kr_status status = check_texts("checker", c->name, c->title, c->source, c->name && kr_checker_find(&p->modules, c->name), err);
	const struct kr_backend *backend;
	struct kr_err why;
	enum kr_order order;

	kr_err_init(&why);
	if (!status)
		status = check_levels(p, c, err);
	if (status)
		return status;
	for (const char *const *id = c->decides; id && *id; id++)
		if (!kr_level_find(&p->modules, *id, &order))
			return kr_err_set(err, KR_BAD, "checker '%s' decides '%.80s', which is no level", c->name, *id);
	if (!c->passes || kr_passes_check(&p->modules, c->passes, &why))
		return kr_err_set(err, KR_BAD, "checker '%s': %.200s", c->name, c->passes ? why.text : "it has no passes");
	backend = c->backend ? kr_backend_find(&p->modules, c->backend) : NULL;
	if (!backend || !backend->solve)
		return kr_err_set(err, KR_BAD, "checker '%s': '%.80s' is no back end that decides", c->name, c->backend ? c->backend : "");
	return kr_vec_push(&p->mem, &p->modules.checkers, c) ? KR_OK : KR_NOMEM;
}

enum kr_status kr_plugins_join(struct kr_plugins *p, const struct kr_plugin *plugin, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	for (const struct kr_format *const *f = plugin->formats; f && *f && !status; f++)
		status = join_format(p, *f, err);
	for (const struct kr_pass *const *x = plugin->passes; x && *x && !status; x++)
		status = join_pass(p, *x, err);
	for (const struct kr_backend *const *b = plugin->backends; b && *b && !status; b++)
		status = join_backend(p, *b, err);
	for (const struct kr_checker *const *c = plugin->checkers; c && *c && !status; c++)
		status = join_checker(p, *c, err);
	return status;
}
