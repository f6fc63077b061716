/* What readers of foreign formats share (foreign.h). */
#include "frontend/foreign.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

bool kr_foreign_int(const char **at, bool negative, int64_t *out)
{
	const char *text = *at;
	bool minus = negative && *text == '-';
	uint64_t most = minus ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX, value = 0;

	text += minus;
	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		unsigned digit = (unsigned)(*text - '0');
		if (value > (most - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = minus ? (int64_t)(0 - value) : (int64_t)value;
	*at = text;
	return true;
}

enum kr_status kr_foreign_put(struct kr_history *h, struct kr_operation op)
{
	if ((!kr_op_scans(&op) && op.key.i == KR_NONE) || op.a.i == KR_NONE)
		return KR_NOMEM;
	return kr_vec_add(h->mem, &h->ops, op); /* as kr_history_put does of a plain one */
}

enum kr_status kr_foreign_op(struct kr_history *h, enum kr_op_kind kind, kr_key key, kr_value a, bool known)
{
	return kr_foreign_put(h,
		(struct kr_operation){.kind = kind, .flags = known ? KR_OPF_KNOWN : 0, .key = key, .a = a});
}

enum kr_status kr_foreign_scan(struct kr_history *h, enum kr_op_kind kind, const struct kr_scan *scan)
{
	struct kr_operation op = {.kind = kind, .key = {KR_NONE}, .scan = h->scans.n};

	return kr_vec_push(h->mem, &h->scans, *scan) ? kr_foreign_put(h, op) : KR_NOMEM;
}

enum kr_status kr_foreign_forgive(struct kr_history *h, enum kr_status status, struct kr_err *err)
{
	if (status)
		kr_history_drop(h);
	return kr_history_forgive(h, status, err);
}

enum kr_status kr_foreign_add(struct kr_history *h, struct kr_transaction txn,
	const struct kr_white_box *white_box, struct kr_err *err)
{
	enum kr_status status = kr_history_add(h, txn, white_box, err);

	if (status == KR_BAD)
		kr_err_at(err, h->files.at[txn.file], txn.line, 0);
	return kr_history_forgive(h, status, err);
}

/* who writes 0 to a key: nobody, the first transaction, others */
enum zero { ZERO_READ, ZERO_FIRST, ZERO_WRITTEN };

static bool only_writes(const struct kr_history *h, kr_txn t)
{
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (h->ops.at[kr_history_op(h, t, i).i].kind != KR_OP_WRITE)
			return false;
	return true;
}

enum kr_status kr_foreign_zeros(struct kr_ctx *ctx, struct kr_history *h, bool initial, struct kr_err *err)
{
	kr_value zero = kr_history_int(h, 0);
	uint32_t first = h->txns.n > 0 && h->txns.at[0].status == KR_COMMITTED && only_writes(h, (kr_txn){0})
		? h->txns.at[0].op_count
		: 0;
	uint8_t *zeros = KR_NEW_ARRAY(&h->arena, uint8_t, h->keys.n);

	if (!zeros || zero.i == KR_NONE)
		return KR_NOMEM;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		if (op->kind == KR_OP_WRITE && op->a.i == zero.i)
			zeros[op->key.i] = i < first ? ZERO_FIRST : ZERO_WRITTEN;
		KR_TRY(kr_ctx_tick(ctx));
	}
	for (uint32_t i = 0; i < h->ops.n; i++) {
		struct kr_operation *op = &h->ops.at[i];
		if (op->kind == KR_OP_READ && op->a.i == zero.i && zeros[op->key.i] == ZERO_READ)
			op->a = KR_ABSENT;
		KR_TRY(kr_ctx_tick(ctx));
	}
	for (uint32_t k = 0; initial && k < h->keys.n; k++) {
		if (zeros[k] != ZERO_WRITTEN)
			continue;
		h->initial = KR_INITIAL_GIVEN;
		KR_TRY(kr_history_set_initial(h, (kr_key){k}, zero, err));
	}
	return KR_OK;
}

kr_session kr_foreign_session(struct kr_history *h, int64_t name)
{
	return kr_history_session(h, kr_history_int(h, name));
}

bool kr_foreign_holds(const char *head, size_t length, const char *part)
{
	size_t n = strlen(part);

	for (; length >= n; head++, length--)
		if (memcmp(head, part, n) == 0)
			return true;
	return false;
}

bool kr_foreign_ends(const char *path, const char *end)
{
	size_t length = strlen(path), n = strlen(end);

	return length >= n && strcmp(path + length - n, end) == 0;
}

/* ---- folders of logs ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Compares names with runs of digits as numbers. */
static int compare_names(const void *a, const void *b)
{
	const char *whole_a = *(const char *const *)a, *whole_b = *(const char *const *)b;
	const char *x = whole_a, *y = whole_b;

	while (*x && *y) {
		if (is_digit(*x) && is_digit(*y)) {
			x += strspn(x, "0");
			y += strspn(y, "0");
			size_t nx = strspn(x, "0123456789"), ny = strspn(y, "0123456789");
			int order = nx != ny ? (nx < ny ? -1 : 1) : memcmp(x, y, nx);
			if (order != 0)
				return order;
			x += nx;
			y += ny;
		} else if (*x != *y) {
			return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
		} else {
			x++;
			y++;
		}
	}
	return *x ? 1 : *y ? -1 : strcmp(whole_a, whole_b);
}

size_t kr_foreign_stem(const char *name)
{
	static const char *const ends[] = {".log", ".log.gz"};

	for (size_t i = 0; i < KR_COUNT(ends); i++)
		if (kr_foreign_ends(name, ends[i]))
			return strlen(name) - strlen(ends[i]);
	return 0;
}

/* The first byte of a log in an open folder; -1: it has none; -2: it cannot be read. */
static int first_byte(int folder, const char *name)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	unsigned char start[sizeof mark];
	const int length = sizeof mark - 1;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb"); /* plain files, too */
	int got = file ? gzread(file, start, sizeof start) : -1;
	int at = got >= length && memcmp(start, mark, (size_t)length) == 0 ? length : 0;

	if (file)
		(void)gzclose(file);
	else if (fd >= 0)
		(void)close(fd);
	return got > at ? start[at] : got >= 0 ? -1 : -2;
}

int kr_foreign_starts(const char *folder, bool (*is_log)(const char *name), char first)
{
	DIR *dir = opendir(folder);
	bool found = false, empty = false, other = false;
	const struct dirent *entry;

	while (dir && !found && (entry = readdir(dir)) != NULL) {
		int byte = is_log(entry->d_name) ? first_byte(dirfd(dir), entry->d_name) : -2;
		found = byte == first;
		empty |= byte == -1;
		other |= byte >= 0;
	}
	if (dir)
		(void)closedir(dir);
	return found ? 2 : empty && !other;
}

KR_VEC_NAMED(names, const char *);

/* A log that is there as it is and compressed would count twice. */
static enum kr_status check_names(const struct names *names, struct kr_err *err)
{
	for (uint32_t i = 1; i < names->n; i++) {
		size_t stem = kr_foreign_stem(names->at[i]);
		if (stem > 0 && stem == kr_foreign_stem(names->at[i - 1]) &&
			memcmp(names->at[i - 1], names->at[i], stem) == 0)
			return kr_err_set(err, KR_BAD, "holds %s and %s, expected one of them",
				names->at[i - 1], names->at[i]);
	}
	return KR_OK;
}

static enum kr_status list(struct kr_history *h, const char *folder, bool (*is_log)(const char *name),
	struct names *out, struct kr_err *err)
{
	DIR *dir = opendir(folder);
	enum kr_status status = KR_OK;
	const struct dirent *entry;
	struct stat info;

	if (!dir)
		return kr_err_set(err, KR_BAD, "cannot open the folder");
	while (!status && (entry = readdir(dir)) != NULL) {
		if (!is_log(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &info, 0) != 0 ||
			!S_ISREG(info.st_mode))
			continue;
		const char *name = kr_arena_text(&h->arena, entry->d_name, strlen(entry->d_name));
		if (!name || !kr_vec_push(h->mem, out, name))
			status = KR_NOMEM;
	}
	(void)closedir(dir);
	if (!status && out->n == 0)
		status = kr_err_set(err, KR_BAD, "holds no .log file, expected one for each client");
	if (!status && out->n > 1)
		qsort(out->at, out->n, sizeof *out->at, compare_names);
	return status ? status : check_names(out, err);
}

enum kr_status kr_foreign_logs(struct kr_ctx *ctx, struct kr_history *h, const char *folder,
	bool (*is_log)(const char *name),
	enum kr_status (*read)(void *data, const char *folder, const char *name), void *data,
	struct kr_err *err)
{
	struct names names = {0};
	enum kr_status status = list(h, folder, is_log, &names, err);

	for (uint32_t i = 0; !status && i < names.n; i++) {
		status = read(data, folder, names.at[i]);
		kr_ctx_progress(ctx, "reading", i + 1, names.n);
	}
	kr_vec_done(h->mem, &names);
	return status;
}

const char *kr_foreign_file(struct kr_history *h, const char *folder, const char *name)
{
	size_t length = strlen(folder);
	const char *path = kr_arena_format(&h->arena, "%s%s%s", folder,
		length != 0 && folder[length - 1] == '/' ? "" : "/", name);

	return path && kr_vec_push(h->mem, &h->files, path) ? path : NULL;
}
