/* The folder is found from where the program is, so that the installed tree can be moved. */
#define _GNU_SOURCE
#include "lab/open.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guess.h"
#include "cli/output.h"

enum { NAMES_MOST = 32 };

static bool find_folder(char out[4096])
{
	char program[2048];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	if (length <= 0)
		return false;
	program[length] = '\0';
	*strrchr(program, '/') = '\0';
	(void)snprintf(out, 4096, "%s/%s", program, KR_DRIVER_FOLDER);
	return true;
}

static int is_driver(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 3 && length < 64 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

bool kr_driver_name(size_t i, char out[64])
{
	char folder[4096];
	struct dirent **found = NULL;
	int n = find_folder(folder) ? scandir(folder, &found, is_driver, alphasort) : 0;

	out[0] = '\0';
	for (int k = 0; k < n; k++) {
		if ((size_t)k == i)
			(void)snprintf(out, 64, "%.*s", (int)strlen(found[k]->d_name) - 3, found[k]->d_name);
		free(found[k]);
	}
	free(found);
	return out[0] != '\0';
}

bool kr_driver_table(const char *name, char out[4200])
{
	char folder[4096];

	if (!find_folder(folder))
		return false;
	int length = snprintf(out, 4200, "%s/", folder);
	(void)snprintf(out + length, 4200 - (size_t)length, "%.64s.tsv", name);
	for (size_t i = 0; name[i] && i < 64; i++)
		if (!isalnum((unsigned char)name[i]))
			out[(size_t)length + i] = '-';
	return access(out, R_OK) == 0;
}

bool kr_driver_left_out(size_t i, char name[64], char lacks[128])
{
	for (const char *at = KR_DRIVERS_LEFT_OUT; *at; at += strcspn(at, "|"), at += *at == '|')
		if (i-- == 0)
			return sscanf(at, "%63[^:]:%127[^|]", name, lacks) == 2;
	return false;
}

static void unknown(const char *name, bool *lacking)
{
	size_t length = strcspn(name, ":");
	struct kr_guess guess = {.typed = name};
	char near[128], other[64], lacks[128], names[NAMES_MOST][64];

	for (size_t i = 0; kr_driver_left_out(i, other, lacks); i++)
		if (strncmp(other, name, length) == 0 && other[length] == '\0') {
			*lacking = true;
			kr_note("skipped: driver %s was not built: %s was not found", name, lacks);
			return;
		}
	for (size_t i = 0; i < NAMES_MOST && kr_driver_name(i, names[i]); i++)
		kr_guess_try(&guess, names[i]);
	kr_usage("unknown driver '%s'%s", name, kr_guess_text(&guess, "krait-lab drivers", near));
}

/* The driver, or one of its others. */
static const struct kl_driver *choose(const struct kl_driver *driver, const char *name)
{
	struct kr_guess guess = {.typed = name};
	char near[128];

	for (const struct kl_driver *const *other = driver->others; other && *other; other++) {
		if (strcmp((*other)->name, name) == 0)
			return *other;
		kr_guess_try(&guess, (*other)->name);
	}
	kr_usage("unknown driver '%s'%s", name, kr_guess_text(&guess, "krait-lab drivers", near));
	return NULL;
}

const struct kl_driver *kr_driver_open(struct kr_mem *mem, const char *name, bool *lacking)
{
	char folder[4096];
	struct kr_str path;
	const struct kl_driver *driver = NULL;
	void *library = NULL;

	*lacking = false;
	kr_str_init(&path, mem);
	if (strchr(name, '/'))
		kr_str_add(&path, name);
	else if (find_folder(folder))
		kr_str_format(&path, "%s/%.*s.so", folder, (int)strcspn(name, ":"), name);
	if (!path.failed && path.n > 0 && access(path.at, R_OK) == 0)
		library = dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
	else
		unknown(name, lacking);
	if (library)
		driver = dlsym(library, "krait_driver");
	if (library && (!driver || driver->abi != KL_ABI)) {
		kr_fail("driver %s: %s", name,
			driver ? "it is for another version of krait-lab" : "it defines no krait_driver");
		driver = NULL;
	} else if (!library && path.n > 0 && access(path.at, R_OK) == 0) {
		kr_fail("driver %s: %s", name, dlerror());
	}
	kr_str_done(&path);
	return driver && !strchr(name, '/') && strchr(name, ':') ? choose(driver, name) : driver;
}

const struct kl_level *kr_driver_level(const struct kl_driver *driver, const char *name)
{
	for (const struct kl_level *l = driver->levels; l->name; l++)
		if (strcmp(l->name, name) == 0)
			return l;
	return NULL;
}

int kr_driver_no_level(const struct kl_driver *driver, const char *name)
{
	struct kr_guess guess = {.typed = name};
	char near[128];

	for (const struct kl_level *l = driver->levels; l->name; l++)
		kr_guess_try(&guess, l->name);
	return kr_usage("driver %s has no level '%s'%s", driver->name, name,
		kr_guess_text(&guess, "krait-lab drivers", near));
}
