/* Loading of plug-ins. An object is opened lazily first, so that one made for another ABI is told as such,
 * whatever symbols it lacks; then it is closed, and opened again with all its symbols resolved (the loader
 * does not resolve them later), so that none can be missing in the middle of a run. Constructors of the
 * object run when it is opened: a plug-in is code that the user trusts as much as krait. */
#include "api/plugins.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"
#include "frontend/foreign.h"

void kr_plugins_init(struct kr_plugins *plugins)
{
	*plugins = (struct kr_plugins){0};
	kr_mem_init(&plugins->mem, SIZE_MAX);
}

void kr_plugins_done(struct kr_plugins *plugins)
{
	kr_vec_done(&plugins->mem, &plugins->modules.formats);
	kr_vec_done(&plugins->mem, &plugins->modules.passes);
	kr_vec_done(&plugins->mem, &plugins->modules.backends);
	kr_vec_done(&plugins->mem, &plugins->modules.checkers);
	for (uint32_t i = plugins->handles.n; i-- > 0;)
		(void)dlclose(plugins->handles.at[i]);
	kr_vec_done(&plugins->mem, &plugins->handles);
}

/* ---- one object ---- */

/* What the loader says, without the file's name that it mostly starts with, on one line. */
static enum kr_status fail_loader(const char *path, struct kr_err *err)
{
	const char *text = dlerror();
	size_t length = strlen(path);

	if (!text)
		return kr_err_set(err, KR_BAD, "cannot be loaded");
	if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
		text += length + 2;
	return kr_err_set(err, KR_BAD, "cannot be loaded: %.*s", (int)strcspn(text, "\n"), text);
}

/* Whether it is a plug-in for this krait, without a look at what it needs. */
static enum kr_status check_abi(const char *path, struct kr_err *err)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	enum kr_status status = KR_OK;

	if (!handle)
		return fail_loader(path, err);
	const struct kr_plugin *plugin = dlsym(handle, "krait_plugin");
	if (!plugin)
		status = kr_err_set(err, KR_BAD, "is no plug-in: found no symbol 'krait_plugin'");
	else if (plugin->abi != KRAIT_PLUGIN_ABI)
		status = kr_err_set(err, KR_BAD,
			"is made for plug-in ABI %u, expected %u: compile it with this krait's headers",
			plugin->abi, KRAIT_PLUGIN_ABI);
	(void)dlclose(handle);
	return status;
}

static enum kr_status load_at(struct kr_plugins *plugins, const char *path, struct kr_err *err)
{
	struct kr_modules *m = &plugins->modules;
	uint32_t formats = m->formats.n, passes = m->passes.n, backends = m->backends.n,
		 checkers = m->checkers.n;
	KR_TRY(kr_vec_reserve(&plugins->mem, &plugins->handles, 1) ? check_abi(path, err) : KR_NOMEM);

	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return fail_loader(path, err);
	enum kr_status status = kr_plugins_join(plugins, dlsym(handle, "krait_plugin"), err);
	if (!status) {
		plugins->handles.at[plugins->handles.n++] = handle;
		return KR_OK;
	}
	plugins->refused |= status == KR_BAD;
	m->formats.n = formats;
	m->passes.n = passes;
	m->backends.n = backends;
	m->checkers.n = checkers;
	(void)dlclose(handle);
	return status;
}

/* Without a slash, the loader would look for the name in the folders of libraries. */
static enum kr_status load_file(struct kr_plugins *plugins, const char *path, struct kr_err *err)
{
	struct kr_str here;

	if (strchr(path, '/'))
		return load_at(plugins, path, err);
	kr_str_init(&here, &plugins->mem);
	kr_str_format(&here, "./%s", path);
	enum kr_status status = here.failed ? KR_NOMEM : load_at(plugins, here.at, err);
	kr_str_done(&here);
	return status;
}

/* ---- folders ---- */

KR_VEC_NAMED(names, const char *);

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static enum kr_status list(struct kr_arena *arena, const char *folder, struct names *names,
	struct kr_err *err)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	enum kr_status status = KR_OK;

	if (!dir)
		return kr_err_set(err, KR_BAD, "cannot open: %s", strerror(errno));
	while (!status && (entry = readdir(dir)) != NULL) {
		if (!kr_foreign_ends(entry->d_name + 1, ".so")) /* behind a letter at least */
			continue;
		const char *path = kr_arena_format(arena, "%s/%s", folder, entry->d_name);
		status = path ? kr_vec_add(arena->mem, names, path) : KR_NOMEM;
	}
	(void)closedir(dir);
	return status;
}

static enum kr_status load_folder(struct kr_plugins *plugins, const char *folder, struct kr_err *err)
{
	struct names names = {0};
	struct kr_arena arena;

	kr_arena_init(&arena, &plugins->mem);
	enum kr_status status = list(&arena, folder, &names, err);
	if (!status)
		KR_SORT(names.at, names.n, by_name);
	for (uint32_t i = 0; i < names.n && !status; i++)
		if ((status = load_at(plugins, names.at[i], err)))
			kr_err_at(err, names.at[i], 0, 0);
	kr_vec_done(&plugins->mem, &names);
	kr_arena_done(&arena);
	return status;
}

enum kr_status kr_plugins_load(struct kr_plugins *plugins, const char *path, struct kr_err *err)
{
	struct stat info;
	bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
	enum kr_status status = folder ? load_folder(plugins, path, err) : load_file(plugins, path, err);

	if (status) {
		kr_err_set(err, status, "%s", kr_status_text(status));
		kr_err_at(err, path, 0, 0);
	}
	return status;
}
