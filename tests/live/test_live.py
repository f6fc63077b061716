"""Runs of real databases, recorded by examples/record/: what the papers' worked examples say of them.

    test_live.py NAME     runs test_NAME; 77: this machine lacks the server or its Python module

A database at the level that it promises must be satisfied whatever the run; that a weaker one shows an anomaly is
likely and not certain, so there are more transactions, and several runs are tried.

Each row of `krait profiles` that was run live is held to its own database, while that runs, and rows of stricter
levels must find something. KRAIT_LIVE_TXNS=20000 runs so many transactions for each row, in runs of 2000 with other
settings.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

KRAIT = os.environ.get("KRAIT", "build/dev/bin/krait")
MEMORY = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}  # servers need not wait for disks
FOLDER = tempfile.TemporaryDirectory(prefix="krait-live-")
TRACE = os.path.join(FOLDER.name, "trace.jsonl")
TRIES = 3
TXNS = int(os.environ.get("KRAIT_LIVE_TXNS", "2000"))
CLIENTS, RUN, COMPARED = 8, 2000, 2000  # clients, transactions of a run, lines that are checked in both ways
SETTINGS = ((10, 20), (6, 0), (20, 0), (6, 100), (14, 50))  # keys, percent of the values that are repeated
STATEMENTS = ("--mix", "statements", "--autocommit", "20", "--rollback", "5")
NETWORK = ("--lost", "1", "--killed", "0.5")

# What may be told of a trace whose values repeat and whose answers get lost.
EXPECTED_OF_LINT = {"duplicate-value", "same-value", "unknown-read", "aborted-read", "slow-abort"}
EXPECTED_OF_DIRT = {"early-read", "value-unwritten"}  # of what was taken back


def recorder(database, *options):
    return ["/usr/bin/python3", "-B", f"examples/record/{database}.py", *options]


def record(database, *options):
    command = recorder(database, "-o", TRACE, *options)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | MEMORY)
    if done.returncode == 77:
        print(done.stderr)
        sys.exit(77)
    assert done.returncode == 0, done.stderr
    print(done.stderr.strip())
    return TRACE


def verdicts(path, *options):
    """By level; and each proof is confirmed."""
    proof = os.path.join(FOLDER.name, "proof.jsonl")
    done = subprocess.run([KRAIT, "check", "--json", "--timeout", "60", "--witness", proof, *options, path], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    again = subprocess.run([KRAIT, "verify", path, proof], capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    return {verdict["level"]: verdict["verdict"] for verdict in map(json.loads, done.stdout.splitlines())}


def must_satisfy(path, *options):
    found = verdicts(path, *options)
    assert set(found.values()) == {"satisfied"}, found


def must_keep_profile(path):
    """That of the trace's header. Nothing found is all that can be."""
    done = subprocess.run([KRAIT, "check", "--checker", "leopard", path], capture_output=True, text=True)
    assert done.returncode == 2, done.stdout + done.stderr


def first_violated(level, checker, record_one):
    """Of some runs, one that violates the level: its path."""
    for seed in range(1, TRIES + 1):
        path = record_one("--seed", str(seed))
        if verdicts(path, "-l", level, "--checker", checker)[level] == "violated":
            return path
    raise AssertionError(f"none of {TRIES} runs violates {level}")


def without_predicates(path):
    out = path + ".items"
    with open(path) as source, open(out, "w") as target:
        for line in map(json.loads, source):
            if "ops" in line:
                line["ops"] = [op for op in line["ops"] if op[0] not in ("range", "scan")]
            target.write(json.dumps(line) + "\n")
    return out


def run(*command, statuses):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode in statuses, f"{command}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr}"
    return done.stdout


def record_and_watch(row, database, *options):
    """The recorder's events go to `krait watch` as they come, and into a file. Returns what watch said."""
    pipe = {"stdout": subprocess.PIPE}
    source = subprocess.Popen(recorder(database, "--stream", *options), env=os.environ | MEMORY, **pipe)
    tee = subprocess.Popen(["tee", TRACE], stdin=source.stdout, **pipe)
    watch = subprocess.Popen([KRAIT, "watch", "--json", "--profile", row, "-"], stdin=tee.stdout, text=True, **pipe)
    source.stdout.close()
    tee.stdout.close()
    told = watch.communicate(timeout=300)[0]
    if source.wait() == 77:
        sys.exit(77)
    assert (source.returncode, tee.wait()) == (0, 0)
    assert watch.returncode == 0, told[-3000:]
    return [json.loads(line) for line in told.splitlines()]


def must_be_clean(row, txns, events):
    end = events[-1]
    assert end["event"] == "end" and end["txns"] == txns, end
    assert end["late"] == 0 and end["trusted_until"] is None and not any(end["findings"].values()), end
    kinds = {line.split(": ")[1] for line in run(KRAIT, "lint", TRACE, statuses=(0,)).splitlines()}
    assert kinds <= EXPECTED_OF_LINT | (EXPECTED_OF_DIRT if row.endswith("-ru") else set()), kinds
    verdict = json.loads(run(KRAIT, "check", "--json", "--profile", row, TRACE, statuses=(2,)))
    assert verdict["findings"] == [] and verdict["looked_at"]["txns"] == txns, verdict
    return verdict["looked_at"]


def comparable(finding, repeat):
    """What stream and batch must agree in, cycles left out. The class of what no version explains may rest on what
    comes much later, where values repeat; and on what is forgotten, where not a value but a condition was seen."""
    vain = ("aborted", "intermediate", "future", "never written") + (() if "seen" in finding else ("garbage",))
    blurred = finding["class"] in vain and (repeat > 0 or finding.get("seen") is None)
    any_key = finding["mechanism"] == "ME" or finding["class"] == "no common snapshot"
    where = () if any_key else (str(finding.get("key")), finding.get("op"))
    return str((finding["mechanism"], "vain" if blurred else finding["class"], sorted(finding["txns"]), *where))


def findings(row, path):
    out = run(KRAIT, "check", "--stream", "--json", "--profile", row, path, statuses=(1, 2))
    return [event for event in map(json.loads, out.splitlines()) if event["event"] == "finding"]


def found_by(row):
    """How many findings each mechanism has in the trace that was recorded last."""
    found = findings(row, TRACE)
    return {mechanism: sum(f["mechanism"] == mechanism for f in found) for mechanism in ("CR", "ME", "FUW", "SC")}


def must_agree(row, repeat):
    """But for cycles a stream's findings are those of the whole, and each of these can be derived anew."""
    head, found = TRACE + ".head", TRACE + ".found"
    with open(TRACE) as source, open(head, "w") as target:
        target.writelines(itertools.islice(source, None if TXNS > RUN else COMPARED))
    whole = json.loads(run(KRAIT, "check", "--json", "--profile", row, "--witness", found, head, statuses=(1, 2)))
    both = (whole["findings"], findings(row, head))
    batch, stream = [sorted(comparable(f, repeat) for f in each if f["mechanism"] != "SC") for each in both]
    assert batch == stream, set(batch) ^ set(stream)
    run(KRAIT, "verify", head, found, statuses=(0,))
    return f"{len(batch)} compared"


def hold(row, database, *options, wrong=()):
    """`wrong`: rows that the database does not keep, and the mechanisms by which each run must show that."""
    for number in range((TXNS + RUN - 1) // RUN):
        keys, repeat = SETTINGS[number % len(SETTINGS)]
        txns = min(RUN, TXNS) // CLIENTS * CLIENTS
        settings = {"keys": keys, "repeat": repeat, "txns": txns // CLIENTS, "seed": number + 1}
        arguments = [f"--{name}={value}" for name, value in settings.items()]
        events = record_and_watch(row, database, *options, *STATEMENTS, *arguments)
        print(row, keys, repeat, must_be_clean(row, txns, events), flush=True)
        for other, mechanisms in wrong:
            found = found_by(other)
            print(row, "as", other, found, must_agree(other, repeat), flush=True)
            assert all(found[mechanism] > 0 for mechanism in mechanisms), (other, found)


# PostgreSQL

def test_postgresql_serializable():
    """E13, E14 (the recorder stops at a broken chain; a row whose xmin names another writer than that of its value is a result-set mismatch), K9."""
    path = record("postgresql", "--txns", "60")
    must_satisfy(path)
    must_satisfy(path, "--checker", "king-cobra")
    must_keep_profile(path)
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    assert sum("version_order" in line for line in lines) > 10
    assert sum("versions" in op[-1] for line in lines for op in line.get("ops", []) if isinstance(op[-1], dict)) > 100


def test_postgresql_repeatable_read():
    path = first_violated("ser", "ser", lambda *seed: record("postgresql", "--isolation", "repeatable-read", "--txns", "60", *seed))
    must_satisfy(path, "-l", "si")


def test_postgresql_read_committed():
    """What is wrong is seen by ranges and scans alone."""
    path = first_violated("ser", "ser", lambda *seed: record("postgresql", "--isolation", "read-committed", "--mix", "phantoms", "--txns", "25", "--keys", "8", *seed))
    must_satisfy(path, "-l", "pl-2")
    must_satisfy(without_predicates(path))


# The others: N5, N6, N7

def test_mariadb_serializable():
    path = record("mariadb", "--txns", "60")
    must_satisfy(path, "--checker", "enne")
    must_satisfy(path)
    must_keep_profile(path)


def test_mariadb_repeatable_read():
    path = first_violated("ser", "enne", lambda *seed: record("mariadb", "--isolation", "repeatable-read", "--lost", "0", "--txns", "60", *seed))
    must_satisfy(path, "-l", "pl-2")


def test_sqlite():
    path = record("sqlite", "--txns", "60")
    must_satisfy(path, "--checker", "enne")
    must_satisfy(path, "-l", "pl-ss")
    must_keep_profile(path)


def test_sqlite_read_uncommitted():
    path = first_violated("pl-2", "committed", lambda *seed: record("sqlite", "--isolation", "read-uncommitted", "--txns", "250", *seed))
    must_satisfy(path, "-l", "pl-1")


def test_etcd():
    path = record("etcd", "--txns", "60")
    must_satisfy(path, "--checker", "enne", "-l", "ser,pl-ss")
    must_satisfy(path, "-l", "pl-ss")


# Profiles

def test_profile_postgresql_rc():
    wrong = [("postgresql-rr", ("CR", "FUW"))]
    hold("postgresql-rc", "postgresql", "--isolation", "read-committed", *NETWORK, wrong=wrong)


def test_profile_postgresql_rr():
    wrong = [("postgresql-ser", ("SC",))]
    hold("postgresql-rr", "postgresql", "--isolation", "repeatable-read", *NETWORK, wrong=wrong)


def test_profile_postgresql_ser():
    hold("postgresql-ser", "postgresql", "--isolation", "serializable", *NETWORK)


def test_profile_mariadb_ru():
    wrong = [("mariadb-rc", ("CR",))]
    hold("mariadb-ru", "mariadb", "--isolation", "read-uncommitted", *NETWORK, wrong=wrong)


def test_profile_mariadb_rc():
    wrong = [("mariadb-rr", ("CR",))]
    hold("mariadb-rc", "mariadb", "--isolation", "read-committed", *NETWORK, wrong=wrong)


def test_profile_mariadb_rr():
    wrong = [("mariadb-rr-si", ("FUW",)), ("mariadb-ser", ("ME",))]
    hold("mariadb-rr", "mariadb", "--isolation", "repeatable-read", *NETWORK, wrong=wrong)


def test_profile_mariadb_rr_si():
    hold("mariadb-rr-si", "mariadb", "--isolation", "snapshot-isolation", *NETWORK)


def test_profile_mariadb_ser():
    hold("mariadb-ser", "mariadb", "--isolation", "serializable", *NETWORK)


def test_profile_sqlite_wal():
    hold("sqlite-ser", "sqlite")


def test_profile_sqlite_journal():
    hold("sqlite-ser", "sqlite", "--journal", "delete")


if __name__ == "__main__":
    try:
        globals()[f"test_{sys.argv[1]}"]()
    except AssertionError:
        if os.path.exists(TRACE):
            kept = shutil.copy(TRACE, os.path.join(tempfile.gettempdir(), f"krait-live-{sys.argv[1]}.jsonl"))
            print(f"the trace is kept: {kept}", file=sys.stderr)
        raise
