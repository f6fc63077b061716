/* Compressed bytes as a stream: gzip, and zstd, xz and bzip2 where krait was built with their libraries. */
#ifndef KR_FRONTEND_UNPACK_H
#define KR_FRONTEND_UNPACK_H

#include "base/mem.h"

enum { KR_UNPACK_MAGIC = 6 }; /* so many bytes tell how something is compressed */

enum kr_unpacked {
	KR_UNPACKED_SOME,  /* go on, with more input or more room */
	KR_UNPACKED_ALL,   /* the end of a member; others may follow */
	KR_UNPACKED_BAD,   /* `why` says what, if anything does */
	KR_UNPACKED_NOMEM
};

struct kr_packing; /* how something is compressed */
struct kr_unpacker; /* heap; owned by the caller */

/* By its first bytes; NULL: none that is known here. */
const struct kr_packing *kr_packing_of(const unsigned char *head, size_t length);
/* Whether more bytes can tell that it is one. */
bool kr_packing_may_be(const unsigned char *head, size_t length);
/* Whether a member can begin with that byte. */
bool kr_packing_may_begin(const struct kr_packing *packing, unsigned char first);
const struct kr_packing *kr_packing_named(const char *name);
const char *kr_packing_name(const struct kr_packing *packing);
/* Zero bytes may follow a member. */
bool kr_packing_is_padded(const struct kr_packing *packing);

/* NULL: no memory. */
struct kr_unpacker *kr_unpacker_new(struct kr_mem *mem, const struct kr_packing *packing);
void kr_unpacker_free(struct kr_unpacker *u);

/* Unpacks from `in` to `out`; both are moved on and their sizes lessened. */
enum kr_unpacked kr_unpack(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why);
/* Behind KR_UNPACKED_ALL: another member begins. False: no memory. */
bool kr_unpack_again(struct kr_unpacker *u);

#endif
