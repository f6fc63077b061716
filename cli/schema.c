/* krait schema: JSON Schemas (draft 2020-12) of native traces and of what --json prints, embedded from
 * cli/schema/. The number in their $id is the version: it grows when something that was valid no longer is,
 * not when fields are added. */
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/output.h"

extern const char kr_schema_backends[], kr_schema_check[], kr_schema_checkers[], kr_schema_classify[],
	kr_schema_crosscheck[], kr_schema_finding[], kr_schema_formats[], kr_schema_levels[],
	kr_schema_lint[], kr_schema_mechanisms[], kr_schema_passes[], kr_schema_profiles[],
	kr_schema_provoke[], kr_schema_shrink[], kr_schema_stats[], kr_schema_trace[], kr_schema_verify[],
	kr_schema_watch[];

static const struct {
	const char *name, *text;
} schemas[] = {
	{"trace", kr_schema_trace},
	{"backends", kr_schema_backends},
	{"check", kr_schema_check},
	{"checkers", kr_schema_checkers},
	{"classify", kr_schema_classify},
	{"crosscheck", kr_schema_crosscheck},
	{"finding", kr_schema_finding},
	{"formats", kr_schema_formats},
	{"levels", kr_schema_levels},
	{"lint", kr_schema_lint},
	{"mechanisms", kr_schema_mechanisms},
	{"passes", kr_schema_passes},
	{"profiles", kr_schema_profiles},
	{"provoke", kr_schema_provoke},
	{"shrink", kr_schema_shrink},
	{"stats", kr_schema_stats},
	{"verify", kr_schema_verify},
	{"watch", kr_schema_watch},
};

const char *kr_schema_name(size_t i) { return i < KR_COUNT(schemas) ? schemas[i].name : NULL; }

static const struct kr_option options[] = {{0}};

static int run(const struct kr_args *args)
{
	const char *name = args->operands.n > 0 ? args->operands.at[0] : NULL;
	struct kr_str out;
	size_t at;

	if (name && !kr_word_find(KR_WORDS_SCHEMA, name, &at))
		return kr_unknown_word("schema", KR_WORDS_SCHEMA, name, "krait schema");

	kr_str_init(&out, args->mem);
	if (name)
		kr_str_add(&out, schemas[at].text);
	for (size_t i = 0; i < KR_COUNT(schemas) && !name; i++)
		kr_str_format(&out, "%s\n", schemas[i].name);
	return kr_print_done(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

const struct kr_command kr_command_schema = {
	.name = "schema",
	.synopsis = "[NAME]",
	.title = "print the JSON Schema of native traces or of what a command prints",
	.purpose = KR_TO_KNOW,
	.text = "'trace' is the schema of a line of a native trace; the others are those of an\n"
		"object that the command of that name prints with --json. Without a name: lists\n"
		"the names.",
	.options = options,
	.operands = KR_WORDS_SCHEMA,
	.least = 0,
	.most = 1,
	.run = run,
};
