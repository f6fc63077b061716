/* Jepsen's logs (history.txt, jepsen.log): an operation is a line PROCESS, :TYPE, :F, VALUE and perhaps an
 * error, with tabs or blanks between them, in a jepsen.log behind what a logger writes. Each becomes a map
 * on a line of the same number; other lines, and those of the nemesis, become blank ones. */
#include <string.h>

#include "frontend/elle.h"

enum { PROCESS, TYPE, F, VALUE, ERROR, COLUMNS };

static bool is_type(const char *text, size_t length)
{
	static const char *const types[] = {":invoke", ":ok", ":fail", ":info"};

	for (size_t i = 0; i < KR_COUNT(types); i++)
		if (strlen(types[i]) == length && memcmp(types[i], text, length) == 0)
			return true;
	return false;
}

/* The word at *at, which is ended and moves behind it and the blanks that follow. */
static char *word(char **at)
{
	char *from = *at;

	*at += strcspn(*at, " \t");
	if (**at)
		*(*at)++ = '\0';
	*at += strspn(*at, " \t");
	return from;
}

/* The type's place in the line; NULL: it has none. */
static char *find_type(char *line)
{
	char *at = line;

	while ((at = strchr(at, ':')) != NULL) {
		if (at > line && strchr(" \t", at[-1]) && is_type(at, strcspn(at, " \t")))
			return at;
		at++;
	}
	return NULL;
}

/* The columns of an operation; the process is the last word before the type. False: it is no client's. */
static bool split(char *line, char *columns[COLUMNS])
{
	char *at = find_type(line), *end = at;

	if (!at)
		return false;
	while (end > line && strchr(" \t", end[-1]))
		*--end = '\0';
	columns[PROCESS] = end;
	while (columns[PROCESS] > line && !strchr(" \t", columns[PROCESS][-1]))
		columns[PROCESS]--;
	if (strspn(columns[PROCESS], "0123456789") != strlen(columns[PROCESS]) || !columns[PROCESS][0])
		return false;
	columns[TYPE] = word(&at);
	columns[F] = word(&at);
	columns[VALUE] = at;
	columns[ERROR] = strchr(at, '\t');
	if (!columns[ERROR])
		columns[ERROR] = strstr(at, "  ");
	if (columns[ERROR])
		*columns[ERROR]++ = '\0';
	return columns[F][0] == ':';
}

static void add_map(char *columns[COLUMNS], struct kr_str *out)
{
	static const char *const names[COLUMNS] = {":process", ":type", ":f", ":value", ":error"};

	kr_str_add(out, "{");
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i] && columns[i][0] && i != ERROR)
			kr_str_format(out, "%s %s ", names[i], columns[i]);
	kr_str_add(out, columns[ERROR] && strstr(columns[ERROR], "time") ? ":error :timeout}" : "}");
}

enum kr_status kr_elle_log(struct kr_source *source, struct kr_str *out, struct kr_err *err)
{
	char *line, *columns[COLUMNS];
	size_t length;
	uint32_t found = 0;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, err)) && line) {
		if (split(line, columns)) {
			add_map(columns, out);
			found++;
		}
		kr_str_add(out, "\n");
	}
	if (!status && out->failed)
		status = KR_NOMEM;
	if (!status && found == 0)
		return kr_err_set(err, KR_BAD,
			"is a log of Jepsen without operations, expected the history: history.edn, which is "
			"beside "
			"it");
	return status;
}

bool kr_elle_is_log(const char *head, size_t length)
{
	static const char *const types[] = {"\t:invoke\t:", "\t:ok\t:", "\t:fail\t:", "\t:info\t:"};
	bool log = length > 0 && !strchr("{[(\"; \t\r\n", head[0]);

	if (log && kr_foreign_holds(head, length, "INFO") && kr_foreign_holds(head, length, "jepsen"))
		return true;
	for (size_t i = 0; log && i < KR_COUNT(types); i++)
		if (kr_foreign_holds(head, length, types[i]))
			return true;
	return false;
}
