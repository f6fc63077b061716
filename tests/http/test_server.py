"""`krait watch --http` from outside, without a browser: what is refused, what a follower is told, and that nobody who looks on changes what krait says, or holds it up.

    test_server.py NAME...    runs these tests (all: no name); 77: krait was built without libmicrohttpd
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../browser"))
import server
import webdriver
from server import KRAIT, PATIENCE, Watch, auto, header, lines, overwritten


def run(*arguments, stdin="", **more):
    return subprocess.run([KRAIT, "watch", *arguments], input=stdin, capture_output=True, text=True, timeout=PATIENCE, **more)


def refused(expected, *arguments, **more):
    done = run(*arguments, **more)
    assert (done.returncode, done.stdout) == (254, ""), done
    assert re.fullmatch(expected + "\n", done.stderr), done.stderr


class Follower(threading.Thread):
    """Reads events until the end, as [name, data]."""

    def __init__(self, watch):
        super().__init__()
        self.events, self.url = [], watch.url + "events"
        self.answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url, timeout=PATIENCE)
        self.start()

    def run(self):
        name = None
        for line in self.answer:
            key, _, value = line.decode().rstrip("\n").partition(": ")
            if key == "event":
                name = value
            elif key == "data":
                self.events.append([name, json.loads(value)])

    def named(self, wanted):
        return [data for name, data in self.events if name == wanted]


def deaf(watch):
    """A client that asks, and never reads."""
    client = socket.create_connection(("127.0.0.1", watch.port), timeout=PATIENCE)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{watch.port}\r\n\r\n".encode())
    return client


def test_refused(folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused(rf"krait: option '--http': cannot listen on 127\.0\.0\.1:{port}: Address already in use", "--http", f"127.0.0.1:{port}")
    refused(r"krait: option '--http': cannot listen on 192\.0\.2\.1:0: Cannot assign requested address", "--http-any", "--http", "192.0.2.1:0")


def test_forbidden(folder):
    """A port of the system's, asked for without its rights."""
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as file:
        if int(file.read()) <= 80:
            print("skipped: everybody may listen on port 80 here")
            sys.exit(77)
    as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        run("--help", **as_nobody)
    except (PermissionError, OSError) as error:
        print(f"skipped: krait cannot be run as nobody: {error}")
        sys.exit(77)
    refused(r"krait: option '--http': cannot listen on 127\.0\.0\.1:80: Permission denied", "--http", "127.0.0.1:80", **as_nobody)


def test_addresses(folder):
    """Both loopbacks and every address; the page has all in itself."""
    for address, options in (("127.0.0.1:0", []), ("[::1]:0", []), ("localhost:0", []), ("0.0.0.0:0", ["--http-any"])):
        if address.startswith("[") and not has_six():
            print("no IPv6 on this machine")
            continue
        with Watch(*options, address=address) as watch:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(watch.url, timeout=PATIENCE) as answer:
                page, policy = answer.read().decode("ascii"), answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "connect-src 'self'" in policy, policy
            assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
            assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<link(?! rel=\"icon\" href=\"data:,\")|<img|src=|@import|url\(", page)
            assert watch.end() == 254  # no profile was named


def has_six():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_same(folder):
    """What krait prints, and how it ends, is the same with the page and without it; so is what a follower is told at last."""
    found, late = [header(), *overwritten(1, 100), *overwritten(2, 1000)], [header(), auto("a", "writer", ["w", "x", 1], 40, 41), auto("b", "writer", ["w", "x", 2], 30, 31)]
    for text, status, how, total in ((lines(*found), 1, "ended", 2), (lines(*found[:3]), 0, "ended", 0), (lines(*late), 2, "ended", 0), (lines(*found) + "{\n", 255, "failed", None),
                                     ("", 254, "failed", 0), (lines(header(profile="no-such-row"), *found[1:]), 254, "failed", 0)):
        for options in ([], ["--json"], ["--explain"]):
            plain = run(*options, "-", stdin=text)
            with Watch(*options, stdout=subprocess.PIPE) as watch:
                follower = Follower(watch)
                printed = watch.process.communicate(text, timeout=PATIENCE)
                follower.join(PATIENCE)
            assert (watch.process.returncode, *printed) == (plain.returncode, plain.stdout, plain.stderr), (printed, plain)
            assert watch.process.returncode == status, (status, plain)
            last = follower.events[-1]
            assert last[0] == "end" and last[1]["how"] == how, last
            state = follower.named("state")[-1]
            if total is not None:
                assert sum(state["findings"].values()) == total == len(follower.named("more")), (state, text)
            assert (how == "failed" and bool(plain.stderr)) or "why" not in last[1], last


def test_followers(folder):
    """Every follower is told every finding, once, with the words that krait prints; states never go back."""
    with Watch("--json", stdout=subprocess.PIPE) as watch:
        followers = [Follower(watch) for _ in range(12)]
        watch.tell(header())
        for n in range(60):
            watch.tell(*overwritten(n, 100 * n))
            time.sleep(0.02)
        out, _ = watch.process.communicate(timeout=PATIENCE)
        printed = [event for event in map(json.loads, out.splitlines()) if event["event"] == "finding"]
        assert len(printed) == 60
        for follower in followers:
            follower.join(PATIENCE)
            assert [(f["number"], f["mechanism"], f["class"], f["says"], f["line"]) for f in follower.named("more")] == [
                (i + 1, f["mechanism"], f["class"], f["why"], f["line"]) for i, f in enumerate(printed)]
            assert all(f["explanation"].startswith("Let:") for f in follower.named("more"))
            states = follower.named("state")
            assert len(states) > 2 and states[-1]["txns"] == 180 and states[-1]["findings"]["CR"] == 60 and states[-1]["watermark"] is None
            assert [state["lines"] for state in states] == sorted(state["lines"] for state in states)
            assert sum(states[-1]["ended"]) == 180


def looked_at_by(path, number):
    """What krait finds, and its peak memory in MiB, while so many clients have asked that never read, some of which go away."""
    with Watch("--json", stdout=subprocess.PIPE) as watch:
        clients = [deaf(watch) for _ in range(number)]
        for client in clients[::4]:
            client.close()
        out = []
        reader = threading.Thread(target=lambda: out.append(watch.process.stdout.read()))
        reader.start()
        with open(path, encoding="ascii") as file:
            watch.process.stdin.write(file.read())
        watch.process.stdin.flush()
        with open(f"/proc/{watch.process.pid}/status", encoding="ascii") as file:
            mib = int(re.search(r"VmHWM:\s*(\d+) kB", file.read()).group(1)) / 1024
        assert watch.end() == 1
        reader.join(PATIENCE)
        for client in clients:
            client.close()
    return [(event["class"], event["txns"]) for event in map(json.loads, out[0].splitlines()) if event["event"] == "finding"], mib


def test_deaf(folder):
    """Everything is found, in memory that does not follow how much there is to tell: 5 MB for each of them."""
    path = os.path.join(folder, "stream.jsonl")
    with open(path, "w", encoding="ascii") as file:
        file.write(lines(header(), *(event for n in range(3000) for event in overwritten(n, 100 * n))))
    alone, least = looked_at_by(path, 0)
    found, mib = looked_at_by(path, 40)
    print(f"{least:.0f} MiB, with 40 clients that do not read {mib:.0f} MiB")
    assert sorted(found) == sorted(alone) == sorted(("garbage", [f"stale{n}"]) for n in range(3000))
    assert mib < least + 60, (least, mib)


def test_signal(folder):
    """Ctrl-C ends it as it ends any program, deaf clients or not; a follower is told, and nothing half written is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as place, Watch("--told", os.path.join(place, "told.jsonl")) as watch:
            follower, client = Follower(watch), deaf(watch)
            watch.tell(header(), *overwritten(1, 100))
            server.until(lambda told: len(told) == 1, lambda: follower.named("more"))
            assert os.listdir(place) != []
            start = time.monotonic()
            watch.process.send_signal(number)
            assert watch.process.wait(PATIENCE) == -number
            assert time.monotonic() - start < 10
            follower.join(PATIENCE)
            assert follower.events[-1] == ["end", {"how": "stopped"}], follower.events[-1]
            assert os.listdir(place) == []
            client.close()
    with Watch() as watch:  # nothing was told yet
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(PATIENCE) == -signal.SIGINT


if __name__ == "__main__":
    sys.exit(webdriver.run_tests(sys.argv[1:], globals(), server.missing()))
