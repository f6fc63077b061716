/* Plug-ins: shared objects whose modules (krait/module.h) join krait's own. What is loaded is checked first:
 * a wrong descriptor would otherwise show only when it is used. */
#ifndef KR_API_PLUGINS_H
#define KR_API_PLUGINS_H

#include "base/err.h"
#include "base/modules.h"

struct kr_plugins {
	struct kr_mem mem;
	struct kr_modules modules; /* for kr_ctx.modules */
	KR_VEC(void *) handles;
	bool refused; /* the modules of one were wrong: its fault, not that of who named it */
};

void kr_plugins_init(struct kr_plugins *plugins);

/* Unloads them; nothing that was found through them may be used any more. */
void kr_plugins_done(struct kr_plugins *plugins);

/* Loads a plug-in, or all of a folder: its files NAME.so, in the order of their names. KR_BAD: there is no
 * such file, it is no plug-in, made for another ABI, needs a symbol that krait does not have, or a module in
 * it is wrong or has a name that is taken; err names the file. Of a plug-in that is refused nothing is kept.
 * KR_NOMEM. */
enum kr_status kr_plugins_load(struct kr_plugins *plugins, const char *path, struct kr_err *err);

/* plugins_check.c: whether the modules of a plug-in can join those of `loaded`, and joins them. On failure
 * some may have joined. */
enum kr_status kr_plugins_join(struct kr_plugins *plugins, const struct kr_plugin *plugin,
	struct kr_err *err);

#endif
