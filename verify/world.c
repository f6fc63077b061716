#include "verify/verifier.h"

enum kr_status kr_verify_world(struct kr_verifier *v) { return kr_err_set(v->err, KR_UNSUPPORTED, "worlds of %s cannot be checked yet", v->rule->id); }
