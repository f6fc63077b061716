"""The command line of all recorders, and the course of a recording."""

import argparse
import random
import signal
import sys
import time

import recording
import workload


class Client:
    """What a client of any database has; postgresql.py and its neighbours add the operations."""

    TIMED = True  # operations are asked and answered one by one

    def __init__(self, options):
        self.options = options
        self.chance = random.Random()

    def enter(self, id, auto):
        """A transaction is about to begin, or a statement that is one by itself."""
        self.id, self.auto = id, auto

    def begin(self):
        self.command("BEGIN")

    def savepoint(self):
        self.command("SAVEPOINT s")

    def undo(self):
        self.command("ROLLBACK TO SAVEPOINT s")

    def rollback(self):
        self.command("ROLLBACK")

    def pause(self):
        """Without it a transaction is over before another client gets its turn."""
        time.sleep(self.chance.random() * 0.001)

    def loses_commit(self):
        """Whether this commit's answer is to be lost (--lost): a fault, as networks make them."""
        return self.chance.random() * 100 < self.options.lost

    def breaks(self):
        """Whether the connection is to be lost while this statement runs (--killed)."""
        return self.may_break and self.chance.random() * 100 < self.options.killed

    def notes(self):
        """Further fields of the transaction that was just run: what the database tells of it."""
        return {}


def bounded(kind, least, most=None):
    """A type of arguments: numbers that are not too small, nor so large that values would repeat (workload.py) or
    a server run out of connections."""

    def parse(text):
        value = kind(text)
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text}, expected at least {least}" + (f" and at most {most}" if most is not None else ""))
        return value

    parse.__name__ = "number"
    return parse


def read_of(key, rows, **attributes):
    """What a read of one key tells. Two rows of it are a range that holds one key."""
    if len(rows) > 1:
        op = ["range", key, key + "\0", [[key, value] for value in rows]]
    else:
        op = ["r", key, rows[0] if rows else None]
    return [*op, attributes] if attributes else op


def arguments(database):
    percent = bounded(float, 0, 100)
    parser = argparse.ArgumentParser(description=database.__doc__.strip().split("\n")[0])
    add = parser.add_argument
    levels = list(database.LEVELS)
    add("--isolation", choices=levels, default=levels[0], help="default: the first")
    add("--clients", type=bounded(int, 1, 90), default=8, metavar="N", help="sessions at the same time (8)")
    most = workload.MOST
    add("--txns", type=bounded(int, 1, most), default=250, metavar="N", help="transactions of each (250)")
    add("--keys", type=bounded(int, 1, 10000), default=20, metavar="N", help="registers (20)")
    add("--mix", choices=list(workload.MIXES), default="all", help="what transactions do (all)")
    add("--repeat", type=percent, default=0, metavar="PERCENT", help="of the values, which others write, too (0)")
    add("--lost", type=percent, default=database.LOST, metavar="PERCENT",
        help=f"of the commits, whose answer the client does not live to see ({database.LOST})")
    add("--seed", type=int, default=1, metavar="N",
        help="of the plans; how they interleave is up to the machine (1)")
    add("-o", "--output", default="-", metavar="FILE", type=argparse.FileType("w"),
        help="default: standard output")
    parser.set_defaults(autocommit=0, rollback=0, killed=0, stream=False)
    database.add_arguments(parser)
    return parser.parse_args()


def add_statement_arguments(parser):
    """Of databases whose transactions run statement by statement."""
    share = {"type": bounded(float, 0, 100), "default": 0, "metavar": "PERCENT"}
    parser.add_argument("--autocommit", **share, help="of the transactions, which are one statement (0)")
    parser.add_argument("--rollback", **share, help="of the transactions, which their client gives up (0)")
    parser.add_argument("--killed", **share, help="of the statements, whose connection breaks, if there is one (0)")
    parser.add_argument("--stream", action="store_true", help="tell all when it happens, for krait watch")


def stop_by(number, _frame):
    sys.exit(f"stopped by {signal.Signals(number).name}")  # by way of `finally`, so that no server stays


def main(database_class):
    options = arguments(database_class)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop_by)
    initial = workload.Workload.initial(options.keys)
    row = database_class.LEVELS[options.isolation]
    header = {"name": f"{database_class.NAME}, {options.isolation}", "initial": initial}
    header |= {"profile": row} if row else {}
    database = database_class(options)
    try:
        database.load(initial)
        made, told = [], ""
        workloads = [workload.Workload(options, i, database.OPERATIONS, made) for i in range(options.clients)]
        trace = recording.Trace(header, options.output if options.stream else None)
        recording.record(database, workloads, options.txns, trace)
        if not options.stream:
            told = ". " + database.tell_order(trace)
            trace.write(options.output)
            options.output.flush()
    finally:
        database.stop()
    counts = ", ".join(f"{trace.statuses[status]} {status}" for status in ("committed", "aborted", "unknown"))
    print(f"{header['name']}: {counts}{told}", file=sys.stderr)
