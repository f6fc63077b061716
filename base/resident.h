/* What the process takes of the machine's memory. */
#ifndef KR_BASE_RESIDENT_H
#define KR_BASE_RESIDENT_H

#include "base/base.h"

size_t kr_resident(void);  /* bytes now; 0: the system does not say */
void kr_resident_trim(void); /* gives back what is free in the heap */

#endif
