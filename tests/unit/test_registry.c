/* Every descriptor of every registry: unique names, texts for people, references that resolve, a place in the documentation, and traces. */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "backend/graph.h"
#include "checkers/checker.h"
#include "checkers/leopard.h"
#include "cli/command.h"
#include "frontend/format.h"
#include "mechanisms/mechanism.h"
#include "verify/verify.h"

/* ---- files ---- */

static char *read_file(const char *path) /* below the source folder; NULL: none. The caller frees it. */
{
	char full[4096];
	FILE *file;
	char *text;
	long size;

	snprintf(full, sizeof full, "%s/%s", KR_SOURCE_DIR, path);
	file = fopen(full, "r");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	if (text && fread(text, 1, (size_t)size, file) != (size_t)size)
		text[0] = '\0';
	fclose(file);
	return text;
}

static bool is_folder(const char *path)
{
	char full[4096];
	struct stat st;

	snprintf(full, sizeof full, "%s/%s", KR_SOURCE_DIR, path);
	return stat(full, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The text below the heading "## NAME", up to the next one; NULL: no such heading. The caller frees it. */
static char *section(const char *path, const char *name)
{
	char heading[256];
	char *text = read_file(path);
	char *begin, *end, *out = NULL;

	if (!text)
		fail_msg("%s: no such file", path);
	snprintf(heading, sizeof heading, "\n## %s\n", name);
	begin = strstr(text, heading);
	if (begin) {
		begin += strlen(heading);
		end = strstr(begin, "\n## ");
		out = strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
	}
	free(text);
	return out;
}

static void assert_section(const char *path, const char *name)
{
	char *text = section(path, name);

	if (!text)
		fail_msg("%s has no section \"## %s\"", path, name);
	if (strlen(text) < 80)
		fail_msg("%s says next to nothing of %s", path, name);
	free(text);
}

/* ---- names and texts ---- */

/* A name: small letters, digits, '-', '.' and '+' ("pl-2+"). */
static void assert_name(const char *what, const char *name)
{
	assert_non_null(name);
	if (name[0] == '\0')
		fail_msg("%s without a name", what);
	for (const char *c = name; *c; c++)
		if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && !strchr("-.+", *c))
			fail_msg("%s '%s': its name has '%c'", what, name, *c);
}

/* A title or source: one line, something in it, no period at the end. */
static void assert_line(const char *what, const char *name, const char *text)
{
	if (!text || text[0] == '\0')
		fail_msg("%s of '%s' is missing", what, name);
	if (strchr(text, '\n'))
		fail_msg("%s of '%s' has several lines", what, name);
	if (text[strlen(text) - 1] == '.' || text[0] == ' ' || text[strlen(text) - 1] == ' ')
		fail_msg("%s of '%s' ends in a period or is padded: \"%s\"", what, name, text);
}

static void assert_after(const char *what, const char *before, const char *name)
{
	if (before && strcmp(before, name) >= 0)
		fail_msg("%s '%s' comes after '%s', expected the order of names, each once", what, name, before);
}

/* ---- passes ---- */

static void passes(void **state)
{
	uint32_t provided = 0;

	(void)state;
	assert_true(kr_pass_registry_count > 0);
	assert_null(kr_pass_registry[kr_pass_registry_count]);
	for (size_t i = 0; i < kr_pass_registry_count; i++)
		provided |= kr_pass_registry[i]->provides;
	for (size_t i = 0; i < kr_pass_registry_count; i++) {
		const struct kr_pass *p = kr_pass_registry[i];
		char folder[256];

		assert_name("pass", p->name);
		assert_after("pass", i ? kr_pass_registry[i - 1]->name : NULL, p->name);
		assert_line("title", p->name, p->title);
		assert_line("source", p->name, p->source);
		assert_non_null(p->run);
		assert_string_not_equal(p->name, "all"); /* means every pass to --dump-after */
		if (p->requires & ~provided)
			fail_msg("pass '%s' requires a fact that no pass provides", p->name);
		if ((p->requires | p->provides | p->breaks) >> KR_FACTS)
			fail_msg("pass '%s' names a fact that there is not", p->name);
		if (p->provides & p->breaks)
			fail_msg("pass '%s' breaks what it provides", p->name);
		assert_ptr_equal(kr_pass_find(NULL, p->name), p);
		assert_section("docs/passes.md", p->name);
		snprintf(folder, sizeof folder, "tests/passes/%s", p->name);
		if (!is_folder(folder))
			fail_msg("pass '%s' has no tests in %s", p->name, folder);
	}
}

static void name_facts(uint32_t facts, const char *verb, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "%s", verb);

	for (unsigned f = 0; f < KR_FACTS; f++)
		if (facts & 1u << f)
			n += (size_t)snprintf(out + n, size - n, "%s `%s`", n > strlen(verb) ? "," : "", kr_fact_name((enum kr_fact)(1u << f)));
	if (!facts)
		snprintf(out + n, size - n, " nothing");
}

/* Its section in docs/passes.md begins with the pass's facts. */
static void pass_facts_are_documented(void **state)
{
	(void)state;
	for (size_t i = 0; i < kr_pass_registry_count; i++) {
		const struct kr_pass *p = kr_pass_registry[i];
		char requires[256], provides[256], breaks[256], expected[800];
		char *text = section("docs/passes.md", p->name);

		name_facts(p->requires, "Requires", requires, sizeof requires);
		name_facts(p->provides, "provides", provides, sizeof provides);
		name_facts(p->breaks, "breaks", breaks, sizeof breaks);
		snprintf(expected, sizeof expected, "\n%s; %s; %s", requires, provides, breaks);
		assert_non_null(text);
		if (strncmp(text, expected, strlen(expected)) != 0 || !strchr(".:", text[strlen(expected)]))
			fail_msg("docs/passes.md: the section of '%s' begins otherwise than \"%s\"", p->name, expected + 1);
		free(text);
	}
}

/* ---- formats ---- */

static bool has_alias(const struct kr_format *f, const char *name)
{
	const char *at = f->aliases;
	size_t length = strlen(name);

	while (at && *at) {
		size_t n = strcspn(at, " ");

		if (n == length && memcmp(at, name, n) == 0)
			return true;
		at += n;
		at += strspn(at, " ");
	}
	return false;
}

static void formats(void **state)
{
	(void)state;
	assert_true(kr_format_registry_count > 0);
	assert_null(kr_format_registry[kr_format_registry_count]);
	for (size_t i = 0; i < kr_format_registry_count; i++) {
		const struct kr_format *f = kr_format_registry[i];
		char path[256];
		char *text;

		assert_name("format", f->name);
		assert_after("format", i ? kr_format_registry[i - 1]->name : NULL, f->name);
		assert_line("title", f->name, f->title);
		assert_line("source", f->name, f->source);
		assert_non_null(f->sniff);
		assert_non_null(f->read);
		for (size_t j = 0; j < kr_format_registry_count; j++)
			if (has_alias(kr_format_registry[j], f->name))
				fail_msg("'%s' is a format and an alias of '%s'", f->name, kr_format_registry[j]->name);
		assert_ptr_equal(kr_format_find(NULL, f->name), f);
		snprintf(path, sizeof path, "docs/formats/%s.md", f->name);
		text = read_file(path);
		if (!text)
			fail_msg("format '%s' has no page %s", f->name, path);
		free(text);
	}
}

/* ---- back ends ---- */

static void backends(void **state)
{
	(void)state;
	assert_true(kr_backend_registry_count > 0);
	assert_null(kr_backend_registry[kr_backend_registry_count]);
	for (size_t i = 0; i < kr_backend_registry_count; i++) {
		const struct kr_backend *b = kr_backend_registry[i];

		assert_name("back end", b->name);
		assert_after("back end", i ? kr_backend_registry[i - 1]->name : NULL, b->name);
		assert_line("title", b->name, b->title);
		assert_line("source", b->name, b->source);
		if (!b->solve && !b->write)
			fail_msg("back end '%s' neither decides nor writes", b->name);
		assert_ptr_equal(kr_backend_find(NULL, b->name), b);
		assert_section("docs/backends.md", b->name);
	}
}

/* ---- checkers ---- */

static void checkers(void **state)
{
	(void)state;
	assert_true(kr_checker_registry_count > 0);
	assert_null(kr_checker_registry[kr_checker_registry_count]);
	for (size_t i = 0; i < kr_checker_registry_count; i++) {
		const struct kr_checker *c = kr_checker_registry[i];
		const struct kr_backend *backend;
		struct kr_err err;
		enum kr_order order;
		char *text;

		kr_err_init(&err);
		assert_name("checker", c->name);
		assert_after("checker", i ? kr_checker_registry[i - 1]->name : NULL, c->name);
		assert_line("title", c->name, c->title);
		assert_line("source", c->name, c->source);
		assert_ptr_equal(kr_checker_find(NULL, c->name), c);
		if (!(c->levels && c->levels[0].id) && !(c->decides && c->decides[0]) && !c->decide) /* it may hold to something else */
			fail_msg("checker '%s' decides no level", c->name);
		for (const char *const *id = c->decides; id && *id; id++)
			if (!kr_level_find(NULL, *id, &order))
				fail_msg("checker '%s' decides level '%s', which there is not", c->name, *id);
		assert_section("docs/checkers.md", c->name);
		if (c->decide) { /* in its own way */
			assert_string_equal(c->passes, "");
			assert_string_equal(c->backend, "");
			continue;
		}
		if (kr_passes_check(NULL, c->passes, &err))
			fail_msg("checker '%s': %s", c->name, err.text);
		backend = kr_backend_find(NULL, c->backend);
		if (!backend || !backend->solve)
			fail_msg("checker '%s': no back end '%s' that decides", c->name, c->backend);
		text = section("docs/checkers.md", c->name);
		if (!strstr(text, c->passes) || !strstr(text, c->backend))
			fail_msg("docs/checkers.md does not name the passes and the back end of '%s'", c->name);
		free(text);
	}
}

/* ---- levels ---- */

/* In upper case and with '_' for '-'. */
static void respell(const char *name, char *out, size_t size)
{
	size_t i = 0;

	for (; name[i] && i + 1 < size; i++)
		out[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
	out[i] = '\0';
}

static void assert_found(const char *name, const struct kr_level *level, enum kr_order order)
{
	char other[256];
	enum kr_order found = (enum kr_order)99;

	if (kr_level_find(NULL, name, &found) != level)
		fail_msg("'%s' is a name of several levels", name);
	if (found != order)
		fail_msg("'%s' is found with order %d", name, (int)found);
	respell(name, other, sizeof other);
	assert_ptr_equal(kr_level_find(NULL, other, &found), level);
	assert_int_equal(found, order);
}

static void level_names(const struct kr_level *level)
{
	char *text = section("docs/levels.md", level->id);
	char quoted[256];

	if (!text)
		fail_msg("docs/levels.md has no section \"## %s\"", level->id);
	assert_found(level->id, level, level->default_order);
	for (const struct kr_level_name *n = level->names; n && n->name; n++) {
		assert_name("level", n->name);
		assert_found(n->name, level, n->has_order ? n->order : level->default_order);
		snprintf(quoted, sizeof quoted, "`%s`", n->name);
		if (!strstr(text, quoted))
			fail_msg("docs/levels.md does not give %s as a name of '%s'", quoted, level->id);
	}
	snprintf(quoted, sizeof quoted, "Default order: %s", kr_order_name(level->default_order));
	if (!strstr(text, quoted))
		fail_msg("docs/levels.md does not say \"%s\" of '%s'", quoted, level->id);
	free(text);
}

/* Does the list, words between commas up to a blank, have the word? */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list && *list != ' ' && *list != '\n'; list += strcspn(list, ", \n"), list += *list == ',')
		if (strncmp(list, word, length) == 0 && strchr(", \n", list[length]))
			return true;
	return false;
}

/* Some line "LEVELS ORDERS VERDICT" of some traces/NAME/expect gives the level this verdict. */
static bool has_trace(const char *level, const char *verdict)
{
	DIR *folder = opendir(KR_SOURCE_DIR "/traces");
	struct dirent *entry;
	bool found = false;

	assert_non_null(folder);
	while (!found && (entry = readdir(folder)) != NULL) {
		char path[512];
		char *text;

		snprintf(path, sizeof path, "traces/%s/expect", entry->d_name);
		text = read_file(path);
		for (char *line = text; line && *line && !found; line += strcspn(line, "\n"), line += *line == '\n') {
			char orders[64], what[64];

			if (*line != '#' && sscanf(line, "%*s %63s %63s", orders, what) == 2)
				found = strcmp(what, verdict) == 0 && list_has(line, level);
		}
		free(text);
	}
	closedir(folder);
	return found;
}

static void levels(void **state)
{
	const struct kr_level *level;

	(void)state;
	assert_non_null(kr_level_at(NULL, 0));
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++) {
		const struct kr_pattern *p = &level->forbidden[0];
		enum kr_order order;

		assert_name("level", level->id);
		assert_line("title", level->id, level->title);
		assert_line("definition", level->id, level->definition);
		assert_line("source", level->id, level->source);
		level_names(level);
		for (int at = 0; at <= KR_ORDER_REALTIME; at++)
			for (const char *const *id = level->implies[at]; id && *id; id++)
				if (!kr_level_find(NULL, *id, &order) || strcmp(kr_level_find(NULL, *id, &order)->id, *id) != 0 || strcmp(level->id, *id) == 0)
					fail_msg("level '%s' implies '%s', which is no other level", level->id, *id);
		assert_true(p->allowed != 0);
		assert_int_equal(p->allowed >> KR_EDGE_KINDS, 0);
		assert_int_equal((p->lonely | p->once | p->needed) & ~p->allowed, 0);
		assert_int_equal(level->anomalies & ~KR_ANOMALIES_ALL, 0);

		int pattern;
		const char *why = kr_verify_states(level, &pattern);

		if (!why)
			why = kr_level_wrong_model(level);
		if (why)
			fail_msg("level '%s', pattern %d: %s", level->id, pattern + 1, why);
		assert_true(kr_checker_decides(kr_checker_for(NULL, level), level));
		if (!has_trace(level->id, "satisfied") || !has_trace(level->id, "violated"))
			fail_msg("traces/ has not both a trace that satisfies '%s' and one that violates it", level->id);
	}
}

/* ---- profiles and mechanisms ---- */

static void profiles(void **state)
{
	const struct kr_profile *row;
	const struct kr_level *level;
	char *page = read_file("docs/leopard.md");

	(void)state;
	assert_non_null(page);
	assert_true(kr_product_registry_count > 10);
	for (size_t i = 0; i < kr_product_registry_count; i++) {
		assert_name("product", kr_product_registry[i]->name);
		assert_after("product", i ? kr_product_registry[i - 1]->name : NULL, kr_product_registry[i]->name);
		assert_line("title", kr_product_registry[i]->name, kr_product_registry[i]->title);
	}
	for (size_t i = 0; (row = kr_profile_at(i, NULL)) != NULL; i++) {
		struct kr_err err;

		kr_err_init(&err);
		assert_name("profile", row->name);
		assert_line("title", row->name, row->title);
		assert_line("source", row->name, row->source);
		assert_ptr_equal(kr_profile_find(row->name), row); /* and so it is no name or alias of another */
		if (kr_profile_level(NULL, row, &level, &err))
			fail_msg("%s", err.text);
		if (!row->live && !strstr(row->source, "documentation only") && row->clock == KR_CLOCK_CLIENT)
			fail_msg("profile '%s' does not say that it rests on documentation only", row->name);
		if (row->reads == KR_READS_TRANSACTION && row->snapshot_at == KR_SNAPSHOT_NEVER)
			fail_msg("profile '%s' does not say what takes the snapshot", row->name);
		if (!strstr(page, row->name))
			fail_msg("docs/leopard.md does not name profile '%s'", row->name);
	}
	free(page);
}

static void mechanisms(void **state)
{
	(void)state;
	assert_true(kr_mechanism_registry_count > 0);
	assert_null(kr_mechanism_registry[kr_mechanism_registry_count]);
	for (size_t i = 0; i < kr_mechanism_registry_count; i++) {
		const struct kr_mechanism *m = kr_mechanism_registry[i];

		assert_name("mechanism", m->name);
		assert_after("mechanism", i ? kr_mechanism_registry[i - 1]->name : NULL, m->name);
		assert_line("title", m->name, m->title);
		assert_line("source", m->name, m->source);
		assert_non_null(m->applies);
		assert_non_null(m->find);
		assert_section("docs/leopard.md", m->name);
	}
}

/* ---- commands ---- */

static void options_of(const struct kr_command *c)
{
	for (const struct kr_option *o = c->options; o && o->name; o++) {
		assert_name("option", o->name);
		assert_line("help", o->name, o->help);
		for (const struct kr_option *other = c->options; other != o; other++) {
			if (strcmp(o->name, other->name) == 0)
				fail_msg("command '%s' has two options --%s", c->name, o->name);
			if (o->letter && o->letter == other->letter)
				fail_msg("command '%s' has two options -%c", c->name, o->letter);
		}
	}
}

static void commands(void **state)
{
	(void)state;
	assert_true(kr_command_registry_count > 0);
	assert_null(kr_command_registry[kr_command_registry_count]);
	for (size_t i = 0; i < kr_command_registry_count; i++) {
		const struct kr_command *c = kr_command_registry[i];

		assert_name("command", c->name);
		assert_after("command", i ? kr_command_registry[i - 1]->name : NULL, c->name);
		assert_line("title", c->name, c->title);
		assert_non_null(c->synopsis);
		assert_non_null(c->run);
		assert_true(c->least <= c->most);
		assert_ptr_equal(kr_command_find(c->name), c);
		options_of(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes),
		cmocka_unit_test(pass_facts_are_documented),
		cmocka_unit_test(formats),
		cmocka_unit_test(backends),
		cmocka_unit_test(checkers),
		cmocka_unit_test(levels),
		cmocka_unit_test(profiles),
		cmocka_unit_test(mechanisms),
		cmocka_unit_test(commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
