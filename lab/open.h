/* Drivers are shared objects in a folder that belongs to the program; each is opened when it is named. */
#ifndef KR_LAB_OPEN_H
#define KR_LAB_OPEN_H

#include "base/str.h"
#include "lab/driver.h"

/* A name, or a path of a shared object; NAME:PARAMETER=VALUE is one of that driver's others. NULL after a
 * message; *lacking: it was not built, since its library was not found. Stays open. */
const struct kl_driver *kr_driver_open(struct kr_mem *mem, const char *name, bool *lacking);

/* The i-th file NAME.so of the folder, by name: its name. False past the end. */
bool kr_driver_name(size_t i, char out[64]);

/* The table of letters that comes with a driver (lab/expect/NAME.tsv, where what is neither letter nor digit
 * is a -); false: there is none. */
bool kr_driver_table(const char *name, char out[4200]);

/* Drivers that were not built: the i-th's name and what was not found; false past the end. */
bool kr_driver_left_out(size_t i, char name[64], char lacks[128]);

const struct kl_level *kr_driver_level(const struct kl_driver *driver, const char *name); /* or NULL */
int kr_driver_no_level(const struct kl_driver *driver, const char *name); /* says so; KR_EXIT_USAGE */

#endif
