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
    for file; do
        sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's|/\*.*\*/||' -e 's|//.*||' -e 's|/\*.*||' -e 's|^[[:blank:]]*\*[[:blank:]].*||' -e 's/__attribute__.*//' "$file" |
            grep -nE "\b$pattern" | sed "s|:.*||; s|^|$file:|"
    done
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
    for file in $sources; do
        [ -z "$(tail -c 1 "$file")" ] || echo "$file"
    done | complain 'no newline at the end'
    for file in $code; do
        head -n 1 "$file" | grep -q '^/[/*]' || echo "$file"
    done | complain 'does not open with what it is for'
    for file in $(printf '%s\n' $code | grep '\.h$'); do
        guard=KR_$(echo "${file%.h}" | tr 'a-z/-' 'A-Z__')_H
        case $file in include/*) guard=$(echo "${file#include/}" | tr 'a-z/.-' 'A-Z___') ;; esac
        grep -q "^#ifndef $guard\$" "$file" || echo "$file: expected the include guard $guard"
    done | complain 'include guard'

    for file in $code; do
        expand "$file" | awk -v file="$file" 'length > 110 { print file ":" NR }'
    done | complain 'more than 110 columns'

    # One name, one meaning. Those that are let through are to go with what is rewritten in frontend/ and mechanisms/.
    grep -noE '^(struct|enum|union) kr_[a-z_]+ \{' $code | sed 's/ {$//' | grep -vwE 'kr_(grow|link|looked|written)$' |
        awk -F: '{ if ($3 in at) print $1 ":" $2 ": " $3 " is also that of " at[$3]; else at[$3] = $1 }' |
        complain 'a tag with two meanings'

    # A file much longer than 500 lines (the module of a pass: 300, of a checker: 100) says why: "Longer than usual: ..."
    for file in $code; do
        limit=600
        case $file in
        passes/*.c) ! grep -q '^const struct kr_pass ' "$file" || limit=330 ;;
        checkers/*.c) ! grep -q '^const struct kr_checker ' "$file" || limit=110 ;;
        esac
        lines=$(wc -l <"$file")
        [ "$lines" -le $limit ] || grep -q 'Longer than usual: ' "$file" || echo "$file: $lines lines, expected at most $limit"
    done | complain 'split it, or say why with "Longer than usual: ..."'

    calls '(v?f?printf|puts|fputs|putchar|perror|exit|_exit|abort|signal) *\(|(stdout|stderr)\b' $quiet |
        complain 'only cli/ and lab/ print or exit'
    calls '(malloc|calloc|realloc|strdup|strndup|free) *\(' $heap |
        complain 'memory comes from base/mem.h, so that limits and injected failures hold'
}

found=$(check)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
