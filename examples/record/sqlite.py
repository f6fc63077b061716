#!/usr/bin/python3
"""Records SQLite: examples/record/sqlite.py -o trace.jsonl

White-box: SQLite tells no order, so each transaction draws a ticket: a row of which it takes the next number when it writes, or reads the last one when it only reads. A writer has the whole file to
itself, and a reader sees one state of it (or, without a write-ahead log, keeps writers out), so tickets are an order of serialization: they give `serial`. Any database can be made to tell its order that way,
where it promises serializability; where transactions would otherwise run side by side, the ticket is what they wait for, and that database is another one.

read-uncommitted is SQLite's shared cache with that pragma: readers see what others have not committed.

A commit's answer cannot be lost: there is no network. Python has the module; nothing need be installed.
"""

import os
import shutil
import sqlite3
import tempfile

from main import Client, add_statement_arguments, main, read_of
from recording import Aborted, Failed

TABLES = """
CREATE TABLE kv (k TEXT PRIMARY KEY, v INTEGER NOT NULL) WITHOUT ROWID;  -- TEXT compares bytes, as the trace does
CREATE TABLE ticket (n INTEGER NOT NULL);
INSERT INTO ticket VALUES (0);
"""


class SqliteClient(Client):
    def __init__(self, options, connect):
        super().__init__(options)
        self.connection = connect()
        self.draws_tickets = options.isolation == "serializable" and not options.stream

    def run(self, sql, *arguments):
        """Locked, busy and a key that is there are the only errors that a right program meets. Most leave the
        transaction open."""
        try:
            return self.connection.execute(sql, arguments).fetchall()
        except (sqlite3.OperationalError, sqlite3.IntegrityError) as error:
            raise (Failed if self.connection.in_transaction else Aborted) from error

    def enter(self, id, auto):
        super().enter(id, auto)
        self.ticket, self.wrote = None, False

    def command(self, sql):
        self.connection.execute(sql)

    def rollback(self):
        if self.connection.in_transaction:
            super().rollback()

    def write(self, sql, *arguments):
        self.wrote = True
        return self.run(sql, *arguments)

    def commit(self):
        """COMMIT that finds the file busy leaves the transaction open."""
        try:
            if self.draws_tickets:
                draw = "UPDATE ticket SET n = n + 1 RETURNING n" if self.wrote else "SELECT n FROM ticket"
                self.ticket = self.run(draw)[0][0]
            self.run("COMMIT")
        except (Aborted, Failed) as error:
            self.rollback()
            raise Aborted from error

    def notes(self):
        return {"ticket": self.ticket, "drawn": self.wrote} if self.ticket is not None else {}

    def close(self):
        self.connection.close()

    # The operations.

    def r(self, key):
        return read_of(key, [v for v, in self.run("SELECT v FROM kv WHERE k = ?", key)])

    def w(self, key, value):
        self.write("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v", key, value)
        return ["w", key, value]

    def set(self, key, value):
        if self.write("UPDATE kv SET v = ? WHERE k = ? RETURNING k", value, key):
            return ["w", key, value, {"row": "old"}]
        return ["r", key, None, {"lock": "exclusive"}]

    def d(self, key):
        return ["d", key, len(self.write("DELETE FROM kv WHERE k = ? RETURNING k", key)) == 1]

    def insert(self, key, value):
        return ["insert", key, value, len(self.write("INSERT INTO kv VALUES (?, ?) ON CONFLICT (k) DO NOTHING RETURNING k", key, value)) == 1]

    def create(self, key, value):
        self.write("INSERT INTO kv VALUES (?, ?)", key, value)
        return ["insert", key, value, True]

    def inc(self, key, delta):
        return ["inc", key, delta, self.write("UPDATE kv SET v = v + ? WHERE k = ? RETURNING v", delta, key)[0][0]]

    def range(self, low, high, limit):
        rows = self.run("SELECT k, v FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?", low, high, limit or -1)
        return ["range", low, high, [list(row) for row in rows], {"limit": limit} if limit else {}]

    def scan(self, where):
        rows = self.run("SELECT k, v FROM kv WHERE k GLOB ? AND v >= ? AND v < ?", *self.condition(where))
        return ["scan", where, [list(row) for row in rows]]

    def update(self, where, value):
        rows = self.write("UPDATE kv SET v = ? WHERE k GLOB ? AND v >= ? AND v < ? RETURNING k", value, *self.condition(where))
        return ["update", where, {"set": value}, [[k, value] for k, in rows]]

    @staticmethod
    def condition(where):
        return where["key_prefix"] + "*", where["value"]["ge"], where["value"]["lt"]


class Sqlite:
    """Records transactions of SQLite."""

    NAME = f"SQLite {sqlite3.sqlite_version}"
    LEVELS = {"serializable": "sqlite-ser", "read-uncommitted": None}
    OPERATIONS = ("insert", "create", "set", "read and set", "inc", "range", "scan", "update", "taken back")
    LOST = 0

    @staticmethod
    def add_arguments(parser):
        add_statement_arguments(parser)
        parser.add_argument("--journal", choices=("wal", "delete"), default="wal",
            help="write-ahead log, or rollback journal (wal)")

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="krait-record-")
        self.kept = self.connect()  # a shared cache lasts as long as somebody has it open

    def connect(self):
        shared = self.options.isolation == "read-uncommitted"
        connection = sqlite3.connect(f"file:{os.path.join(self.folder, 'db')}{'?cache=shared' if shared else ''}", uri=True, timeout=0.2, isolation_level=None, check_same_thread=False)
        journal = f"journal_mode = {self.options.journal}"
        connection.execute(f"PRAGMA {'read_uncommitted = 1' if shared else journal}")
        connection.execute("PRAGMA synchronous = OFF")  # who pulls no plug need not wait for the disk
        return connection

    def stop(self):
        self.kept.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def load(self, initial):
        self.kept.executescript(TABLES)
        self.kept.executemany("INSERT INTO kv VALUES (?, ?)", list(initial.items()))

    def client(self, session):
        return SqliteClient(self.options, self.connect)

    def tell_order(self, trace):
        places = []
        for txn in trace.transactions:
            ticket, drawn = txn.pop("ticket", None), txn.pop("drawn", None)
            if ticket is not None and txn["status"] == "committed":
                places.append((ticket, not drawn, txn))
        trace.number(places)
        readers = sum(reads for _, reads, _ in places)
        return f"{len(places) - readers} tickets, and {readers} transactions that only read"


if __name__ == "__main__":
    main(Sqlite)
