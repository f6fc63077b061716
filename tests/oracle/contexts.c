/* Making a Z3 context takes longer than deciding a tiny history: the solvers of these tests share one, which the linker's
 * --wrap puts in the library's place (CMakeLists.txt). It is made anew when many have used it, so that what they leave
 * behind does not pile up. */
#include <stddef.h>

#include <z3.h>

enum { USES = 200 };

Z3_context __real_Z3_mk_context(Z3_config config);
Z3_context __wrap_Z3_mk_context(Z3_config config);
void __real_Z3_del_context(Z3_context z3);
void __wrap_Z3_del_context(Z3_context z3);

static Z3_context shared;
static unsigned users, uses;

Z3_context __wrap_Z3_mk_context(Z3_config config)
{
	if (!shared)
		shared = __real_Z3_mk_context(config);
	users++;
	uses++;
	return shared;
}

void __wrap_Z3_del_context(Z3_context z3)
{
	if (--users > 0 || uses < USES)
		return;
	__real_Z3_del_context(z3);
	shared = NULL;
	uses = 0;
}
