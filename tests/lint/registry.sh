#!/bin/sh
# cmake/registry.cmake takes what is named after its file and refuses the rest.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/passes" "$work/base" "$work/build"
touch "$work/passes/pass.h"
cat >"$work/run.cmake" <<CMAKE
set(PROJECT_SOURCE_DIR $work)
set(CMAKE_CURRENT_BINARY_DIR $work/build)
include($root/cmake/registry.cmake)
function(set_property)
endfunction()
file(GLOB sources $work/\${FOLDER}/*.c)
kr_registry(\${FOLDER} "\${sources}" registry)
CMAKE
failed=0

# refuse FOLDER FILE LINE MESSAGE
refuse() {
    rm -f "$work"/*/*.c
    echo "$3" >"$work/$1/$2"
    message=$(cmake -DFOLDER="$1" -P "$work/run.cmake" 2>&1) && { echo "took $1/$2 with '$3'"; failed=1; return; }
    echo "$message" | tr '\n' ' ' | tr -s ' ' | grep -qF "$4" ||
        { echo "refused $1/$2 with '$3', but not because $4:"; echo "$message"; failed=1; }
}

refuse passes good.c 'const struct kr_pass kr_pass_god = {' "expected 'const struct kr_pass kr_pass_good = {'"
refuse passes good.c 'static const struct kr_pass kr_pass_good = {' "expected 'const struct kr_pass kr_pass_good = {'"
refuse passes good.c 'struct kr_pass kr_pass_good = {' "expected 'const struct kr_pass kr_pass_good = {'"
refuse passes good.c 'const struct kr_pass kr_pass_good =' "expected 'const struct kr_pass kr_pass_good = {'"
refuse passes good.c 'const struct kr_checker kr_checker_good = {' "expected 'const struct kr_pass kr_pass_good = {'"
refuse base good.c 'const struct kr_pass kr_pass_good = {' 'base/ is no folder of modules'
refuse passes good.c 'const struct kr_pass kr_pass_good = {
const struct kr_pass kr_pass_other = {' 'found 2 descriptors, expected one per file'

rm -f "$work"/*/*.c
echo 'const struct kr_pass kr_pass_real_time = {' >"$work/passes/real-time.c"
echo 'const struct kr_pass kr_pass_prune = {' >"$work/passes/prune.c"
echo 'static int helper;' >"$work/passes/manager.c"
cmake -DFOLDER=passes -P "$work/run.cmake" || failed=1
cat >"$work/expected" <<'C'
const struct kr_pass *const kr_pass_registry[] = {
    &kr_pass_prune,
    &kr_pass_real_time,
    NULL,
};
const size_t kr_pass_registry_count = 2;
C
sed -n '/_registry\[\] = {/,$p' "$work/build/registry.c" | diff -u "$work/expected" - || failed=1
exit $failed
