#!/bin/sh
# The .c files of the layers are as clang-format lays them out (which the build
# target `format` does). Headers and tests hold tables, which are set by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "skipped: no clang-format on this machine"; exit 77; }
failed=0
for file; do
    clang-format "$file" | cmp -s - "$file" || { echo "${file#"$PWD"/}: not laid out by clang-format"; failed=1; }
done
exit $failed
