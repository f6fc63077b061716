"""krait-lab on real databases. What a database promises must hold whatever the run; what it is known to break shows in most runs, so several are tried.

    test_lab_live.py NAME     runs test_NAME; 77: the driver was not built, or this machine lacks the server
"""

import os
import signal
import socket
import subprocess
import tempfile
import time

from lab import FOLDER, LAB, TRACE, check, keeps, main, read, run, shows

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


def test_lab_postgresql():
    """Each level is kept, in the version orders that the log tells, with the versions that reads name; the mechanisms find nothing."""
    for level, workload in (("ser", "registers"), ("ser", "ranges"), ("ser", "append"), ("rr", "ranges"), ("rr", "sets"), ("rc", "ranges"), ("rc", "registers:locks=50")):
        _, said = keeps("postgresql", level, workload, "--profile")
        if not workload.startswith(("append", "sets")):
            assert "the database told" in said and "not in the trace" not in said, said
            assert any("versions" in op[-1] for txn in read()[1] for op in txn["ops"]) and any("version_order" in line for line in read()[2])
    shows("postgresql", "rr", "registers:rmw=80", "ser")


def test_lab_postgresql_certificate():
    run("-d", "postgresql", "-w", "registers:rmw=80", "--certificate", "none", "--txns", "60")
    assert not read()[2] and not any("versions" in op[-1] for txn in read()[1] for op in txn["ops"])
    run("-d", "postgresql", "-w", "registers:rmw=80", "--txns", "60", "--check", "ser")
    assert check("-l", "ser", "--checker", "king-cobra")["ser"] == "satisfied"


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


# Recorder in Python, its level; driver, its level; levels of krait that both must satisfy.
AGREE = (
    ("sqlite", "serializable", "sqlite", "wal", "pl-ss,ser,si"),
    ("sqlite", "read-uncommitted", "sqlite", "read-uncommitted", "pl-1"),
    ("postgresql", "serializable", "postgresql", "ser", "ser,si,pl-2"),
    ("postgresql", "repeatable-read", "postgresql", "rr", "si,pl-2+,pl-2"),
    ("postgresql", "read-committed", "postgresql", "rc", "pl-2,pl-1"),
    ("mariadb", "serializable", "mariadb", "ser", "ser,pl-ss,si"),
    ("mariadb", "repeatable-read", "mariadb", "rr", "pl-2,pl-1"),
    ("mariadb", "read-committed", "mariadb", "rc", "pl-2,pl-1"),
    ("mariadb", "read-uncommitted", "mariadb", "ru", "pl-1"),
)


def test_lab_agrees_with_python():
    """The recorders of examples/record/ and krait-lab say the same of a database, with the same mix."""
    path = TRACE + ".python"
    for recorder, isolation, driver, level, levels in AGREE:
        done = subprocess.run(["/usr/bin/python3", "-B", f"examples/record/{recorder}.py", "-o", path, "--isolation", isolation, "--txns", "60"], capture_output=True, text=True)
        if done.returncode == 77:
            print(done.stderr)
            continue
        run("-d", driver, "-l", level, "-w", "ranges", "--txns", "60")
        assert check("-l", levels, path=path) == check("-l", levels) == dict.fromkeys(levels.split(","), "satisfied"), (driver, level)


def of_the_lab():
    """Processes and folders that a recording makes."""
    folders = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("krait-lab-")]
    processes = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", errors="replace") as file:
                if "/krait-lab-" in file.read():
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
