#!/usr/bin/env python3
"""Decides every recorded history with every checker that is not the level's default, and compares.

  bench/modules.py [CHECKER...]    default: cobra king-cobra viper polysi

For each history of $KRAIT_DATA/verdicts.csv (default ../shared/data), serializability or snapshot
isolation, whichever the checker decides, with session order: its verdict against that of the
default checker and against the file. A line for each difference, with `!` in front, and for each
history that is undecided after LIMIT (60) seconds or that takes longer than SLOW (10); at the end
how many were decided, by checker. KRAIT names the program, default: the release preset's. Exit
status 1 if any verdict differs.
"""
import collections, csv, json, os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
krait = os.environ.get("KRAIT", os.path.join(here, "../build/release/bin/krait"))
data = os.environ.get("KRAIT_DATA", os.path.join(here, "../../shared/data"))
limit = os.environ.get("LIMIT", "60")
slow = float(os.environ.get("SLOW", "10"))
levels = {"cobra": "ser", "king-cobra": "ser", "viper": "si", "polysi": "si"}
columns = {"ser": "SER", "si": "SI"}
known = {"0": "violated", "1": "satisfied"}


def check(path, level, *more):
    """The verdict as JSON; None: no verdict."""
    command = [krait, "check", "--json", "-l", level, "--order", "session", "--timeout", limit, *more, path]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return json.loads(lines[0]) if lines else {"verdict": "none: " + done.stderr.strip(), "seconds": 0}


def main():
    names = sys.argv[1:] or list(levels)
    with open(os.path.join(data, "verdicts.csv")) as file:
        rows = list(csv.DictReader(file))
    counts, wrong = collections.Counter(), 0
    for row in rows:
        path = os.path.join(data, row["path"])
        default = {}
        for name in names:
            level = levels[name]
            if level not in default:
                default[level] = check(path, level)["verdict"]
            said = check(path, level, "--checker", name)
            told = known.get(row[columns[level]], default[level])
            verdict = said["verdict"]
            differs = verdict != "unknown" and (verdict != default[level] or verdict != told)
            wrong += differs
            counts[name, verdict.split(":")[0]] += 1
            if differs or verdict == "unknown" or said["seconds"] > slow:
                print("!" if differs else " ", name, level, verdict, f"{said['seconds']:.1f} s", row["path"],
                      said.get("reason", ""), f"default {default[level]}, known {told}" if differs else "", flush=True)
    for (name, verdict), count in sorted(counts.items()):
        print(f"{name}: {count} {verdict}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
