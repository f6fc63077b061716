#!/bin/sh
# The .c files of the layers are as clang-format lays them out (which the build
# target `format` does). Headers and tests hold tables, which are set by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "skipped: no clang-format on this machine"; exit 77; }
[ $# -gt 0 ] || { echo "found no sources, expected some"; exit 1; }
found=$(clang-format --dry-run --Werror "$@" 2>&1) && exit 0
places=$(printf '%s\n' "$found" | sed -n 's/^\([^ ]*\.c\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u | sed "s|^$PWD/||; s|\$|: not laid out by clang-format|")
printf '%s\n' "${places:-$found}"
exit 1
