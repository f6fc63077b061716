#!/usr/bin/python3
"""Records a MariaDB of its own: examples/record/mariadb.py --isolation serializable -o trace.jsonl

White-box: the binary log holds the transactions that wrote, in the order of their commits, each with its number (GTID). At SERIALIZABLE all locks are held until then, also those of reads, so that
order is one of serialization: it gives `serial`. A transaction that only reads is not in the log. Before it commits it asks how far the log is: whoever wrote what it read was
there by then, since it waited for his locks, and whoever overwrites it comes later, since he waits for its own. So its place is behind that number. The log also tells which commits
took effect whose answer was lost: the SQL in it names the transaction.

REPEATABLE READ holds no locks of reads, and does not refuse to write what another has changed since the snapshot: it is no snapshot isolation.

Needs Debian's packages mariadb-server and python3-pymysql.
"""

import os
import re

from main import Client, add_statement_arguments, main, read_of
from recording import Aborted, Failed, Unanswered
from server import Server, lacks, program

try:
    import pymysql
except ImportError:
    lacks("pymysql (Debian's package python3-pymysql, for /usr/bin/python3)")

TABLE = "CREATE TABLE kv (k VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB"  # _bin: the bytes decide, as in the trace
ENDS = (1213, 1020)  # errors that end the transaction: deadlock, changed since the snapshot
FAILS = (1205, 1062)  # that undo just the statement: lock wait timeout, duplicate key


class MariadbClient(Client):
    def __init__(self, options, connect):
        super().__init__(options)
        self.connect = connect
        self.renew()

    def renew(self):
        self.connection = self.connect()
        self.cursor = self.connection.cursor()
        checked = self.options.isolation == "snapshot-isolation"
        level = "repeatable-read" if checked else self.options.isolation
        self.cursor.execute(f"SET SESSION TRANSACTION ISOLATION LEVEL {level.replace('-', ' ')}")
        self.cursor.execute(f"SET SESSION innodb_snapshot_isolation = {int(checked)}")

    def run(self, sql, *arguments):
        """Not every error ends a transaction of MariaDB."""
        sql = self.cursor.mogrify(f"/* {self.id} */ {sql}", arguments)
        if self.breaks():
            self.hang_up(sql)
        try:
            self.cursor.execute(sql)
            return self.cursor.fetchall()
        except (pymysql.err.OperationalError, pymysql.err.IntegrityError) as error:
            if error.args[0] in ENDS:
                raise Aborted from error
            if error.args[0] in FAILS:
                raise Failed from error
            self.renew()
            raise Unanswered from error

    def hang_up(self, sql):
        """Sends `sql` and does not wait for the answer."""
        self.connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, sql)
        self.connection._force_close()
        self.renew()
        raise Unanswered

    def enter(self, id, auto):
        super().enter(id, auto)
        self.position = None

    def command(self, sql):
        """Neither reads nor writes, and so does not fail."""
        self.cursor.execute(sql)

    def commit(self):
        self.may_break = False
        if not self.options.stream:
            self.position = last_number(self.run("SELECT @@gtid_binlog_pos")[0][0])
        if self.loses_commit():
            self.lose_commit()
        self.run("COMMIT")

    def lose_commit(self):
        """Hangs up before the answer, and every other time before the question. To the client it is all the same."""
        if self.chance.random() < 0.5:
            self.hang_up("COMMIT")
        self.connection._force_close()
        self.renew()
        raise Unanswered

    def notes(self):
        return {"position": self.position} if self.position is not None else {}

    def close(self):
        self.connection.close()

    # The operations.

    def read(self, key, clause="", **attributes):
        rows = self.run(f"SELECT v FROM kv WHERE k = %s{clause}", key)
        return read_of(key, [v for v, in rows], **attributes)

    def r(self, key):
        return self.read(key)

    def share(self, key):
        return self.read(key, " LOCK IN SHARE MODE", lock="shared")

    def lock(self, key):
        return self.read(key, " FOR UPDATE", lock="exclusive")

    def w(self, key, value):
        self.run("INSERT INTO kv VALUES (%s, %s) ON DUPLICATE KEY UPDATE v = VALUES(v)", key, value)
        return ["w", key, value]

    def set(self, key, value):
        """A row that has the value already is not changed. The message tells it from one that is not there."""
        self.run("UPDATE kv SET v = %s WHERE k = %s", value, key)
        if self.cursor.rowcount == 1:
            return ["w", key, value, {"row": "old"}]
        matched = b"Rows matched: 1" in self.cursor._result.message
        return ["r", key, value if matched else None, {"lock": "exclusive"}]

    def d(self, key):
        self.run("DELETE FROM kv WHERE k = %s", key)
        return ["d", key, self.cursor.rowcount == 1]

    def insert(self, key, value):
        self.run("INSERT IGNORE INTO kv VALUES (%s, %s)", key, value)
        return ["insert", key, value, self.cursor.rowcount == 1]

    def create(self, key, value):
        self.run("INSERT INTO kv VALUES (%s, %s)", key, value)
        return ["insert", key, value, True]

    def inc(self, key, delta):
        """There is no UPDATE ... RETURNING here. In a transaction nobody else can have changed the row when it is
        read. A plain SELECT would take the transaction's snapshot, and the trace would not tell that."""
        self.run("UPDATE kv SET v = v + %s WHERE k = %s", delta, key)
        rows = [] if self.auto else self.run("SELECT v FROM kv WHERE k = %s FOR UPDATE", key)
        return ["inc", key, delta, *[v for v, in rows]]

    def range(self, low, high, limit, clause="", **attributes):
        clause = (f" LIMIT {limit}" if limit else "") + clause
        attributes |= {"limit": limit} if limit else {}
        rows = self.run(f"SELECT k, v FROM kv WHERE k >= %s AND k < %s ORDER BY k{clause}", low, high)
        return ["range", low, high, [list(row) for row in rows], attributes]

    def lock_range(self, low, high, limit):
        return self.range(low, high, limit, " FOR UPDATE", lock="exclusive")

    def scan(self, where):
        rows = self.run("SELECT k, v FROM kv WHERE k LIKE %s AND v >= %s AND v < %s", where["key_prefix"] + "%", where["value"]["ge"], where["value"]["lt"])
        return ["scan", where, [list(row) for row in rows]]


class Mariadb:
    """Records transactions of a MariaDB server."""

    NAME = "MariaDB"
    LEVELS = {
        "serializable": "mariadb-ser",
        "repeatable-read": "mariadb-rr",
        "snapshot-isolation": "mariadb-rr-si",  # repeatable read, with innodb_snapshot_isolation
        "read-committed": "mariadb-rc",
        "read-uncommitted": "mariadb-ru",
    }
    # An update would have to tell which rows it changed.
    OPERATIONS = ("insert", "create", "set", "read and set", "inc", "range", "scan", "share", "lock range",
        "lock and write", "lock and set", "taken back")
    LOST = 1
    add_arguments = staticmethod(add_statement_arguments)

    def __init__(self, options):
        self.options = options
        install, mariadbd = program("mariadb-install-db", "mariadb-server"), program("mariadbd", "mariadb-server")
        self.server = Server("mysql")
        self.socket = os.path.join(self.server.folder, "s")
        data = f"--datadir={os.path.join(self.server.folder, 'data')}"
        try:
            self.server.call(install, "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
            self.server.start([mariadbd, "--no-defaults", data, f"--socket={self.socket}", "--skip-networking", "--pid-file=pid", "--log-bin=log", "--binlog-format=ROW",
                "--innodb-lock-wait-timeout=2", "--innodb-flush-log-at-trx-commit=2"], self.answers)
        except BaseException:
            self.stop()
            raise

    def connect(self, database="krait"):
        return pymysql.connect(unix_socket=self.socket, user="root", database=database, autocommit=True)

    def answers(self):
        try:
            self.connect(None).close()
            return True
        except pymysql.err.OperationalError:
            return False

    def stop(self):
        self.server.stop()

    def load(self, initial):
        with self.connect(None) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE krait")
            cursor.execute("USE krait")
            cursor.execute(TABLE)
            cursor.executemany("INSERT INTO kv VALUES (%s, %s)", list(initial.items()))
            connection.commit()

    def client(self, session):
        return MariadbClient(self.options, self.connect)

    def log(self):
        """(number, id) of each transaction in the binary log."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW BINARY LOGS")
            for name, *_ in cursor.fetchall():
                cursor.execute(f"SHOW BINLOG EVENTS IN '{name}'")
                for _, _, kind, _, _, info in cursor.fetchall():
                    if kind == "Gtid":
                        number = last_number(re.search(r"GTID (\S+)", info)[1])
                    elif kind == "Annotate_rows" and (named := re.match(r"/\* (\S+) \*/", info)):
                        yield number, named[1]

    def tell_order(self, trace):
        number = {id: number for number, id in self.log()}
        places = []
        for txn in trace.transactions:
            position = txn.pop("position", None)
            if txn["id"] in number:
                places.append((number[txn["id"]], False, txn))
            elif position is not None and txn["status"] == "committed":
                places.append((position, True, txn))
        trace.number(places)
        return f"{len(number)} places from the log, {len(places) - len(number)} of transactions that only read"


def last_number(gtid):
    """Of a GTID, which is domain-server-number."""
    return int(gtid.rsplit("-", 1)[1])


if __name__ == "__main__":
    main(Mariadb)
