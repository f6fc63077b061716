"""krait-lab on real databases. What a database promises must hold whatever the run; what it is known to break shows in most runs, so several are tried.

    test_lab_live.py NAME     runs test_NAME; 77: the driver was not built, or this machine lacks the server
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from lab import FOLDER, LAB, TRACE, TRIES, check, keeps, main, read, reads_only, run, shows, standby_lags
from servers import Servers, wait_until

SQLITE = ("wal", "wal-immediate", "journal")


def test_lab_sqlite():
    for level in SQLITE:
        for workload in ("registers", "append", "ranges", "ranges:mix=2"):
            keeps("sqlite", level, workload)
            assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", (level, workload)
    keeps("sqlite", "read-uncommitted", "registers")
    shows("sqlite", "read-uncommitted", "registers:rmw=80", "pl-2")


def test_lab_sqlite_connect():
    """In a file of the user's: no other table is touched, and none of ours stays."""
    import sqlite3
    path = os.path.join(FOLDER.name, "mine.db")
    with sqlite3.connect(path) as mine:
        mine.execute("CREATE TABLE kv (k)")
        mine.execute("INSERT INTO kv VALUES (7)")
    run("-d", "sqlite", "--connect", path, "--check", "keeps")
    with sqlite3.connect(path) as mine:
        assert mine.execute("SELECT name FROM sqlite_master").fetchall() == [("kv",)] and mine.execute("SELECT k FROM kv").fetchall() == [(7,)]


def keeps_but_for_inserts(driver, level, workload, *options):
    """As `keeps`; but PostgreSQL's SERIALIZABLE does not take an insert that does nothing for a read (traces/bug-postgresql-insert-not-done): without these it must be kept."""
    seen = driver == "postgresql" and level == "ser"
    out, said = run("-d", driver, "-l", level, "-w", workload, "--check", "keeps", "--timeout", "60", *options, status=(0, 1) if seen else 0)
    if "violated" in out:
        header, txns, rest = read()
        assert [line.split("\t")[1] for line in out.splitlines() if "\tviolated" in line] == ["ser"], out
        with open(TRACE + ".read", "w") as file:
            for line in (header, *(txn | {"ops": [op for op in txn["ops"] if op[0] != "insert" or op[3]]} for txn in txns), *rest):
                file.write(json.dumps(line) + "\n")
        assert check("-l", "ser", path=TRACE + ".read")["ser"] == "satisfied", out
    return out, said


def test_lab_postgresql():
    """Each level is kept, in the version orders that the log tells, with the versions that reads name; the mechanisms find nothing."""
    for level, workload in (("ser", "registers"), ("ser", "ranges"), ("ser", "append"), ("rr", "ranges"), ("rr", "sets"), ("rc", "ranges"), ("rc", "registers:locks=50")):
        _, said = keeps_but_for_inserts("postgresql", level, workload, "--txns", "120", "--profile")
        if not workload.startswith(("append", "sets")):
            assert "the database told" in said and "not in the trace" not in said, said
            assert any("versions" in op[-1] for txn in read()[1] for op in txn["ops"]) and any("version_order" in line for line in read()[2])
    shows("postgresql", "rr", "registers:rmw=80", "ser")


def test_lab_postgresql_certificate():
    run("-d", "postgresql", "-w", "registers:rmw=80", "--certificate", "none", "--txns", "60")
    assert not read()[2] and not any("versions" in op[-1] for txn in read()[1] for op in txn["ops"])
    run("-d", "postgresql", "-w", "registers:rmw=80", "--txns", "60", "--check", "ser")
    assert check("-l", "ser", "--checker", "king-cobra")["ser"] == "satisfied"


def written_by(txn):
    """The last value of each key that the transaction wrote; None: it deleted it."""
    values = {}
    for op in txn["ops"]:
        if op[0] == "w" or (op[0] == "insert" and op[3]):
            values[op[1]] = op[2]
        elif op[0] == "inc":
            values[op[1]] = op[3]
        elif op[0] == "d" and op[2]:
            values[op[1]] = None
        elif op[0] == "update":
            values |= dict(op[3])
    return values


def condition(op):
    """Whether a range or scan covers a key, and returns a value of it."""
    if op[0] == "scan":
        low, high = op[1].get("value", {}).get("ge", -2**63), op[1].get("value", {}).get("lt", 2**63)
        return lambda key: key.startswith(op[1]["key_prefix"]), lambda value: value is not None and low <= value < high
    end = op[3][-1][0] if len(op[3]) == op[-1].get("limit") else None
    return lambda key: op[1] <= key < op[2] and (end is None or key <= end), lambda value: value is not None


def wrong_looks(txns, rest, initial, excluded):
    """How many keys of all ranges and scans are otherwise than snapshots and the order of versions have it, by the definition alone; and how many there are. `excluded`: a
    reader's own number counts as not seen."""
    chains = {key: [("", 1, value)] for key, value in initial.items()}
    by_id = {txn["id"]: (txn.get("own"), written_by(txn)) for txn in txns}
    for line in rest:
        chains.setdefault(line["version_order"], []).extend((writer, by_id[writer][0], by_id[writer][1][line["version_order"]]) for writer in line["writers"])
    looked = wrong = 0
    for txn in txns:
        own, mine = txn.get("own"), set()
        for op in txn["ops"]:
            text = op[-1].get("sees") if isinstance(op[-1], dict) else None
            if text is None:
                mine |= set(written_by({"ops": [op]})) if op[0] != "failed" else set()
                continue
            low, high, running = text.split(":")
            running = set(map(int, filter(None, running.split(","))))
            covers, returns = condition(op)
            rows = dict(op[3] if op[0] == "range" else op[2])
            for key, versions in chains.items():
                if covers(key) and key not in mine:
                    seen = [(writer, value) for writer, number, value in versions if (number < int(low) or (number < int(high) and number not in running)) and not (excluded and number == own)]
                    value = seen[-1][1] if seen else None
                    looked, wrong = looked + 1, wrong + (rows.get(key) != (value if returns(value) else None))
    return wrong, looked


def test_lab_postgresql_snapshots():
    """Chains do not break, every writer that a row names is there, and what ranges and scans return is what their snapshots say, also of keys that they do not return. A reader's own
    number must not count: at rc, where it has one before the statement's snapshot is taken, that would be wrong."""
    counted = 0
    for level, workload in (("ser", "ranges"), ("rr", "ranges"), ("rc", "ranges"), ("rc", "ranges:ops=8,readers=0"), ("rr", "ranges:mix=1")):
        _, said = run("-d", "postgresql", "-l", level, "-w", workload, "--check", "keeps", "--timeout", "60")
        header, txns, rest = read()
        looks = re.search(r"show (\d+) keys as they were by these versions, and 0 otherwise", said)
        assert looks and "not in the trace" not in said, said
        wrong, looked = wrong_looks(txns, rest, header["initial"], True)
        assert (wrong, looked) == (0, int(looks[1])) and looked > 500, (level, workload, wrong, looked, said)
        counted += wrong_looks(txns, rest, header["initial"], False)[0] if level == "rc" else 0
        assert all("sees" in op[-1] for txn in txns for op in txn["ops"] if op[0] in ("range", "scan"))
    assert counted > 0, "the reader's own number is of account"


def test_lab_postgresql_faults():
    """Server back, clients go on, and nothing that it did was wrong; unknown is what it is called."""
    for fault in ("kill-client@300ms,every=500ms", "kill-backend@500ms,every=2s", "kill-server@500ms,every=2s", "pause@300ms,every=700ms,for=200ms"):
        _, said = run("-d", "postgresql", "--faults", fault, "--duration", "4", "--rate", "500", "--check", "ser,pl-ss", "--timeout", "60")
        events = read()[0]["lab"]["events"]
        assert events and all(event["t"][0] < event["t"][1] for event in events) and "with faults" in said
        after = [txn for txn in read()[1] if txn["status"] == "committed" and txn["begin"][0] > events[0]["t"][1]]
        assert len(after) > 20, (fault, said)
    _, said = run("-d", "postgresql", "--lost", "10", "--check", "ser,pl-ss")
    assert any(txn["status"] == "unknown" for txn in read()[1])


def test_lab_postgresql_replicas():
    """A hot standby shows what the first node has committed, some time later, and takes no part in SERIALIZABLE: each transaction has a snapshot, and that is all. A client that
    writes at one node and reads at the other does not see what it has written."""
    for spread, said in standby_lags("-d", "postgresql", "--nodes", "2"):
        header, txns, _ = read()
        assert header["lab"]["nodes"] == 2 and header["lab"]["levels"][0]["keeps"] == "si" and "not in the trace" not in said, said
        assert ({txn["s"][:2] for txn in txns} == {"n0", "n1"}) if spread == "clients" else not any("s" in txn for txn in txns)
    assert of_the_lab() == ([], [])


def goes_on(fault, driver, *options):
    """Records with a fault; the trace's transactions, of which some were committed after the fault."""
    _, said = run("-d", driver, "--faults", fault, "--timeout", "60", *options)
    header, txns, _ = read()
    events = header["lab"]["events"]
    after = [txn for txn in txns if txn["status"] == "committed" and txn["begin"][0] > events[0]["t"][1]]
    assert len(after) > 20 and events[0]["fault"] == fault.split("@")[0], (fault, said)
    return txns, [event["t"] for event in events]


# A transaction of eight adds a row that finds no room where there is none: of one that needs little, a slow machine may send too few to need any.
LARGE_ROWS = """-- setup
CREATE TABLE small (k BIGINT PRIMARY KEY, v BIGINT NOT NULL);
INSERT INTO small VALUES (0, 10), (1, 11), (2, 12);
CREATE TABLE large (k BIGINT PRIMARY KEY, v BIGINT NOT NULL, filler {});

-- transaction write weight=7
SELECT v FROM small WHERE k = :key(3);
UPDATE small SET v = :value WHERE k = :key(3);

-- transaction grow
INSERT INTO large VALUES (:value, :value, repeat('x', {})) --> insert large/:value :value
"""


def test_lab_disk_full():
    """Statements that need room are refused while there is none, and say so; nothing else becomes wrong, and clients go on. No mount is left."""
    path = os.path.join(FOLDER.name, "large.sql")
    for driver, code, kind, size in (("postgresql", "53100", "TEXT", 1 << 20), ("mariadb", "1114", "LONGTEXT", 4 << 20)):  # InnoDB's files grow by 4 MiB at a time
        with open(path, "w") as file:
            file.write(LARGE_ROWS.format(kind, size).replace("-- transaction write", "ALTER TABLE large ALTER filler SET STORAGE EXTERNAL;\n\n-- transaction write" if driver == "postgresql" else "-- transaction write"))
        txns, events = goes_on("disk-full@1s,for=4s", driver, "-w", path, "--duration", "10", "--rate", "16", "--check", "ser,pl-ss")
        refused = [(txn, op[2]["t"]) for txn in txns for op in txn["ops"] if op[0] == "failed" and op[2]["code"] == code]
        assert refused and all(txn["status"] == "aborted" for txn, _ in refused), (driver, {op[2]["code"] for txn in txns for op in txn["ops"] if op[0] == "failed"})
        assert all(any(a < t[1] and t[0] < b for a, b in events) for _, t in refused), driver
        assert of_the_lab() == ([], [])
    with open("/proc/mounts") as file:
        assert FOLDER.name not in file.read()
    _, said = run("-d", "sim", "--faults", "disk-full@1s", status=254)
    assert "fault disk-full needs" in said, said


SECOND = 1_000_000_000


def parts(driver, seconds, writes_only, workload):
    """One of three nodes is cut off. `writes_only`: what only reads may be answered there until that is noticed; nothing else may, since the others cannot know of it."""
    txns, ((start, end),) = goes_on(f"partition@1s,for={seconds}s", driver, "--nodes", "3", "-w", workload, "--duration", str(seconds + 6), "--rate", "200", "--check", "keeps")
    within = [txn for txn in txns if start + SECOND // 2 < txn["begin"][0] and txn["end"][1] < start + seconds * SECOND]
    done = {txn["s"][:2] for txn in within if txn["status"] == "committed" and not (writes_only and txn["s"].startswith("n2") and reads_only(txn))}
    assert "n2" not in done and done, done
    assert any(txn["s"].startswith("n2") and txn["status"] != "committed" for txn in txns if start < txn["begin"][0] < end), "it was asked"
    assert any(txn["s"].startswith("n2") and txn["status"] == "committed" for txn in txns if txn["begin"][0] > end), "it is back"
    assert of_the_lab() == ([], [])


def test_lab_partition():
    """Of three nodes of Galera two go on, and what the third is asked is refused, until it is back; snapshot isolation is kept."""
    parts("mariadb", 9, writes_only=True, workload="registers:keys=12")
    _, said = run("-d", "mariadb", "--faults", "partition@1s", status=254)
    assert "fault partition needs a private cluster" in said, said


def test_lab_kill_node():
    """A node is killed and comes back with what it has missed."""
    for driver, nodes, seconds in (("mariadb", "3", 10), ("postgresql", "2", 5)):
        txns, ((start, end),) = goes_on("kill-server@1s,for=2s", driver, "--nodes", nodes, "-w", "registers:keys=12", "--duration", str(seconds), "--rate", "200", "--check", "keeps")
        last = f"n{int(nodes) - 1}c"
        assert any(txn["status"] == "committed" and txn["s"].startswith(last) for txn in txns if txn["begin"][0] > end), "it is back"
        assert not any(txn["status"] == "committed" and txn["s"].startswith(last) and reads_only(txn) for txn in txns if start + SECOND < txn["begin"][0] < start + 2 * SECOND), "it was away"
    assert of_the_lab() == ([], [])


def test_lab_etcd_cluster():
    """Strictly serializable by three members as by one, also while one is killed or cut off, which then answers nothing."""
    for options in ((), ("--spread", "transactions"), ("--lost", "10")):
        _, said = run("-d", "etcd", "--nodes", "3", "-w", "registers:rmw=80", "--txns", "60", "--check", "keeps", "--timeout", "60", *options)
        header, txns, _ = read()
        assert header["lab"]["nodes"] == 3 and header["lab"]["levels"][0]["keeps"] == "pl-ss" and "not in the trace" not in said, said
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied" and all("serial" in txn for txn in txns if txn["status"] == "committed")
        assert ({txn["s"][:2] for txn in txns} == {"n0", "n1", "n2"}) if options[:1] != ("--spread",) else not any("s" in txn for txn in txns)
    parts("etcd", 6, writes_only=False, workload="registers:keys=12")
    assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied"
    txns, ((_, end),) = goes_on("kill-server@1s,for=1s", "etcd", "--nodes", "3", "-w", "ranges", "--duration", "5", "--rate", "200", "--check", "keeps")
    assert any(txn["status"] == "committed" and txn["s"].startswith("n2") for txn in txns if txn["begin"][0] > end), "it is back"
    assert of_the_lab() == ([], [])


def test_lab_mariadb():
    for level, workload in (("ser", "registers"), ("ser", "ranges"), ("rr+si", "ranges"), ("rr", "ranges"), ("rc", "append"), ("ru", "registers")):
        _, said = keeps("mariadb", level, workload, "--profile")
        assert "not in the trace" not in said, said
        if level == "ser":
            assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", workload
    shows("mariadb", "rr", "registers:rmw=80", "pl-2+")
    assert not any("serial" in txn for txn in read()[1]), "below serializable the log is no such order"


def test_lab_mariadb_faults():
    for fault in ("kill-client@300ms,every=500ms", "kill-server@500ms,every=2s", "pause@300ms,every=700ms,for=200ms"):
        _, said = run("-d", "mariadb", "--faults", fault, "--duration", "5", "--rate", "400", "--check", "ser,pl-ss", "--timeout", "60")
        events = read()[0]["lab"]["events"]
        after = [txn for txn in read()[1] if txn["status"] == "committed" and txn["begin"][0] > events[0]["t"][1]]
        assert len(after) > 20, (fault, said)
        assert check("-l", "ser", "--checker", "enne")["ser"] != "violated", fault
    _, said = run("-d", "mariadb", "--lost", "10", "--check", "ser,pl-ss")
    assert any(txn["status"] == "unknown" for txn in read()[1])
    _, said = run("-d", "mariadb", "--faults", "kill-backend@1s", status=254)
    assert "fault kill-backend needs" in said, said


def failed_with(code):
    return sum(op[0] == "failed" and op[2].get("code") == code for txn in read()[1] for op in txn["ops"])


MYROCKS = "mariadb:engine=rocksdb"


def test_lab_myrocks():
    """Tables of MyRocks: REPEATABLE READ is snapshot isolation, and no more; the order of the log decides, which tells each version that reads show."""
    for level, workload in (("rr", "registers:rmw=80,locks=30"), ("rr", "ranges:mix=2"), ("rr", "append"), ("rc", "ranges"), ("rc", "counters")):
        _, said = keeps(MYROCKS, level, workload)
        assert "not in the trace" not in said and (level == "rc" or failed_with("1213")), said
        kept = {"rr": "si", "rc": "pl-2"}[level]
        assert workload == "append" or check("-l", kept, "--checker", "emme")[kept] == "satisfied", (level, workload)
    header, txns, orders = read()
    assert (header["lab"]["driver"], header["name"]) == (MYROCKS, "MariaDB (MyRocks), rc") and len(orders) == 3 and not any("serial" in txn for txn in txns)
    shows(MYROCKS, "rr", "registers:rmw=80", "ser")
    assert check("-l", "pl-2+")["pl-2+"] == "satisfied"
    shows(MYROCKS, "rc", "registers:rmw=80", "pl-2+")
    run("-d", MYROCKS, "-l", "rr", "-w", "examples/lab/partial-snapshot.sql", "--check", "si")  # tables of scripts, too
    assert "aborted" in {txn["status"] for txn in read()[1]}
    for options, message in ((("-l", "ser"), "has no level 'ser'"), (("--nodes", "2"), "has no private cluster"), (("--profile",), "there is none for this level")):
        _, said = run("-d", MYROCKS, *options, status=254)
        assert message in said, said


def test_lab_myrocks_faults():
    """What was committed outlives the server, and the log and the tables agree on it."""
    for fault in ("kill-client@300ms,every=500ms", "kill-server@500ms,every=1s", "cut@500ms,every=500ms"):
        txns, _ = goes_on(fault, MYROCKS, "-w", "registers:rmw=80", "--duration", "4", "--rate", "400", "--lost", "3", "--check", "keeps")
        assert check("-l", "si", "--checker", "emme")["si"] == "satisfied", fault
        assert "unknown" in {txn["status"] for txn in txns}
    assert of_the_lab() == ([], [])


OWN_TABLE = """-- setup
CREATE TABLE t (k INT PRIMARY KEY, v BIGINT);
INSERT INTO t VALUES (0, 10), (1, 11);
-- transaction change
SELECT v FROM t WHERE k = :key(2);
UPDATE t SET v = :value WHERE k = :key;
"""


def test_lab_myrocks_connect():
    """On a server of one's own: with the plug-in tables are made of it, and nothing else is touched; without it nothing is made, InnoDB's neither."""
    run("-d", MYROCKS, "--txns", "5")
    with Servers() as servers:
        folder = servers.mariadb("--skip-networking", "--plugin-load-add=ha_rocksdb.so", "--log-bin=binlog", "--binlog-format=ROW")
        address = f"socket={folder}/s user=root"
        before = servers.mysql(folder, "SHOW DATABASES")
        for _ in range(2):
            keeps(MYROCKS, "rr", "registers:rmw=80", "--connect", address)
            assert check("-l", "si", "--checker", "emme")["si"] == "satisfied" and failed_with("1213")
        assert servers.mysql(folder, "SHOW DATABASES") == before
        path = os.path.join(FOLDER.name, "own.sql")
        with open(path, "w") as file:
            file.write(OWN_TABLE)
        for workload in (path, "registers"):
            lab = subprocess.Popen([LAB, "record", "-q", "-d", MYROCKS, "--connect", address, "-w", workload, "--duration", "3", "-o", TRACE])
            engines = []
            wait_until(lambda: engines.extend(servers.mysql(folder, "SELECT engine FROM information_schema.tables WHERE table_schema = 'krait_lab'")) or engines or lab.poll() is not None)
            assert lab.wait(60) == 0 and set(engines) == {"ROCKSDB"}, (workload, engines)
        folder = servers.mariadb()
        _, said = run("-d", MYROCKS, "--connect", f"socket={folder}/s user=root", status=255)
        assert "Unknown storage engine 'ROCKSDB'" in said and "krait_lab" not in servers.mysql(folder, "SHOW DATABASES"), said


def test_lab_programs():
    """Workloads of published benchmarks: where a database is serializable, what they rule out is not seen; below that, a file comes into a directory that goes."""
    for driver, level, workloads in (("postgresql", "ser", "random smallbank tpcc files"), ("mariadb", "ser", "emme twitter tpcc files"), ("sqlite", "wal", "random:dup=20 blindw:keys=100 smallbank files")):
        for workload in workloads.split():
            _, said = keeps_but_for_inserts(driver, level, workload, "--txns", "60")
            assert read()[0]["lab"]["broken"] == 0 and "rules out" not in said, (driver, workload, said)
    for driver, level in (("postgresql", "rc"), ("mariadb", "rr")):
        broken = 0
        for seed in range(1, 5):
            run("-d", driver, "-l", level, "-w", "files", "--seed", str(seed), "--check", "keeps", "--timeout", "60")
            broken += read()[0]["lab"]["broken"]
            if broken:
                break
        assert broken, driver


# Script of examples/lab/, driver, its level; what krait must say of levels (+ satisfied, - violated), as the definitions have it; what transaction T1 told last, or became.
CASES = (
    ("mdev-26642", "mariadb", "rr", "-pl-2", ["scan", {"key_prefix": ""}, [["0", 10], ["1", 1], ["2", 10]]]),
    ("mdev-26642", "mariadb", "rr+si", "+si", "aborted"),
    ("partial-snapshot", "mariadb", "rr", "+pl-2 -ra -pl-2l -pl-2+", ["r", "w/2", 202]),
    ("partial-snapshot", "mariadb", "rr+si", "+si", "aborted"),
    ("predicate-delete", "postgresql", "rc", "+pl-2 -pl-2l -ra", [["scan", {"key_prefix": ""}, [["1", 10], ["2", 20]]], ["w", "1", 20], ["w", "2", 30]]),
    ("predicate-delete", "postgresql", "rr", "+si", "committed"),
    ("two-rows", "postgresql", "rr", "-pl-2", ["scan", {"key_prefix": ""}, [["1", 2], ["2", 3], ["2", 4]]]),
)


def test_lab_cases():
    """What databases are known for, each in a script of a few lines."""
    for script, driver, level, verdicts, last in CASES:
        run("-d", driver, "-l", level, "-w", f"examples/lab/{script}.sql")
        expected = {word[1:]: "satisfied" if word[0] == "+" else "violated" for word in verdicts.split()}
        assert check("-l", ",".join(expected)) == expected, (script, level)
        (txn,) = (txn for txn in read()[1] if txn["s"] == ("c1" if script == "partial-snapshot" else "c0"))  # clients are in the order of the script
        told = [op[:-1] for op in txn["ops"]]
        assert last == (txn["status"] if isinstance(last, str) else told if isinstance(last[0], list) else told[-1]), (script, level, txn)
        if script == "predicate-delete":  # T2's statement waited for T1, and found no row with 20; at rr it is refused
            (two,) = (txn for txn in read()[1] if txn["s"] == "c1")
            assert (two["status"], two["ops"][0][1 if level == "rc" else 0]) == (("committed", {"key_prefix": "", "value": {"ge": 20, "lt": 21}}) if level == "rc" else ("aborted", "failed")), two


def test_lab_galera():
    """Two nodes that replicate: SERIALIZABLE is snapshot isolation there, also in real time, since who commits is not certified against what it has read."""
    skewed = False
    for seed in range(1, TRIES + 1):
        _, said = run("-d", "mariadb", "--nodes", "2", "-l", "ser", "-w", "registers:keys=12", "--seed", str(seed), "--check", "keeps", "--timeout", "60", timeout=240)
        header, txns, _ = read()
        assert header["lab"]["nodes"] == 2 and {txn["s"][:2] for txn in txns} == {"n0", "n1"} and not any("serial" in txn for txn in txns)
        skewed = check("-l", "ser")["ser"] == "violated"
        if skewed:
            break
    assert skewed
    shows("mariadb", "rr", "registers:rmw=80,keys=12", "pl-2+", "--nodes", "2", "--check", "keeps", "--timeout", "60")
    assert check("-l", "ra,pl-2") == {"ra": "satisfied", "pl-2": "satisfied"}, "an update is lost, and no more"
    run("-d", "mariadb", "--nodes", "2", "-l", "rc", "--spread", "transactions", "--check", "keeps", "--timeout", "60", timeout=240)
    assert not any("s" in txn for txn in read()[1]), "there is no session over nodes"
    assert of_the_lab() == ([], [])
    _, said = run("-d", "mariadb", "--nodes", "2", "--faults", "pause@1s", status=254)
    assert "fault pause needs" in said, said


def test_lab_relay():
    """What happens between clients and server: nothing becomes wrong by it, messages are late while it is said, answers are lost, and clients go on."""
    for driver in ("postgresql", "redis"):
        for fault in ("cut@500ms,every=500ms", "delay@500ms,every=1s,for=400ms", "half@500ms,every=700ms,for=200ms"):
            _, said = run("-d", driver, "--faults", fault, "--duration", "3", "--rate", "400", "--check", "keeps", "--timeout", "60")
            header, txns, _ = read()
            events = [event["t"] for event in header["lab"]["events"]]
            assert events and sum(txn["status"] == "committed" and txn["begin"][0] > events[0][1] for txn in txns) > 20, (driver, fault, said)
            within = [op[-1]["t"] for txn in txns for op in txn["ops"] if op[0] == "r" and any(a + 20_000_000 < op[-1]["t"][0] < op[-1]["t"][1] < b for a, b in events)]
            if fault.startswith("delay"):
                assert within and all(b - a > 40_000_000 for a, b in within), driver
            else:
                assert any(txn["status"] != "committed" for txn in txns), (driver, fault)
    _, said = run("-d", "etcd", "--faults", "cut@1s", status=254)
    assert "fault cut needs a private server with a socket" in said, said


def test_lab_etcd():
    """Strictly serializable in the order of revisions, in which the log puts also what was never answered."""
    for workload in ("registers:rmw=80", "ranges", "append", "files"):
        _, said = run("-d", "etcd", "-w", workload, "--txns", "60", "--check", "keeps", "--timeout", "60")
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied" and "not in the trace" not in said, (workload, said)
        assert read()[0]["lab"]["broken"] == 0 and all("serial" in txn for txn in read()[1] if txn["status"] == "committed")
    _, said = run("-d", "etcd", "--lost", "20", "--check", "keeps", "--timeout", "60")
    unknown = [txn for txn in read()[1] if txn["status"] == "unknown"]
    assert len({"serial" in txn for txn in unknown}) == 2, "some took effect, and some did not"
    _, said = run("-d", "etcd", "--faults", "kill-server@1s", "--duration", "4", "--rate", "200", "--check", "keeps", "--timeout", "60")
    event = read()[0]["lab"]["events"][0]
    assert sum(txn["status"] == "committed" and txn["begin"][0] > event["t"][1] for txn in read()[1]) > 20, said
    _, said = run("-d", "etcd", "--connect", "http://10.1.2.3:2379", status=254)
    assert "--remote" in said, said


def test_lab_redis():
    """Watched keys make it strictly serializable, in the order of tickets; without them reads are of several states."""
    for workload in ("registers:rmw=80", "append", "counters", "smallbank"):
        _, said = run("-d", "redis", "-w", workload, "--check", "keeps", "--timeout", "60")
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", (workload, said)
        assert read()[0]["lab"]["broken"] == 0 and all("serial" in txn for txn in read()[1] if txn["status"] == "committed")
    keeps("redis", "plain", "registers:rmw=80")
    shows("redis", "plain", "registers:rmw=80", "pl-2+")
    run("-d", "redis", "--faults", "kill-server@1s,every=1s,kill-client@500ms,every=700ms", "--duration", "4", "--rate", "500", "--lost", "5", "--check", "keeps", "--timeout", "60")
    assert {txn["status"] for txn in read()[1]} == {"committed", "aborted", "unknown"}
    _, said = run("-d", "redis", "-l", "plain", "-w", "append", status=254)
    assert "at this level" in said, said
    _, said = run("-d", "redis", "--connect", "10.1.2.3:6379", status=254)
    assert "--remote" in said, said


# scripts/g-single.sql as it must be where each statement has a snapshot of its own, written by hand.
READ_SKEW = [[["r", "1", 10], ["r", "2", 18]], [["r", "1", 10], ["r", "2", 20], ["w", "1", 12], ["w", "2", 18]]]
LOCKED = """-- setup
create table test (id int primary key, value int);
insert into test values (1, 10);
-- transaction T1
update test set value = 11 where id = 1;
-- transaction T2
update test set value = 12 where id = 1;
select * from test where id = 1;
-- order T1 T2 T2 T1 T2
"""


def test_lab_script():
    """A script's order is kept, also where a statement waits for another transaction; verdicts are those of the anomaly's definition."""
    for driver, level, found in (("postgresql", "rc", True), ("postgresql", "rr", False), ("mariadb", "rc", True), ("mariadb", "rr", False)):
        run("-d", driver, "-l", level, "-w", "tests/lab/scripts/g-single.sql")
        txns = sorted(read()[1], key=lambda txn: txn["id"])
        assert all(txn["status"] == "committed" for txn in txns)
        if found:
            assert [[op[:-1] for op in txn["ops"]] for txn in txns] == READ_SKEW
        assert check("-l", "pl-2+,pl-2") == {"pl-2+": "violated" if found else "satisfied", "pl-2": "satisfied"}, (driver, level)
    path = os.path.join(FOLDER.name, "locked.sql")
    with open(path, "w") as file:
        file.write(LOCKED)
    run("-d", "postgresql", "-l", "rc", "-w", path)
    one, two = sorted(read()[1], key=lambda txn: txn["id"])
    assert [op[:-1] for op in two["ops"]] == [["w", "1", 12], ["r", "1", 12]] and two["ops"][0][-1]["t"][1] > one["end"][0] > two["ops"][0][-1]["t"][0], "it waited for the commit"


LEVELS = """-- setup
CREATE TABLE t (k INT PRIMARY KEY, v BIGINT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- transaction reader level=rc
SELECT v FROM t WHERE k = 1;
SELECT v FROM t WHERE k = 1;
-- transaction snapshot level=rr
SELECT v FROM t WHERE k = 2;
SELECT v FROM t WHERE k = 1;
-- transaction writer
UPDATE t SET v = 11 WHERE k = 1;
-- order reader snapshot writer writer reader snapshot
"""


def test_lab_script_levels():
    """Each transaction of a script is at its own level: one sees what was committed meanwhile, the other does not."""
    path = os.path.join(FOLDER.name, "levels.sql")
    with open(path, "w") as file:
        file.write(LEVELS)
    for driver in ("postgresql", "mariadb"):
        _, said = run("-d", driver, "-l", "ser" if driver == "postgresql" else "rc", "-w", path, "--check", "pl-2")
        reader, snapshot, writer = sorted(read()[1], key=lambda txn: txn["id"])
        assert [op[2] for op in reader["ops"]] == [10, 11] and [op[2] for op in snapshot["ops"]] == [20, 10], (driver, reader, snapshot)
        assert (reader["level"], snapshot["level"], writer["level"]) == ("rc", "rr", read()[0]["lab"]["levels"][0]["name"])
    _, said = run("-d", "postgresql", "-w", path, "--check", "keeps", status=254)
    assert "at several levels" in said, said


# Recorder in Python, its level; driver, its level; levels of krait that both must satisfy.
AGREE = (
    ("sqlite", "serializable", "sqlite", "wal", "pl-ss,ser,si"),
    ("sqlite", "read-uncommitted", "sqlite", "read-uncommitted", "pl-1"),
    ("postgresql", "serializable", "postgresql", "ser", "ser,si,pl-2"),
    ("postgresql", "repeatable-read", "postgresql", "rr", "si,pl-2+,pl-2"),
    ("postgresql", "read-committed", "postgresql", "rc", "pl-2,pl-1"),
    ("etcd", None, "etcd", "serializable", "ser,pl-ss,si"),
    ("mariadb", "serializable", "mariadb", "ser", "ser,pl-ss,si"),
    ("mariadb", "repeatable-read", "mariadb", "rr", "pl-2,pl-1"),
    ("mariadb", "read-committed", "mariadb", "rc", "pl-2,pl-1"),
    ("mariadb", "read-uncommitted", "mariadb", "ru", "pl-1"),
)


def test_lab_agrees_with_python():
    """The recorders of examples/record/ and krait-lab say the same of a database, with the same mix."""
    path = TRACE + ".python"
    for recorder, isolation, driver, level, levels in AGREE:
        isolated = ["--isolation", isolation] if isolation else []
        done = subprocess.run(["/usr/bin/python3", "-B", f"examples/record/{recorder}.py", "-o", path, "--txns", "60", *isolated], capture_output=True, text=True)
        if done.returncode == 77:
            print(done.stderr)
            continue
        run("-d", driver, "-l", level, "-w", "ranges", "--txns", "60")
        assert check("-l", levels, path=path) == check("-l", levels) == dict.fromkeys(levels.split(","), "satisfied"), (driver, level)


def odbc_postgresql(folder):
    return f"DRIVER=PostgreSQL Unicode;SERVERNAME={folder};DATABASE=postgres;UID=postgres"


def need_odbc(name, package):
    if not shutil.which("odbcinst") or subprocess.run(["odbcinst", "-q", "-d", "-n", name], capture_output=True).returncode != 0:
        print(f"skipped: this machine lacks the ODBC driver {name} (Debian's package {package})")
        sys.exit(77)


def test_lab_odbc():
    """A private PostgreSQL through ODBC: what its levels keep and what they let through is what they do through libpq."""
    need_odbc("PostgreSQL Unicode", "odbc-postgresql")
    with Servers() as servers:
        folder = servers.postgresql()
        address = odbc_postgresql(folder)
        servers.psql(folder, "CREATE TABLE kv (k int)")
        for level, workload in (("serializable", "registers:rmw=80"), ("serializable", "ranges"), ("serializable", "append"), ("serializable", "counters"), ("repeatable-read", "sets"), ("repeatable-read", "ranges:mix=2"), ("read-committed", "ranges"), ("read-uncommitted", "registers"), ("serializable", "bank")):
            keeps("odbc", level, workload, "--connect", address)
            header, txns, _ = read()
            assert header["lab"]["version"].startswith("PostgreSQL 1") and "psqlodbc" in header["lab"]["version"] and folder not in header["lab"]["version"]
            assert sum(txn["status"] == "committed" for txn in txns) > 200 and "unknown" not in {txn["status"] for txn in txns}
            assert header["lab"]["broken"] == 0 or level != "serializable"
        shows("odbc", "repeatable-read", "registers:rmw=80", "ser", "--connect", address)
        assert check("-l", "si")["si"] == "satisfied", "which is what PostgreSQL makes of it"
        codes = {op[2]["code"] for txn in read()[1] for op in txn["ops"] if op[0] == "failed"}
        assert "40001" in codes and codes <= {"40001", "40P01", "23505"}, codes
        shows("odbc", "read-committed", "registers:rmw=80", "pl-2+", "--connect", address)
        run("-d", "odbc", "--connect", address, "--lost", "10", "--check", "ser")
        assert any(txn["status"] == "unknown" for txn in read()[1])
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        assert servers.psql(folder, tables) == ["kv"]
        further = odbc_postgresql(servers.postgresql(copy_of=folder))
        for spread in ("clients", "transactions"):
            _, said = run("-d", "odbc", "-l", "repeatable-read", "--connect", address, "--nodes", further, "--spread", spread, "--txns", "60", "--check", "pl-2", "--timeout", "60")
            assert "node n1 only reads" in said and {txn.get("s", "")[:2] for txn in read()[1]} == ({"n0", "n1"} if spread == "clients" else {""}), said
        assert servers.psql(folder, tables) == ["kv"]
    for wrong in ("SERVER=db.example.org;DRIVER=PostgreSQL Unicode", "DSN=production", "DRIVER=PostgreSQL Unicode", "server = 10.1.2.3", "SERVER=localhost;HOST=10.1.2.3"):
        _, said = run("-d", "odbc", "--connect", wrong, status=254)
        assert "--remote" in said, said
    _, said = run("-d", "odbc", status=254)
    assert "expected --connect" in said, said
    _, said = run("-d", "odbc", "--connect", "DRIVER=nothing;SERVER=localhost", status=255)
    assert "IM002" in said or "01000" in said, said


def test_lab_odbc_mariadb():
    """MariaDB through ODBC keeps what it keeps through its own library; errors amid the rows of an answer, as deadlocks are at SERIALIZABLE, do not make it stand still."""
    need_odbc("MariaDB Unicode", "odbc-mariadb")
    with Servers() as servers:
        folder = servers.mariadb()
        assert servers.mysql(folder, "CREATE DATABASE mine") is not None
        address = f"DRIVER=MariaDB Unicode;SERVER=localhost;SOCKET={folder}/s;UID=root;DATABASE=mine"
        for level, workload in (("serializable", "ranges"), ("serializable", "ranges:readers=0,keys=8"), ("serializable", "append"), ("repeatable-read", "ranges"), ("read-committed", "registers")):
            keeps("odbc", level, workload, "--connect", address, "--stall", "30")
            codes = {op[2]["code"] for txn in read()[1] for op in txn["ops"] if op[0] == "failed"}
            assert "unknown" not in {txn["status"] for txn in read()[1]} and (level != "serializable" or "40001" in codes), (level, workload, codes)


def test_lab_odbc_lost_connections():
    """The server ends all connections: nobody is said to have been refused, and clients connect again."""
    need_odbc("PostgreSQL Unicode", "odbc-postgresql")
    with Servers() as servers:
        folder = servers.postgresql()
        address = odbc_postgresql(folder)
        lab = subprocess.Popen([LAB, "record", "-q", "-d", "odbc", "--connect", address, "--txns", "100000", "--duration", "3", "-o", TRACE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        servers.psql(folder, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
        _, said = lab.communicate(timeout=60)
        assert lab.returncode == 0, said
        gone = [txn for txn in read()[1] if any(op[0] == "failed" and op[2]["code"] in ("57P01", "08S01") for op in txn["ops"])]
        late = max(txn["begin"][0] for txn in read()[1] if txn["status"] == "committed")
        assert not gone and late > min(txn["begin"][0] for txn in read()[1]) + 2 * 10**9, "clients connect again"
        assert check("-l", "ser")["ser"] == "satisfied"


def of_the_lab():
    """Processes and folders that a recording makes."""
    folders = [name for name in os.listdir(FOLDER.name) if name.startswith("krait-lab-")]
    processes = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", errors="replace") as file:
                if f"{FOLDER.name}/krait-lab-" in file.read():
                    processes.append(pid)
        except OSError:
            pass
    return folders, processes


def test_lab_nothing_left():
    """Whatever ends the recorder: no process, no folder."""
    keeps("postgresql", "ser", "registers")
    assert of_the_lab() == ([], [])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for delay in (0.4, 4):  # while the server is made, and while it works
            if os.path.exists(TRACE + ".live"):
                subprocess.run([LAB, "recover", TRACE], capture_output=True)
            lab = subprocess.Popen([LAB, "record", "-q", "-d", "postgresql", "--txns", "100000", "-o", TRACE], stderr=subprocess.DEVNULL)
            time.sleep(delay)
            lab.send_signal(number)
            assert lab.wait(40) == -number
            for _ in range(200):
                if of_the_lab() == ([], []):
                    break
                time.sleep(0.1)
            assert of_the_lab() == ([], []), (number, delay)
    if os.path.exists(TRACE + ".live"):
        subprocess.run([LAB, "recover", TRACE], capture_output=True)


def test_lab_server_that_does_not_stop():
    """One that does not heed SIGTERM is killed after a while, with all that it has started."""
    folder = os.path.join(FOLDER.name, "stubborn")
    os.mkdir(folder, 0o755)
    with open(os.path.join(folder, "redis-server"), "w") as file:
        file.write(f"#!/bin/sh\ntrap '' TERM INT\n{shutil.which('redis-server') or 'redis-server'} \"$@\" &\nwhile :; do wait; sleep 1; done\n")
    os.chmod(file.name, 0o755)
    before, os.environ["PATH"] = os.environ["PATH"], folder + ":" + os.environ["PATH"]
    try:
        start = time.monotonic()
        run("-d", "redis", "--txns", "20", "--check", "keeps")
        assert time.monotonic() - start > 10, "it was given time"
    finally:
        os.environ["PATH"] = before
    assert of_the_lab() == ([], [])


def test_lab_remote():
    """An address beyond this machine is refused before anything is sent."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.2)
        for address in (f"hostaddr=10.1.2.3 port={listener.getsockname()[1]}", "host=db.example.org", "service=production", "postgresql://db.example.org/x", "host=127.0.0.1,10.1.2.3"):
            start = time.monotonic()
            _, said = run("-d", "postgresql", "--connect", address, status=254)
            assert "--remote" in said and time.monotonic() - start < 5, said
    _, said = run("-d", "mariadb", "--connect", "host=10.1.2.3 port=3306", status=254)
    assert "--remote" in said, said
    _, said = run("-d", "postgresql", "--remote", "--connect", "host=db.example.org", "--faults", "kill-client@1s", status=254)
    assert "exclude each other" in said, said


if __name__ == "__main__":
    main(globals())
