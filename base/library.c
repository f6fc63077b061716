/* dlopen and dlsym, which C cannot call without moving a pointer to a function as bytes. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

static enum kr_status not_loaded(const struct kr_library *library, struct kr_err *err)
{
	const char *text = dlerror();

	if (!text)
		text = "not found";
	return kr_err_set(err, KR_BAD, "cannot load %s: %.*s", library->name, (int)strcspn(text, "\n"), text);
}

enum kr_status kr_library_load(const struct kr_library *library, const char *const *names, size_t n,
	void *out, struct kr_err *err)
{
	void *handle = dlopen(library->name, RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		handle = dlopen(library->path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return not_loaded(library, err);
	for (size_t i = 0; i < n; i++) {
		void *function = dlsym(handle, names[i]);

		if (!function)
			return kr_err_set(err, KR_BAD, "%s has no function '%s'", library->name, names[i]);
		memcpy((char *)out + i * sizeof function, &function, sizeof function);
	}
	return KR_OK;
}
