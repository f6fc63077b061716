/* What outlives the machine (record --fsync). Slots and the trace's end are in memory that a kill leaves and
 * a failing machine does not: after that each page of them may be as old as it likes. So every so often a
 * point is made to which all is on disk: the trace up to a line's end, and in a file of its own what was not
 * in it yet, finished or in flight (prefix.h). Whether the machine has failed tells the number that each
 * start of it has. */
#ifndef KR_LAB_SYNC_H
#define KR_LAB_SYNC_H

#include "lab/run.h"

/* Notes in the folder of slots which start of the machine this is. False: it cannot be written. */
bool kr_boot_note(const char *folder);
enum kr_boot { KR_BOOT_NONE, KR_BOOT_SAME, KR_BOOT_OTHER }; /* none: nothing was noted */
enum kr_boot kr_boot_of(const char *folder);

/* Makes a point now, and then every run->fsync, in a thread of its own, until it is stopped; a point that
 * cannot be made ends the recording. NULL: it is not asked for. */
struct kr_sync *kr_sync_start(struct kr_run *run);
void kr_sync_stop(struct kr_sync *sync);

/* The last point: what it has beside the first *offset bytes of the trace, for each of *clients. NULL: there
 * is none. Freed by free(), and what is in it by kr_merge. */
struct kr_slot_view *kr_synced_read(const char *folder, uint32_t *clients, uint64_t *offset);

/* That a file has this name is on disk. */
bool kr_sync_folder_of(const char *path);

#endif
