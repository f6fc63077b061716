/* krait check --profile. */
#ifndef KR_CLI_CHECK_PROFILE_H
#define KR_CLI_CHECK_PROFILE_H

#include "cli/profile_option.h"

/* Is it a profile that the traces are to be held to, rather than levels? */
bool kr_check_profile_asked(const struct kr_args *args);
int kr_check_profile(const struct kr_args *args);

#endif
