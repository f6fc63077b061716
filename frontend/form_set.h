/* Sets among forms. */
#ifndef KR_FRONTEND_FORM_SET_H
#define KR_FRONTEND_FORM_SET_H

#include "frontend/form.h"

/* Puts the elements of the set, which is complete, into the one order that equal sets have. */
enum kr_status kr_form_sort(struct kr_mem *mem, struct kr_form *nodes, uint32_t set);

#endif
