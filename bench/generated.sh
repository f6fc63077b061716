#!/bin/sh
# How long krait takes for generated histories, and how that compares with merely parsing the file: a line each.
#
#   bench/generated.sh [TRANSACTIONS]    default: 10000
#
# A family a line (see `families`): how reads, keys and values are distributed, and whether the trace tells times. `ratio`: krait's elapsed
# time over that of python3 parsing the same file line by line, in the same run. KRAIT names the program; default: the release preset's.
set -eu
cd "$(dirname "$0")/.."
KRAIT=${KRAIT:-build/release/bin/krait}
LIMIT=${LIMIT:-60}
n=${1:-10000}
[ -x "$KRAIT" ] || { echo "$KRAIT: not there; run ./quickstart.sh first, or set KRAIT" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

families='uniform           --keys 1000 --reads 50
uniform-90-reads  --keys 1000 --reads 90
uniform-10-reads  --keys 1000 --reads 10
zipf              --keys 1000 --reads 50 --dist zipf
zipf-10-reads     --keys 1000 --reads 10 --dist zipf
no-times          --keys 1000 --reads 50 --no-times
zipf-no-times     --keys 1000 --reads 10 --dist zipf --no-times
equal-values      --keys 1000 --reads 50 --values 5
unknown           --keys 1000 --reads 50 --unknown 5 --aborted 5
snapshot          --keys 1000 --reads 50 --store snapshot'

field() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$work/verdict"; }
now() { date +%s.%N; }
since() { now | awk -v start="$1" '{ printf "%.3f", $1 - start }'; }

printf '%-18s %-9s %10s %9s %6s %7s\n' family order verdict check_s MiB ratio
echo "$families" | while read -r name options; do
    # shellcheck disable=SC2086 # options are words
    "$KRAIT" gen --txns "$n" --sessions 16 --ops 8 --seed 1 $options --output "$work/trace.jsonl"
    ratio=-
    parse=
    if command -v python3 >/dev/null; then
        start=$(now)
        python3 -c 'import json,sys
for line in open(sys.argv[1]): json.loads(line)' "$work/trace.jsonl"
        parse=$(since "$start")
    fi
    for order in none session realtime; do
        start=$(now)
        "$KRAIT" check --json --order $order --timeout "$LIMIT" "$work/trace.jsonl" >"$work/verdict" 2>/dev/null || [ $? -le 2 ]
        took=$(since "$start")
        [ -z "$parse" ] || ratio=$(awk -v a="$took" -v b="$parse" 'BEGIN { printf "%.1f", a / b }')
        printf '%-18s %-9s %10s %9.3f %6s %7s\n' "$name" $order "$(field verdict)" "$took" "$(field peak_mib)" "$ratio"
    done
done
