#!/bin/sh
# Sets up what is missing, then builds and runs the whole test suite twice: as
# developers build it, and under the address and undefined-behaviour sanitizers.
#
#   ./test.sh --short   the dev preset's unit, golden and negative tests only, in two minutes or so
#   ./test.sh --live    installs database servers, too, and first runs the tests of label `live` on them
set -u
. "$(dirname "$0")/cmake/setup.sh"

need_for_build
need_for_tests
presets="dev asan"
labels=
case "$*" in
'') ;;
--short) presets=dev labels='^(unit|golden|negative)$' ;;
--live) need_for_live; presets="live $presets" ;;
*) echo "usage: ./test.sh [--short|--live]" >&2; exit 2 ;;
esac
install_missing
cd "$root" || exit 1
failed=0
for preset in $presets; do
    build "$(echo $preset | sed s/live/dev/)" # whose tests they are
    echo "Testing $preset ..." >&2
    ctest --preset $preset ${labels:+-L "$labels"} || failed=1
done
exit $failed
