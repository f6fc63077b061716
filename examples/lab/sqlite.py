#!/usr/bin/python3
"""SQLite for `krait-lab record -d exec --connect 'examples/lab/sqlite.py FILE'`: a line of JSON in, a line out. To be copied for other databases.

    {"f": "load", "rows": [["r00", 1]]}       makes the tables anew
    {"f": "begin", "level": "ser", "id": "c0.1", "only_reads": false}, {"f": "commit"}, {"f": "rollback"}
    {"f": "r", "k": "r00"}                    {"ok": true, "v": 1}, or null where there is nothing
    {"f": "w", "k": "r00", "v": 2}            {"ok": true}
    {"f": "d", "k": "r00"}                    {"ok": true, "done": false}; also insert
    {"f": "range", "k": "r", "high": "s"}     {"ok": true, "v": [["r00", 2]]}, perhaps with "limit"
    and what cannot be done                   {"ok": false, "why": "refused", "code": "517", "message": "..."}
"""

import json
import sqlite3
import sys


class Store:
    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None, timeout=0.2)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = OFF")

    def load(self, rows, **_):
        self.db.executescript("DROP TABLE IF EXISTS kv; CREATE TABLE kv (k TEXT PRIMARY KEY, v INTEGER)")
        self.db.executemany("INSERT INTO kv VALUES (?, ?)", rows)

    def begin(self, **_):
        self.db.execute("BEGIN")

    def commit(self):
        self.db.execute("COMMIT")

    def rollback(self):
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def r(self, k, **_):
        row = self.db.execute("SELECT v FROM kv WHERE k = ?", (k,)).fetchone()
        return {"v": row[0] if row else None}

    def w(self, k, v):
        self.db.execute("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", (k, v))

    def d(self, k):
        return {"done": self.db.execute("DELETE FROM kv WHERE k = ?", (k,)).rowcount > 0}

    def insert(self, k, v):
        return {"done": self.db.execute("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO NOTHING", (k, v)).rowcount > 0}

    def inc(self, k, v):
        return {"v": self.db.execute("UPDATE kv SET v = v + ? WHERE k = ? RETURNING v", (v, k)).fetchone()[0]}

    def range(self, k, high, limit=-1):
        return {"v": self.db.execute("SELECT k, v FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?", (k, high, limit)).fetchall()}


def main():
    store = Store(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": True, **(getattr(store, request.pop("f"))(**request) or {})}
        except sqlite3.OperationalError as error:
            store.rollback()
            answer = {"ok": False, "why": "busy", "message": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
