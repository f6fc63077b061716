"""Random transactions over a few keys: few, so that clients get into each other's way, which is what a check lives on.

Registers r00, r01, ... hold numbers that are written once: a category, which conditions ask for, in the millions, and below it the number of the write. Half of them are there from the
start. Rows r00/1010007, ... come and go between them. Counters n0, n1, ... are only incremented.

A plan is a list of (operation, arguments), the methods of a recorder's client. What a database does not have is left out.
"""

import random

CATEGORIES, MILLION, COUNTERS = 4, 1_000_000, 3

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
}
OPTIONAL = {"insert", "inc", "range", "scan", "update", "lock and write"}


class Workload:
    """The transactions of one client. `made`: rows that came, which the clients tell each other."""

    def __init__(self, options, client, has, made):
        self.random = random.Random(options.seed * 1000 + client)
        self.client, self.made, self.writes = client, made, 0
        self.keys = [f"r{i:02}" for i in range(options.keys)]
        self.shares = {step: share for step, share in MIXES[options.mix].items() if step not in OPTIONAL or step in has}

    @staticmethod
    def initial(keys):
        """What is in the database before the first transaction."""
        return {f"r{i:02}": i % CATEGORIES * MILLION + i for i in range(0, keys, 2)} | {f"n{i}": 0 for i in range(COUNTERS)}

    def value(self):
        self.writes += 1
        return self.random.randrange(CATEGORIES) * MILLION + (self.client + 1) * 10_000 + self.writes

    def step(self, name):
        key = self.random.choice(self.keys)
        return getattr(self, name.replace(" ", "_"))(key)

    def r(self, key): return [("r", key)]
    def w(self, key): return [("w", key, self.value())]
    def insert(self, key): return [("insert", key, self.value())]
    def d_again(self, key): return [("d", key)]
    def read_and_write(self, key): return [("r", key), ("w", key, self.value())]
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

    def condition(self):
        category = self.random.randrange(CATEGORIES)
        return {"key_prefix": "r", "value": {"ge": category * MILLION, "lt": (category + 1) * MILLION}}

    def plan(self):
        shares = self.shares
        if self.random.random() < 0.25:  # one that only reads
            shares = {step: share for step, share in shares.items() if step in ("r", "range", "scan")} or shares
        steps = self.random.choices(list(shares), shares.values(), k=self.random.randrange(1, 5))
        return [operation for step in steps for operation in self.step(step)]
