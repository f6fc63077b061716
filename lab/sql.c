/* Statements are read word by word; what is no form of the few below has no meaning here, and whoever wrote
 * it says one. */
#include "lab/sql.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { END, WORD, NUMBER, TEXT, SIGN };

struct words {
	const char *at;
	enum kind kind;
	char word[128]; /* the current one; a sign is at most two characters */
};

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static void next(struct words *w)
{
	size_t n = 0, skip = 0;

	while (isspace((unsigned char)*w->at))
		w->at++;
	if (!*w->at) {
		w->kind = END;
	} else if (*w->at == '\'' || *w->at == '"' || *w->at == '`') {
		w->kind = *w->at == '\'' ? TEXT : WORD;
		n = strcspn(w->at + 1, (char[]){*w->at, '\0'});
		skip = w->at[n + 1] ? 2 : 1;
		w->at++;
	} else if (isdigit((unsigned char)*w->at) || (*w->at == '-' && isdigit((unsigned char)w->at[1]))) {
		w->kind = NUMBER;
		n = 1 + strspn(w->at + 1, "0123456789");
	} else if (is_name(*w->at)) {
		w->kind = WORD;
		while (is_name(w->at[n]))
			n++;
	} else {
		w->kind = SIGN;
		n = strchr("<>!", *w->at) && strchr("=>", w->at[1]) && w->at[1] ? 2 : 1;
	}
	(void)snprintf(w->word, sizeof w->word, "%.*s", (int)n, w->at);
	w->at += n + (skip ? skip - 1 : 0);
}

static bool is(const struct words *w, const char *word)
{
	return w->kind != END && w->kind != TEXT && strcasecmp(w->word, word) == 0;
}

static bool take(struct words *w, const char *word)
{
	bool right = is(w, word);

	if (right)
		next(w);
	return right;
}

static struct words begin(const char *text)
{
	struct words w = {.at = text};

	next(&w);
	return w;
}

static const struct kr_sql_table *take_table(struct words *w, const struct kr_sql_tables *tables)
{
	for (uint32_t i = 0; i < tables->n; i++)
		if (w->kind == WORD && take(w, tables->at[i].name))
			return &tables->at[i];
	return NULL;
}

/* A key as the trace has it, with its table if there are several. */
static bool take_key(struct words *w, const char *prefix, char out[KL_KEY])
{
	bool fine = (w->kind == NUMBER || w->kind == TEXT) &&
		snprintf(out, KL_KEY, "%s%s", prefix, w->word) < KL_KEY;

	if (fine)
		next(w);
	return fine;
}

static bool take_number(struct words *w, int64_t *out)
{
	if (w->kind != NUMBER)
		return false;
	*out = strtoll(w->word, NULL, 10);
	next(w);
	return true;
}

static bool ends(struct words *w)
{
	(void)take(w, ";");
	return w->kind == END;
}

bool kr_sql_create(struct kr_sql_tables *tables, const char *text)
{
	struct words w = begin(text);
	struct kr_sql_table *table = &tables->at[tables->n];

	if (!take(&w, "create") || !take(&w, "table") || tables->n == KR_SQL_TABLES_MOST)
		return false;
	if (take(&w, "if"))
		(void)(take(&w, "not") && take(&w, "exists"));
	(void)snprintf(table->name, sizeof table->name, "%.*s", KR_SQL_NAME - 1, w.word);
	next(&w);
	if (!take(&w, "("))
		return false;
	(void)snprintf(table->key, sizeof table->key, "%.*s", KR_SQL_NAME - 1, w.word);
	for (int depth = 0; w.kind != END && !(depth == 0 && is(&w, ",")); next(&w))
		depth += is(&w, "(") - is(&w, ")");
	if (!take(&w, ","))
		return false;
	(void)snprintf(table->value, sizeof table->value, "%.*s", KR_SQL_NAME - 1, w.word);
	tables->n++;
	return true;
}

/* ---- INSERT ---- */

/* "(KEY, VALUE)" if it is there. False: other columns. */
static bool skip_columns(struct words *w, const struct kr_sql_table *table)
{
	return !take(w, "(") ||
		(take(w, table->key) && take(w, ",") && take(w, table->value) && take(w, ")"));
}

static const struct kr_sql_table *begin_insert(struct words *w, const struct kr_sql_tables *tables,
	char prefix[KR_SQL_NAME + 1])
{
	const struct kr_sql_table *table =
		take(w, "insert") && take(w, "into") ? take_table(w, tables) : NULL;

	if (!table || !skip_columns(w, table) || !take(w, "values"))
		return NULL;
	(void)snprintf(prefix, KR_SQL_NAME + 1, "%s%s", tables->n > 1 ? table->name : "",
		tables->n > 1 ? "/" : "");
	return table;
}

static bool take_row(struct words *w, const char *prefix, char key[KL_KEY], int64_t *value)
{
	return take(w, "(") && take_key(w, prefix, key) && take(w, ",") && take_number(w, value) &&
		take(w, ")");
}

bool kr_sql_rows(const struct kr_sql_tables *tables, const char *text,
	bool (*row)(void *data, const char *key, int64_t value), void *data)
{
	struct words w = begin(text);
	char prefix[KR_SQL_NAME + 1], key[KL_KEY];
	int64_t value;

	if (!begin_insert(&w, tables, prefix))
		return false;
	do
		if (!take_row(&w, prefix, key, &value) || !row(data, key, value))
			return false;
	while (take(&w, ","));
	return ends(&w);
}

static bool mean_insert(struct words *w, const struct kr_sql_tables *tables, struct kr_meaning *out)
{
	out->op.kind = KL_INSERT;
	if (!begin_insert(w, tables, out->prefix) || !take_row(w, out->prefix, out->key, &out->op.value))
		return false;
	if (take(w, "on") && !(take(w, "conflict") && take(w, "do") && take(w, "nothing")))
		return false;
	return ends(w);
}

/* ---- WHERE ---- */

/* Bounds of value, from "v >= 1" and the like: ge and lt. */
static bool bound_value(struct kl_op *op, const char *sign, int64_t n)
{
	bool equal = strcmp(sign, "=") == 0;

	if (equal || strcmp(sign, ">=") == 0)
		op->ge = n > op->ge ? n : op->ge;
	else if (strcmp(sign, ">") == 0)
		op->ge = n + 1 > op->ge ? n + 1 : op->ge;
	else if (strcmp(sign, "<") != 0 && strcmp(sign, "<=") != 0)
		return false;
	if (equal || strcmp(sign, "<=") == 0)
		op->lt = n + 1 < op->lt ? n + 1 : op->lt;
	else if (strcmp(sign, "<") == 0)
		op->lt = n < op->lt ? n : op->lt;
	return true;
}

/* One key; or from one key to before another; or conditions on the value. Several tables have no order of
 * keys in the trace. */
static bool take_where(struct words *w, const struct kr_sql_table *table, struct kr_meaning *out)
{
	bool low = false, high = false, value = false, one = false, several = out->prefix[0] != '\0';
	char sign[sizeof w->word];
	int64_t n;

	do {
		bool of_key = is(w, table->key);

		if (!of_key && !is(w, table->value))
			return false;
		next(w);
		memcpy(sign, w->word, sizeof sign);
		if (w->kind != SIGN)
			return false;
		next(w);
		if (!of_key) {
			value = true;
			if (!take_number(w, &n) || !bound_value(&out->op, sign, n))
				return false;
		} else if (strcmp(sign, "=") == 0 && !one && !low) {
			one = take_key(w, out->prefix, out->key);
			if (!one)
				return false;
		} else if (strcmp(sign, ">=") == 0 && !low && !several) {
			low = take_key(w, out->prefix, out->key);
		} else if (strcmp(sign, "<") != 0 || high || several ||
			!(high = take_key(w, out->prefix, out->high))) {
			return false;
		}
	} while (take(w, "and"));
	if (one + (low && high) + value != 1 || low != high)
		return false;
	out->op.kind = one ? KL_READ : low ? KL_RANGE : KL_SCAN;
	return true;
}

/* ---- SELECT, UPDATE, DELETE ---- */

static void take_lock(struct words *w, struct kl_op *op)
{
	if (take(w, "for")) {
		op->lock = is(w, "update") ? KL_EXCLUSIVE : KL_SHARED;
		next(w);
	} else if (take(w, "lock")) {
		while (w->kind == WORD)
			next(w); /* IN SHARE MODE */
		op->lock = KL_SHARED;
	}
}

static bool mean_select(struct words *w, const struct kr_sql_tables *tables, struct kr_meaning *out)
{
	struct words columns = *w;
	bool ordered = false;
	int64_t limit = 0;

	while (w->kind != END && !is(w, "from"))
		next(w);
	const struct kr_sql_table *table = take(w, "from") ? take_table(w, tables) : NULL;
	if (!table)
		return false;
	for (; !is(&columns, "from"); next(&columns))
		if (!is(&columns, "*") && !is(&columns, ",") && !is(&columns, table->key) &&
			!is(&columns, table->value))
			return false;
	(void)snprintf(out->prefix, sizeof out->prefix, "%s%s", tables->n > 1 ? table->name : "",
		tables->n > 1 ? "/" : "");
	(void)snprintf(out->key_column, sizeof out->key_column, "%s", table->key);
	(void)snprintf(out->value_column, sizeof out->value_column, "%s", table->value);
	out->op.kind = KL_SCAN;
	if (take(w, "where") && !take_where(w, table, out))
		return false;
	if (take(w, "order") && !(ordered = take(w, "by") && take(w, table->key)))
		return false;
	if (take(w, "limit") && (!take_number(w, &limit) || !ordered || out->op.kind != KL_RANGE))
		return false;
	out->op.limit = (uint32_t)limit;
	if (out->op.kind == KL_SCAN)
		(void)snprintf(out->key, sizeof out->key, "%.*s", KL_KEY - 1, out->prefix);
	take_lock(w, &out->op);
	return ends(w);
}

/* NUMBER, perhaps with others behind it: "11 + 1", "11 -1". */
static bool take_sum(struct words *w, int64_t *out)
{
	int64_t n;

	if (!take_number(w, out))
		return false;
	for (;;) {
		bool minus = is(w, "-");

		if (w->kind == SIGN && (minus || is(w, "+")))
			next(w);
		else if (w->kind != NUMBER)
			return true;
		if (!take_number(w, &n))
			return false;
		*out += minus ? -n : n;
	}
}

/* SET v = SUM, or v = v + NUMBER. */
static bool take_set(struct words *w, const struct kr_sql_table *table, struct kl_op *op)
{
	if (!take(w, "set") || !take(w, table->value) || !take(w, "="))
		return false;
	op->kind = KL_WRITE;
	if (take_sum(w, &op->value))
		return true;
	op->kind = KL_INC;
	if (!take(w, table->value))
		return false;
	if (w->kind == NUMBER && w->word[0] == '-') /* "v -1" */
		return take_number(w, &op->value);
	bool minus = is(w, "-");
	if (!minus && !is(w, "+"))
		return false;
	next(w);
	if (!take_number(w, &op->value))
		return false;
	op->value = minus ? -op->value : op->value;
	return true;
}

/* RETURNING *, or key and value in any order. */
static bool take_returning(struct words *w, const struct kr_sql_table *table)
{
	bool key = false, value = false, all = false;

	if (!take(w, "returning"))
		return false;
	do {
		all |= is(w, "*");
		key |= is(w, table->key);
		value |= is(w, table->value);
		next(w);
	} while (take(w, ","));
	return all || (key && value);
}

/* Rows by a condition, and what is done with them: a number that is set makes an update of the trace; else
 * their old values are known, so it is a range or scan, and a write or delete of each row. */
static bool mean_rows(struct words *w, const struct kr_sql_table *table, enum kl_kind kind,
	struct kr_meaning *out)
{
	if (kind == KL_WRITE && out->op.kind != KL_SCAN)
		return false;
	if (out->op.kind == KL_SCAN)
		(void)snprintf(out->key, sizeof out->key, "%.*s", KL_KEY - 1, out->prefix);
	(void)snprintf(out->key_column, sizeof out->key_column, "%s", table->key);
	(void)snprintf(out->value_column, sizeof out->value_column, "%s", table->value);
	if (kind == KL_WRITE)
		out->op.kind = KL_UPDATE;
	else if (kind == KL_INC)
		out->added = out->op.value;
	out->then = kind == KL_DELETE ? KR_SQL_DELETES : kind == KL_INC ? KR_SQL_ADDS : KR_SQL_NOTHING;
	if (!take_returning(w, table))
		out->lacks = "RETURNING with key and value, which tells what rows the condition found";
	return !out->lacks && ends(w);
}

static bool mean_change(struct words *w, const struct kr_sql_tables *tables, bool deletes,
	struct kr_meaning *out)
{
	const struct kr_sql_table *table = !deletes || take(w, "from") ? take_table(w, tables) : NULL;

	if (!table)
		return false;
	(void)snprintf(out->prefix, sizeof out->prefix, "%s%s", tables->n > 1 ? table->name : "",
		tables->n > 1 ? "/" : "");
	out->op.kind = KL_DELETE;
	if (!deletes && !take_set(w, table, &out->op))
		return false;
	enum kl_kind kind = out->op.kind;
	out->op.kind = KL_SCAN;
	if (take(w, "where") && !take_where(w, table, out))
		return false;
	if (out->op.kind != KL_READ)
		return mean_rows(w, table, kind, out);
	out->op.kind = kind;
	return ends(w);
}

bool kr_sql_meaning(const struct kr_sql_tables *tables, const char *text, struct kr_meaning *out)
{
	struct words w = begin(text);

	*out = (struct kr_meaning){
		.op = {.key = out->key, .high = out->high, .ge = INT64_MIN, .lt = INT64_MAX}};
	if (is(&w, "insert"))
		return mean_insert(&w, tables, out);
	if (take(&w, "select"))
		return mean_select(&w, tables, out);
	if (take(&w, "update"))
		return mean_change(&w, tables, false, out);
	return take(&w, "delete") && mean_change(&w, tables, true, out);
}

bool kr_sql_only_reads(const char *text)
{
	struct words w = begin(text);

	return is(&w, "select") || is(&w, "with") || is(&w, "show") || is(&w, "explain") || is(&w, "values");
}
