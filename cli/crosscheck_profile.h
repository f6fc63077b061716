/* krait crosscheck --profile. */
#ifndef KR_CLI_CROSSCHECK_PROFILE_H
#define KR_CLI_CROSSCHECK_PROFILE_H

#include "cli/profile_option.h"

int kr_crosscheck_profile(const struct kr_args *args);

#endif
