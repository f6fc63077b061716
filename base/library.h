/* Shared libraries that are loaded when they are first needed: loading one takes time and memory of every
 * run, and most runs do without. What is loaded stays until the process ends. */
#ifndef KR_BASE_LIBRARY_H
#define KR_BASE_LIBRARY_H

#include "base/err.h"

struct kr_library {
	const char *name; /* as loaders know it */
	const char *path; /* where it was when krait was built, for one that they do not find */
};

/* Finds the functions of these names and stores their addresses in `out`, a struct of as many pointers to
 * functions. KR_BAD: the library, or a function in it, is missing. */
enum kr_status kr_library_load(const struct kr_library *library, const char *const *names, size_t n,
	void *out, struct kr_err *err);

/* Tells those who make packages that the program may load a library
 * (https://systemd.io/ELF_DLOPEN_METADATA/): `json` is an array of what it loads. */
#define KR_LIBRARY_NOTE(variable, json) \
	static const struct { \
		uint32_t name_size, text_size, type; \
		char name[4]; \
		_Alignas(4) char text[sizeof(json)]; \
	} variable __attribute__((used, section(".note.dlopen"), aligned(4))) = { \
		4, sizeof(json), 0x407c0c0a, "FDO", json}

#endif
