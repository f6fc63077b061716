/* What the environment asks of a test of random histories (CONTRIBUTING.md), and traces in its output. */
#ifndef TESTS_ORACLE_ASKED_H
#define TESTS_ORACLE_ASKED_H

#include "tiny.h"

/* A number such as KRAIT_ORACLE_SEED. */
uint64_t asked_number(const char *name, uint64_t by_default);

/* The mix of the n-th history: the one that KRAIT_ORACLE_MIX names, which must exist, else each in turn. */
enum tiny_mix asked_mix(uint64_t n);

/* Prints a history as a native trace; a tiny one only if it is valid. */
void asked_print(struct kr_ctx *ctx, const struct kr_history *h);
void asked_print_tiny(const struct tiny *tiny);

#endif
