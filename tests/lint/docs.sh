#!/bin/sh
# What the pages name as `FILE`, `FILE:FUNCTION` and [text](page) is there.
#
#   docs.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 1

pages=$(ls README.md CONTRIBUTING.md docs/*.md docs/formats/*.md 2>/dev/null)
[ -n "$pages" ] || { echo "found no pages, expected some: wrong folder?"; exit 1; }

# A function is where a line that begins in the first column names it before a parenthesis.
defines() { grep -qE "^[a-z].*[ *]$2\(" "$1"; }

named() {
    grep -HnoE '`[a-z_]+/[a-z_/]+\.[ch](:[a-z_0-9]+)?`' $pages | tr -d '`' | while IFS=: read -r page line file function; do
        if [ ! -f "$file" ] && [ ! -f "include/$file" ]; then
            echo "$page:$line: $file: there is no such file"
        elif [ -n "$function" ] && ! defines "$file" "$function"; then
            echo "$page:$line: $file has no function $function"
        fi
    done
}

linked() {
    for page in $pages; do
        grep -oE '\]\([^)#: ]+' "$page" | sed 's/^](//' | while read -r target; do
            [ -e "$(dirname "$page")/$target" ] || echo "$page: links to $target, which there is not"
        done
    done
}

found=$(named; linked)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
