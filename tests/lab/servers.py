"""Servers that the lab has not started: a user's own, for the time of a test."""

import os
import subprocess
import sys
import time

sys.path.insert(0, "examples/record")
from server import Server, free_port, lacks, program  # noqa: E402


class Servers:
    """Each is in a folder of its own; all end with the test."""

    def __init__(self):
        self.servers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in reversed(self.servers):
            server.stop()

    def start(self, user, make, serve, is_ready):
        """`make`, `serve`: commands, of the folder. The folder."""
        server = Server(user)
        self.servers.append(server)
        if make:
            server.call(*make(server.folder))
        server.start(serve(server.folder), lambda: is_ready(server.folder))
        return server.folder

    # PostgreSQL: a folder is where the socket is.

    def postgresql(self, copy_of=None):
        """`copy_of`: a hot standby of the server of that folder. Both listen on sockets alone."""
        binaries = "/usr/lib/postgresql/*/bin"
        initdb, backup, postgres = (program(name, "postgresql", binaries) for name in ("initdb", "pg_basebackup", "postgres"))
        copied = lambda folder: (backup, "-h", copy_of, "-U", "postgres", "-D", f"{folder}/data", "-R", "-c", "fast", "-X", "stream", "-N")
        made = lambda folder: (initdb, "-D", f"{folder}/data", "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "-N")
        settings = ("unix_socket_permissions=0777", "fsync=off", "deadlock_timeout=100ms", "listen_addresses=", "wal_level=logical", "hot_standby_feedback=on")
        serve = lambda folder: (postgres, "-D", f"{folder}/data", "-k", folder, *(word for setting in settings for word in ("-c", setting)))
        return self.start("postgres", copied if copy_of else made, serve, lambda folder: self.psql(folder, "SELECT 1", check=False) == ["1"])

    def psql(self, folder, text, check=True):
        done = subprocess.run([program("psql", "postgresql-client", "/usr/lib/postgresql/*/bin"), "-h", folder, "-U", "postgres", "-Atc", text], capture_output=True, text=True, check=check)
        return done.stdout.split()

    # MariaDB: a folder has the socket "s".

    def mariadb(self, *options):
        install, mariadbd = (program(name, "mariadb-server") for name in ("mariadb-install-db", "mariadbd"))
        make = lambda folder: (install, "--no-defaults", f"--datadir={folder}/data", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
        serve = lambda folder: (mariadbd, "--no-defaults", f"--datadir={folder}/data", f"--socket={folder}/s", "--innodb-lock-wait-timeout=2", "--skip-name-resolve", *(options or ["--skip-networking"]))
        return self.start("mysql", make, serve, lambda folder: self.mysql(folder, "SELECT 1") is not None)

    def mysql(self, folder, text):
        """None: it failed."""
        done = subprocess.run([program("mariadb", "mariadb-client"), "--no-defaults", "-uroot", f"--socket={folder}/s", "-Ne", text], capture_output=True, text=True)
        return done.stdout.split() if done.returncode == 0 else None

    def galera(self, nodes):
        """Folders of the nodes of one cluster."""
        provider = "/usr/lib/galera/libgalera_smm.so"
        if not os.path.exists(provider):
            lacks("Galera (Debian's package galera-4)")
        ports, folders = [free_port() for _ in range(nodes)], []
        for i, port in enumerate(ports):
            group = f"127.0.0.1:{ports[0]}" if i else ""
            folders.append(self.mariadb("--skip-networking", "--binlog-format=ROW", "--wsrep-on=ON", f"--wsrep-provider={provider}", "--wsrep-sst-method=rsync", "--innodb-autoinc-lock-mode=2", f"--wsrep-cluster-address=gcomm://{group}", f"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{port};ist.recv_addr=127.0.0.1:{free_port()}", f"--wsrep-sst-receive-address=127.0.0.1:{free_port()}", f"--wsrep-node-address=127.0.0.1:{port}", f"--wsrep-node-name=n{i}"))
            wait_until(lambda: self.mysql(folders[-1], "SHOW STATUS LIKE 'wsrep_ready'") == ["wsrep_ready", "ON"])
        return folders

    # etcd and Redis: addresses.

    def etcd(self, members):
        """Addresses of the members of one cluster."""
        etcd = program("etcd", "etcd-server")
        clients, peers = ([f"http://127.0.0.1:{free_port()}" for _ in range(members)] for _ in range(2))
        cluster = ",".join(f"n{i}={peer}" for i, peer in enumerate(peers))
        for i, (client, peer) in enumerate(zip(clients, peers)):
            serve = lambda folder: (etcd, "--name", f"n{i}", "--data-dir", f"{folder}/data", "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster, "--initial-cluster-token", clients[0], "--max-txn-ops", "100000")
            self.start("etcd", None, serve, lambda folder: True)
        return clients

    def redis(self, *options):
        port = free_port()
        redis = program("redis-server", "redis-server")
        answers = lambda folder: subprocess.run([program("redis-cli", "redis-tools"), "-p", str(port), "PING"], capture_output=True, text=True).stdout == "PONG\n"
        self.start("redis", None, lambda folder: (redis, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--daemonize", "no", *options), answers)
        return f"127.0.0.1:{port}"


def wait_until(what, seconds=60, pause=0.1):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(pause)
