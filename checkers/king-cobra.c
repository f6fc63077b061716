/* Cobra with more to go by, as King Cobra: sessions if the order asked for has them, and what the trace tells
 * of version orders (`version_order` lines), which may leave gaps and keys out. Neighbours of such a list are
 * ww edges before anything is pruned, and rw edges follow by the same rules; the more is told, the fewer
 * constraints are left, and with a whole order the graph alone decides.
 *
 * A version order may be wrong. A violation is therefore decided again without: satisfied then, it is one
 * under the given order only, and labelled so. */
#include "checkers/given.h"

const struct kr_checker kr_checker_king_cobra = {
	.name = "king-cobra",
	.title = "serializability as cobra, with version orders of the trace; tells whether a violation is "
		 "one without them",
	.source = "Clark et al., King Cobra, TOCS; Tan et al., Cobra, OSDI 2020",
	.decides = KR_IDS("ser", "pl-ss"),
	.passes = "so,rt,presence,wr,ww,rw,clock,combine,coalesce,prune",
	.backend = "eager",
	.qualify = kr_qualify_given,
};
