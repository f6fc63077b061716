#include "expect.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line { char levels[200], orders[64], verdict[16], anomaly[64]; };

/* Whether a comma-separated list has the word. */
static bool has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

/* Parses the line at *text and steps over it; false at the end. Comments and blank lines are passed over. */
static bool next_line(const char **text, struct line *out, const char **bad)
{
	while (**text) {
		char line[400];
		size_t length = strcspn(*text, "\n");
		snprintf(line, sizeof line, "%.*s", (int)length, *text);
		*text += length + ((*text)[length] == '\n');
		if (line[0] == '#' || line[0] == '\0')
			continue;
		memset(out, 0, sizeof *out);
		if (sscanf(line, "%199s %63s %15s %63[^\n]", out->levels, out->orders, out->verdict, out->anomaly) < 3)
			*bad = "a line is not LEVELS ORDERS VERDICT [ANOMALY]";
		return true;
	}
	return false;
}

struct expected expect_find(const char *text, const char *level, enum kr_order order, const char **bad)
{
	struct expected found = {0};
	struct line line;

	*bad = NULL;
	while (next_line(&text, &line, bad)) {
		if (!has(line.levels, level) || !has(line.orders, kr_order_name(order)))
			continue;
		if (found.found)
			*bad = "two lines for one level and order";
		found = (struct expected){.found = true, .satisfied = strcmp(line.verdict, "satisfied") == 0};
		memcpy(found.anomaly, line.anomaly, sizeof found.anomaly);
	}
	return found;
}

static const char *check_words(char *list, bool (*is_word)(const char *word), const char *bad)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
		if (!is_word(word))
			return bad;
	return NULL;
}

static bool is_order(const char *word)
{
	enum kr_order order;

	return kr_order_parse(word, &order);
}

const char *expect_problem(const char *text, bool (*is_level)(const char *id))
{
	const char *bad = NULL;
	struct line line;
	unsigned lines = 0;

	for (; !bad && next_line(&text, &line, &bad); lines++) {
		bool satisfied = strcmp(line.verdict, "satisfied") == 0;
		if (!satisfied && strcmp(line.verdict, "violated") != 0)
			bad = "a verdict is neither satisfied nor violated";
		if (satisfied && line.anomaly[0])
			bad = "an anomaly where the level is satisfied";
		if (!bad)
			bad = check_words(line.levels, is_level, "an unknown level");
		if (!bad)
			bad = check_words(line.orders, is_order, "an unknown order");
	}
	return bad || lines > 0 ? bad : "no line";
}

char *expect_read(const char *folder, const char *file)
{
	char path[600];
	enum { MOST = 1 << 20 };
	char *text = calloc(1, MOST);

	snprintf(path, sizeof path, "%s/%s", folder, file);
	FILE *in = fopen(path, "r");
	size_t length = in && text ? fread(text, 1, MOST - 1, in) : 0;
	if (in)
		fclose(in);
	if (length == 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int compare(const void *a, const void *b) { return strcmp(a, b); }

size_t expect_traces(char names[EXPECT_MOST_TRACES][EXPECT_NAME_SIZE])
{
	DIR *dir = opendir(KR_SOURCE_DIR "/traces");
	size_t n = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL && n < EXPECT_MOST_TRACES;)
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < EXPECT_NAME_SIZE)
			strcpy(names[n++], entry->d_name);
	if (dir)
		closedir(dir);
	qsort(names, n, EXPECT_NAME_SIZE, compare);
	return n;
}
