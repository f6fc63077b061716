"""krait-lab on `sim`, its own small database, whose levels are right or broken by construction: what it records, what krait must say of that, and what is left when it is killed.

    test_lab.py NAME     runs test_NAME
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

from lab import FOLDER, KRAIT, LAB, TRACE, check, main, read, run
from servers import wait_until

SEEDS = int(os.environ.get("KRAIT_LAB_SEEDS", "4"))
KILLS = int(os.environ.get("KRAIT_LAB_KILLS", "6"))


def test_levels():
    """A right level is satisfied whatever the seed."""
    for level in ("pl-ss", "si", "pl-2"):
        for seed in range(SEEDS):
            workload = ("registers", "append", "sets", "ranges", "bank")[(seed + len(level)) % 5]
            run("-d", "sim", "-l", level, "-w", workload, "--txns", "40", "--think", "100", "--seed", str(seed), "--check", "keeps")


# A broken level, and what brings it to light.
BROKEN = {"stale": "registers", "inversion": "registers", "write-skew": "registers:rmw=80", "phantom": "ranges", "lost-update": "registers:rmw=80", "forgetful": "registers:rmw=80", "dirty": "registers:rmw=80"}


def test_broken_levels():
    for level, workload in BROKEN.items():
        found = False
        for seed in range(SEEDS):
            run("-d", "sim", "-l", level, "-w", workload, "--txns", "80", "--think", "100", "--seed", str(seed), "--check", "keeps")
            claims = read()[0]["lab"]["levels"][0]["claims"]
            found = found or check("-l", claims)[claims] == "violated"
            if found:
                break
        assert found, level


def test_inversion():
    """Clocks that differ give an order of serialization, in which nothing is wrong but real time; whatever the operations."""
    for seed, workload in enumerate(("registers:rmw=80", "ranges", "ranges:mix=2", "append", "bank", "files")):
        _, said = run("-d", "sim", "-l", "inversion", "-w", workload, "--txns", "80", "--seed", str(seed), "--check", "ser", "--timeout", "60")
        assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied" and "rules out" not in said, (workload, said)
    _, said = run("-d", "sim", "--client-levels", "inversion:2,pl-ss:2", status=255)
    assert "inversion goes with no other level" in said, said


# Workloads of published benchmarks, each with parameters that bring clients together.
BENCHMARKS = ("blindw:keys=200,mix=2", "emme", "emme:predicate=0,keys=20", "random", "random:dup=30", "smallbank", "twitter", "tpcc", "files")


def test_benchmarks():
    """A right level is satisfied, and what the workload rules out does not happen at a serializable one."""
    for i, workload in enumerate(BENCHMARKS):
        for level in ("pl-ss", ("si", "pl-2")[i % 2]):
            _, said = run("-d", "sim", "-l", level, "-w", workload, "--txns", "50", "--think", "100", "--check", "keeps", "--timeout", "60")
            assert level != "pl-ss" or "rules out" not in said, said


def test_invariants():
    """What the workload itself rules out is told, and only where it happens: each transaction that saw it says so, and the header how many they are. The last transaction is an audit."""
    for workload in ("bank", "smallbank", "twitter", "tpcc", "files"):
        broken = 0
        for seed in range(1, 5):
            _, said = run("-d", "sim", "-l", "pl-2", "-w", workload, "--think", "100", "--txns", "120", "--seed", str(seed))
            header, txns, _ = read()
            assert header["lab"]["broken"] == sum("breaks" in txn for txn in txns)
            assert all(txn["breaks"] == workload and txn["status"] == "committed" for txn in txns if "breaks" in txn)
            assert ("saw what the workload rules out" in said) == (header["lab"]["broken"] > 0), said
            last = max(txns, key=lambda txn: txn["begin"][0])
            assert last["id"] == "c0.120" and {op[0] for op in last["ops"]} <= {"r", "range"} and last["begin"][0] >= max(txn["end"][1] for txn in txns if txn is not last)
            broken += header["lab"]["broken"]
        assert broken, workload
    _, said = run("-d", "sim", "-l", "si", "-w", "bank:predicate=0", "--think", "100")
    assert "rules out" not in said, said


def final_state(workload, clients, *options):
    """What is in the database after a serializable recording, by the order in which it ran; statements fail and programs roll back meanwhile."""
    run("-d", "sim", "-l", "pl-ss", "-w", workload, "--clients", clients, "--connect", "statement=1", "--think", "50", *options)
    header, txns, _ = read()
    assert header["lab"]["broken"] == 0
    state = dict(header["initial"])
    for txn in sorted((txn for txn in txns if "serial" in txn), key=lambda txn: txn["serial"]):
        for op in txn["ops"]:
            if op[0] in ("w", "insert") and op[3 if op[0] == "insert" else 0]:
                state[op[1]] = op[2]
            elif op[0] == "d":
                state.pop(op[1], None)
            elif op[0] == "inc":
                state[op[1]] = op[3]
    rolled_back = [txn for txn in txns if txn["status"] == "aborted" and txn["ops"] and not any(op[0] == "failed" and op[2]["ends"] for op in txn["ops"])]
    assert rolled_back, "a program that refuses, or whose statement fails"
    return state, len([txn for txn in txns if txn["status"] == "committed"])


def rows(state, prefix):
    """By the rest of the key; the low digits of values are numbers, from -49,999,999 on."""
    return {key[len(prefix):]: value % 10**8 - 50 * 10**6 for key, value in state.items() if key.startswith(prefix)}


def test_smallbank():
    state, _ = final_state("smallbank", "4")
    assert sum(rows(state, "c").values()) + sum(rows(state, "s").values()) - sum(rows(state, "f").values()) == 2 * 10 * 1000
    assert len(set(rows(state, "c").values())) > 3 and any(rows(state, "f").values())


def test_twitter():
    state, _ = final_state("twitter", "4")
    followers = [key.split("/")[1] for key in rows(state, "f/")]
    assert followers and {who: followers.count(who) for who in rows(state, "n/")} == {key[2:]: value for key, value in state.items() if key.startswith("n/")}
    assert rows(state, "t/")


def test_tpcc():
    """Consistency conditions of TPC-C, clause 3.3.2, as far as there are such rows: 1 to 4, and 12 of what customers owe."""
    state, _ = final_state("tpcc:audit=1", "4")
    districts, following, orders, waiting, lines = (rows(state, prefix) for prefix in ("d/", "n/", "o/", "q/", "l/"))
    assert state["w"] % 10**8 - 50 * 10**6 == sum(districts.values()) == sum(rows(state, "h/").values()) > 0
    for d, following_order in following.items():
        numbers = sorted(int(key[3:]) for key in orders if key.startswith(d))
        assert numbers == list(range(following_order)), d
        late = sorted(int(key[3:]) for key in waiting if key.startswith(d))
        assert late == list(range(following_order - len(late), following_order)), "the oldest are delivered first"
    assert len(orders) > 20 and set(waiting) == {key for key, order in orders.items() if order % 2 == 0} < set(orders)
    assert all(sum(line.startswith(key + "/") for line in lines) == 5 for key in orders)
    owed = sum(amount % 100 for key, amount in lines.items() if key[:11] not in waiting)
    assert sum(rows(state, "c/").values()) == owed - sum(rows(state, "h/").values())


def test_files():
    """Each entry has an inode, each inode as many entries as links, directories are a tree."""
    state, _ = final_state("files", "4", "--txns", "1500")
    entries = {(int(parent), name): ino for (parent, name), ino in ((key.split("/"), ino) for key, ino in rows(state, "d/").items())}
    inodes = {int(ino): divmod(number + 49999999, 100) for ino, number in rows(state, "i/").items()}
    dirs = {ino: parent for ino, (parent, rest) in inodes.items() if rest % 2}
    assert len(entries) > 10 and len(dirs) > 1
    assert any(op[:1] == ["w"] and op[1].startswith("i/") and (op[2] % 10**8 - 1) // 2 % 50 > 1 for txn in read()[1] for op in txn["ops"]), "a second link"
    for ino, (_, rest) in inodes.items():
        assert list(entries.values()).count(ino) + (ino == 1) == rest // 2, ino
    for (parent, _), ino in entries.items():
        assert ino in inodes and parent in dirs and dirs.get(ino, parent) == parent
    for ino in dirs:
        for _ in dirs:
            ino = dirs[ino]
        assert ino == 1


def trouble(words, *options):
    run("-d", "sim", "-l", "si", "--connect", words, "--txns", "60", "--think", "50", "--check", "keeps", *options)
    return read()[1]


def test_statuses():
    """Each row of the table in docs/lab.md, made on purpose."""
    txns = trouble("statement=10")
    failed = [(txn, op) for txn in txns for op in txn["ops"] if op[0] == "failed" and op[2]["code"] == "statement"]
    assert failed and all(op[2]["ends"] is False for _, op in failed)
    assert any(txn["status"] == "committed" for txn, _ in failed), "goes on"

    for word in ("refused", "deadlock", "timeout", "busy"):
        txns = trouble(f"{word}=10")
        ended = [txn for txn in txns for op in txn["ops"] if op[0] == "failed" and op[2]["code"] == word]
        assert ended and all(txn["status"] == "aborted" and txn["ops"][-1][2]["ends"] for txn in ended), word

    txns = trouble("gone=10")
    ended = [txn for txn in txns if txn["status"] == "aborted" and txn["ops"] and "t" not in (txn["ops"][-1][-1] if isinstance(txn["ops"][-1][-1], dict) else {})]
    assert ended and all(txn["ops"][-1][0] == "w" for txn in ended), "a write without an answer stands there"

    for words, options in (("lost=10", ()), ("", ("--lost", "10"))):
        txns = trouble(words, *options)
        unknown = [txn for txn in txns if txn["status"] == "unknown"]
        assert unknown and all(txn["end"][0] <= txn["end"][1] for txn in unknown)
        assert all("t" in op[-1] for txn in unknown for op in txn["ops"]), "all of it was answered before"

    # commit was not sent, and nothing failed: the database did not end it
    assert all(txn["ops"] and txn["ops"][-1][0] == "failed" or txn["end"][0] > txn["begin"][1] for txn in trouble("refused=5") if txn["status"] == "aborted")


def test_further_addresses():
    """Clients, or transactions, are spread over the addresses of a cluster: here programs that share a file, each of which says that it was there."""
    path = os.path.join(FOLDER.name, "shared.db")
    address = lambda node: f"sh -c 'touch {path}.$0; exec examples/lab/sqlite.py {path}' n{node}"
    for spread in ("clients", "transactions"):
        for node in range(3):
            if os.path.exists(f"{path}.n{node}"):
                os.remove(f"{path}.n{node}")
        run("-d", "exec", "-l", "ser", "-w", "registers:keys=8", "--clients", "5", "--txns", "20", "--connect", address(0), "--nodes", f"{address(1)},{address(2)}", "--spread", spread, "--check", "claim")
        header, txns, _ = read()
        assert (header["lab"]["nodes"], header["lab"]["spread"], header["lab"]["levels"][0]["keeps"]) == (3, spread, None)
        assert {txn.get("s") for txn in txns} == ({"n0c0", "n1c1", "n2c2", "n0c3", "n1c4"} if spread == "clients" else {None})
        assert all(os.path.exists(f"{path}.n{node}") for node in range(3)) and len(txns) == 100


def test_unknown_is_no_abort():
    """Lost answers turned into aborts by hand accuse a right database: so they must not be told as such."""
    run("-d", "sim", "-l", "pl-ss", "--lost", "30", "--think", "50", "--check", "pl-ss")
    header, txns, rest = read()
    wrong = TRACE + ".wrong"
    with open(wrong, "w") as file:
        for line in [header, *txns, *rest]:
            if line.get("status") == "unknown":
                line["status"] = "aborted"
            file.write(json.dumps(line) + "\n")
    assert check("-l", "pl-ss", path=wrong)["pl-ss"] == "violated"


def test_bug_and_crash():
    _, said = run("-d", "sim", "--connect", "bug=2", status=255)
    assert "unexpected answer bug" in said, said
    assert read()[1], "the trace is kept"
    _, said = run("-d", "sim", "--connect", "crash=100", status=255)
    assert "ended by signal 6" in said, said
    header, txns, _ = read()
    assert header["complete"] == "recovered" and len([txn for txn in txns if txn["status"] == "committed"]) >= 50
    assert not os.path.exists(TRACE + ".live")


def test_stall():
    start = time.monotonic()
    _, said = run("-d", "sim", "--connect", "stall=50", "--stall", "1", "--clients", "4", status=255)
    assert "nothing came back" in said and time.monotonic() - start < 30, said
    assert any(txn["status"] == "unknown" for txn in read()[1]), "commit was sent"


def plan_of(*options):
    run("-d", "sim", "--clients", "1", "--txns", "100", "--think", "0", *options)
    return json.dumps([[txn["id"], txn["status"], [[x for x in op if not isinstance(x, dict) or "t" not in x] for op in txn["ops"]]] for txn in read()[1]])


def test_same_plan():
    for workload in ("registers", "registers:zipf=99", "append", "counters", "sets", "bank", "ranges", *BENCHMARKS):
        assert plan_of("-w", workload, "--seed", "7") == plan_of("-w", workload, "--seed", "7"), workload
        assert plan_of("-w", workload, "--seed", "7") != plan_of("-w", workload, "--seed", "8"), workload


def test_values_are_written_once():
    for workload in ("registers", "append", "sets", "ranges", "blindw", "emme", "random", "smallbank", "twitter", "tpcc", "files"):
        run("-d", "sim", "-l", "pl-2", "-w", workload)
        written = [op[2] for txn in read()[1] for op in txn["ops"] if op[0] in ("w", "append", "add") or (op[0] == "insert" and op[3])]
        assert written and len(written) == len(set(written)), workload


def test_hot_keys():
    run("-d", "sim", "-l", "pl-2", "-w", "registers:hot=90,hottest=2,keys=50")
    keys = [op[1] for txn in read()[1] for op in txn["ops"] if op[0] in ("r", "w")]
    assert 0.85 < sum(key in ("r00", "r01") for key in keys) / len(keys) < 0.96 and len(set(keys)) > 40


def test_rows_come_and_go():
    """However long it goes on, `ranges` has a few hundred rows; and none comes back."""
    run("-d", "sim", "-l", "pl-ss", "-w", "ranges", "--clients", "4", "--txns", "3000", "--think", "0")
    state, made = dict(read()[0]["initial"]), []
    for txn in sorted((txn for txn in read()[1] if "serial" in txn), key=lambda txn: txn["serial"]):
        for op in txn["ops"]:
            if op[0] == "w":
                state[op[1]] = op[2]
                made += [op[1]] if "/" in op[1] else []
            elif op[0] == "d":
                state.pop(op[1], None)
        assert sum("/" in key for key in state) <= 256 + 4 * 4, "an oldest row goes with each new one"
    assert len(made) > 600 and len(made) == len(set(made))


def test_lost_for_a_while():
    """The fault `lost`: meanwhile no commit is answered, of which some took effect, and some did not."""
    _, said = run("-d", "sim", "--faults", "lost@300ms,for=300ms", "--duration", "1.2", "--rate", "1000", "--check", "keeps")
    header, txns, _ = read()
    (event,) = header["lab"]["events"]
    begin, end = event["t"]
    assert event["fault"] == "lost" and end - begin >= 300_000_000
    lost = [txn for txn in txns if txn["status"] == "unknown"]
    assert len(lost) > 20 and all(begin <= txn["end"][0] <= end + 50_000_000 for txn in lost), said
    # the event's times lie around the fault, by as long as the machine takes to get to it
    assert not [txn for txn in txns if txn["status"] == "committed" and begin + 100_000_000 < txn["end"][0] and txn["end"][1] < end - 100_000_000]
    assert {"committed"} <= {txn["status"] for txn in txns if txn["begin"][0] > end + 50_000_000}


def test_times_and_sessions():
    run("-d", "sim", "-w", "ranges", "--clients", "5", "--txns", "50")
    _, txns, _ = read()
    assert len(txns) == 250 and {txn["s"] for txn in txns} == {f"c{i}" for i in range(5)}
    last = {}
    for txn in txns:
        times = [*txn["begin"], *(t for op in txn["ops"] for t in op[-1]["t"] if op[0] != "failed"), *txn["end"]]
        if txn["status"] == "committed":
            assert times == sorted(times), txn
        assert txn["begin"][0] >= last.get(txn["s"], 0)
        last[txn["s"]] = txn["end"][1]


def test_places():
    """The database's own order of serialization proves its level, and not that of a level which only claims it."""
    run("-d", "sim", "-w", "ranges")
    assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied"
    run("-d", "sim", "-w", "ranges", "--certificate", "none")
    assert not any("serial" in txn for txn in read()[1])
    run("-d", "sim", "-l", "write-skew", "-w", "registers:rmw=80", "--think", "100")
    assert check("-l", "ser", "--checker", "enne")["ser"] == "violated"


def logged(path):
    """Key and value of each write that the database did; the last line may be one that it is writing now."""
    with open(path) as file:  # read whole: line by line the rest of that one would come as a line of its own
        return {(key, int(value)) for key, value in map(str.split, file.read().split("\n")[:-1])}


def killed(log, delay, *options):
    """A recording that is killed after a while; the trace as it was recovered."""
    for path in (log, TRACE):
        if os.path.exists(path):
            os.remove(path)
    alive, held = os.pipe()  # closed when the last process of the recording is gone
    lab = subprocess.Popen([LAB, "record", "-q", "-d", "sim", "--connect", f"log={log}", "--txns", "100000", "-o", TRACE, *options], stderr=subprocess.DEVNULL, pass_fds=[held])
    os.close(held)
    while not os.path.exists(log) or os.path.getsize(log) == 0:
        time.sleep(0.002)
    time.sleep(delay)
    lab.kill()
    lab.wait()
    os.read(alive, 1)
    os.close(alive)
    done = subprocess.run([LAB, "recover", TRACE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read()


def test_killed():
    """Nothing that the database did is missing, and no line is torn; also where it was being checked on the way."""
    chance, log = random.Random(1), os.path.join(FOLDER.name, "log")
    for i in range(KILLS):
        level, workload = (("pl-ss", "registers"), ("si", "registers:rmw=80"), ("pl-2", "ranges"))[i % 3]
        on_the_way = ("--check", level, "--check-every", "0.05") if i % 2 else ("--fsync", "0.05")
        header, txns, _ = killed(log, chance.random() * 0.2, "-l", level, "-w", workload, "--think", str(chance.choice((0, 20, 200))), *on_the_way)
        assert header["complete"] == "recovered"
        written = {(op[1], op[2]) for txn in txns if txn["status"] != "aborted" for op in txn["ops"] if op[0] == "w"}
        written |= {(op[1], op[2]) for txn in txns if txn["status"] != "aborted" for op in txn["ops"] if op[0] == "insert"}
        written |= {(key, value) for txn in txns if txn["status"] != "aborted" for op in txn["ops"] if op[0] == "update" for key, value in op[3]}
        written |= {(op[1], op[3]) for txn in txns if txn["status"] != "aborted" for op in txn["ops"] if op[0] == "inc" and isinstance(op[3], int)}
        missing = {(key, value) for key, value in logged(log) - written if not key.startswith("n")}
        assert not missing, (i, missing)
        if i % 10 < 3:
            assert check("-l", level, "--timeout", "20")[level] != "violated", (i, level)


def point_of(path):
    """The last point to which a recording that runs is on disk, as it lies there, and which one it is; None: there is none yet."""
    try:
        with open(os.path.join(path + ".live", "synced")) as file:
            return file.read(), os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return None


def next_point(path, last):
    end = time.monotonic() + 60
    while True:
        point = point_of(path)
        if point and point[1] != last:
            return point
        assert time.monotonic() < end
        time.sleep(0.002)


FALSE = b'{"id":"c0.99999","s":"c0","begin":[1,2],"end":[3,4],"status":"committed","ops":[["r","r00",424242,{"t":[2,3]}]]}\n'


def fail_machine(path, to, point, chance):
    """Files as a machine that fails may leave them behind: what was synced, and anything from there on. The ids that were synced."""
    head, *lines = point[0].splitlines(keepends=True)
    offset = json.loads(head)["offset"]
    assert lines.pop() == '{"complete":true}\n' and all("id" in json.loads(line) for line in lines)
    with open(path, "rb") as file:
        trace = file.read()
    synced, later = trace[:offset], trace[offset:]
    assert synced.endswith(b"\n")
    rest = chance.choice((b"", bytes(5000), later[:chance.randrange(len(later) + 1)], FALSE, later.replace(b"committed", b"aborted"), bytes(4096) + later[4096:]))
    os.makedirs(to + ".live")
    with open(to, "wb") as file:
        file.write(synced + rest)
    for name, content in (("synced", point[0].encode()), ("synced.new", point[0][:100].encode()), ("boot", b"00000000-0000-0000-0000-000000000000\n")):
        with open(os.path.join(to + ".live", name), "wb") as file:
            file.write(content)
    for client in os.listdir(path + ".live"):
        if client.isdigit():  # a slot: of some pages, some of another time
            with open(os.path.join(path + ".live", client), "rb") as file:
                slot = bytearray(file.read())
            for page in range(0, len(slot), 4096):
                if chance.random() < 0.5:
                    slot[page:page + 4096] = bytes(min(4096, len(slot) - page))
            with open(os.path.join(to + ".live", client), "wb") as file:
                file.write(slot)
    return {json.loads(line)["id"] for line in (*synced.decode().splitlines()[1:], *lines)}


def written_values(txns):
    """Keys and values that transactions may have written."""
    told = {"w": lambda op: [(op[1], op[2])], "insert": lambda op: [(op[1], op[2])], "update": lambda op: op[3], "inc": lambda op: [(op[1], op[3])]}
    return {(key, value) for txn in txns if txn["status"] != "aborted" for op in txn["ops"] if op[0] in told and isinstance(op[-1], dict) for key, value in told[op[0]](op)} | {(op[1], op[2]) for txn in txns if txn["status"] == "unknown" for op in txn["ops"] if op[0] == "w"}


def test_machine_that_fails():
    """What was synced is all there, each transaction once, and nothing else; what it shows has its writers; and what the database did until one point is told by the next but one."""
    chance, log, broken = random.Random(5), os.path.join(FOLDER.name, "log"), TRACE + ".broken"
    for i in range(KILLS):
        level, workload = (("pl-ss", "registers"), ("si", "registers:rmw=80"), ("pl-2", "ranges:mix=2"))[i % 3]
        if os.path.exists(log):
            os.remove(log)
        # no more a second than a slow disk keeps up with: the more there is, the longer a point takes
        lab = subprocess.Popen([LAB, "record", "-q", "-d", "sim", "-l", level, "-w", workload, "--connect", f"log={log}", "--txns", "1000000", "--rate", "2000", "--think", str(chance.choice((2, 20, 200))), "--fsync", "0.05", "-o", TRACE], stderr=subprocess.DEVNULL)
        try:
            next_point(TRACE, None)
            time.sleep(chance.random() * 0.3)
            done = logged(log) if os.path.exists(log) else set()
            point = point_of(TRACE)
            for _ in range(2):  # the one that is being made now may not have all of it
                point = next_point(TRACE, point[1])
            while json.loads(point[0].splitlines()[0])["offset"] < 4000:  # hardly more than the header yet
                point = next_point(TRACE, point[1])
            ids = fail_machine(TRACE, broken, point, chance)
        finally:
            lab.terminate()
            lab.wait()
        recovered = subprocess.run([LAB, "recover", broken], capture_output=True, text=True)
        assert recovered.returncode == 0 and "the machine has failed since" in recovered.stderr, recovered
        header, txns, _ = read(broken)
        assert header["complete"] == "recovered" and not os.path.exists(broken + ".live")
        assert len(ids) > 1, i
        assert len(txns) == len(ids) and {txn["id"] for txn in txns} == ids, (i, len(txns), len(ids))
        missing = {(key, value) for key, value in done - written_values(txns) if not key.startswith("n")}
        assert not missing, (i, len(done), sorted(missing)[:5])
        reads = {(op[1], op[2]) for txn in txns if txn["status"] == "committed" for op in txn["ops"] if op[0] == "r" and isinstance(op[2], int)}
        assert reads <= written_values(txns) | set(header["initial"].items()), (i, reads - written_values(txns) - set(header["initial"].items()))
        if i < 3:
            assert check("-l", level, "--timeout", "20", path=broken)[level] != "violated", (i, level)


def on_disk(disk, path):
    """What a disk has of a file or folder (disk.c); None: nothing is sure."""
    try:
        with open(os.path.join(disk, str(os.stat(path).st_ino if isinstance(path, str) else path)), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def names_on_disk(disk, folder):
    """Names, each with its inode."""
    return {name: int(inode) for inode, name in (line.split(" ", 1) for line in (on_disk(disk, folder) or b"").decode().splitlines())}


def lose_power(disk, folder, to, i, chance):
    """A recording's files as the disk has them for sure; behind that, and in those of which it has nothing, anything."""
    above = names_on_disk(disk, folder)
    names = names_on_disk(disk, os.path.join(folder, "trace.live"))
    assert {"trace", "trace.live"} <= set(above) and {"synced", "boot", "0"} <= set(names) and "final" not in names, (above, names)
    os.makedirs(os.path.join(to, "trace.live"))
    for name, inode in (("trace", above["trace"]), *((f"trace.live/{name}", inode) for name, inode in names.items() if not name.startswith("."))):
        content = on_disk(disk, inode)
        with open(os.path.join(to, name), "wb") as file:
            if name == "trace":
                with open(os.path.join(folder, "trace"), "rb") as whole:
                    later = whole.read()[len(content):]
                file.write(content + (later, FALSE, bytes(5000), later[:len(later) // 2], b"", chance.randbytes(5000))[i % 6])
            elif name == "trace.live/boot":
                file.write(b"another start\n")
            else:
                file.write(chance.choice((b"", bytes(300_000), FALSE, chance.randbytes(5000))) if content is None else content)


def test_power_that_fails():
    """Of all that the recorder wrote just what it had synced by then is there, by the names that were synced: enough to recover what the database did until one point by the next but one."""
    library = os.path.join(os.path.dirname(KRAIT), "..", "tests", "lab", "disk.so")
    environment = os.environ | {"LD_PRELOAD": library, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    chance = random.Random(6)
    for i in range(KILLS):
        disk, folder, to = (os.path.join(FOLDER.name, f"{name}{i}") for name in ("disk", "power", "lost"))
        path, log = os.path.join(folder, "trace"), os.path.join(FOLDER.name, f"power{i}.log")
        os.mkdir(disk)
        os.mkdir(folder)
        level, workload = (("pl-ss", "registers"), ("si", "registers:rmw=80"), ("pl-2", "ranges:mix=2"))[i % 3]
        lab = subprocess.Popen([LAB, "record", "-q", "-d", "sim", "-l", level, "-w", workload, "--connect", f"log={log}", "--txns", "1000000", "--rate", "2000", "--think", "20", "--fsync", "0.05", "-o", path], stderr=subprocess.DEVNULL, env=environment | {"KRAIT_TEST_DISK": disk})
        try:
            synced = lambda: names_on_disk(disk, path + ".live").get("synced") if os.path.exists(path + ".live") else None
            wait_until(lambda: synced() and names_on_disk(disk, folder), pause=0.002)
            time.sleep(chance.random() * 0.5)
            done = logged(log) if os.path.exists(log) else set()
            for _ in range(2):
                last = synced()
                wait_until(lambda: synced() != last, pause=0.002)
            time.sleep(chance.random() * 0.1)
        finally:
            lab.kill()
            lab.wait()
        lose_power(disk, folder, to, i, chance)
        recovered = subprocess.run([LAB, "recover", os.path.join(to, "trace")], capture_output=True, text=True)
        assert recovered.returncode == 0 and "the machine has failed since" in recovered.stderr, (i, recovered)
        header, txns, _ = read(os.path.join(to, "trace"))
        missing = {(key, value) for key, value in done - written_values(txns) if not key.startswith("n")}
        assert not missing and len(txns) > 1, (i, len(done), sorted(missing)[:5])
        reads = {(op[1], op[2]) for txn in txns if txn["status"] == "committed" for op in txn["ops"] if op[0] == "r" and isinstance(op[2], int)}
        assert reads <= written_values(txns) | set(header["initial"].items()), i
        assert i >= 3 or check("-l", level, "--timeout", "20", path=os.path.join(to, "trace"))[level] != "violated", (i, level)


def test_cut_at_the_point():
    """Later lines are left out where their client has none in the point, too, and however whole they are: what they saw may have lost its writer."""
    run("-d", "sim", "--clients", "2", "--txns", "3")
    with open(TRACE) as file:
        header, *lines = file.read().replace('"complete":true', '"complete":false', 1).splitlines(keepends=True)
    line = {json.loads(text)["id"]: text for text in lines}
    path = TRACE + ".cut"
    os.mkdir(path + ".live")
    kept = header + line["c0.0"] + line["c1.0"]
    for name, text in (("", kept + line["c1.1"] + line["c1.2"] + line["c0.2"]), (".live/synced", f'{{"offset":{len(kept)},"clients":2}}\n' + line["c0.1"] + '{"complete":true}\n'), (".live/boot", "another\n"), (".live/1", "torn")):
        with open(path + name, "w") as file:
            file.write(text)
    done = subprocess.run([LAB, "recover", path], capture_output=True, text=True)
    assert done.returncode == 0 and {txn["id"] for txn in read(path)[1]} == {"c0.0", "c1.0", "c0.1"}, done


def test_machine_that_was_not_synced():
    """Without a point nobody knows what is old and what is not: nothing is made up. Unless they are said to be intact."""
    header, txns, _ = killed(os.path.join(FOLDER.name, "log"), 0.1, "--fsync", "0.05")
    assert header["complete"] == "recovered" and txns, "a kill alone loses nothing, synced or not"
    lab = subprocess.Popen([LAB, "record", "-q", "-d", "sim", "--txns", "100000", "--think", "20", "-o", TRACE], stderr=subprocess.DEVNULL)
    boot = os.path.join(TRACE + ".live", "boot")
    while not os.path.exists(boot) or os.path.getsize(TRACE) < 100_000:
        time.sleep(0.01)
    lab.kill()
    lab.wait()
    with open(boot, "w") as file:
        file.write("another\n")
    for _ in range(2):
        done = subprocess.run([LAB, "recover", TRACE], capture_output=True, text=True)
        assert done.returncode == 255 and "no point to which it was synced" in done.stderr and "--intact" in done.stderr and done.stderr.count("\n") == 1, done
    done = subprocess.run([LAB, "recover", "--intact", TRACE], capture_output=True, text=True)
    assert done.returncode == 0 and read()[0]["complete"] == "recovered" and check("-l", "pl-ss", "--timeout", "20")["pl-ss"] != "violated", done


def test_on_the_way():
    """Prefixes of a right database are right; those of a broken one are found out, end the recording, and are shrunk."""
    _, said = run("-d", "sim", "-l", "pl-ss", "--duration", "1.5", "--rate", "4000", "--check", "pl-ss", "--check-every", "0.3")
    assert "violated" not in said, said
    start = time.monotonic()
    _, said = run("-d", "sim", "-l", "lost-update", "-w", "registers:rmw=80", "--duration", "20", "--rate", "2000", "--check", "si", "--check-every", "0.3", status=1)
    assert "on the way" in said and time.monotonic() - start < 15, said
    assert check("-l", "si", path=TRACE + ".min.jsonl")["si"] == "violated"
    assert len(read(TRACE + ".min.jsonl")[1]) < 20


def test_many_clients():
    _, said = run("-d", "sim", "-l", "pl-2", "-w", "registers:keys=1000", "--clients", "1000", "--txns", "5")
    assert len(read()[1]) == 5000 and len({txn["s"] for txn in read()[1]}) == 1000


def memory_of(txns):
    """The most, in KiB, that any process of a recording needed. Without a certificate: that is brought in in the end. Nor with the address sanitizer's own stacks, of which each
    thread's grow to 5 MiB as calls go round in them, and only then stay so, nor what is freed and kept to catch its use."""
    own = os.environ | {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_stack_use_after_return=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}
    program = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", program, LAB, "record", "-q", "-d", "sim", "-l", "pl-2", "-w", "registers:keys=1000", "--think", "0", "--certificate", "none", "--txns", str(txns), "-o", TRACE], capture_output=True, text=True, check=True, env=own)
    return int(done.stdout)


def test_long_stream():
    """Memory is that of the clients, not of what they have done: ten times as many transactions take no more, though the trace is ten times as long."""
    short, size = memory_of(1000), os.path.getsize(TRACE)
    long = memory_of(10000)
    assert os.path.getsize(TRACE) > 9 * size > 10_000_000 and long < short + 8 * 1024, (short, long, size)


def test_client_levels():
    run("-d", "sim", "--client-levels", "pl-2:3,si:2", "--txns", "20", "--check", "pl-2")
    header, txns, _ = read()
    assert [(share["name"], share["clients"]) for share in header["lab"]["levels"]] == [("pl-2", 3), ("si", 2)] and len(txns) == 100


def test_interrupted():
    """A signal ends the recording; the trace is complete, and nothing else is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        lab = subprocess.Popen([LAB, "record", "-q", "-d", "sim", "--txns", "100000", "-o", TRACE], stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        lab.send_signal(number)
        assert lab.wait(20) == -number
        assert read()[0]["complete"] is True and not os.path.exists(TRACE + ".live")


# Options, and what must be said.
WRONG = {
    (): "expected '--driver DRIVER'",
    ("-d", "simm"): "unknown driver 'simm'; did you mean 'sim'?",
    ("-d", "sim", "-l", "sii"): "driver sim has no level 'sii'; did you mean 'si'?",
    ("-d", "sim", "-w", "register"): "unknown workload 'register'; did you mean 'registers'?",
    ("-d", "sim", "-w", "registers:key=3"): "workload registers has no parameter 'key'; did you mean 'keys'?",
    ("-d", "sim", "-w", "registers:keys=0"): "workload registers: keys: found '0', expected an integer from 1 to 10000",
    ("-d", "sim", "--clients", "1001"): "option '--clients': found '1001', expected an integer from 0 to 1000",
    ("-d", "sim", "--clients", "0"): "option '--clients': found 0, expected 1 to 1000",
    ("-d", "sim", "--clients", "1000", "--txns", "10001"): "expected at most 10000000 together",
    ("-d", "sim", "--duration", "3601"): "option '--duration': found 3601, expected at most 3600",
    ("-d", "sim", "--faults", "kill-server@1s"): "fault kill-server needs a private database that is a server",
    ("-d", "sim", "--faults", "flood@1s"): "option '--faults': found 'flood', expected KIND@TIME",
    ("-d", "sim", "--client-levels", "si:2", "-l", "si"): "option '--client-levels' stands in place of '--level' and '--clients'",
    ("-d", "sim", "--client-levels", "si:2,pl-2:1", "--check", "keeps"): "clients are at several levels",
    ("-d", "sim", "--check", "sorry"): "option '--check': unknown level 'sorry'",
    ("-d", "sim", "--check-every", "1"): "option '--check-every' goes with '--check'",
    ("-d", "sim", "--nodes", "2"): "option '--nodes': driver sim has no private cluster",
    ("-d", "sim", "--connect", "lost=1", "--nodes", "lost=2"): "option '--nodes': driver sim has no further addresses: it is not on a network",
    ("-d", "exec", "--nodes", "a,b"): "option '--nodes': found 'a,b', expected a number, or the first address with '--connect'",
    ("-d", "exec", "--connect", "a", "--nodes", "2"): "option '--nodes': found '2', expected further addresses with '--connect'",
    ("-d", "exec", "--connect", "a", "--nodes", ","): "option '--nodes': found ',', expected ADDRESS,...",
    ("-d", "exec", "--connect", "a", "--nodes", "a,b,c,d,e"): "option '--nodes': expected at most 4 further addresses",
    ("-d", "exec", "--connect", "a", "--nodes", "b", "--check", "keeps"): "what driver exec keeps on several nodes is not known",
    ("-d", "exec", "--connect", "a", "--nodes", "b", "--faults", "partition@1s"): "fault partition needs a private cluster",
    ("-d", "sim", "--spread", "clients"): "option '--spread' goes with '--nodes'",
    ("-d", "sim", "--profile"): "option '--profile': there is none for this level",
    ("-d", "sim", "--connect", "what"): "sim: --connect: found 'what'",
    ("-d", "sim", "--certificate", "some"): "option '--certificate': found 'some', expected auto or none",
}


def test_wrong_options():
    for options, message in WRONG.items():
        _, said = run(*options, status=254)
        assert message in said and said.count("\n") == 1, (options, said)
        assert not os.path.exists(TRACE) and not os.path.exists(TRACE + ".live"), options


def test_a_recording_that_lies_there():
    os.mkdir(TRACE + ".live")
    _, said = run("-d", "sim", status=255)
    assert "krait-lab recover" in said
    done = subprocess.run([LAB, "recover", TRACE], capture_output=True, text=True)
    assert done.returncode == 255 and "cannot be recovered" in done.stderr, done.stderr
    os.rmdir(TRACE + ".live")
    done = subprocess.run([LAB, "recover", TRACE], capture_output=True, text=True)
    assert done.returncode == 255 and "nothing to recover" in done.stderr, done.stderr


def test_cases_by_name():
    """examples/lab/cases.sh runs what it lists, and its scripts are there."""
    cases = lambda *words: subprocess.run(["examples/lab/cases.sh", *words], capture_output=True, text=True, env=os.environ | {"KRAIT_LAB": LAB})
    listed = {line.split()[0]: line.split()[1:] for line in cases().stdout.splitlines()}
    assert {"inversion", "standby", "galera", "predicate-delete"} <= set(listed)
    assert all(os.path.exists(f"examples/lab/{word}") for words in listed.values() for word in words if word.endswith(".sql"))
    drivers = subprocess.run([LAB, "drivers"], capture_output=True, text=True).stdout
    assert all(words[words.index("-d") + 1] in drivers for words in listed.values())
    done = cases("inversion", "-q", "-o", TRACE)
    assert done.returncode == 1 and "ser\tsatisfied" in done.stdout and "pl-ss\tviolated" in done.stdout, done
    assert cases("nothing").returncode == 254


def test_page_tells_all():
    """docs/lab.md names every driver, workload, parameter, fault and option."""
    with open("docs/lab.md") as file:
        page = file.read()
    for command in ("drivers", "workloads", "faults"):
        listed = subprocess.run([LAB, command], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            assert f"`{line.split()[0]}`" in page, (command, line)
    for line in subprocess.run([LAB, "record", "--help"], capture_output=True, text=True, check=True).stdout.split("Options:")[1].splitlines():
        for word in line.split():
            word = word.strip("':,.;")
            if word.startswith("--") and word not in ("--help", "--plugin"):
                assert f"`{word}" in page, word


if __name__ == "__main__":
    main(globals())
