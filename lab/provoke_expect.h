/* Tables of letters that are expected: --expect. */
#ifndef KR_LAB_PROVOKE_EXPECT_H
#define KR_LAB_PROVOKE_EXPECT_H

#include "base/mem.h"
#include "lab/driver.h"

struct kr_letters; /* a table */

/* Reads one: a line "case<TAB>LEVEL...", then "ID<TAB>LETTER..." each; '#' begins a comment. NULL after a
 * message. */
struct kr_letters *kr_letters_read(const char *path, const struct kl_driver *driver);
void kr_letters_free(struct kr_letters *table);

/* NULL: nothing is expected. */
const char *kr_letters_at(const struct kr_letters *table, const char *id, const char *level);

#endif
