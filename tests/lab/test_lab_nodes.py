"""krait-lab on several addresses of one cluster, which is the user's own.

    test_lab_nodes.py NAME     runs test_NAME; 77: the driver was not built, or this machine lacks the server
"""

import subprocess

from lab import TRIES, check, main, read, reads_only, run, standby_lags
from servers import Servers, free_port, program, wait_until


def sessions():
    """Nodes of the sessions, and how many transactions have none."""
    txns = read()[1]
    return {txn["s"].split("c")[0] for txn in txns if "s" in txn}, sum("s" not in txn for txn in txns)


def test_lab_own_standby():
    """PostgreSQL and a hot standby of the user's: found out to only read, so that what writes goes to the first one; what is told of the order holds. Nothing is left at either."""
    with Servers() as servers:
        first = servers.postgresql()
        standby = servers.postgresql(copy_of=first)
        address, further = f"host={first} user=postgres dbname=postgres", f"host={standby}"
        for spread, said in standby_lags("-d", "postgresql", "--connect", address, "--nodes", further):
            header, txns, rest = read()
            assert "node n1 only reads: what writes goes to the first one" in said and "not in the trace" not in said, said
            assert header["lab"]["connect"] == [f"{first}:5432", f"{standby}:5432"]
            assert (header["lab"]["nodes"], header["lab"]["only_read"]) == (2, ["n1"]) and any("version_order" in line for line in rest)
            assert sessions() == (({"n0", "n1"}, 0) if spread == "clients" else (set(), len(txns)))
            assert not any(op[0] == "failed" and op[2]["code"] == "25006" for txn in txns for op in txn["ops"])
        none = "SELECT count(*) FROM pg_namespace WHERE nspname = 'krait_lab'"
        assert servers.psql(first, none) == ["0"] and servers.psql(first, "SELECT count(*) FROM pg_replication_slots") == ["0"]
        wait_until(lambda: servers.psql(standby, none) == ["0"])
        _, said = run("-d", "postgresql", "--connect", f"host={standby} user=postgres", "--nodes", f"host={first}", status=254)
        assert "this server only reads (a hot standby): expected one that writes first" in said, said
        _, said = run("-d", "postgresql", "--connect", address, "--nodes", further, "--faults", "kill-client@500ms,every=500ms", "--duration", "3", "--rate", "300", "--check", "keeps", "--timeout", "60")
        assert "with faults" in said and len([txn for txn in read()[1] if txn["status"] == "committed"]) > 300, said
        for fault in ("kill-server", "pause", "partition", "delay", "disk-full", "kill-backend"):
            _, said = run("-d", "postgresql", "--connect", address, "--nodes", further, "--faults", f"{fault}@1s", status=254)
            assert f"fault {fault} needs" in said, said


def test_lab_own_servers_that_all_write():
    """Nodes that all write, here one server under two addresses, tell no common order; a server that is none of the cluster is found out before anything of it is recorded."""
    with Servers() as servers:
        folder = servers.postgresql()
        address = f"host={folder} user=postgres dbname=postgres"
        _, said = run("-d", "postgresql", "--connect", address, "--nodes", "application_name=other", "-w", "registers:rmw=80", "--check", "ser", "--txns", "60")
        assert "several nodes write" in said and not read()[2] and read()[0]["lab"]["only_read"] == [], said
        assert sessions() == ({"n0", "n1"}, 0) and not any("versions" in op[-1] for txn in read()[1] for op in txn["ops"])
        _, said = run("-d", "postgresql", "--connect", address, "--nodes", "application_name=other", "--certificate", "none", "--check", "ser", "--txns", "60")
        assert "several nodes write" not in said, said
        servers.psql(folder, "CREATE DATABASE other")
        _, said = run("-d", "postgresql", "--connect", address, "--nodes", "dbname=other", "--txns", "60", status=255)
        assert "node n1 does not come to what the first one has" in said and "krait_lab" in said, said
        assert servers.psql(folder, "SELECT count(*) FROM pg_namespace WHERE nspname = 'krait_lab'") == ["0"]


def test_lab_own_mariadb_replica():
    """Who follows another server is not written to, read_only or not: that would break what replicates."""
    port = free_port()
    with Servers() as servers:
        first = servers.mariadb("--bind-address=127.0.0.1", f"--port={port}", "--server-id=1", "--log-bin=binlog", "--binlog-format=ROW")
        replica = servers.mariadb("--skip-networking", "--server-id=2")
        address, further = f"socket={first}/s user=root", f"socket={replica}/s"
        assert servers.mysql(replica, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos; START SLAVE") is not None
        for spread in ("transactions", "clients"):
            _, said = run("-d", "mariadb", "-l", "ser", "--connect", address, "--nodes", further, "--spread", spread, "-w", "registers:rmw=80", "--txns", "80", "--check", "pl-2", "--timeout", "60")
            assert "node n1 only reads" in said and "several nodes write" not in said and read()[0]["lab"]["only_read"] == ["n1"], said
            assert any("version_order" in line for line in read()[2]) and not any("serial" in txn for txn in read()[1])
        assert sessions() == ({"n0", "n1"}, 0)
        wait_until(lambda: servers.mysql(replica, "SHOW DATABASES LIKE 'krait_lab'") == [])
        assert "Yes" in servers.mysql(replica, "SHOW SLAVE STATUS"), "it still follows"
        assert servers.mysql(first, "SET GLOBAL read_only = ON") is not None
        _, said = run("-d", "mariadb", "--connect", address, status=254)
        assert "this server only reads" in said, said
        assert servers.mysql(first, "SET GLOBAL read_only = OFF") is not None
        # the same server under two addresses: both write
        _, said = run("-d", "mariadb", "-l", "ser", "--connect", address, "--nodes", f"host=127.0.0.1 port={port}", "-w", "registers:rmw=80", "--txns", "60", "--check", "ser", "--timeout", "60")
        assert "several nodes write" in said and sessions() == ({"n0", "n1"}, 0) and not any("serial" in txn for txn in read()[1]), said
        assert read()[0]["lab"]["connect"] == [f"{first}/s", f"127.0.0.1:{port}"]


def test_lab_own_myrocks_replica():
    """The same with tables of MyRocks, at both servers: what only reads goes to either, and the log of the first one tells the versions."""
    run("-d", "mariadb:engine=rocksdb", "--txns", "5")  # 77 where it is not there
    port = free_port()
    with Servers() as servers:
        plugin = "--plugin-load-add=ha_rocksdb.so"
        first = servers.mariadb("--bind-address=127.0.0.1", f"--port={port}", "--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", plugin)
        replica = servers.mariadb("--skip-networking", "--server-id=2", plugin)
        assert servers.mysql(replica, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos; START SLAVE") is not None
        _, said = run("-d", "mariadb:engine=rocksdb", "-l", "rr", "--connect", f"socket={first}/s user=root", "--nodes", f"socket={replica}/s", "--spread", "transactions", "-w", "registers:rmw=80", "--txns", "80", "--check", "si", "--timeout", "60")
        header, txns, orders = read()
        assert "node n1 only reads" in said and header["lab"]["only_read"] == ["n1"] and header["lab"]["levels"][0]["keeps"] is None, said
        assert any(reads_only(txn) for txn in txns) and any("version_order" in line for line in orders)
        wait_until(lambda: servers.mysql(replica, "SHOW DATABASES LIKE 'krait_lab'") == [])
        assert "Yes" in servers.mysql(replica, "SHOW SLAVE STATUS"), "it still follows"


def test_lab_own_galera():
    """All nodes write, and what SERIALIZABLE is there shows: who commits is not certified against what it has read."""
    with Servers() as servers:
        first, other = servers.galera(2)
        skewed = False
        for seed in range(1, TRIES + 1):
            _, said = run("-d", "mariadb", "-l", "ser", "--connect", f"socket={first}/s user=root", "--nodes", f"socket={other}/s", "-w", "registers:keys=12", "--seed", str(seed), "--check", "keeps", "--timeout", "60")
            assert "several nodes write" in said and "only reads" not in said and sessions() == ({"n0", "n1"}, 0), said
            assert read()[0]["lab"]["levels"][0]["keeps"] == "si"
            skewed = skewed or check("-l", "ser")["ser"] == "violated"
            if skewed:
                break
        assert skewed
        assert servers.mysql(other, "SHOW DATABASES LIKE 'krait_lab'") == []


def test_lab_own_mariadb_twice():
    """The log of a user's server goes on from recording to recording, in which the same ids come again: what it tells is of this one alone."""
    with Servers() as servers:
        folder = servers.mariadb("--skip-networking", "--log-bin=binlog", "--binlog-format=ROW")
        for seed in ("1", "2"):
            _, said = run("-d", "mariadb", "-l", "ser", "--connect", f"socket={folder}/s user=root", "-w", "registers:rmw=80", "--txns", "80", "--seed", seed, "--check", "ser", "--timeout", "60")
            txns = read()[1]
            assert "not in the trace" not in said and check("-l", "ser", "--checker", "enne")["ser"] == "satisfied", said
            assert {"serial" in txn for txn in txns if txn["status"] == "committed"} == {True} and {"serial" in txn for txn in txns if txn["status"] == "aborted"} <= {False}
            assert servers.mysql(folder, "FLUSH BINARY LOGS" if seed == "1" else "SELECT 1") is not None
            assert servers.mysql(folder, "SHOW DATABASES LIKE 'krait_lab'") == []


def test_lab_own_etcd():
    """Revisions are of the whole cluster: places in its order, whatever member was asked. A server of another one is found out."""
    with Servers() as servers:
        first, *further = servers.etcd(3)
        for spread in ("clients", "transactions"):
            _, said = run("-d", "etcd", "--connect", first, "--nodes", ",".join(further), "--spread", spread, "-w", "registers:rmw=80", "--txns", "40", "--check", "keeps", "--timeout", "60")
            assert check("-l", "ser", "--checker", "enne")["ser"] == "satisfied" and "not in the trace" not in said, said
            assert sessions() == (({"n0", "n1", "n2"}, 0) if spread == "clients" else (set(), len(read()[1])))
            assert all("serial" in txn for txn in read()[1] if txn["status"] == "committed")
            assert read()[0]["lab"]["connect"] == [address.removeprefix("http://") for address in (first, *further)]
        (other,) = servers.etcd(1)
        _, said = run("-d", "etcd", "--connect", first, "--nodes", f"{further[0]},{other}", status=254)
        assert f"found '{other}', expected a member of the cluster" in said, said


def test_lab_own_redis():
    """A replica shows a state of the first one, perhaps an older one; it is not written to."""
    with Servers() as servers:
        first = servers.redis()
        replica = servers.redis("--replicaof", *first.split(":"))
        for spread in ("transactions", "clients"):
            _, said = run("-d", "redis", "--connect", first, "--nodes", replica, "--spread", spread, "-w", "registers:rmw=80", "--check", "pl-2", "--timeout", "60")
            assert "node n1 only reads" in said and not any("serial" in txn for txn in read()[1]), said
            assert any(reads_only(txn) for txn in read()[1]) and read()[0]["lab"]["connect"] == [first, replica]
        assert sessions() == ({"n0", "n1"}, 0)
        client = program("redis-cli", "redis-tools")
        assert subprocess.run([client, "-p", first.split(":")[1], "DBSIZE"], capture_output=True, text=True).stdout.strip() == "0"
        _, said = run("-d", "redis", "--connect", replica, status=254)
        assert "this server is a replica" in said, said
        _, said = run("-d", "redis", "--connect", first, "--nodes", replica, "--check", "keeps", status=254)
        assert "what driver redis keeps on several nodes is not known" in said, said


if __name__ == "__main__":
    main(globals())
