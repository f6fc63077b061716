/* The order that clients suggest, as a first guess at the order in which transactions took effect. */
#ifndef KR_BACKEND_PREFER_H
#define KR_BACKEND_PREFER_H

#include "ir/ir.h"

/* Fills `place`, per node, with a permutation: by client time where every transaction has it, else by how far each has come in its session; time nodes first. */
enum kr_status kr_prefer_clients(const struct kr_ir *ir, uint32_t *place);

#endif
