/* Shared by every layer: ids and status codes, which plug-ins know, too (krait/terms.h), and small
 * arithmetic. */
#ifndef KR_BASE_BASE_H
#define KR_BASE_BASE_H

#include "krait/terms.h"

#define KR_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Was a limit hit? */
static inline bool kr_is_limit(enum kr_status status)
{
	return status == KR_NOMEM || status == KR_TIMEOUT || status == KR_CANCELED;
}

/* Ends the function with the status of `expression` if it failed. Where something must be cleaned up first,
 * the status is carried along instead: `if (!status) status = ...`. */
#define KR_TRY(expression) \
	do { \
		enum kr_status try_status = (expression); \
		if (try_status) \
			return try_status; \
	} while (0)

/* a * b and a + b, or false when they overflow size_t. */
static inline bool kr_mul(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool kr_add(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }

#endif
