/* Finds the format of a trace and reads it.
 *
 * A folder goes to the folder format that is surest of it, a file to the file format that is surest after
 * seeing its first bytes, which are not consumed: standard input can be sniffed, too. Formats are the
 * registry's; nothing here knows any of them. */
#include "frontend/format.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call.h"
#include "base/guess.h"
#include "frontend/native.h"

struct head {
	const char *at;
	size_t length;
}; /* of a file */

/* As a level's: in either case, and with '_' for '-'. */
static bool has_word(const char *words, const char *word)
{
	char one[64];

	for (size_t n; words && *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n > 0 && n < sizeof one && memcpy(one, words, n)) {
			one[n] = '\0';
			if (kr_guess_distance(one, word) == 0)
				return true;
		}
	}
	return false;
}

const struct kr_format *kr_format_at(const struct kr_modules *more, size_t i)
{
	return KR_MODULE_AT(kr_format_registry, kr_format_registry_count, more, formats, i);
}

const struct kr_format *kr_format_find(const struct kr_modules *more, const char *name)
{
	const struct kr_format *format;

	for (size_t i = 0; (format = kr_format_at(more, i)) != NULL; i++)
		if (has_word(format->name, name) || has_word(format->aliases, name))
			return format;
	return NULL;
}

enum kr_status kr_format_named(const struct kr_modules *more, const char *name, const struct kr_format **out,
	struct kr_err *err)
{
	struct kr_guess guess = {.typed = name};
	const struct kr_format *format;
	char near[128];

	*out = name ? kr_format_find(more, name) : NULL;
	if (!name || *out)
		return KR_OK;
	for (size_t i = 0; (format = kr_format_at(more, i)) != NULL; i++)
		kr_guess_try(&guess, format->name);
	return kr_err_set(err, KR_BAD, "unknown format '%.80s'%s", name,
		kr_guess_text(&guess, "krait formats", near));
}

/* The names of the formats for files or for folders, for a message. */
static const char *format_names(const struct kr_modules *more, bool folder, char *out, size_t size)
{
	const struct kr_format *format;
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; (format = kr_format_at(more, i)) != NULL; i++) {
		const char *name = format->name;
		if (format->folder != folder || used + strlen(name) + 3 > size)
			continue;
		if (used) {
			memcpy(out + used, ", ", 2);
			used += 2;
		}
		memcpy(out + used, name, strlen(name) + 1);
		used += strlen(name);
	}
	return out;
}

/* How sure the format is. */
static enum kr_status sniff(struct kr_ctx *ctx, const struct kr_format *format, const char *path,
	struct head head, int *sure, struct kr_err *err)
{
	struct kr_call call;

	kr_call_enter(ctx, &call, "format", format->name);
	*sure = format->sniff(path, head.at, head.length);
	(void)kr_call_leave(ctx, &call, KR_OK, NULL);
	if (*sure < 0 || *sure > 100)
		return kr_call_fail(&call, err, "is %d sure that the trace is its, expected 0 to 100", *sure);
	return KR_OK;
}

/* *out is NULL when none is sure at all. */
static enum kr_status surest(struct kr_ctx *ctx, const char *path, bool folder, struct head head,
	const struct kr_format **out, struct kr_err *err)
{
	const struct kr_format *format;
	int most = 0;

	*out = NULL;
	for (size_t i = 0; (format = kr_format_at(ctx->modules, i)) != NULL; i++) {
		int sure = 0;

		if (format->folder == folder)
			KR_TRY(sniff(ctx, format, path, head, &sure, err));
		if (sure > most) {
			most = sure;
			*out = format;
		}
	}
	return KR_OK;
}

/* A format that read nothing would make an empty trace of it, which satisfies everything. */
static enum kr_status check_read(const struct kr_call *call, const struct kr_history *h,
	struct kr_source *source, struct kr_err *err)
{
	const char *head;
	size_t left = 0;
	enum kr_status status = KR_OK;

	if (h->building)
		return kr_call_fail(call, err, "left its builder open: expected a call of krait_read_done");
	if (source && h->txns.n == 0)
		status = kr_source_head(source, &head, &left, err);
	return left > 0 ? kr_call_fail(call, err, "read no transaction, but not all of the trace") : status;
}

static enum kr_status call_read(struct kr_ctx *ctx, const struct kr_format *format, const char *path,
	struct kr_source *source, struct kr_history *h, struct kr_err *err)
{
	struct kr_call call;

	h->format = format->name;
	kr_call_enter(ctx, &call, "format", format->name);
	enum kr_status status = format->read(ctx, path, source, h, err);
	status = kr_call_leave(ctx, &call, status, err);
	return status ? status : check_read(&call, h, source, err);
}

static bool is_folder(const char *path)
{
	struct stat info;

	return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The format NULL: the one that is surest. */
static enum kr_status read_folder(struct kr_ctx *ctx, const char *path, const struct kr_format *format,
	struct kr_history *h, struct kr_err *err)
{
	char names[128];

	if (!format)
		KR_TRY(surest(ctx, path, true, (struct head){NULL, 0}, &format, err));
	if (!format)
		return kr_err_set(err, KR_BAD,
			"is a folder, but not one of a known format, expected a trace file or a folder of: "
			"%s",
			format_names(ctx->modules, true, names, sizeof names));
	return call_read(ctx, format, path, NULL, h, err);
}

/* The file is in no format: perhaps it is compressed, or written, in a way that is not read. */
static enum kr_status refuse(const struct kr_ctx *ctx, const char *head, size_t length, struct kr_err *err)
{
	static const struct {
		const char *magic, *what, *expected, *tool;
	} others[] = {
		{"\x28\xb5\x2f\xfd", "compressed with zstd", "gzip or a plain file", "zstd -dc"},
		{"\3757zXZ", "compressed with xz", "gzip or a plain file", "xz -dc"},
		{"BZh", "compressed with bzip2", "gzip or a plain file", "bzip2 -dc"},
		{"PK\x03\x04", "compressed with zip", "gzip or a plain file", "unzip -p"},
		{"\x1f\x8b", "compressed twice", "once or a plain file", "gzip -dc"},
		{"\xff\xfe", "text in UTF-16", "UTF-8", "iconv -f utf-16 -t utf-8"},
		{"\xfe\xff", "text in UTF-16", "UTF-8", "iconv -f utf-16 -t utf-8"},
	};
	char names[128];

	for (size_t i = 0; i < KR_COUNT(others); i++)
		if (length >= strlen(others[i].magic) &&
			memcmp(head, others[i].magic, strlen(others[i].magic)) == 0)
			return kr_err_set(err, KR_BAD, "is %s, expected %s: pipe it in with %s",
				others[i].what, others[i].expected, others[i].tool);
	if (length >= 2 && head[0] == '\xc0' && head[1] >= '\xe4' && head[1] <= '\xed')
		return kr_err_set(err, KR_BAD,
			"is Fressian, as Jepsen's test.fressian, expected the history: history.edn or "
			"test.jepsen, which is beside it");
	return kr_err_set(err, KR_BAD, "is not in a known format, expected one of: %s",
		format_names(ctx->modules, false, names, sizeof names));
}

static enum kr_status read_source(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	const struct kr_format *format, struct kr_history *h, struct kr_err *err)
{
	struct head head;

	if (!format) {
		KR_TRY(kr_source_head(source, &head.at, &head.length, err));
		KR_TRY(surest(ctx, path, false, head, &format, err));
		if (!format)
			return refuse(ctx, head.at, head.length, err);
	}
	return call_read(ctx, format, path, source, h, err);
}

struct memory {
	const void *bytes;
	size_t length;
};

/* memory NULL: of the file. */
static enum kr_status read_file(struct kr_ctx *ctx, const char *path, const struct memory *memory,
	const struct kr_format *format, struct kr_history *h, struct kr_err *err)
{
	struct kr_source *source;
	KR_TRY(memory ? kr_source_memory(ctx, path, memory->bytes, memory->length, &source, err)
		      : kr_source_open(ctx, path, &source, err));
	enum kr_status status = read_source(ctx, path, source, format, h, err);
	kr_source_free(source);
	return status;
}

/* What can be told before anything is read: the format asked for is for what `path` is. */
static enum kr_status check_request(const char *path, bool folder, const struct memory *memory,
	const struct kr_format *format, struct kr_err *err)
{
	if (!format || format->folder == folder)
		return KR_OK;
	if (folder)
		return kr_err_set(err, KR_BAD, "is a folder, expected a file (format %s)", format->name);
	if (!memory && access(path, F_OK) != 0)
		return KR_OK; /* opening it says why */
	return kr_err_set(err, KR_BAD, "is %s, expected a folder (format %s)",
		memory ? "in memory" : "a file", format->name);
}

/* What is said of initial values beside the trace. */
static enum kr_status take_initial(struct kr_ctx *ctx, const char *initial, struct kr_history *h,
	struct kr_err *err)
{
	struct kr_source *source;
	size_t length;
	char *text;
	enum kr_status status;

	if (h->initial == KR_INITIAL_GIVEN || strcmp(h->format, "native") == 0)
		return kr_err_set(err, KR_BAD,
			"tells its initial values itself%s, expected no option '--initial'",
			h->initial == KR_INITIAL_GIVEN ? "" : " (field \"initial\" of its header)");
	if (strcmp(initial, "unknown") == 0 || strcmp(initial, "unwritten") == 0) {
		h->initial = strcmp(initial, "unknown") == 0 ? KR_INITIAL_UNKNOWN : KR_INITIAL_UNWRITTEN;
		return KR_OK;
	}
	KR_TRY(kr_source_open(ctx, initial, &source, err));
	if (!(status = kr_source_rest(source, &text, &length, err)))
		status = kr_native_initial(ctx, h, text, length, err);
	kr_source_free(source);
	kr_err_at(err, initial, 0, 0);
	return status;
}

static enum kr_status read_any(struct kr_ctx *ctx, const char *path, const struct memory *memory,
	const struct kr_read_options *options, struct kr_history *h, struct kr_err *err)
{
	bool folder = !memory && is_folder(path);
	const struct kr_format *format;

	KR_TRY(kr_format_named(ctx->modules, options->format, &format, err));
	KR_TRY(check_request(path, folder, memory, format, err));
	const char *name = kr_arena_text(&h->arena, path, strlen(path));

	h->lenient = options->lenient;
	if (!name || !kr_vec_push(h->mem, &h->files, name))
		return KR_NOMEM;
	KR_TRY(folder ? read_folder(ctx, path, format, h, err)
		      : read_file(ctx, path, memory, format, h, err));
	if (options->initial)
		KR_TRY(take_initial(ctx, options->initial, h, err));
	if (h->skipped > 0 && h->txns.n == 0)
		return kr_err_set(err, KR_BAD, "nothing is left of it: all %u transactions are bad%s%s",
			h->skipped, h->first_skipped ? "; the first: " : "",
			h->first_skipped ? h->first_skipped : "");
	return kr_history_finish(h, ctx, err);
}

static enum kr_status read_trace(struct kr_ctx *ctx, const char *path, const struct memory *memory,
	const struct kr_read_options *options, struct kr_history *h, struct kr_err *err)
{
	static const struct kr_read_options none = {0};
	enum kr_status status = kr_history_init(h, &ctx->mem);

	if (!status) {
		status = read_any(ctx, path, memory, options ? options : &none, h, err);
		if (status)
			kr_history_done(h);
	}
	if (status) {
		kr_err_set(err, status, "%s while reading the trace", kr_ctx_reason(ctx, status));
		kr_err_at(err, path, 0, 0);
	}
	return status;
}

enum kr_status kr_read_trace(struct kr_ctx *ctx, const char *path, const struct kr_read_options *options,
	struct kr_history *h, struct kr_err *err)
{
	return read_trace(ctx, path, NULL, options, h, err);
}

enum kr_status kr_read_memory(struct kr_ctx *ctx, const char *name, const void *bytes, size_t length,
	const struct kr_read_options *options, struct kr_history *h, struct kr_err *err)
{
	return read_trace(ctx, name, &(struct memory){bytes, length}, options, h, err);
}
