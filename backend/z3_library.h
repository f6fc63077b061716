/* The functions of Z3's C API that krait calls, from the library that is loaded when the first question is
 * asked (base/library.h). */
#ifndef KR_BACKEND_Z3_LIBRARY_H
#define KR_BACKEND_Z3_LIBRARY_H

#include <z3.h>

#include "base/err.h"

#define KR_Z3_FUNCTIONS(X) \
	X(ast_vector_dec_ref) X(ast_vector_get) X(ast_vector_inc_ref) X(ast_vector_size) \
	X(del_config) X(del_context) X(get_app_decl) X(get_ast_id) X(get_bool_value) \
	X(get_decl_name) X(get_error_code) X(get_error_msg) X(get_estimated_alloc_size) \
	X(get_symbol_int) X(get_symbol_kind) X(interrupt) X(mk_bool_sort) X(mk_config) \
	X(mk_const) X(mk_context) X(mk_false) X(mk_implies) X(mk_int_symbol) X(mk_not) X(mk_or) \
	X(mk_params) X(mk_pbeq) X(mk_solver_for_logic) X(mk_string_symbol) X(mk_true) \
	X(model_dec_ref) X(model_eval) X(model_inc_ref) X(params_dec_ref) X(params_inc_ref) \
	X(params_set_uint) X(set_error_handler) X(solver_assert) X(solver_check) \
	X(solver_check_assumptions) X(solver_dec_ref) X(solver_get_model) \
	X(solver_get_reason_unknown) X(solver_get_trail) X(solver_get_unsat_core) \
	X(solver_inc_ref) X(solver_set_params) X(to_app)

#define KR_Z3_MEMBER(function) __typeof__(Z3_##function) *function;
struct kr_z3_calls {
	KR_Z3_FUNCTIONS(KR_Z3_MEMBER)
};
#undef KR_Z3_MEMBER

/* KR_BAD: there is no such library. */
enum kr_status kr_z3_load(struct kr_z3_calls *out, struct kr_err *err);

#endif
