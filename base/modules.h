/* The modules that plug-ins add to krait's own (krait/module.h), in the order of loading. Each layer lists
 * its kind behind what is built in; NULL for the whole: nothing was added. Filled by api/plugins.c, read-only
 * afterwards; it must outlive what was found through it. */
#ifndef KR_BASE_MODULES_H
#define KR_BASE_MODULES_H

#include "base/vec.h"
#include "krait/module.h"

struct kr_modules {
	KR_VEC(const struct kr_format *) formats;
	KR_VEC(const struct kr_pass *) passes;
	KR_VEC(const struct kr_backend *) backends;
	KR_VEC(const struct kr_checker *) checkers;
};

/* The i-th of what is built in and what was added; NULL past the end. */
#define KR_MODULE_AT(builtin, count, more, list, i) \
	((i) < (count)                                             ? (builtin)[i] \
			: (more) && (i) - (count) < (more)->list.n ? (more)->list.at[(i) - (count)] \
								   : NULL)

#endif
