/* Stores of Jepsen: the folder of a test, which holds its history as history.edn, or history.edn.gz and so
 * on, or in test.jepsen; or the folder of all, whose last test is taken. Where only logs are left, one line
 * says so. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "frontend/foreign.h"

static const char *const histories[] = {"history.edn", "history.edn.gz", "history.edn.zst", "history.edn.xz",
	"history.edn.bz2", "history.json", "test.jepsen", "latest/history.edn", "latest/test.jepsen"};
static const char *const others[] = {"test.fressian", "history.txt", "jepsen.log", "results.edn"};

/* The first of the names that the folder has; NULL: none. */
static const char *first_in(const char *folder, const char *const *names, size_t n)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < n; i++)
		if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path &&
			access(path, F_OK) == 0)
			return names[i];
	return NULL;
}

static enum kr_status read_store(struct kr_ctx *ctx, const char *path, struct kr_source *none,
	struct kr_history *h, struct kr_err *err)
{
	extern const struct kr_format kr_format_elle;
	const char *name = first_in(path, histories, KR_COUNT(histories)), *file;
	struct kr_source *source;

	(void)none;
	if (!name)
		return kr_err_set(err, KR_BAD,
			"is a store of Jepsen without history.edn or test.jepsen, expected one: both are "
			"written when a test ends (of %s, which is there, krait reads nothing)",
			first_in(path, others, KR_COUNT(others)));
	if (!(file = kr_arena_format(&h->arena, "%s/%s", path, name)))
		return KR_NOMEM;
	h->files.at[0] = file;
	KR_TRY(kr_source_open(ctx, file, &source, err));
	enum kr_status status = kr_format_elle.read(ctx, file, source, h, err);
	kr_source_free(source);
	return status;
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)head;
	(void)length;
	if (first_in(path, histories, KR_COUNT(histories)))
		return 95;
	return first_in(path, others, KR_COUNT(others)) ? 40 : 0; /* to say so */
}

const struct kr_format kr_format_store = {
	.name = "store",
	.aliases = "jepsen-store",
	.title = "folder of a Jepsen test: its history.edn or test.jepsen",
	.source = "docs/formats/elle.md",
	.folder = true,
	.sniff = sniff,
	.read = read_store,
};
