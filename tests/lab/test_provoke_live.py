"""`krait-lab provoke` on servers: every cell of their tables in lab/expect/, what was executed, and what krait says of the traces.

    test_provoke_live.py NAME     runs test_NAME; 77: this machine lacks the database
"""

import os
import signal
import subprocess
import time

from lab import FOLDER, KRAIT, LAB, main
from provoked import TRACES, cells, column, hold_to_definitions, is_anomaly, provoke, table_of
from servers import Servers
from test_lab_live import need_odbc, odbc_postgresql, of_the_lab


def executed(run, **wanted):
    for name, text in wanted.items():
        case, level = name.strip("_").split("_")
        assert run[case, level]["executed"] == text, (name, run[case, level])


def test_provoke_postgresql():
    run = column("postgresql")
    executed(run, _17_rc="W1x1 W1x3 C1 W2x2 C2", _07_rr="W1x1 W2y1 R2x0 C2 R1y0 C1")
    # who was refused leaves nothing; the other one's values stand
    assert len(run["21a", "rr"]["survivors"]) == 1 and run["21a", "rr"]["serial"] == run["21a", "rr"]["survivors"]
    assert run["26", "rr"]["letters"].startswith("D")


def test_provoke_mariadb():
    run = column("mariadb")
    executed(run, _33d_ser="R1x0 R1y0 C1 W2x1 C2 R3x1 W3y1 C3")


def test_provoke_myrocks():
    """Snapshots, of which write skew is all that comes through at rr; a snapshot is taken by the first statement, so who writes first has not missed what it waited for."""
    run = column("mariadb:engine=rocksdb")
    executed(run, _31_rr="R1x0 R2y0 W2x1 W1y1 C1 C2", _05_rr="W1x1 R1x1 C1 W2x2 C2")
    anomalies, like = table_of("mariadb:engine=rocksdb"), table_of("postgresql")
    for level in ("rc", "rr"):  # what comes through is what comes through another database's snapshots
        assert [case for case in anomalies[1] if anomalies[1][case][anomalies[0].index(level)] == "A"] == [case for case in like[1] if like[1][case][like[0].index(level)] == "A"], level


def test_provoke_odbc():
    """PostgreSQL through another library, in other statements, by silence: what is known of it comes out again."""
    need_odbc("PostgreSQL Unicode", "odbc-postgresql")
    names, (levels, rows) = {"serializable": "ser", "repeatable-read": "rr", "read-committed": "rc"}, table_of("postgresql")
    with Servers() as servers:
        run = cells("-d", "odbc", "--connect", odbc_postgresql(servers.postgresql()), "-l", ",".join(names))
    hold_to_definitions(run, named=True)
    for cell in run:
        assert cell["letter"] == rows[cell["case"]][levels.index(names[cell["level"]])], cell
    assert len(run) == 3 * len(rows)


def test_provoke_firebird():
    """Snapshots let write skew through, and so does table stability, its strictest level: the lock on a table is taken at first use, the snapshot before that, so who has waited for the lock reads what was there before."""
    run = column("firebird", "--grace", "250", seconds=200)
    skews = [run[case, "stability"] for case in ("06", "07")]
    executed(run, _06_stability="W1x1 R1y0 C1 W2y1 R2x0 C2", _07_stability="W1x1 R1y0 C1 W2y1 R2x0 C2")
    done = subprocess.run([KRAIT, "check", "-l", "ser,si", "--order", "none", "--explain", *(cell["trace"] for cell in skews)], capture_output=True, text=True)
    verdicts = [line.split("\t")[1:4] for line in done.stdout.splitlines() if line.split("\t")[0] in [cell["trace"] for cell in skews]]
    assert [verdict[:2] for verdict in verdicts] == 2 * [["ser", "violated"], ["si", "satisfied"]] and done.stdout.count("write skew") >= 2, done.stdout


def test_provoke_redis():
    column("redis")


def test_provoke_etcd():
    """Whatever is sent, each transaction is one request."""
    run = cells("-d", "etcd")
    hold_to_definitions([cell for cell in run if cell["letter"] != "-"])
    assert not any(is_anomaly(cell) or cell["letter"][0] in "EX" for cell in run)


def test_provoke_sixty_cycles():
    """Random cycles are never let through at the strictest levels, and come to be where it is known that they do."""
    for driver, strict, weak in (("postgresql", "ser", ("rr", "rc")), ("mariadb", "ser", ("rr",))):
        run = cells("-d", driver, "-l", ",".join((strict, *weak)), "--cycles", "60", "--edges", "3..5", "--objects", "3", "--seed", "7")
        hold_to_definitions(run)
        for level in (strict, *weak):
            some = any(is_anomaly(cell) for cell in run if cell["level"] == level)
            assert some == (level != strict), (driver, level)


def test_provoke_spread():
    """Objects in partitions of their own: snapshots and locks are of rows, so that all is as it was, and nothing is let through at SERIALIZABLE."""
    for driver in ("postgresql", "mariadb"):
        levels, rows = table_of(driver)
        run = cells("-d", driver, "-l", ",".join(levels), "--spread")
        hold_to_definitions(run, named=True)
        assert not any(is_anomaly(cell) for cell in run if cell["level"] == "ser")
        different = {(cell["case"], cell["level"]): cell["letter"] for cell in run if cell["letter"] != rows[cell["case"]][levels.index(cell["level"])]}
        assert not any(level != "ser" for _, level in different), different
    provoke("-d", "sqlite", "--spread", "31", status=254)


def test_provoke_other_results():
    """The column of a level fed with another level's letters: just the cells that differ are told."""
    levels, rows = table_of("postgresql")
    path, rc, rr = os.path.join(FOLDER.name, "table.tsv"), levels.index("rc"), levels.index("rr")
    with open(path, "w") as file:
        file.write("case\trr\n" + "".join(f"{case}\t{letters[rc]}\n" for case, letters in rows.items()))
    _, said = provoke("-d", "postgresql", "-l", "rr", "--expect", path, status=1)
    told = {line.split()[0] for line in said.splitlines() if " expected " in line}
    assert told == {case for case, letters in rows.items() if letters[rc] != letters[rr]}, said


def test_provoke_claims():
    provoke("-d", "postgresql", "-l", "all", "--claim")
    provoke("-d", "mariadb", "-l", "all", "--claim")


def test_provoke_nothing_left():
    """Whatever ends it: no process, no folder."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for delay in (0.4, 3):  # while the server is made, and while it works
            lab = subprocess.Popen([LAB, "provoke", "-d", "postgresql", "-l", "all", "-o", TRACES], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            lab.send_signal(number)
            lab.wait(40)
            for _ in range(200):
                left = of_the_lab()
                if left == ([], []):
                    break
                time.sleep(0.1)
            assert left == ([], []), (number, delay, left)


if __name__ == "__main__":
    main(globals())
