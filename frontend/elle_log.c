/* Jepsen's logs (history.txt, jepsen.log) and Knossos's histories of 2014: an operation is a line PROCESS,
 * :TYPE, :F, VALUE and perhaps an error, with tabs or blanks between them, in a jepsen.log behind what a
 * logger writes, in Knossos's perhaps in brackets. Each becomes a map on a line of the same number; other
 * lines, and those of the nemesis, become blank ones. */
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

/* Behind the form that begins there: up to its last bracket or quote, or a blank. */
static char *form_end(char *at)
{
	uint32_t open = 0;
	bool text = false;

	for (; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '"')
			text = !text;
		else if (!text && strchr("[({", *at))
			open++;
		else if (!text && open > 0 && strchr("])}", *at))
			open--;
		else if (!text && open == 0 && strchr(" \t", *at))
			break;
	}
	return at;
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

/* Takes the brackets from around the columns, if the one that opens is closed. */
static void unwrap(char *columns[COLUMNS])
{
	size_t length = strlen(columns[VALUE]);

	while (length > 0 && strchr(" \t\r", columns[VALUE][length - 1]))
		length--;
	if (columns[PROCESS][0] != '[' || length == 0 || columns[VALUE][length - 1] != ']')
		return;
	columns[PROCESS]++;
	columns[VALUE][length - 1] = '\0';
}

static bool is_number(const char *text) { return text[0] && strspn(text, "0123456789") == strlen(text); }

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
	columns[TYPE] = word(&at);
	columns[F] = word(&at);
	columns[VALUE] = at;
	unwrap(columns);
	if (!is_number(columns[PROCESS] + (columns[PROCESS][0] == '[')))
		return false;
	columns[ERROR] = form_end(columns[VALUE]);
	if (*columns[ERROR])
		*columns[ERROR]++ = '\0';
	return columns[F][0] == ':';
}

static void add_map(char *columns[COLUMNS], struct kr_str *out)
{
	static const char *const names[COLUMNS] = {":process", ":type", ":f", ":value", ":error"};

	kr_str_add(out, "{");
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i][0] && i != ERROR)
			kr_str_format(out, "%s %s ", names[i], columns[i]);
	kr_str_add(out, strstr(columns[ERROR], "time") ? ":error :timeout}" : "}");
}

static enum kr_status unclosed(const char *path, uint32_t line, struct kr_err *err)
{
	enum kr_status status =
		kr_err_set(err, KR_BAD, "the bracket around the operation is not closed, expected ]");

	kr_err_at(err, path, line, 0);
	return status;
}

enum kr_status kr_elle_log(const char *path, struct kr_source *source, struct kr_str *out, struct kr_err *err)
{
	char *line, *columns[COLUMNS];
	size_t length;
	uint32_t found = 0, number = 0;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, err)) && line) {
		number++;
		if (split(line, columns)) {
			if (columns[PROCESS][0] == '[')
				return unclosed(path, number, err);
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

/* Is the first line an operation, perhaps the nemesis's? */
static bool begins_with_operation(const char *head, size_t length)
{
	char line[200], *at = line, *type;
	size_t n = 0;

	while (n < length && n < sizeof line - 1 && head[n] != '\n' && head[n] != '\0')
		n++;
	memcpy(line, head, n);
	line[n] = '\0';
	at += line[0] == '[';
	at += strncmp(at, ":nemesis", 8) == 0 ? 8 : strspn(at, "0123456789");
	if (at == line || !strchr(" \t", *at) || !*at)
		return false;
	at += strspn(at, " \t");
	type = word(&at);
	return is_type(type, strlen(type)) && *at == ':';
}

bool kr_elle_is_log(const char *head, size_t length)
{
	static const char *const types[] = {"\t:invoke\t:", "\t:ok\t:", "\t:fail\t:", "\t:info\t:"};
	bool log = length > 0 && !strchr("{[(\"; \t\r\n", head[0]);

	if (begins_with_operation(head, length))
		return true;
	if (log && kr_foreign_holds(head, length, "INFO") && kr_foreign_holds(head, length, "jepsen"))
		return true;
	for (size_t i = 0; log && i < KR_COUNT(types); i++)
		if (kr_foreign_holds(head, length, types[i]))
			return true;
	return false;
}
