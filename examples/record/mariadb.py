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

from main import Client, main
from recording import Aborted, Unanswered
from server import Server, lacks, program

try:
    import pymysql
except ImportError:
    lacks("pymysql (Debian's package python3-pymysql, for /usr/bin/python3)")

TABLE = "CREATE TABLE kv (k VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB"  # _bin: the bytes decide, as in the trace
DEADLOCK, LOCK_WAIT_TIMEOUT, CHANGED_SINCE = 1213, 1205, 1020


class MariadbClient(Client):
    def __init__(self, options, connect):
        super().__init__(options)
        self.connect = connect
        self.renew()

    def renew(self):
        self.connection = self.connect()
        self.cursor = self.connection.cursor()

    def run(self, sql, *arguments):
        """Not every error ends a transaction of MariaDB: a lock wait that takes too long undoes just the statement. So ROLLBACK is said each time."""
        try:
            self.cursor.execute(f"/* {self.id} */ {sql}", arguments)
            return self.cursor.fetchall()
        except pymysql.err.OperationalError as error:
            if error.args[0] in (DEADLOCK, LOCK_WAIT_TIMEOUT, CHANGED_SINCE):
                self.cursor.execute("ROLLBACK")
            else:
                self.renew()
            raise Aborted from error

    def begin(self, id):
        self.id, self.position = id, None
        self.run(f"SET TRANSACTION ISOLATION LEVEL {self.options.isolation.replace('-', ' ')}")
        self.run("START TRANSACTION")

    def commit(self):
        self.position = last_number(self.run("SELECT @@gtid_binlog_pos")[0][0])
        if self.loses_commit():
            self.lose_commit()
        try:
            self.cursor.execute("COMMIT")
        except pymysql.err.OperationalError as error:
            if error.args[0] == DEADLOCK:
                raise Aborted from error
            self.renew()
            raise Unanswered from error

    def lose_commit(self):
        """Hangs up before the answer, and every other time before the question. To the client it is all the same."""
        if self.chance.random() < 0.5:
            self.connection._execute_command(pymysql.constants.COMMAND.COM_QUERY, "COMMIT")
        self.connection._force_close()
        self.renew()
        raise Unanswered

    def notes(self):
        return {"position": self.position} if self.position is not None else {}

    def close(self):
        self.connection.close()

    # The operations.

    def r(self, key):
        rows = self.run("SELECT v FROM kv WHERE k = %s", key)
        return ["r", key, rows[0][0] if rows else None]

    def lock(self, key):
        rows = self.run("SELECT v FROM kv WHERE k = %s FOR UPDATE", key)
        return ["r", key, rows[0][0] if rows else None, {"lock": "exclusive"}]

    def w(self, key, value):
        self.run("INSERT INTO kv VALUES (%s, %s) ON DUPLICATE KEY UPDATE v = VALUES(v)", key, value)
        return ["w", key, value]

    def d(self, key):
        self.run("DELETE FROM kv WHERE k = %s", key)
        return ["d", key, self.cursor.rowcount == 1]

    def insert(self, key, value):
        self.run("INSERT IGNORE INTO kv VALUES (%s, %s)", key, value)
        return ["insert", key, value, self.cursor.rowcount == 1]

    def inc(self, key, delta):
        """There is no UPDATE ... RETURNING here. Nobody else can have changed the row when it is read."""
        self.run("UPDATE kv SET v = v + %s WHERE k = %s", delta, key)
        return ["inc", key, delta, self.run("SELECT v FROM kv WHERE k = %s", key)[0][0]]

    def range(self, low, high, limit):
        rows = self.run(f"SELECT k, v FROM kv WHERE k >= %s AND k < %s ORDER BY k{f' LIMIT {limit}' if limit else ''}", low, high)
        return ["range", low, high, [list(row) for row in rows], {"limit": limit} if limit else {}]

    def scan(self, where):
        rows = self.run("SELECT k, v FROM kv WHERE k LIKE %s AND v >= %s AND v < %s", where["key_prefix"] + "%", where["value"]["ge"], where["value"]["lt"])
        return ["scan", where, [list(row) for row in rows]]


class Mariadb:
    """Records transactions of a MariaDB server."""

    NAME = "MariaDB"
    LEVELS = ("serializable", "repeatable-read", "read-committed", "read-uncommitted")
    OPERATIONS = ("insert", "inc", "range", "scan", "lock and write")  # an update would have to tell which rows it changed
    LOST = 1

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
        return pymysql.connect(unix_socket=self.socket, user="root", database=database)

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
            elif txn["status"] == "committed":
                places.append((position, True, txn))
        trace.number(places)
        return f"{len(number)} places from the log, {len(places) - len(number)} of transactions that only read"


def last_number(gtid):
    """Of a GTID, which is domain-server-number."""
    return int(gtid.rsplit("-", 1)[1])


if __name__ == "__main__":
    main(Mariadb)
