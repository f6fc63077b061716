/* Where plug-ins are looked for: KRAIT_PLUGIN_PATH, folders with ':' between them; unless it is set, the
 * folder that belongs to the program, if it is there. A set but empty variable means none. Then what --plugin
 * names, in the order of the command line. */
#include "cli/plugins.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/crash.h"
#include "cli/output.h"

static int load(struct kr_plugins *plugins, const char *path)
{
	struct kr_err err;
	char text[sizeof err.text + sizeof err.file];

	struct kr_call call = {.kind = "plug-in", .name = path};

	kr_err_init(&err);
	kr_crash_install();
	kr_crash_watch(&call, INT64_MAX);

	enum kr_status status = kr_plugins_load(plugins, path, &err);

	kr_crash_watch(NULL, INT64_MAX);

	if (status == KR_OK)
		return KR_EXIT_SATISFIED;
	kr_err_format(&err, text, sizeof text);
	return status == KR_BAD && !plugins->refused ? kr_usage("plug-in %s", text)
						     : kr_fail("plug-in %s", text);
}

static int load_path(struct kr_plugins *plugins, const char *path)
{
	int status = KR_EXIT_SATISFIED;
	struct kr_str folder;

	kr_str_init(&folder, &plugins->mem);
	while (*path && status == KR_EXIT_SATISFIED) {
		size_t length = strcspn(path, ":");

		kr_str_done(&folder);
		kr_str_add_bytes(&folder, path, length);
		path += length + (path[length] == ':');
		if (length > 0)
			status = folder.failed ? kr_fail("out of memory") : load(plugins, folder.at);
	}
	kr_str_done(&folder);
	return status;
}

/* The folder is found from where the program is, so that the installed tree can be moved. */
static int load_default(struct kr_plugins *plugins)
{
	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	int status = KR_EXIT_SATISFIED;
	struct kr_str folder;
	struct stat info;

	if (length <= 0)
		return status;
	program[length] = '\0';
	kr_str_init(&folder, &plugins->mem);
	kr_str_add_bytes(&folder, program, (size_t)(strrchr(program, '/') - program) + 1);
	kr_str_add(&folder, KR_PLUGIN_FOLDER);
	if (folder.failed)
		status = kr_fail("out of memory");
	else if (stat(folder.at, &info) == 0)
		status = load(plugins, folder.at);
	kr_str_done(&folder);
	return status;
}

int kr_plugins_asked(const struct kr_args *args, struct kr_plugins *plugins)
{
	const char *path = getenv("KRAIT_PLUGIN_PATH");
	int status = path ? load_path(plugins, path) : load_default(plugins);

	for (uint32_t i = 0; i < args->given.n && status == KR_EXIT_SATISFIED; i++)
		if (args->given.at[i].option == &kr_option_plugin)
			status = load(plugins, args->given.at[i].value);
	return status;
}
