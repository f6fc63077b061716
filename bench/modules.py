#!/usr/bin/env python3
"""Decides every recorded history with every checker that is not the level's default, and compares.

  bench/modules.py [CHECKER...]    default: cobra king-cobra viper polysi enne

For each history of $KRAIT_DATA/verdicts.csv (default ../shared/data), serializability or snapshot
isolation, whichever the checker decides, with session order: its verdict against that of the
default checker and against the file. A line for each difference, with `!` in front, and for each
history that is undecided after LIMIT (60) seconds or that takes longer than SLOW (10); at the end
how many were decided, by checker. No recorded history tells an order of serialization, which enne
needs: it is given the order that the default checker proves a satisfied one with, and of a
violated one that of the file, which cannot replay. KRAIT names the program, default: the release
preset's. Exit status 1 if any verdict differs.
"""
import collections, csv, json, os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
krait = os.environ.get("KRAIT", os.path.join(here, "../build/release/bin/krait"))
data = os.environ.get("KRAIT_DATA", os.path.join(here, "../../shared/data"))
limit = os.environ.get("LIMIT", "60")
slow = float(os.environ.get("SLOW", "10"))
levels = {"cobra": "ser", "king-cobra": "ser", "viper": "si", "polysi": "si", "enne": "ser"}
columns = {"ser": "SER", "si": "SI"}
known = {"0": "violated", "1": "satisfied"}


def check(path, level, *more):
    """The verdict as JSON; None: no verdict."""
    command = [krait, "check", "--json", "-l", level, "--order", "session", "--timeout", limit, *more, path]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    return json.loads(lines[0]) if lines else {"verdict": "none: " + done.stderr.strip(), "seconds": 0}


def serialize(path, verdict, folder):
    """The history with a place for each transaction that took effect."""
    trace, proof, out = (os.path.join(folder, name) for name in ("trace.jsonl", "proof.json", "serial.jsonl"))
    subprocess.run([krait, "convert", "--quiet", "-o", trace, path], check=True)
    order = {}
    if verdict == "satisfied":
        subprocess.run([krait, "check", "--order", "session", "--witness", proof, trace], stdout=subprocess.DEVNULL)
        with open(proof) as file:
            order = {name: place for place, name in enumerate(json.loads(file.readline())["serial"])}
    with open(trace) as file, open(out, "w") as to:
        place = 0
        for line in map(json.loads, file):
            if "ops" in line:
                place += 1
                name = line.get("id", f"#{place}")
                if verdict != "satisfied" or name in order:
                    line["serial"] = order.get(name, place)
            to.write(json.dumps(line) + "\n")
    return out


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
            if name == "enne":
                with tempfile.TemporaryDirectory() as folder:
                    said = check(serialize(path, default[level], folder), level, "--checker", name)
            else:
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
