"""`krait watch --http` as tests run it: fed through a pipe, found by the address that it tells."""

import json
import os
import re
import subprocess
import time

KRAIT = os.environ.get("KRAIT", "build/dev/bin/krait")
PATIENCE = 300  # seconds until something must have come to pass


def missing():
    """What the program was built without, or None."""
    done = subprocess.run([KRAIT, "watch", "--http", "127.0.0.1:0", "--profile", "postgresql-rr", os.devnull], capture_output=True, text=True)
    return "libmicrohttpd in the program that is tested" if "built without" in done.stderr else None


def header(**more):
    return {"krait": 1, "stream": True, "sessions": ["writer", "reader"], "profile": "postgresql-rr", "initial": {"x": 0}, **more}


def auto(txn, session, op, *t):
    return {"txn": txn, "s": session, "auto": True, "op": [*op, {"t": list(t)}]}


def overwritten(n, at, key="x"):
    """Two writes, one after the other, and a read of the first much later: by docs/leopard.md that is CR garbage."""
    return [auto(f"old{n}", "writer", ["w", key, 2 * n], at, at + 1), auto(f"new{n}", "writer", ["w", key, 2 * n + 1], at + 10, at + 11), {"s": "writer", "now": at + 99},
            auto(f"stale{n}", "reader", ["r", key, 2 * n], at + 20, at + 21), {"s": "reader", "now": at + 99}]


def lines(*events):
    return "".join(json.dumps(event) + "\n" for event in events)


class Watch:
    """krait, which reads a pipe that the test writes."""

    def __init__(self, *arguments, address="127.0.0.1:0", stdout=subprocess.DEVNULL):
        self.process = subprocess.Popen([KRAIT, "watch", "--http", address, *arguments, "-"], stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"krait: the live page is (http://(.*):(\d+)/)\n", line)
        assert found, line
        self.url, self.host, self.port = found.group(1), found.group(2), int(found.group(3))

    def tell(self, *events):
        self.process.stdin.write(lines(*events))
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                if stream:
                    stream.close()
            except BrokenPipeError:
                pass


def until(wanted, found):
    """Waits until found() is what is wanted, or passes the test that is wanted."""
    end = time.monotonic() + PATIENCE
    while True:
        value = found()
        if wanted(value) if callable(wanted) else value == wanted:
            return value
        assert time.monotonic() < end, (wanted, value)
        time.sleep(0.05)
