#!/bin/sh
# run.sh --update writes what a case printed, and leaves what is right as it is.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# after WHAT STATUS LINE: a case whose status file says STATUS ("": there is none) and whose command is LINE has WHAT in
# its status file after an update ("": none), and passes.
after() {
    rm -rf "$work/case"
    mkdir "$work/case"
    echo "$3" >"$work/case/cmd"
    [ -z "$2" ] || echo "$2" >"$work/case/status"
    sh "$here/run.sh" --update "$work/case" >/dev/null || { echo "cannot update: $3"; failed=1; }
    [ "$(cat "$work/case/status" 2>/dev/null)" = "$1" ] || { echo "status $2, then '$3': expected status '$1'"; failed=1; }
    sh "$here/run.sh" "$work/case" >/dev/null || { echo "fails after an update: $3"; failed=1; }
}

after '' '' 'echo x'
after 0 0 'echo x'
after 0 3 'echo x'
after 3 '' 'echo x >&2; exit 3'
after 3 0 'exit 3'
exit $failed
