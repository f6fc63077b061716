#!/bin/sh
# How fast each format is read, and in how much memory: a line each.
#
#   bench/formats.sh [FORMAT...]    default: all that bench/formats.py writes
#
# Every input holds the same run (bench/formats.py), in files of SIZE MB (default 100) and of a quarter of that. `krait stats` reads it, which
# for a file of operations is nearly all reading. seconds: processor time, the least of RUNS (3); ops/s: operations by that; relative: the same over that of the native reader, which reads the
# same operations (lists with lists); bytes/op: peak resident memory by operation, of the quarter and of the whole, which are alike where memory is linear.
# KRAIT names the program; default: the release preset's. Needs python3.
set -eu
cd "$(dirname "$0")/.."
KRAIT=${KRAIT:-build/release/bin/krait}
SIZE=${SIZE:-100}
RUNS=${RUNS:-3}
[ -x "$KRAIT" ] || { echo "$KRAIT: not there; run ./quickstart.sh first, or set KRAIT" >&2; exit 1; }
command -v python3 >/dev/null || { echo "python3: not there" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Processor seconds, the least of $2 runs, and peak KiB of krait stats on $1; its output goes to $work/stats.
measure() {
    python3 -c 'import os, subprocess, sys
out, runs, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
best = (1e9, 0)
for _ in range(runs):
    with open(out, "w") as file:
        process = subprocess.Popen(command, stdout=file)
        _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("krait failed")
    best = min(best, (used.ru_utime + used.ru_stime, used.ru_maxrss))
print("%.3f %d" % best)' "$work/stats" "$2" "$KRAIT" stats --json "$1"
}

operations() { sed -n 's/.*"ops": \([0-9]*\).*/\1/p' "$work/stats"; }

[ $# -gt 0 ] || set -- elle elle-json plume dbcop dbcop-json dbcop-hist awdit cobra viper timekiller elle-lists veristrong-lists
registers=no lists=no
for name; do
    case $name in
    *-lists) lists=yes ;;
    *) registers=yes ;;
    esac
done
[ $lists = no ] || set -- native-lists "$@"
[ $registers = no ] || set -- native "$@"

printf '%-18s %6s %9s %8s %10s %9s %18s\n' format MB ops seconds ops/s relative bytes/op
for name; do
    python3 bench/formats.py "$name" "$(awk -v s="$SIZE" 'BEGIN { print s / 4 }')" "$work/trace"
    quarter=$(measure "$work/trace" 1)
    quarter=$(awk -v k="${quarter#* }" -v n="$(operations)" 'BEGIN { printf "%.0f", k * 1024 / n }')
    rm -rf "$work/trace"
    python3 bench/formats.py "$name" "$SIZE" "$work/trace"
    whole=$(measure "$work/trace" "$RUNS")
    bytes=$(du -sb "$work/trace" | cut -f1)
    rm -rf "$work/trace"
    ops=$(operations)
    speed=$(awk -v s="${whole% *}" -v n="$ops" 'BEGIN { printf "%.0f", n / s }')
    case $name in
    native) of_registers=$speed ;;
    native-lists) of_lists=$speed ;;
    esac
    case $name in
    *-lists) native=$of_lists ;;
    *) native=$of_registers ;;
    esac
    printf '%-18s %6s %9s %8s %10s %9s %18s\n' "$name" "$(awk -v b="$bytes" 'BEGIN { printf "%.0f", b / 1e6 }')" "$ops" "${whole% *}" "$speed" \
        "$(awk -v a="$speed" -v b="$native" 'BEGIN { printf "%.2f", a / b }')" "$quarter to $(awk -v k="${whole#* }" -v n="$ops" 'BEGIN { printf "%.0f", k * 1024 / n }')"
done
