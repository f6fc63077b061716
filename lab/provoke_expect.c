/* Tables of letters (provoke_expect.h), a few thousand cells at most: looked through for each question. */
#define _POSIX_C_SOURCE 200809L
#include "lab/provoke_expect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "lab/open.h"
#include "lab/provoke.h"

enum { LEVELS = 32, CELL = 12 };

struct row {
	char id[32];
	char cells[LEVELS][CELL];
};

struct kr_letters {
	char levels[LEVELS][32];
	size_t levels_n;
	struct row *rows;
	size_t n;
};

void kr_letters_free(struct kr_letters *table)
{
	if (table)
		free(table->rows);
	free(table);
}

/* The words of a line, at most `most`; their number, or SIZE_MAX if there are more. */
static size_t split(char *line, char **out, size_t most)
{
	char *state = NULL;
	size_t n = 0;

	for (char *word = strtok_r(line, "\t\r\n", &state); word; word = strtok_r(NULL, "\t\r\n", &state)) {
		if (n == most)
			return SIZE_MAX;
		out[n++] = word;
	}
	return n;
}

static bool take_head(struct kr_letters *table, char **words, size_t n, const struct kl_driver *driver,
	const char *where)
{
	if (n < 2 || strcmp(words[0], "case") != 0) {
		kr_usage("%s: found '%s', expected 'case' and levels, with tabs between", where, words[0]);
		return false;
	}
	for (size_t i = 1; i < n; i++) {
		if (!kr_driver_level(driver, words[i])) {
			kr_usage("%s: driver %s has no level '%s'", where, driver->name, words[i]);
			return false;
		}
		(void)snprintf(table->levels[i - 1], sizeof table->levels[0], "%s", words[i]);
	}
	table->levels_n = n - 1;
	return true;
}

static bool take_row(struct kr_letters *table, char **words, size_t n, const char *where)
{
	struct row *rows = realloc(table->rows, (table->n + 1) * sizeof *rows);

	if (!rows) {
		kr_fail("out of memory");
		return false;
	}
	table->rows = rows;
	if (n != table->levels_n + 1) {
		kr_usage("%s: found %zu cells, expected a case and %zu letters", where, n, table->levels_n);
		return false;
	}
	rows[table->n] = (struct row){.id = ""};
	(void)snprintf(rows[table->n].id, sizeof rows->id, "%s", words[0]);
	for (size_t i = 1; i < n; i++)
		(void)snprintf(rows[table->n].cells[i - 1], CELL, "%s", words[i]);
	table->n++;
	return true;
}

static bool take_line(struct kr_letters *table, char *line, const struct kl_driver *driver, const char *where)
{
	char *words[LEVELS + 1];
	size_t n = line[0] == '#' ? 0 : split(line, words, LEVELS + 1);

	if (n == 0)
		return true;
	if (n == SIZE_MAX) {
		kr_usage("%s: found more than %d cells", where, LEVELS + 1);
		return false;
	}
	return table->levels_n == 0 ? take_head(table, words, n, driver, where)
				    : take_row(table, words, n, where);
}

struct kr_letters *kr_letters_read(const char *path, const struct kl_driver *driver)
{
	struct kr_letters *table = calloc(1, sizeof *table);
	FILE *file = fopen(path, "re");
	char *line = NULL, where[600];
	size_t cap = 0;
	unsigned number = 0;
	bool fine = table && file;

	if (!file)
		kr_usage("%s: %s", path, strerror(errno));
	while (fine && getline(&line, &cap, file) >= 0) {
		(void)snprintf(where, sizeof where, "%.500s:%u", path, ++number);
		fine = take_line(table, line, driver, where);
	}
	if (fine && table->n == 0) {
		kr_usage("%s: found no case, expected a table of letters", path);
		fine = false;
	}
	free(line);
	if (file)
		(void)fclose(file);
	if (fine)
		return table;
	kr_letters_free(table);
	return NULL;
}

const char *kr_letters_at(const struct kr_letters *table, const char *id, const char *level)
{
	for (size_t i = 0; table && i < table->n; i++)
		for (size_t k = 0; k < table->levels_n && strcmp(table->rows[i].id, id) == 0; k++)
			if (strcmp(table->levels[k], level) == 0)
				return table->rows[i].cells[k];
	return NULL;
}
