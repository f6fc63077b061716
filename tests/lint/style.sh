#!/bin/sh
# What CONTRIBUTING.md asks of every file and grep can see.
#
#   style.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 1
layers='base ir frontend passes backend verify mechanisms checkers report shrink cross api cli lab'

# complain TEXT: says it of each place on standard input.
complain() { sed "s|\$|: $1|"; }

# calls PATTERN FILE...: where it is used, comments and texts aside.
calls() {
    pattern=$1
    shift
    awk '{
            gsub(/"([^"\\]|\\.)*"/, "\"\""); sub(/\/\*.*\*\//, ""); sub(/\/\/.*/, ""); sub(/\/\*.*/, ""); sub(/^[ \t]*\*[ \t].*/, ""); sub(/__attribute__.*/, "")
            print FILENAME ":" FNR ":" $0
        }' "$@" | grep -E "^[^:]*:[0-9]*:.*\b$pattern" | cut -d: -f1,2
}

sources=$(ls include/krait/*.h tests/*/*.[ch] $(for layer in $layers; do echo "$layer/*.[ch] $layer/*/*.[ch]"; done) 2>/dev/null)
[ -n "$sources" ] || { echo "found no sources, expected some: wrong folder?"; exit 1; }
code=$(printf '%s\n' $sources | grep -v '^tests/')
# krait-lab is a program as cli/ is, and its drivers are other libraries' callers.
quiet=$(printf '%s\n' $code | grep -v -e '^cli/' -e '^lab/')
# A handle of api/ holds the kr_mem itself; jansson's hooks know no account (frontend/native_arena.c).
heap=$(printf '%s\n' $code | grep -v -e '^base/' -e '^cli/' -e '^lab/' -e '^api/' -e '^frontend/native_arena.c')

check() {
    grep -nE '[[:blank:]]+$' $sources | cut -d: -f1,2 | complain 'blanks at the end of the line'
    grep -n "$(printf '\r')" $sources | cut -d: -f1,2 | complain 'a carriage return'
    grep -nE '^ {4}' $code | cut -d: -f1,2 | complain 'indented with blanks, expected tabs'
    grep -nE '\b(TODO|FIXME|XXX)\b' $sources | cut -d: -f1,2 | complain 'an unfinished place'
    grep -LzP '\n\z' $sources | complain 'no newline at the end'
    awk 'FNR == 1 && !/^\/[\/*]/ { print FILENAME }' $code | complain 'does not open with what it is for'
    awk 'FNR == 1 { guard = FILENAME; if (!sub(/^include\//, "", guard)) guard = "kr_" guard; gsub(/[\/.-]/, "_", guard); guards[FILENAME] = toupper(guard) }
        $1 == "#ifndef" && $2 == guards[FILENAME] { seen[FILENAME] = 1 }
        END { for (file in guards) if (!(file in seen)) print file ": expected the include guard " guards[file] }' \
        $(printf '%s\n' $code | grep '\.h$') | complain 'include guard'

    awk '{
            count = split($0, part, "\t")
            width = 0
            for (i = 1; i < count; i++) width = width + length(part[i]) + 8 - (width + length(part[i])) % 8
            if (count && width + length(part[count]) > 110) print FILENAME ":" FNR
        }' $code | complain 'more than 110 columns'

    # One name, one meaning. Those that are let through are to go with what is rewritten in frontend/ and mechanisms/.
    grep -noE '^(struct|enum|union) kr_[a-z_]+ \{' $code | sed 's/ {$//' | grep -vwE 'kr_(grow|link|looked|written)$' |
        awk -F: '{ if ($3 in at) print $1 ":" $2 ": " $3 " is also that of " at[$3]; else at[$3] = $1 }' |
        complain 'a tag with two meanings'

    # A file much longer than 500 lines (the module of a pass: 300, of a checker: 100) says why: "Longer than usual: ..."
    awk 'FNR == 1 { limit[FILENAME] = 600 }
        FILENAME ~ /^passes\// && /^const struct kr_pass / { limit[FILENAME] = 330 }
        FILENAME ~ /^checkers\// && /^const struct kr_checker / { limit[FILENAME] = 110 }
        /Longer than usual: / { told[FILENAME] = 1 }
        { lines[FILENAME] = FNR }
        END { for (file in lines) if (lines[file] > limit[file] && !(file in told)) print file ": " lines[file] " lines, expected at most " limit[file] }' $code |
        complain 'split it, or say why with "Longer than usual: ..."'

    calls '(v?f?printf|puts|fputs|putchar|perror|exit|_exit|abort|signal) *\(|(stdout|stderr)\b' $quiet |
        complain 'only cli/ and lab/ print or exit'
    calls '(malloc|calloc|realloc|strdup|strndup|free) *\(' $heap |
        complain 'memory comes from base/mem.h, so that limits and injected failures hold'
}

found=$(check)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
