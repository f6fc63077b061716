/* Shared by the files of kr_ir_verify. Each part checks some promises of ir.h and clock.h; KR_INTERNAL names
 * the first that is broken. */
#ifndef KR_IR_IR_VERIFY_H
#define KR_IR_IR_VERIFY_H

#include "ir/ir.h"

#define KR_IR_CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			return kr_err_set(err, KR_INTERNAL, "ir: " __VA_ARGS__); \
	} while (0)

/* what each edge claims, by itself */
enum kr_status kr_ir_verify_edges(const struct kr_ir *ir, struct kr_err *err);
/* time nodes: nothing precedes what it does not */
enum kr_status kr_ir_verify_time(const struct kr_ir *ir, struct kr_err *err);
/* the older paths that derived edges rest on */
enum kr_status kr_ir_verify_premises(const struct kr_ir *ir, struct kr_err *err);
enum kr_status kr_ir_verify_clock(const struct kr_ir *ir, struct kr_err *err);

#endif
