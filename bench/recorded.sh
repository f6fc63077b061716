#!/bin/sh
# How long krait takes for recorded histories, and how much memory: a line each.
#
#   bench/recorded.sh [TRACE...]    default: the Cobra logs of $KRAIT_DATA
#
# Serializability with session order. `check` is the whole process as krait tells
# it (elapsed time, peak resident memory); `verify`: does it confirm the witness?
# KRAIT names the program; default: the release preset's. RUNS (3) runs are made
# of each; the fastest counts.
set -eu
cd "$(dirname "$0")/.."
KRAIT=${KRAIT:-build/release/bin/krait}
KRAIT_DATA=${KRAIT_DATA:-../shared/data}
RUNS=${RUNS:-3}
[ -x "$KRAIT" ] || { echo "$KRAIT: not there; run ./quickstart.sh first, or set KRAIT" >&2; exit 1; }
if [ $# -eq 0 ]; then
    [ -d "$KRAIT_DATA/CobraLogs" ] || { echo "no recorded histories in $KRAIT_DATA; name a trace, or set KRAIT_DATA" >&2; exit 1; }
    set -- "$KRAIT_DATA"/CobraLogs/*/*
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$work/verdict"; }

printf '%8s %8s %10s %9s %6s %10s  %s\n' txns ops verdict check_s MiB verify trace
for trace; do
    best=
    for run in $(seq "$RUNS"); do
        "$KRAIT" check --json --order session --witness "$work/witness" "$trace" >"$work/verdict" || [ $? -le 2 ] || continue 2
        seconds=$(field seconds)
        best=$(printf '%s\n' $best "$seconds" | sort -g | head -n 1)
    done
    verify=-
    if [ "$(field verdict)" != unknown ]; then
        if "$KRAIT" verify "$trace" "$work/witness" >/dev/null; then verify=confirmed; else verify=REFUSED; fi
    fi
    printf '%8s %8s %10s %9.3f %6s %10s  %s\n' "$(field txns)" "$(field ops)" "$(field verdict)" "$best" "$(field peak_mib)" $verify "$trace"
done
