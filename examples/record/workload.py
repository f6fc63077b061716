"""Random transactions over a few keys: few, so that clients get into each other's way, which is what a check lives on.

Registers r00, r01, ... hold numbers: a category, which conditions ask for, and below it the number of the write, so
that each is written once, but for those that --repeat asks for. Half of the registers are there from the start.
Rows r00/20100007, ... come and go between them. Counters n0, n1, ... are only incremented.

A plan is a list of (operation, arguments), the methods of a recorder's client, and how they are run. What a
database does not have is left out.
"""

import collections
import random

CATEGORIES, CATEGORY, COUNTERS = 4, 10_000_000, 3
PER_CLIENT = 100_000  # numbers of writes
MOST, STEPS = PER_CLIENT // 5, 4  # transactions of a client, steps of a transaction
REPEATED = 2  # values of a category that any client writes again and again

Plan = collections.namedtuple("Plan", "operations auto rolls_back")

# Shares of the steps of a transaction.
MIXES = {
    # Everything. A key that was deleted does not come back: docs/recording.md says why.
    "all": {"r": 30, "w": 14, "read and write": 14, "new": 6, "d": 6, "insert": 4, "inc": 8, "range": 12, "scan": 4, "update": 2},
    # Reads and writes of single keys.
    "items": {"r": 50, "w": 25, "read and write": 25},
    # Each row is locked when it is read, new ones come, ranges and scans look for them. Whoever looks at single keys only sees two-phase locking.
    "phantoms": {"lock and write": 45, "new": 15, "range": 30, "scan": 10},
    # Keys are deleted and inserted again.
    "reuse": {"r": 20, "w": 25, "d again": 20, "insert": 15, "range": 20},
    # Statements of every kind, for what they lock and see: also such as need that a row is there, or that none is.
    "statements": {
        "r": 20, "w": 6, "set": 14, "read and set": 10, "lock and set": 5, "share": 4, "d again": 9, "insert": 5,
        "create": 5, "inc": 5, "range": 7, "lock range": 3, "scan": 4, "update": 3, "taken back": 3,
    },
}
ALWAYS = {"r", "w", "d", "d again", "new", "read and write"}


class Workload:
    """The transactions of one client. `made`: rows that came, which the clients tell each other."""

    def __init__(self, options, client, has, made):
        self.random = random.Random(options.seed * 1000 + client)
        self.options, self.client, self.made, self.writes = options, client, made, 0
        self.keys = [f"r{i:02}" for i in range(options.keys)]
        self.shares = {step: share for step, share in MIXES[options.mix].items() if step in ALWAYS or step in has}

    @staticmethod
    def initial(keys):
        """What is in the database before the first transaction."""
        return {f"r{i:02}": i % CATEGORIES * CATEGORY + i for i in range(0, keys, 2)} | {f"n{i}": 0 for i in range(COUNTERS)}

    def value(self):
        category = self.random.randrange(CATEGORIES) * CATEGORY
        if self.happens(self.options.repeat):
            return category + self.random.randrange(REPEATED)
        self.writes += 1
        return category + (self.client + 1) * PER_CLIENT + self.writes

    def step(self, name):
        key = self.random.choice(self.keys)
        return getattr(self, name.replace(" ", "_"))(key)

    def r(self, key): return [("r", key)]
    def w(self, key): return [("w", key, self.value())]
    def set(self, key): return [("set", key, self.value())]
    def insert(self, key): return [("insert", key, self.value())]
    def create(self, key): return [("create", key, self.value())]
    def share(self, key): return [("share", key)]
    def d_again(self, key): return [("d", key)]
    def read_and_write(self, key): return [("r", key), ("w", key, self.value())]
    def read_and_set(self, key): return [("r", key), ("set", key, self.value())]
    def lock_and_set(self, key): return [("lock", key), ("set", key, self.value())]
    def inc(self, key): return [("inc", f"n{self.random.randrange(COUNTERS)}", self.random.randrange(1, 10))]
    def scan(self, key): return [("scan", self.condition())]
    def update(self, key): return [("update", self.condition(), self.value())]

    def lock_and_write(self, key):
        key = self.random.choice(self.keys[::2])  # which are there from the start
        return [("lock", key), ("w", key, self.value())]

    def new(self, key):
        value = self.value()
        self.made.append(f"{key}/{value}")
        return [("w", f"{key}/{value}", value)]

    def d(self, key):
        return [("d", self.random.choice(self.made[-20:] or [key + "/"]))]

    def range(self, key):
        i = self.keys.index(key)
        high = self.keys[i + 4] if i + 4 < len(self.keys) else "s"
        return [("range", key, high, self.random.choice((None, None, 2)))]

    def lock_range(self, key):
        return [("lock_range", *self.range(key)[0][1:])]

    def taken_back(self, key):
        write = self.random.choice((self.w, self.set, self.insert, self.d_again))
        return [("savepoint",), *write(key), ("undo",)]

    def condition(self):
        category = self.random.randrange(CATEGORIES)
        return {"key_prefix": "r", "value": {"ge": category * CATEGORY, "lt": (category + 1) * CATEGORY}}

    def happens(self, percent): return self.random.random() * 100 < percent

    def plan(self):
        shares = self.shares
        if self.happens(25):  # one that only reads
            shares = {step: share for step, share in shares.items() if step in ("r", "range", "scan")} or shares
        steps = self.random.choices(list(shares), shares.values(), k=self.random.randrange(1, STEPS + 1))
        operations = [operation for step in steps for operation in self.step(step)]
        if self.happens(self.options.autocommit):
            statements = [operation for operation in operations if operation[0] not in ("savepoint", "undo")]
            return Plan(statements[-1:], True, False)
        return Plan(operations, False, self.happens(self.options.rollback))
