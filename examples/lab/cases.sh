#!/bin/sh
# Case studies of docs/lab.md: what real databases do, each recorded by one command and checked.
#
#     examples/lab/cases.sh                    lists them
#     examples/lab/cases.sh NAME [OPTION...]   runs one; options are krait-lab's, such as --explain or --html FILE
#
# KRAIT_LAB names the program (default: krait-lab). Exit status: that of krait-lab record; 1, "violated", is what most of these show. What is found depends on how
# clients interleave: try --seed 2 if it is not.
folder=$(dirname "$0")
cases='
lost-update        -d mariadb -l rr -w registers:rmw=100 --check pl-2+
mdev-26642         -d mariadb -l rr -w mdev-26642.sql --check claim
partial-snapshot   -d mariadb -l rr -w partial-snapshot.sql --check pl-2,ra,pl-2l,pl-2+
predicate-delete   -d postgresql -l rc -w predicate-delete.sql --check pl-2,pl-2l,ra
two-rows           -d postgresql -l rr -w two-rows.sql --check claim
standby            -d postgresql --nodes 2 --spread transactions -w registers:rmw=80 --check si,ser
standby-sessions   -d postgresql --nodes 2 -w registers:rmw=80 --check si,ra
galera             -d mariadb --nodes 2 -l ser -w registers:keys=12 --check si,ser
galera-rr          -d mariadb --nodes 2 -l rr -w registers:rmw=80,keys=12 --check pl-2,ra,pl-2+
galera-partition   -d mariadb --nodes 3 -w registers:keys=12 --faults partition@1s,for=8s --duration 14 --rate 200 --check keeps
etcd-partition     -d etcd --nodes 3 -w registers:keys=12 --faults partition@1s,for=6s --duration 12 --rate 200 --check keeps
firebird           -d firebird -l stability -w registers:rmw=80 --check ser,si
wiredtiger         -d wiredtiger -l read-committed -w registers:rmw=80,keys=6 --check claim
inversion          -d sim -l inversion --check ser,pl-ss
files-postgresql   -d postgresql -l rc -w files --check keeps
files-mariadb      -d mariadb -l rr -w files --check keeps
etcd               -d etcd --check keeps
sqlite             -d sqlite --check keeps
lmdb               -d lmdb --check keeps
rocksdb            -d rocksdb -l lock --check keeps
'
name=$1
[ -n "$name" ] || { echo "$cases" | sed '/^$/d'; exit 0; }
shift
command=$(echo "$cases" | sed -n "s|-w \\([a-z0-9-]*\\.sql\\)|-w $folder/\\1|; s/^$name  *//p")
[ -n "$command" ] || { echo "cases.sh: unknown case '$name'" >&2; exit 254; }
case " $* " in *" -o "* | *" --output "*) ;; *) set -- -o "${TMPDIR:-/tmp}/krait-lab-$name.jsonl" "$@" ;; esac
# shellcheck disable=SC2086
exec "${KRAIT_LAB:-krait-lab}" record $command "$@"
