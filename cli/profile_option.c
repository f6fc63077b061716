/* Finding what --profile names: a row of the registry, or a file. */
#include "cli/profile_option.h"

#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "frontend/source.h"

static int fail(const char *path, struct kr_err *err)
{
	kr_err_at(err, path, 0, 0);
	return kr_fail_err(err);
}

static int read_file(const char *path, struct kr_profile_option *out)
{
	struct kr_source *source = NULL;
	struct kr_ctx ctx;
	struct kr_err err;
	char *text;
	size_t length;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	enum kr_status status = kr_source_open(&ctx, path, &source, &err);
	if (!status)
		status = kr_source_rest(source, &text, &length, &err);
	if (!status)
		status = kr_profile_parse(text, length, &out->arena, &out->own, &err);
	kr_source_free(source);
	out->options.profile = &out->own;
	return status ? fail(path, &err) : KR_EXIT_SATISFIED;
}

int kr_profile_asked(const struct kr_args *args, struct kr_profile_option *out)
{
	const char *name = kr_args_value(args, "profile");
	int status = KR_EXIT_SATISFIED;
	struct kr_err err;

	*out = (struct kr_profile_option){.options = {.no_session = kr_args_has(args, "no-session")}};
	kr_arena_init(&out->arena, args->mem);
	if (!name)
		return out->options.no_session ? kr_usage("option '--no-session' goes with '--profile'")
					       : KR_EXIT_SATISFIED;
	out->options.profile = kr_profile_find(name);
	if (!out->options.profile)
		status = strchr(name, '.') || strchr(name, '/')
			? read_file(name, out)
			: kr_unknown_word("profile", KR_WORDS_PROFILE, name, "krait profiles");
	kr_err_init(&err);
	if (status == KR_EXIT_SATISFIED &&
		kr_profile_level(args->modules, out->options.profile, &out->options.certify, &err))
		status = fail(name, &err);
	return status;
}

int kr_profile_for(const struct kr_args *args, const struct kr_profile_option *asked,
	const struct kr_history *h, const char *what, const char *why, struct kr_batch_options *out)
{
	struct kr_err err;

	*out = asked->options;
	if (out->profile)
		return KR_EXIT_SATISFIED;
	if (!h->profile)
		return kr_usage("%s: give one with '--profile'; see 'krait profiles'", why);
	out->profile = kr_profile_find(h->profile);
	if (!out->profile)
		return kr_usage("the %s names profile '%.60s', which there is not; see 'krait profiles'",
			what, h->profile);
	kr_err_init(&err);
	return kr_profile_level(args->modules, out->profile, &out->certify, &err) ? kr_fail_err(&err)
										  : KR_EXIT_SATISFIED;
}

void kr_profile_option_done(struct kr_profile_option *option) { kr_arena_done(&option->arena); }
