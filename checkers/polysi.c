/* Snapshot isolation as PolySI decides it: one generalized constraint for each two transactions that write
 * the same keys, which says which of the two came first on all of them, with the rw edges that follow; pruned
 * in rounds on the induced graph of transactions (passes/induce.c); the remaining constraints given to the
 * solver.
 *
 * The paper's snapshot isolation has session order, which the order asked for may leave out here, or add real
 * time to. Histories need not write every value once. */
#include "checkers/checker.h"

const struct kr_checker kr_checker_polysi = {
	.name = "polysi",
	.title = "snapshot isolation: generalized constraints, pruned on the induced graph of transactions, "
		 "the rest in Z3",
	.source = "Huang, Liu, Chen, Wei, Basin, Li, Pan, PolySI, VLDB 2023",
	.decides = KR_IDS("si"),
	.passes = "so,rt,presence,wr,ww,rw,coalesce,induce,clock",
	.backend = "eager",
};
