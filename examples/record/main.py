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

    def __init__(self, options):
        self.options = options
        self.chance = random.Random()

    def pause(self):
        """Without it a transaction is over before another client gets its turn."""
        time.sleep(self.chance.random() * 0.001)

    def loses_commit(self):
        """Whether this commit's answer is to be lost (--lost): a fault, as networks make them."""
        return self.chance.random() * 100 < self.options.lost

    def notes(self):
        """Further fields of the transaction that was just run: what the database tells of it."""
        return {}


def bounded(kind, least, most=None):
    """A type of arguments: numbers that are not too small, nor so large that values would repeat (workload.py) or a server run out of connections."""

    def parse(text):
        value = kind(text)
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text}, expected at least {least}" + (f" and at most {most}" if most is not None else ""))
        return value

    parse.__name__ = "number"
    return parse


def arguments(database):
    parser = argparse.ArgumentParser(description=database.__doc__.strip().split("\n")[0])
    parser.add_argument("--isolation", choices=list(database.LEVELS), default=next(iter(database.LEVELS)), help="default: the first")
    parser.add_argument("--clients", type=bounded(int, 1, 90), default=8, metavar="N", help="sessions at the same time (8)")
    parser.add_argument("--txns", type=bounded(int, 1, 2000), default=250, metavar="N", help="transactions of each (250)")
    parser.add_argument("--keys", type=bounded(int, 1, 10000), default=20, metavar="N", help="registers (20)")
    parser.add_argument("--mix", choices=list(workload.MIXES), default="all", help="what transactions do (all)")
    parser.add_argument("--lost", type=bounded(float, 0, 100), default=database.LOST, metavar="PERCENT", help=f"of the commits, whose answer the client does not live to see ({database.LOST})")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the plans; how they interleave is up to the machine (1)")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", type=argparse.FileType("w"), help="default: standard output")
    return parser.parse_args()


def stop_by(number, _frame):
    sys.exit(f"stopped by {signal.Signals(number).name}")  # by way of `finally`, so that no server stays


def main(database_class):
    options = arguments(database_class)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop_by)
    initial = workload.Workload.initial(options.keys)
    trace = recording.Trace(f"{database_class.NAME}, {options.isolation}", initial)
    database = database_class(options)
    try:
        database.load(initial)
        made = []
        workloads = [workload.Workload(options, i, database.OPERATIONS, made) for i in range(options.clients)]
        trace.transactions = recording.record(database, workloads, options.txns)
        told = database.tell_order(trace)
    finally:
        database.stop()
    trace.write(options.output)
    options.output.flush()
    counts = ", ".join(f"{trace.count(status)} {status}" for status in ("committed", "aborted", "unknown"))
    print(f"{trace.header['name']}: {counts}. {told}", file=sys.stderr)
