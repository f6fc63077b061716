/* Completions for bash, zsh and fish, written out from the command tables: the words that an argument can be
 * are listed in the script. */
#include "cli/manual.h"

/* Text between single quotes of a shell. */
static void add_quoted(const char *text, struct kr_str *out)
{
	kr_str_add(out, "'");
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			kr_str_add(out, "'\\''");
		else
			kr_str_add_bytes(out, c, 1);
	}
	kr_str_add(out, "'");
}

static bool is_file(enum kr_words_kind kind) { return kind == KR_WORDS_FILE || kind == KR_WORDS_WRITTEN; }

static void add_words(enum kr_words_kind kind, struct kr_str *out)
{
	for (size_t i = 0; kr_words_at(kind, i); i++)
		kr_str_format(out, "%s%s", i > 0 ? " " : "", kr_words_at(kind, i));
}

/* ---- bash ---- */

/* The arms `CHECK:--level|CHECK:-l) words='...' ;;` of a command. */
static void bash_arguments(const struct kr_command *command, struct kr_str *out)
{
	for (const struct kr_option *o = command->options; o->name; o++) {
		if (!o->argument)
			continue;
		kr_str_format(out, "    %s:--%s", command->name, o->name);
		if (o->letter)
			kr_str_format(out, "|%s:-%c", command->name, o->letter);
		kr_str_add(out, ") ");
		if (is_file(o->words)) {
			kr_str_add(out, "_krait_files; return ;;\n");
			continue;
		}
		kr_str_add(out, "words='");
		add_words(o->words, out);
		kr_str_add(out, "' ;;\n");
	}
}

static void bash_options(const struct kr_command *command, struct kr_str *out)
{
	kr_str_format(out, "    %s) words='", command->name);
	for (const struct kr_option *o = command->options; o->name; o++)
		kr_str_format(out, "--%s ", o->name);
	kr_str_add(out, "--plugin --help' ;;\n");
}

/* Operands that are words, behind what names the command: before its name, and after it. */
static void add_operands(const struct kr_command *command, const char *const around[2], struct kr_str *out)
{
	if (command->most == 0 || is_file(command->operands) || !kr_words_at(command->operands, 0))
		return;
	kr_str_format(out, "%s%s%s", around[0], command->name, around[1]);
	add_words(command->operands, out);
	kr_str_add(out, "'\n");
}

static void bash_script(struct kr_str *out)
{
	kr_str_add(out,
		"# bash completion of krait; made by `krait help --completion bash`\n"
		"_krait_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "
		"\"$cur\"); }\n"
		"_krait() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
		"command=${COMP_WORDS[1]} words=\n"
		"  if [[ $COMP_CWORD -eq 1 ]]; then\n    mapfile -t COMPREPLY < <(compgen -W '");
	add_words(KR_WORDS_COMMAND, out);
	kr_str_add(out,
		" --help --version' -- \"$cur\")\n    return\n  fi\n  case $command:$prev in\n    "
		"*:--plugin) _krait_files; return ;;\n");
	for (size_t i = 0; i < kr_command_registry_count; i++)
		bash_arguments(kr_command_registry[i], out);
	kr_str_add(out, "    *)\n    if [[ $cur == -* ]]; then\n    case $command in\n");
	for (size_t i = 0; i < kr_command_registry_count; i++)
		bash_options(kr_command_registry[i], out);
	kr_str_add(out, "    esac\n");
	for (size_t i = 0; i < kr_command_registry_count; i++)
		add_operands(kr_command_registry[i],
			(const char *const[]){"    elif [[ $command == ", " ]]; then\n      words='"}, out);
	kr_str_add(out,
		"    else\n      _krait_files; return\n    fi ;;\n  esac\n  local before=\n"
		"  [[ $cur == *,* ]] && before=${cur%,*},\n  mapfile -t COMPREPLY < "
		"<(compgen -P \"$before\" -W \"$words\" -- \"${cur##*,}\")\n}\n"
		"complete -F _krait krait\n");
}

/* ---- zsh ---- */

/* A help text inside _arguments' brackets: no brackets or colons may stand there. */
static void zsh_text(const char *text, struct kr_str *out)
{
	for (const char *c = text; *c; c++) {
		if (*c == '[' || *c == ']' || *c == ':')
			kr_str_add(out, "\\");
		if (*c == '\'')
			kr_str_add(out, "'\\''");
		else
			kr_str_add_bytes(out, c, 1);
	}
}

static void zsh_argument(enum kr_words_kind kind, struct kr_str *out)
{
	if (is_file(kind)) {
		kr_str_add(out, ":_files");
	} else if (kr_words_at(kind, 0)) {
		kr_str_add(out, ":(");
		add_words(kind, out);
		kr_str_add(out, ")");
	} else {
		kr_str_add(out, ":");
	}
}

static void zsh_form(const struct kr_option *o, bool letter, struct kr_str *out)
{
	kr_str_add(out, " \\\n        '*");
	if (letter)
		kr_str_format(out, "-%c", o->letter);
	else
		kr_str_format(out, "--%s", o->name);
	kr_str_add(out, "[");
	zsh_text(o->help, out);
	kr_str_add(out, "]");
	if (o->argument) {
		kr_str_add(out, ":");
		zsh_text(o->argument, out);
		zsh_argument(o->words, out);
	}
	kr_str_add(out, "'");
}

static void zsh_command(const struct kr_command *command, struct kr_str *out)
{
	kr_str_format(out, "    %s)\n      _arguments -S", command->name);
	for (const struct kr_option *o = command->options; o->name; o++) {
		if (o->letter)
			zsh_form(o, true, out);
		zsh_form(o, false, out);
	}
	zsh_form(&kr_option_plugin, false, out);
	zsh_form(&kr_option_help, false, out);
	if (command->most > 0) {
		kr_str_add(out, " \\\n        '*:");
		kr_str_add(out, command->operands == KR_WORDS_COMMAND ? "command" : "file");
		zsh_argument(command->operands, out);
		kr_str_add(out, "'");
	}
	kr_str_add(out, " ;;\n");
}

static void zsh_script(struct kr_str *out)
{
	kr_str_add(out,
		"#compdef krait\n# zsh completion of krait; made by `krait help --completion zsh`\n_krait() "
		"{\n  local -a commands\n"
		"  if (( CURRENT == 2 )); then\n    commands=(\n");
	for (size_t i = 0; i < kr_command_registry_count; i++) {
		kr_str_format(out, "      '%s:", kr_command_registry[i]->name);
		zsh_text(kr_command_registry[i]->title, out);
		kr_str_add(out, "'\n");
	}
	kr_str_add(out,
		"    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n  shift "
		"words\n  (( CURRENT-- ))\n  case $command in\n");
	for (size_t i = 0; i < kr_command_registry_count; i++)
		zsh_command(kr_command_registry[i], out);
	kr_str_add(out, "  esac\n}\n_krait \"$@\"\n");
}

/* ---- fish ---- */

static void fish_option(const struct kr_command *command, const struct kr_option *o, struct kr_str *out)
{
	kr_str_format(out, "complete -c krait -n '__fish_seen_subcommand_from %s' -l %s", command->name,
		o->name);
	if (o->letter)
		kr_str_format(out, " -s %c", o->letter);
	if (o->argument && is_file(o->words)) {
		kr_str_add(out, " -r -F");
	} else if (o->argument) {
		kr_str_add(out, " -x");
		if (kr_words_at(o->words, 0)) {
			kr_str_add(out, " -a '");
			add_words(o->words, out);
			kr_str_add(out, "'");
		}
	}
	kr_str_add(out, " -d ");
	add_quoted(o->help, out);
	kr_str_add(out, "\n");
}

static void fish_script(struct kr_str *out)
{
	kr_str_add(out,
		"# fish completion of krait; made by `krait help --completion fish`\ncomplete -c krait -n "
		"__fish_use_subcommand -f -l help -d 'show help'\n"
		"complete -c krait -n __fish_use_subcommand -f -l version -d 'show the version'\n");
	for (size_t i = 0; i < kr_command_registry_count; i++) {
		const struct kr_command *command = kr_command_registry[i];
		kr_str_format(out, "complete -c krait -n __fish_use_subcommand -f -a %s -d ", command->name);
		add_quoted(command->title, out);
		kr_str_add(out, "\n");
	}
	for (size_t i = 0; i < kr_command_registry_count; i++) {
		const struct kr_command *command = kr_command_registry[i];
		for (const struct kr_option *o = command->options; o->name; o++)
			fish_option(command, o, out);
		fish_option(command, &kr_option_plugin, out);
		fish_option(command, &kr_option_help, out);
	}
	for (size_t i = 0; i < kr_command_registry_count; i++)
		add_operands(kr_command_registry[i],
			(const char *const[]){"complete -c krait -n '__fish_seen_subcommand_from ",
				"' -f -a '"},
			out);
}

static const struct {
	const char *name;
	void (*script)(struct kr_str *out);
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

const char *kr_completion_shell(size_t i) { return i < KR_COUNT(shells) ? shells[i].name : NULL; }

bool kr_completion_script(const char *shell, struct kr_str *out)
{
	size_t i;

	if (!kr_word_find(KR_WORDS_SHELL, shell, &i))
		return false;
	shells[i].script(out);
	return true;
}
