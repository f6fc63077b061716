#!/usr/bin/python3
"""Records a PostgreSQL 15 of its own: examples/record/postgresql.py --isolation serializable -o trace.jsonl

White-box: `xmin` of a row is the transaction that wrote it, so reads name the versions that they saw (`versions`). Logical decoding gives all changes in the order of commits, and since a row stays
locked until its writer has committed, that is the order of each key's versions (`version_order`). It is no order of serialization: at SERIALIZABLE a transaction that missed a write
may well commit after it. So there is no `serial`.

Needs Debian's packages postgresql and python3-psycopg2.
"""

import os
import re
import struct

from main import Client, add_statement_arguments, main, read_of
from recording import Aborted, Unanswered
from server import Server, free_port, lacks, program

try:
    import psycopg2
except ImportError:
    lacks("psycopg2 (Debian's package python3-psycopg2, for /usr/bin/python3)")

TABLE = """
CREATE TABLE kv (k text COLLATE "C" PRIMARY KEY, v bigint NOT NULL);  -- "C": the bytes decide, as in the trace
ALTER TABLE kv REPLICA IDENTITY FULL;                                 -- the log tells the row that was overwritten, too
"""


class PostgresqlClient(Client):
    def __init__(self, options, dsn, session):
        super().__init__(options)
        self.dsn, self.session = dsn, session
        self.connect()

    def connect(self):
        self.connection = psycopg2.connect(self.dsn)
        self.connection.autocommit = True  # BEGIN and COMMIT are sent by hand: when they are is told in the trace
        self.cursor = self.connection.cursor()
        level = self.options.isolation.replace("-", " ")
        self.cursor.execute(f"SET default_transaction_isolation TO '{level}'")

    def run(self, sql, *arguments):
        """An error ends a transaction of PostgreSQL, whatever it was about: ROLLBACK is all that is left."""
        if self.breaks():
            self.hang_up(self.cursor.mogrify(sql, arguments))
        try:
            self.cursor.execute(sql, arguments)
            return self.cursor.fetchall() if self.cursor.description else []
        except (psycopg2.OperationalError, psycopg2.IntegrityError) as error:
            if not self.connection.closed:
                raise Aborted from error
            self.connect()
            raise Unanswered from error

    def hang_up(self, sql):
        """Sends `sql` and does not wait for the answer."""
        os.write(self.connection.fileno(), b"Q" + struct.pack(">i", 5 + len(sql)) + sql + b"\0")
        self.connection.close()
        self.connect()
        raise Unanswered

    def enter(self, id, auto):
        super().enter(id, auto)
        self.xid = None

    def command(self, sql):
        """Neither reads nor writes, and so does not fail."""
        self.cursor.execute(sql)

    def write(self, sql, *arguments):
        """The rows that were written. A transaction has a number as soon as there are any."""
        rows = self.run(f"{sql} RETURNING k, v, pg_current_xact_id()::text::bigint", *arguments)
        for *_, self.xid in rows:
            pass
        return [(k, v) for k, v, _ in rows]

    def commit(self):
        if self.loses_commit():
            self.lose_commit()
        self.may_break = False
        self.run("COMMIT")

    def lose_commit(self):
        """Hangs up before the answer, and every other time before the question. To the client it is all the same."""
        if self.chance.random() < 0.5:
            self.hang_up(b"COMMIT")
        self.connection.close()
        self.connect()
        raise Unanswered

    def notes(self):
        return {"xid": self.xid} if self.xid else {}

    def close(self):
        self.connection.close()

    # The operations. Rows end in xmin, which tell_order turns into ids.

    def versions(self, rows):
        """Named only where the log tells who is meant, and the row is the only one of its key."""
        keys = [k for k, _, _ in rows]
        versions = {k: xmin for k, _, xmin in rows if keys.count(k) == 1}
        return {} if self.options.stream else {"versions": versions}

    def read(self, key, clause="", **attributes):
        rows = self.run(f"SELECT k, v, xmin::text::bigint FROM kv WHERE k = %s{clause}", key)
        return read_of(key, [v for _, v, _ in rows], **attributes, **self.versions(rows))

    def r(self, key):
        return self.read(key)

    def share(self, key):
        return self.read(key, " FOR SHARE", lock="shared")

    def lock(self, key):
        return self.read(key, " FOR UPDATE", lock="exclusive")

    def w(self, key, value):
        self.write("INSERT INTO kv VALUES (%s, %s) ON CONFLICT (k) DO UPDATE SET v = excluded.v", key, value)
        return ["w", key, value]

    def set(self, key, value):
        if self.write("UPDATE kv SET v = %s WHERE k = %s", value, key):
            return ["w", key, value, {"row": "old"}]
        return ["r", key, None, {"lock": "exclusive"}]

    def d(self, key):
        return ["d", key, len(self.write("DELETE FROM kv WHERE k = %s", key)) > 0]

    def insert(self, key, value):
        rows = self.write("INSERT INTO kv VALUES (%s, %s) ON CONFLICT (k) DO NOTHING", key, value)
        return ["insert", key, value, len(rows) == 1]

    def create(self, key, value):
        self.write("INSERT INTO kv VALUES (%s, %s)", key, value)
        return ["insert", key, value, True]

    def inc(self, key, delta):
        return ["inc", key, delta, self.write("UPDATE kv SET v = v + %s WHERE k = %s", delta, key)[0][1]]

    def range(self, low, high, limit, clause="", **attributes):
        sql = "SELECT k, v, xmin::text::bigint FROM kv WHERE k >= %s AND k < %s ORDER BY k LIMIT %s"
        rows = self.run(sql + clause, low, high, limit)
        attributes |= {"limit": limit} if limit else {}
        return ["range", low, high, [[k, v] for k, v, _ in rows], attributes | self.versions(rows)]

    def lock_range(self, low, high, limit):
        return self.range(low, high, limit, " FOR UPDATE", lock="exclusive")

    def scan(self, where):
        rows = self.run("SELECT k, v, xmin::text::bigint FROM kv WHERE k LIKE %s AND v >= %s AND v < %s", *self.condition(where))
        return ["scan", where, [[k, v] for k, v, _ in rows], self.versions(rows)]

    def update(self, where, value):
        sql = "UPDATE kv SET v = %s WHERE k LIKE %s AND v >= %s AND v < %s"
        rows = self.write(sql, value, *self.condition(where))
        return ["update", where, {"set": value}, [list(row) for row in rows]]

    @staticmethod
    def condition(where):
        return where["key_prefix"] + "%", where["value"]["ge"], where["value"]["lt"]


class Postgresql:
    """Records transactions of a PostgreSQL server."""

    NAME = "PostgreSQL 15"
    LEVELS = {
        "serializable": "postgresql-ser",
        "repeatable-read": "postgresql-rr",
        "read-committed": "postgresql-rc",
    }
    OPERATIONS = ("insert", "create", "set", "read and set", "inc", "range", "scan", "update", "share", "lock range",
        "lock and write", "lock and set", "taken back")
    LOST = 1
    add_arguments = staticmethod(add_statement_arguments)

    def __init__(self, options):
        initdb, postgres = (program(name, "postgresql", "/usr/lib/postgresql/*/bin") for name in ("initdb", "postgres"))
        self.options = options
        self.server = Server("postgres")
        self.dsn = f"host={self.server.folder} port={free_port()} dbname=postgres user=postgres"
        data, port = os.path.join(self.server.folder, "data"), self.dsn.split()[1].split("=")[1]
        try:
            self.server.call(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
            self.server.start([postgres, "-D", data, "-p", port, "-k", self.server.folder, "-c", "listen_addresses=", "-c", "wal_level=logical", "-c", "deadlock_timeout=100ms"], self.answers)
        except BaseException:
            self.stop()
            raise

    def answers(self):
        try:
            psycopg2.connect(self.dsn).close()
            return True
        except psycopg2.OperationalError:
            return False

    def stop(self):
        self.server.stop()

    def query(self, sql, *arguments):
        connection = psycopg2.connect(self.dsn)
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(sql, arguments)
            rows = cursor.fetchall() if cursor.description else []
        connection.close()
        return rows

    def load(self, initial):
        self.query(TABLE)
        self.query("SELECT pg_create_logical_replication_slot('krait', 'test_decoding')")
        xmins = self.query("WITH rows AS (SELECT * FROM unnest(%s, %s)), put AS (INSERT INTO kv SELECT * FROM rows RETURNING k) SELECT pg_current_xact_id()::text::bigint FROM put", list(initial), list(initial.values()))
        self.loader = xmins[0][0]

    def client(self, session):
        return PostgresqlClient(self.options, self.dsn, session)

    def tell_order(self, trace):
        changes = self.query("SELECT xid::text::bigint, data FROM pg_logical_slot_get_changes('krait', NULL, NULL)")
        ids = {txn["xid"]: txn["id"] for txn in trace.transactions if "xid" in txn}
        versions = follow_chains(changes, ids, self.loader, trace)
        names = name_versions(trace, ids, self.loader)
        return f"{versions} versions of {len(trace.version_orders)} keys in unbroken chains; {names} reads name their writer"


CHANGE = re.compile(r"table public\.kv: (INSERT|UPDATE|DELETE): (?:old-key: k\[text\]:'([^']*)' v\[bigint\]:(-?\d+) new-tuple: )?k\[text\]:'([^']*)' v\[bigint\]:(-?\d+)$")


def follow_chains(changes, ids, loader, trace):
    """From the changes, in the order of commits, each key's writers. Every change must begin with the row that the one before it left: else the order is not that of the versions."""
    left, versions = {}, 0
    for xid, data in changes:
        if not data.startswith("table"):
            continue  # BEGIN and COMMIT
        kind, _, old, key, value = CHANGE.match(data).groups()
        before = {"INSERT": None, "UPDATE": old, "DELETE": value}[kind]
        if left.get(key) != before:
            raise SystemExit(f"the chain of {key} breaks: {ids.get(xid)} found {before}, where {left.get(key)} was left")
        left[key] = None if kind == "DELETE" else value
        if xid == loader:
            continue
        writers = trace.version_orders.setdefault(key, [])
        if xid in ids and ids[xid] not in writers[-1:]:
            writers.append(ids[xid])
            versions += 1
    return versions


def name_versions(trace, ids, loader):
    """Each xmin becomes the id of its transaction. One's own is no news; one whose answer was lost has none."""
    names, ids = 0, ids | {loader: None}
    for txn in trace.transactions:
        for op in txn["ops"]:
            attributes = op[-1] if isinstance(op[-1], dict) else {}
            xmins = attributes.pop("versions", {}).items()
            named = {key: ids[xmin] for key, xmin in xmins if xmin in ids and ids[xmin] != txn["id"]}
            names += len(named)
            if named:
                attributes["versions"] = named
    return names


if __name__ == "__main__":
    main(Postgresql)
