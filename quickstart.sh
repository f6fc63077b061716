#!/bin/sh
# Sets up what is missing, builds the release preset, and runs krait: with the
# arguments given, else on a bundled history that is not serializable.
set -u
. "$(dirname "$0")/cmake/setup.sh"

need_for_build
install_missing
build release krait
krait=$root/build/release/bin/krait
[ $# -eq 0 ] || exec "$krait" "$@"

cd "$root" || exit 1
echo "\$ krait check --explain traces/write-skew/trace.jsonl" >&2
"$krait" check --explain traces/write-skew/trace.jsonl
status=$?
# 1 is krait's answer "violated", which this history deserves.
[ $status -eq 1 ] || { echo "krait exited with $status, expected 1 (violated)" >&2; exit 1; }
