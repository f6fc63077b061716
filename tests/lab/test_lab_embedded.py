"""krait-lab on embedded stores, which need no server but their library. Where levels promise something, nothing may be found; what they are known to let through shows in most runs, so several are tried.

    test_lab_embedded.py NAME     runs test_NAME; 77: the driver was not built
"""

import json
import os

from lab import FOLDER, TRACE, TRIES, check, keeps, main, read, run, shows

EVERYTHING = ("registers", "registers:rmw=80", "append", "sets", "counters", "bank", "ranges", "ranges:mix=2")


def test_lmdb():
    """Serializable in real time, in the order that its transactions' numbers give: readers are in it, too, and those that asked to write and did not."""
    for workload in EVERYTHING:
        _, said = keeps("lmdb", "serializable", workload)
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", workload
        assert all("serial" in txn for txn in read()[1] if txn["status"] == "committed"), said
    _, said = run("-d", "lmdb", "--connect", TRACE, status=254)
    assert "private stores only" in said, said

def test_wiredtiger():
    """Write skew at snapshot, which is no more than it claims; dirty writes below that: who has written a key reads another's value of it."""
    for level in ("snapshot", "read-committed", "read-uncommitted"):
        for workload in ("registers", "bank", "ranges", "ranges:mix=2"):
            keeps("wiredtiger", level, workload)
    shows("wiredtiger", "snapshot", "registers:rmw=80", "ser")
    for level in ("read-committed", "read-uncommitted"):
        shows("wiredtiger", level, "registers:rmw=80,keys=6", "pl-2")
        assert own_write_lost(read()[1]), level


def own_write_lost(txns):
    """Some transaction reads a key that it has written, and finds another value."""
    for txn in txns:
        own = {}
        for op in txn["ops"]:
            if op[0] == "r" and op[1] in own and own[op[1]] != op[2]:
                return True
            if op[0] == "w":
                own[op[1]] = op[2]
    return False


def test_rocksdb():
    """Each level keeps what it says and no more. Locks cover single keys, so there are no ranges to plan."""
    for level in ("lock", "snapshot", "plain"):
        for workload in ("registers", "registers:rmw=80,locks=50", "append"):
            keeps("rocksdb", level, workload)
    keeps("rocksdb", "lock", "counters")
    shows("rocksdb", "snapshot", "registers:rmw=80", "ser")
    shows("rocksdb", "plain", "registers:rmw=80", "pl-2+")
    _, said = run("-d", "rocksdb", "-w", "ranges", status=254)
    assert "ranges" in said, said


def written_keys(txn):
    """Of each what it left there, as far as one number tells that; None: something else."""
    left = {}
    for op in txn["ops"]:
        if op[0] in ("w", "append", "add", "inc") or op[0] in ("d", "insert") and op[-2] is True:
            left[op[1]] = op[2] if op[0] in ("w", "insert") else None
    return left


def hold_orders_to_values():
    """Each key's order has who wrote it and took effect, all of them and each once; who read a value names its writer, also by what the value tells itself. The number of reads that do."""
    _, txns, orders = read()
    done = [txn for txn in txns if txn["status"] == "committed"]
    wrote = {txn["id"]: written_keys(txn) for txn in done}
    told = {line["version_order"]: line["writers"] for line in orders}
    for key in {key for keys in wrote.values() for key in keys}:
        assert len(told[key]) == len(set(told[key])) and set(told[key]) == {id for id, keys in wrote.items() if key in keys}, key
    by_value = {(key, value): id for id, keys in wrote.items() for key, value in keys.items() if value is not None}
    named = 0
    for txn in done:
        mine = set()
        for op in txn["ops"]:
            if op[0] == "r" and op[1] not in mine and op[2] is not None:
                writer = op[-1]["versions"][op[1]]
                assert not op[1].startswith("r") or writer == by_value.get((op[1], op[2])), (txn["id"], op)
                named += 1
            mine |= {op[1]} if op[0] != "r" else set()
    return named


ROCKSDB_KEEPS = {"lock": "ser", "snapshot": "si", "plain": "pl-2"}


def test_rocksdb_order():
    """Its log has each key's versions, of commits that came together and of deletes, too: Emme's checker decides by it, and by the versions that reads name."""
    for kind in ("", "optimistic-"):
        for level, kept in ROCKSDB_KEEPS.items():
            for workload in ("registers:rmw=80", "append", "random:dup=0", "counters"):
                _, said = keeps("rocksdb", kind + level, workload)
                assert check("-l", kept, "--checker", "emme")[kept] == "satisfied" and "not in the trace" not in said, (kind, level, workload, said)
                assert workload == "counters" or hold_orders_to_values() > 200, (kind, level, workload)
        shows("rocksdb", kind + "snapshot", "registers:rmw=80", "ser")
        assert check("-l", "ser,si", "--checker", "emme") == {"ser": "violated", "si": "satisfied"}, kind
    keeps("rocksdb", "lock", "bank")  # whose values do not tell who wrote them
    assert check("-l", "ser", "--checker", "emme")["ser"] == "satisfied"
    with open(TRACE) as file:
        lines = list(map(json.loads, file))
    order = next(line for line in lines if "version_order" in line)["writers"]
    order[0], order[-1] = order[-1], order[0]
    with open(TRACE + ".swapped", "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    assert check("-l", "ser", "--checker", "emme", path=TRACE + ".swapped")["ser"] == "violated", "the order counts"
    run("-d", "rocksdb", "--certificate", "none", "--check", "keeps")
    assert not read()[2] and not any("versions" in op[-1] for txn in read()[1] for op in txn["ops"])


def test_firebird():
    """Snapshots let write skew through; what is read and then written at read committed is overwritten."""
    for level, workload in (("stability", "registers:rmw=80"), ("stability", "bank"), ("snapshot", "ranges"), ("snapshot", "append"), ("read-committed", "registers"), ("read-committed", "ranges")):
        keeps("firebird", level, workload)
    shows("firebird", "snapshot", "registers:rmw=80", "ser")
    shows("firebird", "read-committed", "registers:rmw=80", "pl-2+")
    _, said = run("-d", "firebird", "-l", "read-committed", "-w", "append", status=254)
    assert "at this level" in said, said


def test_bdb():
    """Each degree of isolation keeps what it says and no more: also 1, whose reads see what is taken back."""
    for level in ("3", "2", "1"):
        for workload in ("registers", "append", "ranges"):
            keeps("bdb", level, workload)
    for level, broken in (("2", "pl-2+"), ("1", "pl-2")):
        shows("bdb", level, "registers:rmw=80", broken)


def test_files_audit():
    """The metadata of a file system stay right wherever transactions are serializable."""
    for driver, level in (("lmdb", "serializable"), ("bdb", "3"), ("sqlite", "journal")):
        _, said = run("-d", driver, "-l", level, "-w", "files", "--check", "keeps", "--timeout", "60")
        header, txns, _ = read()
        assert header["lab"]["broken"] == 0 and "rules out" not in said and any(txn["status"] == "committed" and len(txn["ops"]) > 4 for txn in txns), said


def test_bdb_snapshot():
    """The library crashes at this level now and then; what was recorded until then keeps the level, too."""
    skewed = False
    for seed in range(TRIES):
        _, said = run("-d", "bdb", "-l", "snapshot", "-w", "registers:rmw=80", "--seed", str(seed), "--think", "500", status=(0, 255))
        verdicts = check("-l", "si,ser")
        assert verdicts["si"] == "satisfied", said
        assert read()[0]["complete"] is True or "ended by signal" in said, said
        skewed = skewed or verdicts["ser"] == "violated"
    assert skewed, "write skew is let through"


# What random reads and writes of single keys must show of each level: + satisfied in every run, - violated in some. By the definitions: SERIALIZABLE stores keep all; of snapshots only write skew is let through; of committed reads all but what pl-2 forbids; dirty writes and dirty reads break that, too.
RANDOM_LEVELS = ("ser", "si", "pl-2+", "pl-2")
RANDOM = {
    "wiredtiger": {"snapshot": "-+++", "read-committed": "----", "read-uncommitted": "----"},
    "bdb": {"3": "++++", "2": "---+", "1": "----"},
    "rocksdb": {"lock": "++++", "snapshot": "-+++", "plain": "---+", "optimistic-lock": "++++", "optimistic-snapshot": "-+++", "optimistic-plain": "---+"},
    "lmdb": {"serializable": "++++"},
    "sqlite": {"wal": "++++", "wal-immediate": "++++", "journal": "++++", "read-uncommitted": "----"},
}


def hold_random_table(driver):
    for level, row in RANDOM[driver].items():
        violated = set()
        for seed in range(1, TRIES + 1):
            run("-d", driver, "-l", level, "-w", "registers:rmw=80,keys=12", "--seed", str(seed), "--think", "500", "--certificate", "none")
            violated |= {name for name, verdict in check("-l", ",".join(RANDOM_LEVELS)).items() if verdict == "violated"}
            if 0 < row.count("-") == len(violated):
                break
        assert [name in violated for name in RANDOM_LEVELS] == [mark == "-" for mark in row], (driver, level, violated)


def test_random_wiredtiger():
    hold_random_table("wiredtiger")


def test_random_bdb():
    hold_random_table("bdb")


def test_random_rocksdb():
    hold_random_table("rocksdb")


def test_random_lmdb():
    hold_random_table("lmdb")


def test_random_sqlite():
    hold_random_table("sqlite")


# What each statement of scripts/forms.sql means, by what is in its table.
FORMS = """[["r","1",10],["r","7",null],["range","2","13",[["2",20],["12",120]]],["range","1","13",[["1",10],["2",20]]],["scan",{"key_prefix":"","value":{"ge":11,"lt":121}},[["2",20],["12",120]]],
["scan",{"key_prefix":"","value":{"ge":20,"lt":21}},[["2",20]]],["scan",{"key_prefix":""},[["1",10],["2",20],["12",120]]],["w","1",11],["r","7",null],["r","2",20],["w","2",18],["r","9",null],["insert","3",30,true],["insert","3",31,false],
["d","3",true],["d","3",false],["r","2",18],["r","12",120],["scan",{"key_prefix":""},[["1",11],["2",18],["12",120]]],["w","4",40],
["update",{"key_prefix":"","value":{"ge":100,"lt":121}},{"set":99},[["12",99]]],["update",{"key_prefix":"","value":{"ge":1000}},{"set":98},[]],
["scan",{"key_prefix":"","value":{"ge":40}},[["12",99],["4",40]]],["w","12",94],["w","4",35],["range","1","3",[["1",11],["2",18]]],["w","1",12],["w","2",19],
["range","2","5",[["2",19],["4",35]]],["d","2",true],["d","4",true],["scan",{"key_prefix":"","value":{"lt":0}},[]],["scan",{"key_prefix":""},[["1",12],["12",94]]],["d","1",true],["d","12",true]]"""


def test_script():
    """Statements mean what their forms say, or what is written behind them; programs go by what they read."""
    _, said = run("-d", "sqlite", "-w", "tests/lab/scripts/forms.sql", "--clients", "1", "--txns", "1", "--check", "ser")
    header, (txn,), _ = read()
    assert header["initial"] == {"1": 10, "2": 20, "12": 120}
    assert [op[:-1] for op in txn["ops"]] == json.loads(FORMS), txn["ops"]
    run("-d", "sqlite", "-l", "wal-immediate", "-w", "tests/lab/scripts/shop.sql", "--txns", "60", "--check", "keeps", "--timeout", "60")
    counts = {name: sum(any(op[0] == name for op in txn["ops"]) for txn in read()[1]) for name in ("w", "scan")}
    assert counts["w"] > 2 * counts["scan"] > 0, counts
    assert all(op[1].startswith(("stock/", "notes/")) for txn in read()[1] for op in txn["ops"] if op[0] in ("r", "w", "insert", "d"))
    for level, status in (("wal", 0), ("wal-immediate", 0), ("journal", 255), ("what", 254)):
        path = os.path.join(FOLDER.name, "level.sql")
        with open(path, "w") as file:
            file.write(f"-- setup\nCREATE TABLE t (k INT PRIMARY KEY, v INT);\n-- transaction a level={level}\nSELECT v FROM t WHERE k = 1;\n")
        _, said = run("-d", "sqlite", "-w", path, "--txns", "5", status=status)
        assert {255: "the file is of another kind of levels", 254: "driver sqlite has no level 'what'"}.get(status, "") in said, said
        assert status or all(txn.get("level", "wal") == level for txn in read()[1])
    _, said = run("-d", "sim", "-w", "tests/lab/scripts/shop.sql", status=254)
    assert "needs operations" in said, said


WRONG_SCRIPTS = {
    "SELECT 1;": "line 1: expected '-- setup' or '-- transaction NAME' before the first statement",
    "-- setup\nCREATE TABLE t (k INT, v INT);": "found no '-- transaction NAME'",
    "-- transaction\nSELECT 1;": "line 1: expected a name behind '-- transaction'",
    "-- transaction a weight=many\nSELECT 1;": "weight=N",
    "-- transaction a\n": "transaction a: found 0 statements",
    "-- transaction a\nSELECT 1;\n-- order a b": "order: found 'b'",
    "-- transaction a\nUPDATE t SET v = 1 WHERE k = 1;": "'UPDATE t SET v = 1 WHERE k = 1': expected one of the simple forms",
    "-- setup\nCREATE TABLE t (k INT, v INT);\n-- transaction a\nDELETE FROM t WHERE v = 1;": "'DELETE FROM t WHERE v = 1': expected RETURNING with key and value",
    "-- setup\nCREATE TABLE t (k INT, v INT);\n-- transaction a\nUPDATE t SET v = v + 1 RETURNING k;": "expected RETURNING with key and value",
    "-- setup\nCREATE TABLE t (k INT, v INT);\n-- transaction a\nUPDATE t SET v = 1 WHERE k >= 1 AND k < 3 RETURNING *;": "expected one of the simple forms",
    "-- transaction a\nSELECT :keys(3);": "found ':keys(3)'",
    "-- transaction a\nSELECT :key;": "found ':key'",
    "-- transaction a\nSELECT 1 --> read x": "found '--> read x'",
    "-- transaction a\nUPDATE t SET v = 1 --> w 1 one": "found '--> w 1 one'",
}


def test_wrong_scripts():
    path = os.path.join(FOLDER.name, "wrong.sql")
    for text, message in WRONG_SCRIPTS.items():
        with open(path, "w") as file:
            file.write(text)
        _, said = run("-d", "sqlite", "-w", path, status=254)
        assert message in said and said.count("\n") == 1, (text, said)
    _, said = run("-d", "sqlite", "-w", "script", status=254)
    assert "expected '-w FILE.sql'" in said, said
    with open(path, "w") as file:
        file.write("-- transaction a\nSELECT nonsense FROM nowhere --> none\n")
    _, said = run("-d", "sqlite", "-w", path, status=255)
    assert "no such table: nowhere" in said, said


def test_exec():
    """A program that speaks lines of JSON: the example for SQLite, and some that do not speak it."""
    program = f"/usr/bin/python3 -B examples/lab/sqlite.py {os.path.join(FOLDER.name, 'exec.db')}"
    for workload in ("registers:rmw=80", "counters", "files"):
        _, said = run("-d", "exec", "--connect", program, "-w", workload, "--txns", "60", "--lost", "5", "--check", "keeps", "--timeout", "60")
        header, txns, _ = read()
        assert {txn["status"] for txn in txns} == {"committed", "aborted", "unknown"} and header["lab"]["broken"] == 0
        assert header["lab"]["version"] == "/usr/bin/python3", "arguments may be secret"
    for program, message in (("cat", "load: an answer without"), ("false", "load: no answer"), ("echo '{\"ok\":false,\"why\":\"odd\",\"message\":\"never\"}' #", "load: never")):
        _, said = run("-d", "exec", "--connect", program, status=255)
        assert message in said, (program, said)
    _, said = run("-d", "exec", status=254)
    assert "expected --connect" in said, said


if __name__ == "__main__":
    main(globals())
