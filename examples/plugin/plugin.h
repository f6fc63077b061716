/* The modules of this plug-in, each in a file of its own. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <krait/module.h>

extern const struct kr_checker update_atomic;
extern const struct kr_format pairs;

#endif
