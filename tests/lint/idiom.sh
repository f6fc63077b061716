#!/bin/sh
# Two idioms of CONTRIBUTING.md's "Style", where they can be told from the statements alone:
#
#   a status that is only passed on is passed on by KR_TRY(f()), not by `status = f(); if (status) return status;`
#   a variable is declared where it gets its first value, if the first statement that names it, in the same block, is `name = ...`
#
#   idiom.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 1
layers='base coo ir frontend passes backend verify mechanisms checkers report shrink cross api cli lab'
sources=$(ls $(for layer in $layers; do echo "$layer/*.c $layer/*/*.c"; done) 2>/dev/null)
[ -n "$sources" ] || { echo "found no sources, expected some: wrong folder?"; exit 1; }

found=$(awk '
# A line without comments and texts.
function bare(line) {
	gsub(/\\\\/, "", line); gsub(/\\["'\'']/, "", line); gsub(/"[^"]*"/, "\"\"", line); gsub(/'\''[^'\'']*'\''/, "0", line)
	if (comment && !sub(/^.*\*\//, "", line)) return ""
	comment = 0
	gsub(/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//, "", line); sub(/\/\/.*/, "", line)
	if (sub(/\/\*.*/, "", line)) comment = 1
	return line
}

function complain(line, text) { print FILENAME ":" line ": " text }

# A statement, or the head of a block, that begins on that line.
function statement(text, line,   name, type, declared) {
	gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
	if (text == "") return
	if (depth > 0) {
		# Statuses.
		if (text ~ /^(else )?if \((.* && )?\([a-z_]+ = .*\)( != KR_OK)?\) return [a-z_]+$/ && text !~ /\|\| [^(]/) {
			name = text; sub(/.* return /, "", name)
			if (status[name] && text ~ ("^(else )?if \\((.* && )?\\(" name " = ")) complain(line, "expected KR_TRY(...)")
		} else if (given != "" && (text == "if (" given ") return " given || text == "if (" given " != KR_OK) return " given))
			complain(line, "expected KR_TRY(...)")
		declared = text ~ /^enum kr_status [a-z_]+ = /
		given = ""
		if (declared || text ~ /^[a-z_]+ = /) {
			name = text; sub(/^enum kr_status /, "", name); sub(/ = .*/, "", name)
			if (declared) status[name] = 1
			if (status[name]) given = name
		} else if (text ~ /^enum kr_status /) {
			name = text; sub(/^enum kr_status /, "", name); gsub(/ = [^,]*/, "", name)
			count = split(name, names, ", "); for (i = 1; i <= count; i++) status[names[i]] = 1
		}
		# First values.
		for (name in waits)
			if (text ~ ("(^|[^a-zA-Z0-9_.>])" name "([^a-zA-Z0-9_]|$)")) {
				if (at[name] == depth && text ~ ("^" name " = ")) complain(waits[name], name " is declared without a value, which it gets in line " line)
				delete waits[name]
			}
		if (text ~ /^(const )?((struct|enum|union) )?[A-Za-z_0-9]+ \**[a-z_0-9]+(, \**[a-z_0-9]+)*$/ && text !~ /^(return|goto|case|else|typedef|extern|static|break|continue|do) ?/) {
			sub(/^(const )?((struct|enum|union) )?[A-Za-z_0-9]+ /, "", text); gsub(/\*/, "", text)
			count = split(text, names, ", "); for (i = 1; i <= count; i++) { waits[names[i]] = line; at[names[i]] = depth }
		}
	}
}

FNR == 1 { text = ""; depth = parens = comment = 0; given = "" }
/^[ \t]*#/ || /\\$/ { next }
{
	line = bare($0)
	while (match(line, /[;{}()]/)) {
		c = substr(line, RSTART, 1)
		if (text ~ /^[ \t]*$/) first = FNR
		text = text substr(line, 1, RSTART - 1)
		line = substr(line, RSTART + 1)
		if (c == "(" || c == ")" || parens > 0) { parens += (c == "(") - (c == ")"); text = text c; continue }
		statement(text, first)
		text = ""
		if (c == "{") { if (depth++ == 0) { delete status; delete waits } given = "" }
		if (c == "}") { depth--; given = ""; for (name in waits) if (at[name] > depth) delete waits[name] }
	}
	if (text ~ /^[ \t]*$/) first = FNR
	text = text line " "
}' $sources)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
