/* Snapshot isolation as Viper decides it: a polygraph of begins and commits, in which every cycle is
 * forbidden; pruned in rounds by reachability; what is left is ordered along a topological sort of the known
 * graph, and only if that has a cycle given to the solver.
 *
 * Generalized, strong session and strong snapshot isolation are its orders none, session and realtime. As for
 * `cobra`, the IR has more than the paper. */
#include "checkers/checker.h"

const struct kr_checker kr_checker_viper = {
	.name = "viper",
	.title = "snapshot isolation: a polygraph of begins and commits, pruned in rounds, a topological "
		 "sort, then Z3",
	.source = "Zhang, Ji, Mu, Tan, Viper, EuroSys 2023",
	.decides = KR_IDS("si"),
	.passes = "so,rt,presence,wr,ww,rw,clock,prune",
	.backend = "guess",
};
