/* Jepsen's block format, test.jepsen: the history in it. Inside of the reader of Jepsen's histories. */
#ifndef KR_FRONTEND_ELLE_STORED_H
#define KR_FRONTEND_ELLE_STORED_H

#include "frontend/fressian.h"

struct kr_elle_stored {
	struct kr_fressian values;
	const unsigned char *file, *index;
	size_t size, index_length;
	/* a history in several blocks: where those to come are named, and how many operations are in all */
	bool is_vector;
	const unsigned char *chunks;
	size_t chunks_left;
	uint64_t count;
	uint64_t operations; /* read so far */
};

bool kr_elle_is_stored(const char *head, size_t length);

/* Takes all of `source`: the next of the forms is the next operation. Forms are initialised; the caller calls
 * _done in every case, before the source is freed. */
enum kr_status kr_elle_stored_init(struct kr_elle_stored *s, struct kr_forms *f, struct kr_source *source);
void kr_elle_stored_done(struct kr_elle_stored *s);

#endif
