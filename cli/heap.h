/* The program's heap. */
#ifndef KR_CLI_HEAP_H
#define KR_CLI_HEAP_H

/* Lets the heap lie on huge pages. Before the first large allocation. */
void kr_heap_prepare(void);

#endif
