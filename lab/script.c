/* Reads a script: directives are comments, "-- setup", "-- transaction NAME weight=N level=NAME" and
 * "-- order NAME ..."; statements end with ";" or with what they mean, "--> ..."; other comments are
 * nothing. */
#include "lab/script.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 1 << 20 };

struct reading {
	struct kr_script *script;
	char *why;
	uint32_t line;
	char *order; /* the line of that directive, looked at in the end */
	bool begun;  /* a section */
};

static bool wrong(struct reading *r, const char *expected)
{
	(void)snprintf(r->why, 256, "script, line %u: expected %s", r->line, expected);
	return false;
}

static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (isspace((unsigned char)*text))
		text++;
	while (end > text && (isspace((unsigned char)end[-1]) || end[-1] == ';'))
		*--end = '\0';
	return text;
}

static bool add_statement(struct reading *r, char *text, char *meaning)
{
	struct kr_script *s = r->script;

	text = trimmed(text);
	if (!*text)
		return true;
	if (!r->begun)
		return wrong(r, "'-- setup' or '-- transaction NAME' before the first statement");
	if (s->statements_n == KR_SCRIPT_STATEMENTS_MOST)
		return wrong(r, "at most 256 statements");
	s->statements[s->statements_n++] =
		(struct kr_script_statement){text, meaning ? trimmed(meaning) : NULL};
	if (s->txns_n == 0) {
		s->setup_n++;
		(void)kr_sql_create(&s->tables, text);
	} else {
		s->txns[s->txns_n - 1].n++;
	}
	return true;
}

static bool begin_transaction(struct reading *r, const char *words)
{
	struct kr_script_txn *txn = &r->script->txns[r->script->txns_n];
	const char *weight = strstr(words, " weight="), *level = strstr(words, " level=");

	if (r->script->txns_n == KR_SCRIPT_TXNS_MOST)
		return wrong(r, "at most 32 transactions");
	*txn = (struct kr_script_txn){.weight = 1, .first = r->script->statements_n};
	if (sscanf(words, "%31s", txn->name) != 1)
		return wrong(r, "a name behind '-- transaction'");
	if (weight && (sscanf(weight, " weight=%u", &txn->weight) != 1 || txn->weight > 1000))
		return wrong(r, "weight=N, at most 1000");
	if (level && sscanf(level, " level=%31s", txn->level) != 1)
		return wrong(r, "level=NAME");
	r->script->txns_n++;
	r->begun = true;
	return true;
}

/* A line that begins with "--". */
static bool take_comment(struct reading *r, char *line)
{
	char word[32] = "";
	int length = 0;

	(void)sscanf(line + 2, " %31s%n", word, &length);
	if (strcmp(word, "setup") == 0) {
		r->begun = true;
		return r->script->txns_n == 0 || wrong(r, "'-- setup' before all transactions");
	}
	if (strcmp(word, "transaction") == 0)
		return begin_transaction(r, line + 2 + length);
	if (strcmp(word, "order") == 0)
		r->order = line + 2 + length;
	return true;
}

static bool take_turns(struct reading *r)
{
	struct kr_script *s = r->script;
	char *state = NULL;

	for (char *word = r->order ? strtok_r(r->order, " \t", &state) : NULL; word;
		word = strtok_r(NULL, " \t", &state)) {
		uint32_t i = 0;

		while (i < s->txns_n && strcmp(s->txns[i].name, word) != 0)
			i++;
		if (i == s->txns_n || s->turns_n == KR_SCRIPT_TURNS_MOST) {
			(void)snprintf(r->why, 256,
				"script, order: found '%.64s', expected at most %d names of "
				"transactions",
				word, KR_SCRIPT_TURNS_MOST);
			return false;
		}
		s->turns[s->turns_n++] = i;
	}
	return true;
}

/* The end of a statement that begins at `at`: its ";", its "-->", or the end of the text. */
static char *end_of(struct reading *r, char *at)
{
	char quote = '\0';

	for (; *at; at++) {
		r->line += *at == '\n';
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '\'' || *at == '"')
			quote = *at;
		else if (*at == ';' || strncmp(at, "--", 2) == 0)
			break;
	}
	return at;
}

static bool parse(struct reading *r, char *at)
{
	while (*at) {
		char *start = at, *meaning = NULL, *line_end;

		if (isspace((unsigned char)*at)) {
			r->line += *at++ == '\n';
			continue;
		}
		at = end_of(r, at);
		bool ended = *at == ';';
		if (ended) {
			*at++ = '\0';
			at += strspn(at, " \t");
		}
		line_end = at + strcspn(at, "\n");
		if (strncmp(at, "-->", 3) == 0) {
			meaning = at + 3;
		} else if (at == start && strncmp(at, "--", 2) == 0) {
			bool last = !*line_end;

			*line_end = '\0';
			if (!take_comment(r, at))
				return false;
			r->line++;
			at = line_end + !last;
			continue;
		} else if (!ended && strncmp(at, "--", 2) == 0) { /* a comment within */
			memset(at, ' ', (size_t)(line_end - at));
			at = start;
			continue;
		}
		if (meaning) {
			bool last = !*line_end;

			*at = *line_end = '\0';
			r->line++;
			at = line_end + !last;
		}
		if (!add_statement(r, start, meaning))
			return false;
	}
	return true;
}

/* ---- what all of it must be ---- */

/* Each statement tells something, or only reads, or is said to be nothing: an order that writes what no line
 * tells would make its values look like garbage. Parameters are tried with some value. */
static bool check_meanings(struct kr_script *s, char why[256])
{
	struct kr_job work = {.value_unit = 100000, .value_client = 10000, .clients = 1};
	struct kr_plan *plan = calloc(1, sizeof *plan);
	struct kr_script_sent sent;
	bool fine = plan != NULL;

	for (uint32_t t = 0; t < s->txns_n && fine; t++) {
		*plan = (struct kr_plan){.work = &work};
		for (uint32_t i = s->txns[t].first; i < s->txns[t].first + s->txns[t].n && fine; i++) {
			fine = kr_script_expand(s, plan, i, NULL, &sent, why);
			if (!fine || !sent.meaning.none || s->statements[i].meaning)
				continue;
			s->untold++;
			fine = kr_sql_only_reads(sent.sql);
			if (!fine)
				(void)snprintf(why, 256, "script: '%.120s': expected %s",
					s->statements[i].sql,
					sent.meaning.lacks ? sent.meaning.lacks
							   : "one of the simple forms, or '--> ...' that "
							     "says what it means");
		}
	}
	free(plan);
	return fine;
}

static bool check(struct kr_script *s, char why[256])
{
	if (s->txns_n == 0) {
		(void)snprintf(why, 256, "script: found no '-- transaction NAME', expected at least one");
		return false;
	}
	for (uint32_t t = 0; t < s->txns_n; t++)
		if (s->txns[t].n == 0 || s->txns[t].n > KR_STEPS_MOST) {
			(void)snprintf(why, 256,
				"script: transaction %s: found %u statements, expected 1 to %d",
				s->txns[t].name, s->txns[t].n, KR_STEPS_MOST);
			return false;
		}
	return check_meanings(s, why);
}

static char *read_text(const char *path, char why[256])
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(SIZE_MOST) : NULL;
	size_t n = text ? fread(text, 1, SIZE_MOST, file) : 0;

	if (file)
		(void)fclose(file);
	if (text && n < SIZE_MOST && !memchr(text, '\0', n)) {
		text[n] = '\0';
		return text;
	}
	free(text);
	(void)snprintf(why, 256, "%.128s: cannot be read as a script of less than 1 MiB", path);
	return NULL;
}

struct kr_script *kr_script_read(const char *path, char why[256])
{
	struct kr_script *script = calloc(1, sizeof *script);
	struct reading r = {.script = script, .why = why, .line = 1};

	(void)snprintf(why, 256, "out of memory");
	if (!script)
		return NULL;
	script->text = read_text(path, why);
	if (script->text && parse(&r, script->text) && take_turns(&r) && check(script, why))
		return script;
	kr_script_free(script);
	return NULL;
}

void kr_script_free(struct kr_script *script)
{
	if (script)
		free(script->text);
	free(script);
}

/* ---- what is there at first ---- */

struct taking {
	struct kr_mem *mem;
	struct kr_rows *rows;
	bool failed;
};

static bool take_row(void *data, const char *key, int64_t value)
{
	struct taking *t = data;

	t->failed |= !kr_rows_add(t->mem, t->rows, key, value);
	return !t->failed;
}

bool kr_script_initial(const struct kr_script *script, struct kr_mem *mem, struct kr_rows *out)
{
	struct taking t = {mem, out, false};

	for (uint32_t i = 0; i < script->setup_n; i++)
		(void)kr_sql_rows(&script->tables, script->statements[i].sql, take_row, &t);
	return !t.failed;
}
