/* The file `expect` of a bundled trace: what every level must say of it.
 *
 *     # why
 *     LEVEL[,LEVEL]... ORDER[,ORDER]... satisfied
 *     LEVEL[,LEVEL]... ORDER[,ORDER]... violated [NAME OF THE ANOMALY]
 *
 * A name is given where only one fits. */
#ifndef TESTS_MATRIX_EXPECT_H
#define TESTS_MATRIX_EXPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/terms.h"

struct expected { bool found, satisfied; char anomaly[64]; };

/* What the file's text expects of a level at an order; *bad is set to a message when the text is malformed or speaks twice of them. */
struct expected expect_find(const char *text, const char *level, enum kr_order order, const char **bad);

/* NULL, or what is wrong with a line: an unknown level, order or verdict. `is_level` tells which ids exist. */
const char *expect_problem(const char *text, bool (*is_level)(const char *id));

/* Names of the bundled traces (folders of traces/), sorted; how many. */
enum { EXPECT_MOST_TRACES = 400, EXPECT_NAME_SIZE = 100 };
size_t expect_traces(char names[EXPECT_MOST_TRACES][EXPECT_NAME_SIZE]);

/* The folder's file as a terminated text, or NULL. The caller frees it. */
char *expect_read(const char *folder, const char *file);

#endif
