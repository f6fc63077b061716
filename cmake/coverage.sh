#!/bin/sh
# Line coverage per file of a `coverage` build whose tests have run, least covered
# first, and of all together.
#
#   cmake/coverage.sh [BUILD_FOLDER]
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
build=$(cd "${1:-build/coverage}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
find "$build" -name '*.gcno' ! -path '*/tests/*' -exec gcov -lpr -s "$root" {} + >gcov.log 2>&1 || { cat gcov.log >&2; exit 1; }
# A header is in several reports: a line counts as run if any of them ran it.
cat ./*.gcov | awk -F: '
    $2 + 0 == 0 { if ($3 == "Source") file = $4; next }
    $1 ~ /-[ ]*$/ { next }
    { key = file SUBSEP ($2 + 0); lines[key] = file; if ($1 !~ /#####|=====/) ran[key] = 1 }
    END {
        for (key in lines) { total[lines[key]]++; all++; if (key in ran) { hit[lines[key]]++; sum++ } }
        for (file in total) printf "%6.1f%% %6d lines  %s\n", 100 * hit[file] / total[file], total[file], file
        if (all) printf "%6.1f%% %6d lines  %s\n", 100 * sum / all, all, "all together"
        exit !all
    }' | sort -n
