/* The transactions of a recording that is not finished: those in the file, those in the slots' buffers, those
 * in flight. */
#ifndef KR_LAB_MERGE_H
#define KR_LAB_MERGE_H

#include <stdio.h>

#include "base/mem.h"
#include "lab/slot.h"

struct kr_merging {
	const char *path;             /* of the trace */
	uint64_t from, to;            /* those bytes of it; from 0: but for the header; to 0: to its end */
	struct kr_slot *const *slots; /* NULL: `views` are what they held */
	struct kr_slot_view *views;
	uint32_t clients;
	bool damaged_lines;           /* lines may be torn, since the recorder was killed: each is parsed */
	/* Takes each transaction's line (without its newline), those of a client in order. False ends. */
	bool (*take)(void *data, uint32_t client, uint32_t number, char *line, size_t length, bool in_flight);
	void *data;
	uint64_t buffered, in_flight, torn; /* how many were not in the file, and lines left out */
};

/* Client and number of a transaction's line. False: it is none. */
bool kr_line_id(const char *line, uint32_t *client, uint32_t *number);

/* False: the file cannot be read, `take` ended it, or there is no memory. */
bool kr_merge(struct kr_merging *merge);

/* Maps the slots that lie in the folder: *clients of them. NULL: there are none, or no memory. Freed with
 * kr_slots_unmap. */
struct kr_slot **kr_slots_map(const char *folder, uint32_t *clients);
void kr_slots_unmap(struct kr_slot **slots, uint32_t clients);

#endif
