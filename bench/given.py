#!/usr/bin/env python3
"""What orders that a database tells are worth, and what they cost: king-cobra, enne and emme on generated histories.

  bench/given.py [TRANSACTIONS]    default: 10000

king-cobra: a history of mostly writes, with 0, 50, 90 and 100 % of the versions of each key in `version_order` lines (each share holds the one before), with and without session
order: the pairs of writers undecided after each round of pruning, what is left for the solver, the verdict, CPU seconds and MiB. `!` in front where a share leaves more undecided than the
one before, or another verdict than satisfied. enne, emme: 100,000 transactions of reads and writes, and 2,500 of ranges, scans and updates, with the store's order of commits, and with the order of each
key's versions and the versions that scans and updates saw: verdict, CPU seconds in all, seconds for reading the trace, and the one as a multiple of the other (the least of three runs). KRAIT names the program (default: the release preset's), LIMIT the seconds for a run (120). Exit status 1 if there is a `!`.
"""
import json, os, random, re, resource, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
krait = os.environ.get("KRAIT", os.path.join(here, "../build/release/bin/krait"))
limit = os.environ.get("LIMIT", "120")
shares = (0, 50, 90, 100)


def generate(path, options):
    subprocess.run([krait, "gen", "--seed", "1", "--serial", "--no-times", *options.split(), "-o", path], check=True)


def check(*args, stats=True):
    """What it says, and CPU seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([krait, "check", *(["--stats"] if stats else []), "--timeout", limit, *args], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def found(pattern, text):
    match = re.search(pattern, text)
    return match.group(1) if match else "-"


def version_orders(path):
    """Per key, its writers as the store committed them, each with a place in the row in which versions are told."""
    chance, orders = random.Random(1), {}
    with open(path) as file:
        txns = [line for line in map(json.loads, file) if "ops" in line]
    for place, txn in enumerate(txns, 1):
        txn.setdefault("id", f"#{place}")
    for txn in sorted((t for t in txns if t.get("status", "committed") == "committed"), key=lambda t: t["serial"]):
        for key in dict.fromkeys(op[1] for op in txn["ops"] if op[0] == "w"):
            orders.setdefault(key, []).append((chance.random(), txn["id"]))
    return orders


def king_cobra(folder, n):
    bare, told = os.path.join(folder, "bare.jsonl"), os.path.join(folder, "told.jsonl")
    generate(bare, f"--txns {n} --sessions 24 --ops 8 --keys {n} --reads 20")
    orders, wrong = version_orders(bare), 0
    print(f"{'order':<8} {'told':>5} {'verdict':<10} {'choices':>8} {'CPU s':>7} {'MiB':>5}  undecided after each round")
    for order in ("session", "none"):
        before = None
        for share in shares:
            with open(told, "w") as out, open(bare) as file:
                out.write(file.read())
                for key, writers in orders.items():
                    kept = [writer for place, writer in writers if place * 100 < share]
                    if kept:
                        out.write(json.dumps({"version_order": key, "writers": kept}) + "\n")
            text, seconds = check("--checker", "king-cobra", "--order", order, told)
            rounds = found(r"after each round: ([\d ]+)", text)
            left = int(rounds.split()[-1]) if rounds != "-" else 0
            verdict = found(r"^[^\t\n]*\t[^\t\n]*\t(\w+)", text)
            bad = verdict != "satisfied" or (before is not None and left > before)
            wrong += bad
            before = left
            choices, mib = found(r"(\d+) choices", text), found(r"peak memory: (\d+)", text)
            print(f"{order:<8} {share:>4}% {verdict:<10} {choices:>8} {seconds:>7.2f} {mib:>5}  {rounds} {'!' if bad else ''}", flush=True)
    return wrong


def certify(path):
    """Adds version orders, and to scans and updates the versions that they saw."""
    with open(path) as file:
        lines = list(map(json.loads, file))
    txns, last, orders = sorted((t for t in lines if "ops" in t), key=lambda t: t["serial"]), {}, {}
    for place, txn in enumerate(txns):
        txn["id"], own = f"t{place}", {}
        for op in txn["ops"]:
            if op[0] in ("scan", "update"):
                op.append({"versions": {key: writer for key, writer in last.items() if key not in own}})
            own.update((key, True) for key in ([row[0] for row in op[3]] if op[0] == "update" else [op[1]] if op[0] == "w" else []))
        for key in own:
            orders.setdefault(key, []).append(txn["id"])
            last[key] = txn["id"]
    with open(path, "w") as out:
        for line in [t for t in lines if "ops" not in t] + txns + [{"version_order": key, "writers": writers} for key, writers in orders.items()]:
            out.write(json.dumps(line) + "\n")


def replays(folder):
    wrong = 0
    rows = {
        "items": "--txns 100000 --sessions 24 --ops 8 --keys 10000",
        "predicates": "--txns 2500 --sessions 24 --ops 4 --keys 100 --reads 20 --ranges 20 --scans 20 --updates 10",
    }
    print(f"{'checker':<8} {'rows':<11} {'verdict':<10} {'CPU s':>7} {'read s':>7} {'ratio':>6}")
    for name, options in rows.items():
        path = os.path.join(folder, name + ".jsonl")
        generate(path, options)
        for checker in ("enne", "emme"):
            if checker == "emme":
                certify(path)
            runs = [check("--checker", checker, "-q", path, stats=False) for _ in range(3)]
            reading = min(float(found(r"read ([\d.]+)", check("--checker", checker, path)[0])) for _ in range(3))
            verdict, seconds = found(r"^[^\t\n]*\t[^\t\n]*\t(\w+)", runs[0][0]), min(run[1] for run in runs)
            wrong += verdict != "satisfied"
            print(f"{checker:<8} {name:<11} {verdict:<10} {seconds:>7.2f} {reading:>7.2f} {seconds / reading:>6.2f} {'!' if verdict != 'satisfied' else ''}", flush=True)
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        return 1 if king_cobra(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 10000) + replays(folder) else 0


sys.exit(main())
