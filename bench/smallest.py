#!/usr/bin/env python3
"""How few transactions can show a violation? A lower bound, or a smaller part than `krait shrink` finds.

  bench/smallest.py LEVEL MOST TRACE    is there a violated part of at most MOST transactions?

A part is some of the transactions, without the reads of what the others wrote; parts of a satisfied part are satisfied. So every violated part has one of the
transactions that are missing from each satisfied part. Satisfied parts are made around candidates: from the whole history go transactions, none of them the
candidate's, of each violated part met so far, until it is satisfied. The next candidate has at most MOST transactions, one of each of the sets that are missing so far (a hitting set). If a
candidate is violated it is a part of at most MOST transactions, and is printed; if there is no further candidate, there is none. With session order. For histories of
reads and writes only. KRAIT names the program (default: the release preset's), SEED what is tried first.
"""
import collections, json, os, random, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
krait = os.environ.get("KRAIT", os.path.join(here, "../build/release/bin/krait"))
chance = random.Random(int(os.environ.get("SEED", "1")))


class History:
    def __init__(self, path, folder, level):
        self.trace, self.proof, self.level = os.path.join(folder, "part.jsonl"), os.path.join(folder, "proof.json"), level
        native = os.path.join(folder, "whole.jsonl")
        subprocess.run([krait, "convert", "--quiet", "-o", native, path], check=True)
        with open(native) as file:
            lines = [json.loads(line) for line in file]
        self.header = [line for line in lines if "ops" not in line]
        self.txns = {line.setdefault("id", f"#{i}"): line for i, line in enumerate((x for x in lines if "ops" in x), 1)}
        assert all(op[0] in "rw" for txn in self.txns.values() for op in txn["ops"])
        self.writer = {(op[1], json.dumps(op[2])): t for t, txn in self.txns.items() for op in txn["ops"] if op[0] == "w"}

    def core(self, part):
        """The transactions of a proof that the part is violated; None: it is satisfied."""
        with open(self.trace, "w") as file:
            for line in self.header:
                file.write(json.dumps(line) + "\n")
            for t, txn in self.txns.items():
                if t in part:
                    ops = [op for op in txn["ops"] if op[0] == "w" or self.writer.get((op[1], json.dumps(op[2])), t) in part]  # initial values stay
                    file.write(json.dumps({**txn, "ops": ops}) + "\n")
        command = [krait, "check", "-l", self.level, "--order", "session", "--timeout", "60", "--witness", self.proof, self.trace]
        status = subprocess.run(command, stdout=subprocess.DEVNULL).returncode
        assert status < 2, "undecided"
        if status == 0:
            return None
        with open(self.proof) as file:
            proof = json.loads(file.readline())
        assert "cycles" in proof, "an anomaly of one operation: two transactions are enough"
        return {end for cycle in proof["cycles"] for edge in cycle for end in (edge["from"], edge["to"])}


def hit(sets, most, chosen):
    """At most `most` further elements that hit the sets that `chosen` does not; None: there are none."""
    open_sets = [s for s in sets if not s & chosen]
    if not open_sets:
        return chosen
    if most == 0:
        return None
    disjoint, seen = 0, set()
    for s in sorted(open_sets, key=len):
        if not s & seen:
            disjoint += 1
            seen |= s
    if disjoint > most:
        return None
    smallest = min(open_sets, key=len)
    for t in sorted(smallest, key=lambda t: -sum(t in s for s in open_sets)):
        found = hit(open_sets, most - 1, chosen | {t})
        if found is not None:
            return found
        open_sets = [s - {t} for s in open_sets]  # all with t have been tried
        if any(not s for s in open_sets):
            return None
    return None


def smallest_part(history, core):
    """A part of the core that is violated, and is not without any one of its transactions."""
    for t in sorted(core, key=lambda t: chance.random()):
        if t in core and (less := history.core(core - {t})) is not None:
            core = less
    return core


def hit_greedily(sets):
    """Few elements that hit all sets, none of them for nothing."""
    chosen, open_sets = [], sets
    while open_sets:
        often = collections.Counter(t for s in open_sets for t in s)
        most = max(often.values())
        chosen.append(chance.choice(sorted(t for t in often if often[t] == most)))
        open_sets = [s for s in open_sets if chosen[-1] not in s]
    for t in list(chosen):
        if all(s & (set(chosen) - {t}) for s in sets):
            chosen.remove(t)
    return set(chosen)


def missing_from_satisfied(history, candidate, cores):
    """What must go from the whole, none of it the candidate's, until it is satisfied; None: the candidate is violated itself. `cores`: the violated parts met, which grow."""
    while all(core - candidate for core in cores):
        gone = hit_greedily([core - candidate for core in cores])
        core = history.core(set(history.txns) - gone)
        if core is None:
            return gone
        cores.append(smallest_part(history, core))
    return None


def main():
    level, most, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        history, sets, cores = History(path, folder, level), [], []
        while (candidate := hit(sets, most, set())) is not None:
            gone = missing_from_satisfied(history, candidate, cores)
            if gone is None:
                print(f"{len(candidate)} transactions are violated: {' '.join(sorted(candidate))} ({len(sets)} sets) {path}")
                return 1
            sets.append(gone)
        print(f"none of at most {most} transactions ({len(sets)} sets, of {min(map(len, sets))} to {max(map(len, sets))}) {path}")
    return 0


sys.exit(main())
