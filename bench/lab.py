#!/usr/bin/python3
"""Measures what it costs a client that krait-lab records it, on a PostgreSQL of its own.

    bench/lab.py [ROUNDS [SECONDS]]     default: 10 rounds of 5 seconds for each of four runs; goals: 0.95 without a certificate, 0.90 with
    bench/lab.py --count [TXNS]             instructions of a transaction, of clients and server, by callgrind: for a machine that is not quiet
    bench/lab.py --cpu [ROUNDS [SECONDS]]   CPU time of a transaction, of clients and of the server, and context switches of clients: for one that is not quite

8 clients, BEGIN and 4 statements (SELECT or UPDATE of one of 1,000 rows, each prepared) and COMMIT at REPEATABLE READ, unix socket, fsync off. bench/libpq.c does that and nothing else; krait-lab
does the same transactions, without a certificate and with one. A round is bare, recorded, bare, certified, or in the other order, and each recorded run is divided by the bare one
beside it; printed are medians of these ratios, with quartiles. Needs the release preset, Debian's packages postgresql and libpq-dev (and valgrind), and for times a quiet machine.
"""
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "examples/record"))
from server import Server, program  # noqa: E402

LAB = os.environ.get("KRAIT", os.path.join(ROOT, "build/release/bin/krait")) + "-lab"
KEPT = os.path.join(ROOT, "build/bench")
BARE, TRACE = os.path.join(KEPT, "libpq"), os.path.join(KEPT, "lab.jsonl")
CLIENTS, KEYS = 8, 1000
WORKLOAD = f"registers:keys={KEYS},ops=4,least=4,rmw=0,readers=0,there=1"


def callgrind(out, *options):
    return "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *options


def build():
    os.makedirs(KEPT, exist_ok=True)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libpq"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    subprocess.run(["cc", "-O2", "-std=gnu11", "-g", "-o", BARE, os.path.join(ROOT, "bench/libpq.c"), *flags, "-lpthread"], check=True)


class Postgresql:
    def __init__(self, counted):
        self.counted = counted

    def __enter__(self):
        binaries = "/usr/lib/postgresql/*/bin"
        initdb, postgres, psql = (program(name, "postgresql", binaries) for name in ("initdb", "postgres", "psql"))
        self.server = Server("postgres")
        folder = self.server.folder
        self.server.call(initdb, "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-N")
        options = ("listen_addresses=", "unix_socket_permissions=0777", "fsync=off", "wal_level=logical", "deadlock_timeout=1s", "autovacuum=off")
        self.server.start((*(callgrind(f"{folder}/callgrind.%p", "--trace-children=yes") if self.counted else ()), postgres, "-D", f"{folder}/data", "-k", folder, *(word for option in options for word in ("-c", option))),
                          lambda: subprocess.run([psql, "-h", folder, "-U", "postgres", "-c", ""], capture_output=True, check=False).returncode == 0)
        with open(f"{folder}/data/postmaster.pid", encoding="utf-8") as file:
            self.main = int(file.readline())
        self.folder = folder
        self.address = f"host={folder} dbname=postgres user=postgres"
        return self

    def __exit__(self, *_):
        self.server.stop()


def bare(address, limit, *before):
    """Transactions a second, and how many."""
    out = subprocess.run([*before, BARE, address, str(CLIENTS), limit, str(KEYS)], stdout=subprocess.PIPE, text=True, check=True).stdout
    txns, seconds, _ = out.split()
    return int(txns) / float(seconds)


def record(address, certificate, limit):
    return [LAB, "record", "-q", "-d", "postgresql", "--connect", address, "-l", "rr", "-w", WORKLOAD, "--think", "0", "--clients", str(CLIENTS), "--certificate", certificate, *limit, "-o", TRACE]


def lab(address, certificate, limit, *before):
    subprocess.run([*before, *record(address, certificate, limit)], stderr=subprocess.DEVNULL, check=True)
    n, first, last = 0, None, 0
    with open(TRACE, encoding="utf-8") as file:
        for txn in map(json.loads, file):
            if "ops" in txn:
                n, first, last = n + 1, min(first or txn["begin"][0], txn["begin"][0]), max(last, txn["end"][1])
    return n / (last - first) * 1e9


def rounds(address, count, seconds):
    kinds = {"none": [], "auto": []}
    rates = {"bare": [], "none": [], "auto": []}
    for i in range(count):
        for kind, ratios in kinds.items():
            runs = [lambda: bare(address, seconds), lambda kind=kind: lab(address, kind, ("--duration", seconds))]
            rate = [runs[k]() for k in ((0, 1) if i % 2 == 0 else (1, 0))]
            plain, told = rate if i % 2 == 0 else rate[::-1]
            ratios.append(told / plain)
            rates["bare"].append(plain)
            rates[kind].append(told)
        print(f"round {i + 1}: {kinds['none'][-1]:.3f} without a certificate, {kinds['auto'][-1]:.3f} with", file=sys.stderr, flush=True)
    print("| client | transactions a second | to the bare loop: median | quartiles | goal |\n|---|---|---|---|---|")
    print(f"| bare loop | {statistics.median(rates['bare']):.0f} | | | |")
    for kind, name, goal in (("none", "krait-lab, no certificate", 0.95), ("auto", "krait-lab, certificate", 0.90)):
        quartiles = statistics.quantiles(kinds[kind], n=4) if count > 1 else kinds[kind] * 3
        print(f"| {name} | {statistics.median(rates[kind]):.0f} | {statistics.median(kinds[kind]):.3f} | {quartiles[0]:.3f} to {quartiles[2]:.3f} | {goal:.2f} |")


def used(pids):
    """Of processes so far, with all of their threads: seconds on a CPU, and how often they waited."""
    seconds = switches = 0
    for pid in pids:
        for task in glob.glob(f"/proc/{pid}/task/*"):
            try:
                with open(task + "/schedstat", encoding="utf-8") as file:
                    seconds += int(file.read().split()[0]) / 1e9
                with open(task + "/status", encoding="utf-8") as file:
                    switches += sum(int(line.split()[1]) for line in file if line.startswith("voluntary"))
            except OSError:  # it has ended
                pass
    return seconds, switches


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return file.read().split()


def usage(server, command, ended):
    """Of clients and of the server, a transaction: looked at while they work, so that what comes before and after does not count. `ended`: when transactions ended, asked afterwards."""
    samples = []
    with tempfile.TemporaryFile("w+") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as client:
        while client.poll() is None:
            samples.append((time.monotonic_ns(), used([client.pid, *children(client.pid)]), used(children(server.main))))
            time.sleep(0.05)
        out.seek(0)
        times = ended(out.read())
    first, last = times[0], times[-1]
    inner = [sample for sample in samples if first + (last - first) / 10 < sample[0] < last - (last - first) / 10]
    (start, mine, served), (end, my_end, serves) = inner[0], inner[-1]
    n = sum(start < t <= end for t in times)
    if n == 0:
        sys.exit("too short: nothing ended between two looks; give more seconds")
    return (my_end[0] - mine[0]) / n, (serves[0] - served[0]) / n, (my_end[1] - mine[1]) / n


def cpu(server, count, seconds):
    """In turn, since caches are others', too."""
    def recorded(_):
        with open(TRACE, encoding="utf-8") as file:
            return sorted(txn["end"][1] for txn in map(json.loads, file) if "ops" in txn)

    def told(out):
        return sorted(map(int, out.split()[3:]))
    kinds = {"bare loop": ([BARE, server.address, str(CLIENTS), seconds, str(KEYS), "times"], told),
             "krait-lab, no certificate": (record(server.address, "none", ("--duration", seconds)), recorded),
             "krait-lab, certificate": (record(server.address, "auto", ("--duration", seconds)), recorded)}
    taken = {name: [] for name in kinds}
    for _ in range(count):
        for name, (command, ended) in kinds.items():
            taken[name].append(usage(server, command, ended))
    print("| client | µs of clients | of the server | bare loop to it | waits of clients |\n|---|---|---|---|---|")
    plain = [sum(row[:2]) for row in taken["bare loop"]]
    for name, rows in taken.items():
        clients, served, switches = (statistics.median(column) for column in zip(*rows))
        ratio = statistics.median(a / sum(row[:2]) for a, row in zip(plain, rows))
        print(f"| {name} | {clients * 1e6:.1f} | {served * 1e6:.1f} | {ratio:.3f} | {switches:.2f} |")


def instructions(pattern, lacking=None):
    """Of the processes that have left such files, which go; not of those that called what is lacking."""
    total = 0
    for name in glob.glob(pattern):
        with open(name, encoding="utf-8") as file:
            text = file.read()
        end = text.find("\ntotals:")
        if end < 0:  # it has not ended
            continue
        os.remove(name)
        if not lacking or lacking not in text:
            total += int(text[end:].split()[1])
    return total


def counted(server, function, run):
    """Of clients, and of what serves them: but for who tells the log in the end."""
    idle = len(children(server.main))
    instructions(f"{server.folder}/callgrind.*")
    run(*callgrind(f"{KEPT}/callgrind.%p", f"--toggle-collect={function}"))
    while len(children(server.main)) > idle:
        time.sleep(0.1)
    return instructions(f"{KEPT}/callgrind.*"), instructions(f"{server.folder}/callgrind.*", "pg_logical_slot_get_changes")


def counts(server, pairs):
    few, many = 50, 50 + pairs
    rows = (("bare loop", "client", lambda n: lambda *v: bare(server.address, f"{n}x", *v)),
            ("krait-lab, no certificate", "kr_session_run", lambda n: lambda *v: lab(server.address, "none", ("--txns", str(n), "--stall", "600"), *v)),
            ("krait-lab, certificate", "kr_session_run", lambda n: lambda *v: lab(server.address, "auto", ("--txns", str(n), "--stall", "600"), *v)))
    time.sleep(3)  # until all of the server's own processes are there
    print("| client | instructions of clients | of the server | bare loop to it |\n|---|---|---|---|")
    plain = 0
    for name, function, run in rows:
        mine, served = ((b - a) / pairs / CLIENTS for a, b in zip(counted(server, function, run(few)), counted(server, function, run(many))))
        plain = plain or mine + served
        print(f"| {name} | {mine:.0f} | {served:.0f} | {plain / (mine + served):.3f} |", flush=True)


def main():
    words = sys.argv[1:]
    build()
    with Postgresql(words[:1] == ["--count"]) as server:
        if words[:1] == ["--count"]:
            counts(server, int(words[1]) if len(words) > 1 else 200)
        elif words[:1] == ["--cpu"]:
            cpu(server, int(words[1]) if len(words) > 1 else 10, words[2] if len(words) > 2 else "3")
        else:
            rounds(server.address, int(words[0]) if words else 10, words[1] if len(words) > 1 else "5")


if __name__ == "__main__":
    main()
