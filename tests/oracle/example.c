/* The level of the example plug-in, as krait has it after --plugin: held to its definition like krait's own. */
#include "product.h"

#include "examples/plugin/update_atomic.c"

struct kr_modules product_example(void)
{
	static const struct kr_checker *checkers[] = {&update_atomic};

	return (struct kr_modules){.checkers = {checkers, 1, 1}};
}
