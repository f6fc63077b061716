/* Made for another krait: the number is looked at before anything else, so that nothing else needs to be right. */
#include <krait/module.h>

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI + 1, .name = "other-abi", .version = "1.0"};
