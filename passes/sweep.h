/* What pass `sweep` does, for graphs of any size; the pass leaves small ones to clocks. */
#ifndef KR_PASSES_SWEEP_H
#define KR_PASSES_SWEEP_H

#include "passes/pass.h"

/* Orders of versions whose contrary would close a cycle, as edges of the IR. KR_NOMEM, limits: some of them
 * may be there already, which are right. */
enum kr_status kr_sweep(struct kr_ir *ir, enum kr_change *change);

#endif
