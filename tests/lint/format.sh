#!/bin/sh
# The .c files of the layers are as clang-format lays them out (which the build
# target `format` does). Headers and tests hold tables, which are set by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "skipped: no clang-format on this machine"; exit 77; }
clang-format --dry-run --Werror "$@"
