#!/bin/sh
# How long krait takes for generated histories of all operations, and how much memory: a line each.
#
#   bench/operations.sh [FAMILY...]    default: all
#
# all-ops: TXNS (20,000) transactions of 8 operations over 5,000 keys, with all operations; one in ten of what committed is a range of 50 keys. untold: the same with results and
# outcomes that are not told. equal: a tenth of the transactions on 50 keys, without times, and every write of a key has the same value; equal-skewed: the same from a
# store that is not serializable, with deletes. Serializability without any order and with the strongest that the trace tells. `ratio`: krait's elapsed time over that of python3 parsing the same file line by line, in the same
# run; `size`: its peak memory over the file's size. KRAIT names the program; default: the release preset's. LIMIT: seconds, default 30; MEMORY: MiB, default
# 1024.
set -eu
cd "$(dirname "$0")/.."
KRAIT=${KRAIT:-build/release/bin/krait}
LIMIT=${LIMIT:-30}
MEMORY=${MEMORY:-1024}
TXNS=${TXNS:-20000}
[ -x "$KRAIT" ] || { echo "$KRAIT: not there; run ./quickstart.sh first, or set KRAIT" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mix='--keys 5000 --ops 8 --span 50 --reads 25 --deletes 5 --inserts 6 --cas 6 --incs 8 --appends 8 --adds 8 --ranges 12 --scans 5 --updates 2 --keep-lists'
few='--keys 50 --ops 4 --reads 50 --values 1 --no-times'
# shellcheck disable=SC2086 # options are words
family() {
    case $1 in
    all-ops) "$KRAIT" gen --txns "$TXNS" --sessions 16 --seed 1 $mix ;;
    untold) "$KRAIT" gen --txns "$TXNS" --sessions 16 --seed 1 $mix --untold 20 --unknown 2 --aborted 2 ;;
    equal) "$KRAIT" gen --txns $((TXNS / 10)) --sessions 16 --seed 1 $few ;;
    equal-skewed) "$KRAIT" gen --txns $((TXNS / 10)) --sessions 16 --seed 1 $few --store snapshot --deletes 20 ;;
    *) echo "unknown family $1, expected all-ops, untold, equal or equal-skewed" >&2; return 1 ;;
    esac
}

field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$work/verdict"; }
now() { date +%s.%N; }
since() { now | awk -v start="$1" '{ printf "%.3f", $1 - start }'; }

[ $# -gt 0 ] || set -- all-ops untold equal equal-skewed
printf '%-12s %-9s %7s %8s %6s %10s %9s %6s %7s %6s\n' family order txns ops MB verdict check_s MiB ratio size
for name; do
    family "$name" >"$work/trace.jsonl"
    bytes=$(wc -c <"$work/trace.jsonl")
    ratio=-
    parse=
    if command -v python3 >/dev/null; then
        start=$(now)
        python3 -c 'import json,sys
for line in open(sys.argv[1]): json.loads(line)' "$work/trace.jsonl"
        parse=$(since "$start")
    fi
    for order in none realtime; do
        start=$(now)
        "$KRAIT" check --json --order $order --timeout "$LIMIT" --memory "$MEMORY" "$work/trace.jsonl" >"$work/verdict" 2>"$work/errors" || [ $? -le 2 ] || cat "$work/errors" >&2
        took=$(since "$start")
        [ -z "$parse" ] || ratio=$(awk -v a="$took" -v b="$parse" 'BEGIN { printf "%.1f", a / b }')
        size=$(awk -v a="$(field peak_mib)" -v b="$bytes" 'BEGIN { printf "%.1f", a * 1048576 / b }')
        printf '%-12s %-9s %7s %8s %6s %10s %9.3f %6s %7s %6s\n' "$name" $order "$(field txns)" "$(field ops)" "$(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1e6 }')" \
            "$(field verdict)" "$took" "$(field peak_mib)" "$ratio" "$size"
    done
done
