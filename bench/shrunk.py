#!/usr/bin/env python3
"""Shrinks every recorded history that violates a level, and checks what comes out.

  bench/shrunk.py [LEVEL...]    default: all five of verdicts.csv (RC RA CC SI SER)

For each history of $KRAIT_DATA/verdicts.csv (default ../shared/data) and each level that it
violates: `krait shrink`; is what it wrote violated for `krait check`; and is it no longer, or not
in the same way, when any one transaction is left out? A line each, with `!` in front where
something is wrong; at the end how many transactions were left how often. KRAIT names the program,
default: the release preset's.
"""
import collections, csv, json, os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
krait = os.environ.get("KRAIT", os.path.join(here, "../build/release/bin/krait"))
data = os.environ.get("KRAIT_DATA", os.path.join(here, "../../shared/data"))
ids = {"RC": "rc-ax", "RA": "ra", "CC": "cc", "SI": "si", "SER": "ser"}


def run(*args):
    done = subprocess.run([krait, *args], capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.strip()


def how(answer):
    """How a level is violated: by cycles, or the name of another anomaly; None: it is not."""
    if answer["verdict"] != "violated":
        return None
    return "cycle" if "cycle" in answer["anomaly"] else answer["anomaly"]["name"]


def check(level, path):
    return how(run("check", "--json", "-l", level, "--order", "session", path)[1][0])


def problem(level, trace, folder):
    """What is wrong (None: nothing), and what shrink said."""
    small = os.path.join(folder, "small.jsonl")
    status, said, error = run("shrink", "--json", "-l", level, "--order", "session", "-o", small, trace)
    if status != 1:
        return f"status {status} {error}", said[0] if said else {}
    kind = check(level, small)
    if not kind:
        return "not violated", said[0]
    if not said[0]["minimal"]:
        return "not minimal, it says", said[0]
    with open(small) as file:
        lines = file.readlines()
    for i in range(1, len(lines)):
        less = os.path.join(folder, "less.jsonl")
        with open(less, "w") as file:
            file.writelines(lines[:i] + lines[i + 1 :])
        if check(level, less) == kind:
            return f"still violated without line {i + 1}", said[0]
    return None, said[0]


def main():
    columns = sys.argv[1:] or list(ids)
    sizes, wrong = collections.Counter(), 0
    with open(os.path.join(data, "verdicts.csv"), newline="") as file, tempfile.TemporaryDirectory() as folder:
        for row in csv.DictReader(file):
            for column in columns:
                if row[column] != "0":
                    continue
                why, said = problem(ids[column], os.path.join(data, row["path"]), folder)
                wrong += why is not None
                sizes[said.get("txns")] += 1
                print(
                    "!" if why else " ",
                    f'{said.get("of", {}).get("txns")} -> {said.get("txns")} txns, {said.get("ops")} ops, {said.get("tests")} tests,'
                    f' {said.get("seconds")} s, {said.get("anomaly")}, {column} {row["path"]}',
                    why or "",
                    flush=True,
                )
    print(f"{wrong} wrong; transactions left:", ", ".join(f"{n} {sizes[n]} times" for n in sorted(sizes, key=str)))
    return 1 if wrong else 0


sys.exit(main())
