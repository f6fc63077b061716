/* The private folder of a store, beside what drivers may do with it (driver.h). */
#ifndef KR_LAB_HOME_H
#define KR_LAB_HOME_H

#include "lab/driver.h"

/* All of its processes end, the folder goes. Nothing to do without one. */
void kr_home_close(struct kl_store *store);

/* Of a cluster: a node's process; ends it at once. */
pid_t kr_home_node(const struct kl_store *store, uint32_t node);
bool kr_home_kill_node(struct kl_store *store, uint32_t node);

/* As fork, of a process that holds a store: it ends with this one, leaves no core file, and what keeps its
 * folders is waited for here if it crashes. */
pid_t kr_home_fork(void);

#endif
