"""What recorders of any database share: transactions as clients saw them, and the trace that they make.

A recorder is a `Database` with a `Client` for each session (postgresql.py and its neighbours are four). A client's methods are named after the operations of a trace; each runs
one and returns it as the trace tells it. `record` lets the clients run their transactions at the same time and keeps what they saw, `Trace.write` puts it into a file.

What makes a trace worth checking:

- A transaction is told whatever became of it. The database said that it took no effect, or its commit was never sent: `Aborted`. The commit was sent and no answer came: `Unanswered`,
  which the trace calls unknown. Taking that for an abort is the commonest way to accuse a database of something it did not do.
- Nothing is retried out of sight. A transaction that is run again is another transaction, with other values.
- Every value is written once (workload.py), so that a read tells whose write it saw.
- `begin` and `end` are pairs: read the clock before the call and after it. What the clock says in between is nobody's business.
- One clock for all, which never steps back. Here all clients are threads of one process and share CLOCK_MONOTONIC: `clock_skew` is 0. Clients on several machines have
  several clocks: put into `clock_skew` by how much two of them can differ at worst, or leave `begin` and `end` out.
- What a statement would have written is told even if the statement failed: somebody may have read it.
"""

import json
import threading
import time


class Aborted(Exception):
    """The database said that the transaction took no effect, or its commit was never sent."""


class Unanswered(Exception):
    """Commit was sent and no answer came: it took effect, or it did not, or it will."""


class Trace:
    def __init__(self, name, initial):
        self.header = {"krait": 1, "name": name, "initial": initial, "clock_skew": 0, "time_unit": "ns"}
        self.transactions = []
        self.version_orders = {}  # key: ids of writers, oldest first, if the database tells

    def count(self, status):
        return sum(txn["status"] == status for txn in self.transactions)

    def number(self, places):
        """From (place that the database tells, whether it only read, transaction): `serial`. Who only read at a place comes behind who wrote there, and of these any order will do."""
        for serial, (_, _, txn) in enumerate(sorted(places, key=lambda at: (at[0], at[1], at[2]["end"][1]))):
            txn["serial"] = serial

    def write(self, file):
        orders = [{"version_order": key, "writers": ids} for key, ids in sorted(self.version_orders.items())]
        for line in [self.header, *self.transactions, *orders]:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def run_transaction(client, id, session, plan):
    """Runs `plan`, a list of (operation, arguments), as one transaction, and tells it. An operation that stays empty had no answer."""
    begin, ops, status = None, [], None
    before = time.monotonic_ns()
    try:
        client.begin(id)
        begin = [before, time.monotonic_ns()]
        for name, *arguments in plan:
            before = time.monotonic_ns()
            try:
                ops.append(getattr(client, name)(*arguments))
            except Aborted:
                if name == "w":
                    ops.append(["w", *arguments])
                raise
            client.pause()
        before = time.monotonic_ns()
        client.commit()
        status = "committed"
    except Aborted:
        status = "aborted"
    except Unanswered:
        status = "unknown"
    end = [before, time.monotonic_ns()]
    return {"id": id, "s": session, "begin": begin or end[0], "end": end, "status": status, "ops": [op for op in ops if op]} | client.notes()


def run_session(database, workload, session, count, out):
    client = database.client(session)
    for n in range(count):
        out.append(run_transaction(client, f"{session}.{n}", session, workload.plan()))
    client.close()


def record(database, workloads, count):
    """A session for each workload, `count` transactions each, all at the same time. A failure that is neither `Aborted` nor `Unanswered` is the recorder's, and ends it."""
    sessions, failures = [[] for _ in workloads], []

    def work(i):
        try:
            run_session(database, workloads[i], f"c{i}", count, sessions[i])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(workloads))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return [txn for session in sessions for txn in session]
