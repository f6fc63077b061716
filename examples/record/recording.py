"""What recorders of any database share: transactions as clients saw them, and the trace that they make.

A recorder is a `Database` with a `Client` for each session (postgresql.py and its neighbours are four). A
client's methods are named after the operations of a trace; each runs one and returns it as the trace tells it.
`record` lets the clients run their transactions at the same time. What they see is told event by event: `Trace`
writes each at once (a stream), or puts them together and writes transactions at the end.

What makes a trace worth checking:

- A transaction is told whatever became of it. The database said that it took no effect, or its commit was never
  sent: aborted. The commit was sent and no answer came: unknown. Taking that for an abort is the commonest way to
  accuse a database of something it did not do.
- Nothing is retried out of sight. A transaction that is run again is another transaction, with other values.
- Every value is written once (workload.py), so that a read tells whose write it saw.
- Times are pairs: read the clock before the call and after it. What it says in between is nobody's business.
- One clock for all, which never steps back. Here all clients are threads of one process and share
  CLOCK_MONOTONIC: `clock_skew` is 0. Clients on several machines have several clocks: put into `clock_skew` by how
  much two of them can differ at worst, or leave times out.
- A statement that failed is told, too, and whether the transaction ended with it: what it locked may matter.
- What a statement would have written is told even if no answer came: somebody may have read it.
"""

import collections
import json
import threading
import time

HEARTBEAT = 0.1  # seconds between two `now` of a session


class Aborted(Exception):
    """The database said no, and the transaction took no effect; or its commit was never sent."""


class Failed(Exception):
    """The database refused the statement; the transaction goes on."""


class Unanswered(Exception):
    """No answer came. Of a commit: it took effect, or it did not, or it will."""


# Operations as they were asked for: what they would have found is not known.
ASKED = {
    "r": lambda key: ["r", key],
    "share": lambda key: ["r", key, {"lock": "shared"}],
    "lock": lambda key: ["r", key, {"lock": "exclusive"}],
    "w": lambda key, value: ["w", key, value],
    "set": lambda key, value: ["w", key, value, {"row": "old"}],
    "d": lambda key: ["d", key],
    "insert": lambda key, value: ["insert", key, value, True],
    "create": lambda key, value: ["insert", key, value, True],
    "inc": lambda key, delta: ["inc", key, delta],
    "range": lambda low, high, limit: ["range", low, high, []],
    "lock_range": lambda low, high, limit: ["range", low, high, [], {"lock": "exclusive"}],
    "scan": lambda where: ["scan", where, []],
    "update": lambda where, value: ["update", where, {"set": value}, []],
}
UNTOLD = ("range", "lock_range", "scan", "update")  # without an answer nobody knows which rows
UNANSWERED = ASKED | {"insert": ASKED["w"], "create": ASKED["w"]} | dict.fromkeys(UNTOLD)


def attributed(op, **attributes):
    """`op` with further attributes, which are its last element."""
    if isinstance(op[-1], dict) and not (op[0] == "update" and len(op) == 3):
        return [*op[:-1], op[-1] | attributes]
    return [*op, attributes]


class Trace:
    """`stream`: the file to which events are written as they happen; None: `write` writes all at the end."""

    def __init__(self, header, stream=None):
        self.header = {"krait": 1, **header, "clock_skew": 0, "time_unit": "ns"}
        self.lock, self.stream = threading.Lock(), stream
        self.transactions, self.statuses, self.open = [], collections.Counter(), {}
        self.version_orders = {}  # key: ids of writers, oldest first, if the database tells

    def begin(self, sessions):
        if self.stream:
            self.put({**self.header, "stream": True, "sessions": [session.name for session in sessions]})

    def put(self, line):
        self.stream.write(json.dumps(line, separators=(",", ":")) + "\n")
        self.stream.flush()

    def tell(self, event):
        """An event of a transaction. `lock` is held."""
        over = "end" in event or "auto" in event
        self.statuses[event.get("status", "committed")] += over
        if self.stream:
            self.put(event)
            return
        told = self.open.setdefault(event["txn"], {"id": event["txn"], "s": event["s"], "ops": []})
        told["ops"] += [event["op"]] if "op" in event else []
        told |= {field: value for field, value in event.items() if field not in ("txn", "s", "op")}
        if over:
            del self.open[event["txn"]]
            self.transactions.append(told | {"ops": [op for op in told.pop("ops") if op]})

    def number(self, places):
        """From (place that the database tells, whether it only read, transaction): `serial`. Who only read at a
        place comes behind who wrote there, and of these any order will do."""
        places = sorted(places, key=lambda at: (at[0], at[1], at[2].get("end", [0, 0])[1] or 0))
        for serial, (_, _, txn) in enumerate(places):
            txn["serial"] = serial

    def write(self, file):
        orders = [{"version_order": key, "writers": ids} for key, ids in sorted(self.version_orders.items())]
        for line in [self.header, *self.transactions, *orders]:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


class Session:
    """One client's part of the trace. `sent`: when that was sent which is not told yet."""

    def __init__(self, trace, name):
        self.trace, self.name, self.sent, self.over = trace, name, None, False

    def send(self):
        with self.trace.lock:
            self.sent = time.monotonic_ns()

    def answered(self):
        return [self.sent, time.monotonic_ns()]

    def tell(self, txn, **event):
        with self.trace.lock:
            self.trace.tell({"txn": txn, "s": self.name, **event})
            self.sent = None

    def now(self, over=False):
        """Nothing that was sent before is still to come: before the statement that waits, or before now."""
        with self.trace.lock:
            if self.trace.stream and not self.over:
                self.over = over
                self.trace.put({"s": self.name, "now": None if over else self.sent or time.monotonic_ns()})


def run_operation(client, session, name, *arguments):
    """Runs one operation; returns it as the trace tells it, or None, and what went wrong."""
    client.may_break = not (client.auto and name in UNTOLD)
    session.send()
    try:
        op, wrong = getattr(client, name)(*arguments), None
    except Unanswered as error:
        asked = UNANSWERED[name]
        return asked and attributed(asked(*arguments), t=[session.sent, None]), error
    except (Aborted, Failed) as error:
        op, wrong = ASKED[name](*arguments), error
    time = {"t": session.answered()} if client.TIMED else {}
    if wrong and not client.auto:
        return ["failed", op, time | {"ends": isinstance(wrong, Aborted)}], wrong
    return attributed(op, **time) if time else op, wrong


def run_undo(client, session, count):
    """Back to the savepoint, after which `count` operations were told."""
    session.send()
    client.undo()
    return ["undo", count, {"t": session.answered()}]


def run_automatic(client, session, id, plan):
    """One statement, which is a transaction of its own."""
    client.enter(id, True)
    op, wrong = run_operation(client, session, *plan.operations[0])
    status = "committed" if not wrong else "unknown" if isinstance(wrong, Unanswered) else "aborted"
    session.tell(id, auto=True, op=op, status=status, **({} if session.trace.stream else client.notes()))


def run_operations(client, session, id, plan):
    """Returns what ended the transaction too early, if anything did. After a failure every other client gives up."""
    told = kept = 0
    for operation in plan.operations:
        if operation[0] == "savepoint":
            client.savepoint()
            kept = told
            continue
        if operation[0] == "undo":
            op, wrong = run_undo(client, session, told - kept), None
        else:
            op, wrong = run_operation(client, session, *operation)
        if op is not None:
            session.tell(id, op=op)
            told += 1
        if wrong and (not isinstance(wrong, Failed) or client.chance.random() < 0.5):
            return wrong
        client.pause()
    return Aborted() if plan.rolls_back else None


def end_transaction(client, session, wrong):
    """The fields that tell its end."""
    session.send()
    if isinstance(wrong, Unanswered):
        return {"end": [session.sent, None], "status": "aborted"}
    try:
        if wrong:
            client.rollback()
        else:
            client.commit()
    except Aborted:
        return {"end": session.answered(), "status": "aborted", "failed": True}
    except Unanswered:
        return {"end": [session.sent, None], "status": "unknown"}
    return {"end": session.answered(), "status": "aborted" if wrong else "committed"}


def run_transaction(client, session, id, plan):
    if plan.auto:
        return run_automatic(client, session, id, plan)
    client.enter(id, False)
    session.send()
    client.begin()
    session.tell(id, begin=session.answered())
    end = end_transaction(client, session, run_operations(client, session, id, plan))
    session.tell(id, **end, **({} if session.trace.stream else client.notes()))


def run_session(database, workload, session, count, failures):
    client = database.client(session.name)
    try:
        for n in range(count):
            if failures:
                break
            run_transaction(client, session, f"{session.name}.{n}", workload.plan())
    finally:
        client.close()  # nobody shall wait for its locks
    session.now(over=True)


def record(database, workloads, count, trace):
    """A session for each workload, `count` transactions each, all at the same time. A failure that no exception
    above tells of is the recorder's, and ends it."""
    sessions, failures, over = [Session(trace, f"c{i}") for i in range(len(workloads))], [], threading.Event()

    def work(i):
        try:
            run_session(database, workloads[i], sessions[i], count, failures)
        except BaseException as failure:
            failures.append(failure)

    def beat():
        while not over.wait(HEARTBEAT):
            for session in sessions:
                session.now()

    trace.begin(sessions)
    heart = threading.Thread(target=beat)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(workloads))]
    for thread in [heart, *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    heart.join()
    if failures:
        raise failures[0]
