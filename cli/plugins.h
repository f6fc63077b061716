/* Plug-ins of the program: those of the default folder or of KRAIT_PLUGIN_PATH, then those that --plugin
 * names. */
#ifndef KR_CLI_PLUGINS_H
#define KR_CLI_PLUGINS_H

#include "api/plugins.h"
#include "cli/command.h"

/* KR_EXIT_SATISFIED, or another status after one line on standard error. */
int kr_plugins_asked(const struct kr_args *args, struct kr_plugins *plugins);

#endif
