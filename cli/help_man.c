/* The manual page, in roff with the man macros. Every text from a table is escaped: backslashes, dashes, and
 * dots and quotes at the start of a line. */
#include <string.h>

#include "cli/manual.h"

static void add_text(const char *text, struct kr_str *out)
{
	for (const char *c = text; *c; c++) {
		bool start = c == text || c[-1] == '\n';
		if (start && (*c == '.' || *c == '\''))
			kr_str_add(out, "\\&");
		if (*c == '\\')
			kr_str_add(out, "\\e");
		else if (*c == '-')
			kr_str_add(out, "\\-");
		else if (*c == '\'')
			kr_str_add(out, "\\(aq");
		else
			kr_str_add_bytes(out, c, 1);
	}
}

static void add_option(const struct kr_option *o, struct kr_str *out)
{
	kr_str_add(out, ".TP\n");
	if (o->letter)
		kr_str_format(out, "\\fB\\-%c\\fR, ", o->letter);
	kr_str_add(out, "\\fB\\-\\-");
	add_text(o->name, out);
	kr_str_add(out, "\\fR");
	if (o->argument) {
		kr_str_add(out, " \\fI");
		add_text(o->argument, out);
		kr_str_add(out, "\\fR");
	}
	kr_str_add(out, "\n");
	add_text(o->help, out);
	kr_str_add(out, ".\n");
}

static void add_command(const struct kr_command *command, struct kr_str *out)
{
	kr_str_format(out, ".SS %s\n\\fB%s %s\\fR ", command->name, kr_command_program(command),
		command->name);
	add_text(command->synopsis, out);
	kr_str_add(out, "\n.PP\n");
	add_text(command->title, out);
	kr_str_add(out, ".\n");
	if (command->text) {
		kr_str_add(out, ".PP\n");
		add_text(command->text, out);
		kr_str_add(out, "\n");
	}
	for (const struct kr_option *o = command->options; o->name; o++)
		add_option(o, out);
}

void kr_manual_page(const struct kr_manual *manual, struct kr_str *out)
{
	const struct kr_command *command;

	kr_str_format(out, ".TH %s 1 \"\" \"krait " KR_VERSION "\" \"User Commands\"\n.SH NAME\n%s\n",
		manual->name, manual->about);
	kr_str_format(out, ".SH SYNOPSIS\n%s\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", manual->synopsis,
		manual->description);
	for (size_t i = 0; (command = manual->command(i)) != NULL; i++)
		add_command(command, out);
	kr_str_add(out, ".SH EXIT STATUS\n");
	for (const struct kr_exit_line *e = kr_exit_lines; e->meaning; e++) {
		kr_str_format(out, ".TP\n\\fB%d\\fR\n", e->status);
		add_text(e->meaning, out);
		kr_str_add(out, ".\n");
	}
	kr_str_format(out,
		"%s\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nWhen set, no colour and no progress on a "
		"terminal.\n",
		manual->exits);
}

static const struct kr_command *command_at(size_t i)
{
	return i < kr_command_registry_count ? kr_command_registry[i] : NULL;
}

void kr_manual_of_krait(struct kr_str *out)
{
	static const struct kr_manual manual = {
		.name = "KRAIT",
		.about = "krait \\- check transaction isolation",
		.synopsis = "\\fBkrait\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
			    "[\\fITRACE\\fR]...\n.br\n\\fBkrait \\-\\-help\\fR\n.br\n"
			    "\\fBkrait \\-\\-version\\fR",
		.description = "Decides whether recorded histories of transactions satisfy isolation levels, "
			       "and proves the answer.\nOptions may stand "
			       "before or after traces; \\fB\\-\\-\\fR ends the options.\nEvery command "
			       "takes \\fB\\-\\-help\\fR,\nand "
			       "\\fB\\-\\-plugin\\fR \\fIFILE\\fR for a plug-in or a folder of them.",
		.command = command_at,
		.exits = "Over several traces 255 wins over 1, 1 over 2, and 2 over 0.",
	};

	kr_manual_page(&manual, out);
}
