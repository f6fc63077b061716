#!/usr/bin/python3
"""Records an etcd of its own: examples/record/etcd.py -o trace.jsonl

A transaction of etcd is one request: conditions, and operations for either outcome. Half of the plans become a request without conditions. The other half read keys first, one by one,
as programs do that decide what to write by what they read, and then send a request on the condition that none of these keys has changed: what etcd's clients call software transactional
memory. If one has, nothing is written: `aborted`.

White-box: every transaction that changes anything makes one new revision of the whole store, and each answer has the revision that it saw. Revisions are an order of serialization: they give `serial`. The
log of all changes (a watch from the first revision) tells the `version_order` of the keys, and which requests took effect whose answer was lost: each one also writes its id under "by/".

Talks to the JSON gateway, so that Python alone suffices. Needs Debian's package etcd-server.
"""

import base64
import http.client
import json
import os

from main import Client, main
from recording import Aborted, Unanswered
from server import Server, free_port, program


def encode(text):
    return base64.b64encode(str(text).encode()).decode()


def decode(text):
    return base64.b64decode(text).decode()


class Gateway:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def send(self, path, request):
        self.http.request("POST", f"/v3/{path}", json.dumps(request), {"Content-Type": "application/json"})

    def call(self, path, request):
        """An error that etcd answers with, as when a request times out, tells nothing of what it read, nor whether it took effect: it counts as no answer."""
        self.send(path, request)
        response = self.http.getresponse()
        if response.status != 200:
            raise OSError(f"etcd answered {response.status}: {response.read().decode(errors='replace')}")
        return json.load(response)


def get(low, high=None, limit=None):
    return {"requestRange": {"key": encode(low), **({"range_end": encode(high)} if high else {}), **({"limit": limit} if limit else {})}}


def put(key, value):
    return {"requestPut": {"key": encode(key), "value": encode(value)}}


def delete(key):
    return {"requestDeleteRange": {"key": encode(key)}}


def unchanged(key, revision):
    """Revision 0: that it is absent."""
    return {"key": encode(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision}


def rows(answer):
    return [[decode(kv["key"]), int(decode(kv["value"]))] for kv in answer.get("kvs", [])]


def value(answer):
    return rows(answer)[0][1] if answer.get("kvs") else None


class EtcdClient(Client):
    """Operations are noted, and done at commit, when their answers are filled in; one without an answer stays empty, and so is not told."""

    def __init__(self, options, port):
        super().__init__(options)
        self.port = port
        self.gateway = Gateway(port)

    TIMED = False

    def begin(self):
        self.revision = None
        self.conditions, self.requests, self.written = {}, [], set()
        self.reads_first = self.chance.random() < 0.5

    def later(self, request, tell):
        operation = []
        self.requests.append((request, lambda answer: operation.extend(tell(answer))))
        return operation

    def r(self, key):
        if not self.reads_first or key in self.written:
            return self.later(get(key), lambda answer: ["r", key, value(answer["response_range"])])
        answer = self.ask("kv/range", get(key)["requestRange"], Aborted)
        self.conditions.setdefault(key, int(answer["kvs"][0]["mod_revision"]) if answer.get("kvs") else 0)
        return ["r", key, value(answer)]

    def range(self, low, high, limit):
        return self.later(get(low, high, limit), lambda answer: ["range", low, high, rows(answer["response_range"]), {"limit": limit} if limit else {}])

    def w(self, key, value):
        self.once(key)
        self.requests.append((put(key, value), None))
        return ["w", key, value]

    def d(self, key):
        self.once(key)
        operation = ["d", key]
        self.requests.append((delete(key), lambda answer: operation.append("deleted" in answer["response_delete_range"])))
        return operation

    def once(self, key):
        """etcd refuses a request that changes a key twice. Nothing was sent."""
        if key in self.written:
            raise Aborted
        self.written.add(key)

    def ask(self, path, request, failure):
        try:
            return self.gateway.call(path, request)
        except (OSError, http.client.HTTPException) as error:
            self.gateway = Gateway(self.port)
            raise failure from error

    def rollback(self):
        """Nothing was sent."""

    def commit(self):
        mark = [put(f"by/{self.id}", "")] if self.written else []
        request = {"compare": [unchanged(*condition) for condition in self.conditions.items()], "success": [request for request, _ in self.requests] + mark}
        if self.loses_commit():
            self.lose_commit(request)
        answer = self.ask("kv/txn", request, Unanswered)
        if not answer.get("succeeded"):
            raise Aborted  # a key that was read has changed
        self.revision = int(answer["header"]["revision"])
        for (_, tell), response in zip(self.requests, answer.get("responses", [])):
            if tell:
                tell(response)

    def lose_commit(self, request):
        """Hangs up before the answer, and every other time before the question. To the client it is all the same."""
        if self.chance.random() < 0.5:
            self.gateway.send("kv/txn", request)
        self.gateway.http.close()
        self.gateway = Gateway(self.port)
        raise Unanswered

    def notes(self):
        return {"revision": self.revision} if self.revision else {}

    def close(self):
        self.gateway.http.close()


class Etcd:
    """Records transactions of an etcd server."""

    NAME = "etcd"
    LEVELS = {"serializable": None}
    OPERATIONS = ("range",)
    LOST = 1

    @staticmethod
    def add_arguments(parser):
        """It has no statements that would be answered one by one."""

    def __init__(self, options):
        self.options = options
        etcd = program("etcd", "etcd-server")
        self.port = free_port()
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{free_port()}"
        self.server = Server("etcd")
        try:
            self.server.start([etcd, "--data-dir", os.path.join(self.server.folder, "data"), "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], self.answers)
        except BaseException:
            self.stop()
            raise

    def answers(self):
        try:
            return "header" in Gateway(self.port).call("kv/range", get("by/")["requestRange"])
        except (OSError, http.client.HTTPException):
            return False

    def stop(self):
        self.server.stop()

    def put(self, key, value):
        return int(Gateway(self.port).call("kv/put", put(key, value)["requestPut"])["header"]["revision"])

    def load(self, initial):
        for key, value in initial.items():
            self.loaded = self.put(key, value)

    def client(self, session):
        return EtcdClient(self.options, self.port)

    def log(self):
        """(revision, keys changed) of all transactions, from a watch of all keys."""
        last = self.put("end", "")
        gateway, revisions = Gateway(self.port), {}
        gateway.send("watch", {"create_request": {"key": encode("\0"), "range_end": encode("\0"), "start_revision": self.loaded + 1}})
        stream = gateway.http.getresponse()
        while last not in revisions:
            for event in json.loads(stream.readline())["result"].get("events", []):
                revisions.setdefault(int(event["kv"]["mod_revision"]), []).append(decode(event["kv"]["key"]))
        gateway.http.close()
        return sorted(revisions.items())[:-1]

    def tell_order(self, trace):
        revision_of = {}
        for revision, keys in self.log():
            id = next(key for key in keys if key.startswith("by/"))[3:]
            revision_of[id] = revision
            for key in keys:
                if not key.startswith("by/"):
                    trace.version_orders.setdefault(key, []).append(id)
        places = []
        for txn in trace.transactions:
            seen = txn.pop("revision", None)
            if txn["id"] in revision_of:
                places.append((revision_of[txn["id"]], False, txn))
            elif txn["status"] == "committed":
                places.append((seen, True, txn))
        trace.number(places)
        return f"{len(revision_of)} revisions, and {len(places) - len(revision_of)} transactions that only read"


if __name__ == "__main__":
    main(Etcd)
