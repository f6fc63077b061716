/* Serializability as Cobra decides it: a polygraph of transactions, whose known edges are those of the trace
 * and whose constraints say which of two writers of a key came first; read-modify-write chains combined to
 * one writer each; constraints on several keys coalesced; pruned in rounds by reachability; the remaining
 * ones given to the solver all at once.
 *
 * Cobra's paper knows histories in which every value is written once, and no unknown outcomes. What it leaves
 * out the IR has anyway: open sources and presences are further variables of the back end. With session or
 * real-time order these are known edges. */
#include "checkers/checker.h"

const struct kr_checker kr_checker_cobra = {
	.name = "cobra",
	.title = "serializability: a polygraph, writes combined, constraints coalesced and pruned in rounds, "
		 "the rest in Z3",
	.source = "Tan, Zhao, Mu, Walfish, Cobra, OSDI 2020",
	.decides = KR_IDS("ser", "pl-ss"),
	.passes = "so,rt,presence,wr,ww,rw,clock,combine,coalesce,prune",
	.backend = "eager",
};
