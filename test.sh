#!/bin/sh
# Sets up what is missing, then builds and runs the whole test suite twice: as
# developers build it, and under the address and undefined-behaviour sanitizers.
#
#   ./test.sh --live    installs the database servers, too, that the tests `live` need; else these are skipped
set -u
. "$(dirname "$0")/cmake/setup.sh"

need_for_build
need_for_tests
case "$*" in
'') ;;
--live) need_for_live ;;
*) echo "usage: ./test.sh [--live]" >&2; exit 2 ;;
esac
install_missing
cd "$root" || exit 1
failed=0
for preset in dev asan; do
    build $preset
    echo "Testing $preset ..." >&2
    ctest --preset $preset || failed=1
done
exit $failed
