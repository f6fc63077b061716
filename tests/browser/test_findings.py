"""The page of findings (`krait check --profile --html`, `krait watch --html`), opened in chromium. The traces are small enough to be judged by hand; which inequality each of them breaks is said beside it.

    test_findings.py NAME...    runs these tests (all: no name); 77: there is no browser here
"""

import json
import os
import subprocess
import sys

from test_page import HOSTILE, KRAIT, colour, contrast, is_quiet
import webdriver
from webdriver import Browser


def txn(name, session, *ops, end=None, status="committed", **fields):
    line = {"id": name, "s": session, "ops": list(ops), "status": status, **fields}
    return {**line, "end": end} if end else line


def op(kind, key, value, sent, answered):
    return [kind, key, value, {"t": [sent, answered]}]


# name: profile, fields of the header, transactions, class, what leaves no room
CASES = {
    "garbage": ("postgresql-rr", {}, [
        txn("c3/17", "c3", op("w", "x", 5, 10, 11), end=[12, 13]),
        txn("c1/9", "c1", op("r", "x", 0, 20, 21), end=[30, 31]),
    ], "CR garbage", ["commit of T1 by 13 < snapshot of T2 from 20"]),
    "garbage by locks": ("postgresql-rc", {}, [
        txn("a", "c1", op("w", "x", 1, 10, 11), end=[12, 20]),
        txn("b", "c2", op("w", "x", 2, 13, 14), end=[15, 19]),
        txn("c", "c3", op("r", "x", 1, 30, 31), end=[32, 33]),
    ], "CR garbage", ["commit of b by 19 < statement of c from 30", "lock of a by 11 < release by b from 15"]),
    "skew": ("postgresql-rr", {"clock_skew": 3, "time_unit": "ms"}, [  # half of 3, rounded up, on both sides
        txn("a", "c3", op("w", "x", 5, 10, 11), end=[12, 13]),
        txn("b", "c1", op("r", "x", 0, 20, 21), end=[30, 31]),
    ], "CR garbage", ["commit of a by 15 < snapshot of b from 18"]),
    "future": ("postgresql-rc", {}, [
        txn("reader", "c1", op("r", "x", 1, 10, 12), end=[13, 14]),
        txn("writer", "c2", op("w", "x", 1, 20, 23), end=[25, 27]),
    ], "CR future", ["statement of reader by 12 < commit of writer from 25"]),
    "torn": ("postgresql-rr", {}, [
        txn("a", "c1", op("w", "x", 1, 10, 11), end=[12, 30]),
        txn("b", "c2", op("w", "y", 1, 32, 33), end=[34, 50]),
        txn("c", "c3", op("r", "x", 0, 20, 40), op("r", "y", 1, 55, 60), end=[70, 71]),
    ], "CR no common snapshot", ["x = 0 until 30 < y = 1 from 34"]),
    "locks": ("postgresql-rc", {}, [  # the commit of a is not answered: it lived until its last answered statement was sent
        txn("a", "c1", op("w", "x", 1, 10, 14), op("r", "y", 0, 20, 21), end=[40, None], status="unknown"),
        txn("b", "c2", op("w", "x", 2, 11, 13), end=[27, 29]),
    ], "ME write-write", ["lock of a by 14 < release by b from 27", "lock of b by 13 < release by a from 20"]),
    "updaters": ("postgresql-rr", {}, [
        txn("a", "c1", op("r", "x", 0, 10, 11), op("w", "x", 1, 30, 31), end=[32, 33]),
        txn("b", "c2", op("r", "x", 0, 12, 13), op("w", "x", 2, 14, 15), end=[16, 17]),
    ], "FUW concurrent writers", ["snapshot of b by 13 < commit of a from 32", "snapshot of a by 11 < commit of b from 16"]),
    "cycle": ("postgresql-ser", {}, [
        txn("alice", "c1", op("r", "x", 0, 10, 11), op("r", "y", 0, 12, 13), op("w", "x", 1, 20, 21), end=[30, 31]),
        txn("bob", "c2", op("r", "x", 0, 10, 12), op("r", "y", 0, 13, 14), op("w", "y", 1, 22, 23), end=[30, 32]),
    ], "SC write skew", ["snapshot of alice by 11 < commit of bob from 30", "snapshot of bob by 12 < commit of alice from 30"]),
    "twice": ("mariadb-rr", {}, [
        txn("b", "c2", ["range", "a", "z", [["x", 0], ["x", 0], ["y", 0]], {"t": [10, 20]}], end=[21, 22]),
    ], "CR duplicate row", []),
    "session": ("timestamps-si", {}, [
        txn("a", "c1", ["w", "x", 1], snapshot=1, commit_ts=7),
        txn("b", "c1", ["w", "y", 1], snapshot=3, commit_ts=9),
    ], "SESSION session", ["snapshot of b at 3 < commit of a at 7"]),
    "stamps": ("timestamps-si", {}, [  # a version is gone at the very commit of the next one
        txn("a", "c1", ["w", "x", 1], snapshot=1, commit_ts=3),
        txn("b", "c2", ["r", "x", 0], ["w", "y", 1], snapshot=3, commit_ts=9),
    ], "CR garbage", ["commit of a at 3 \u2264 snapshot of b at 3"]),
    "far apart": ("postgresql-rr", {}, [
        txn("a", "c3", op("w", "x", 5, 1700000000000000010, 1700000000000000011), end=[1700000000000000012, 1700000000000000013]),
        txn("b" * 60, "c1", op("r", "x", 0, 1700000000900000020, 1700000000900000021), end=[1700000001900000030, 1700000001900000031]),
    ], "CR garbage", ["commit of T1 by 1700000000000000013 < snapshot of T2 from 1700000000900000020"]),
}


def write(folder, name, profile, fields, txns):
    path = os.path.join(folder, f"{name.replace(' ', '-')}.jsonl")
    with open(path, "w") as file:
        for line in [{"krait": 1, "profile": profile, "initial": {"x": 0, "y": 0}, **fields}, *txns]:
            file.write(json.dumps(line) + "\n")
    return path


def make_page(folder, *arguments, command="check", exits=(1,)):
    page = os.path.join(folder, "page.html")
    done = subprocess.run([KRAIT, command, *arguments, "--html", page], capture_output=True, text=True)
    assert done.returncode in exits, (done.returncode, done.stdout, done.stderr)
    return page


def resize(browser, width):
    browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)


OVERLAPS = """const boxes = [...document.querySelectorAll(".lanes text, .lanes .bar")].map((e) => ({box: e.getBBox(), label: e.textContent, tag: e.tagName}));
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => a.tag === b.tag && a.box.x < b.box.x + b.box.width && b.box.x < a.box.x + a.box.width &&
        a.box.y + 1 < b.box.y + b.box.height && b.box.y + 1 < a.box.y + a.box.height).map((b) => [a.label, b.label]))"""
OUTSIDE = """const wide = document.querySelector(".lanes svg").viewBox.baseVal.width;
    return [...document.querySelectorAll(".lanes text")].filter((e) => e.getBBox().x < -1 || e.getBBox().x + e.getBBox().width > wide + 1).map((e) => e.textContent)"""


def test_findings(folder):
    """Each class with what it breaks, in words and as a marked gap; at 1280 and 400 pixels nothing overlaps and only the cycle scrolls sideways."""
    with Browser() as browser:
        for name, (profile, fields, txns, what, gaps) in CASES.items():
            page = make_page(folder, "-q", "--checker", "leopard", write(folder, name, profile, fields, txns))
            for width in (1280, 400):
                resize(browser, width)
                browser.open(page)
                browser.settle()
                browser.settle()
                assert browser.text(".badge").endswith("violated")
                assert browser.text(".finding .chip") == what, (name, browser.text(".finding .chip"))
                shown = browser.run("return [...document.querySelectorAll('.finding .gaps code, .finding .rests')].map((e) => e.textContent)")
                assert shown == gaps, (name, shown)
                assert browser.count(".lanes .gap.arrow") == len(gaps), name
                assert browser.text(".finding pre").startswith("Let:  "), name
                assert browser.run(OVERLAPS) == [], (name, width, browser.run(OVERLAPS))
                assert browser.run(OUTSIDE) == [], (name, width, browser.run(OUTSIDE))
                assert browser.run("return document.documentElement.scrollWidth") <= width, (name, width)
            is_quiet(browser)


def test_finding_places(folder):
    """Bars stand where the axis says, on one scale: 5 ticks are half as wide as 10; the arrow of a gap reaches from the one instant to the other."""
    with Browser() as browser:
        browser.open(make_page(folder, "-q", "--checker", "leopard", write(folder, "torn", *CASES["torn"][:3])))
        browser.settle()
        browser.settle()
        boxes = dict(browser.run("""return [...document.querySelectorAll(".lanes path.bar")].map((e) => [e.querySelector("title").textContent, [e.getBBox().x, e.getBBox().width]])"""))
        x, tick = boxes["r x 0: 20 to 40"][0], boxes["r x 0: 20 to 40"][1] / 20
        for title, (left, wide) in boxes.items():
            start, stop = (int(text) for text in title.rsplit(": ", 1)[1].split(" to "))
            assert abs(left - (x + (start - 20) * tick)) < 2 and abs(wide - (stop - start) * tick) < 2, (title, left, wide)
        gap = browser.run("const b = document.querySelector('.lanes .gap.arrow').getBBox(); return [b.x, b.width]")
        assert abs(gap[0] - (x + 10 * tick)) < 2 and abs(gap[1] - 4 * tick) < 2, gap
        assert browser.run("return [...document.querySelectorAll('.lanes .span')].some((e) => e.textContent.startsWith('snapshot taken: 20 to 40'))")
        is_quiet(browser)


def test_finding_open(folder):
    """What was not answered runs to the edge, as an arrow; skew is a line on both sides of a statement."""
    with Browser() as browser:
        browser.open(make_page(folder, "-q", "--checker", "leopard", write(folder, "locks", *CASES["locks"][:3])))
        browser.settle()
        browser.settle()
        assert browser.run("""const e = document.querySelector(".lanes .bar.statement.open"), wide = document.querySelector(".lanes svg").viewBox.baseVal.width;
            return e.textContent.startsWith("commit (no reply): 40 to") && Math.abs(e.getBBox().x + e.getBBox().width - wide) < 1""")
        assert browser.count(".lanes .skew") == 0
        browser.open(make_page(folder, "-q", "--checker", "leopard", write(folder, "skew", *CASES["skew"][:3])))
        browser.settle()
        browser.settle()
        assert browser.count(".lanes .skew") == 2 * 4  # two writes and reads, two commits
        assert "Clocks may differ by 3 ms" in browser.text(".hero .note")
        is_quiet(browser)


def test_findings_many(folder):
    """2,000 findings of one class, one of another: the first hundred of a class in full, the rest counted, and the page still answers."""
    txns = [txn("w", "w", op("w", "x", 1, 1, 2), end=[3, 4])]
    txns += [txn(f"r{i}", f"s{i % 7}", op("r", "x", 0, 10 * i + 10, 10 * i + 11), end=[10 * i + 12, 10 * i + 13]) for i in range(2000)]
    txns += [txn("last", "l", op("r", "y", 7, 30000, 30001), end=[30002, 30003])]
    path = write(folder, "many", "postgresql-rc", {"stream": True, "sessions": ["w", "l"] + [f"s{i}" for i in range(7)]}, txns)
    for page in (make_page(folder, "-q", "--profile", "postgresql-rc", path), make_page(folder, "--profile", "postgresql-rc", path, command="watch")):
        assert os.path.getsize(page) < 1000000, os.path.getsize(page)
        with Browser() as browser:
            browser.open(page)
            browser.settle()
            assert browser.text(".sentence") == "2,001 findings: CR garbage 2,000, CR never written 1.", browser.text(".sentence")
            assert "counted only: 1,900 more of CR garbage" in browser.text(".hero .note")
            assert browser.count(".finding") == 101 and browser.count(".lanes") == 1
            browser.click(".cases button:nth-child(3)")
            assert browser.count(".finding") == 1 and browser.text(".finding .chip") == "CR never written"
            browser.settle()
            assert browser.count(".lanes svg") == 1
            is_quiet(browser)


def test_findings_traces(folder):
    """Several traces: those with findings come first; one that cannot be used has its error, one without findings says that this is no proof."""
    bad = os.path.join(folder, "bad.jsonl")
    with open(bad, "w") as file:
        file.write('{"id": "a", "ops": [["w", "x"]]}\n')
    right = write(folder, "right", "postgresql-rc", {}, CASES["garbage"][2][:1])
    wrong = write(folder, "wrong", *CASES["garbage"][:3])
    with Browser() as browser:
        browser.open(make_page(folder, "-q", "--profile", "postgresql-rc", bad, right, wrong, exits=(1, 255)))
        browser.settle()
        options = browser.run("return [...document.querySelector('select').options].map((o) => o.textContent)")
        assert options == [f"{bad} (no verdict)", right, f"{wrong} (violated)"], options
        assert browser.text(".badge").endswith("violated")
        for i, text in ((0, "This trace got no verdict"), (1, "That is no proof.")):
            browser.run("const s = document.querySelector('select'); s.selectedIndex = arguments[0]; s.dispatchEvent(new Event('change'))", i)
            assert text in browser.text("main"), (i, browser.text("main"))
        is_quiet(browser)


def test_findings_hostile(folder):
    """Names and values that are HTML are shown as they are, and do nothing."""
    txns = [txn("a" + HOSTILE, "A" + HOSTILE, op("w", "x" + HOSTILE, HOSTILE, 10, 11), end=[12, 13]),
            txn("b" + HOSTILE, "B" + HOSTILE, op("r", "x" + HOSTILE, None, 20, 21), end=[30, 31])]
    path = write(folder, "hostile", "postgresql-rr", {"time_unit": HOSTILE, "clock_skew": 2}, txns)
    with Browser() as browser:
        browser.open(make_page(folder, "-q", "--profile", "postgresql-rr", path))
        browser.settle()
        browser.settle()
        assert browser.run("return window.hacked ?? null") is None
        assert browser.count("img") == 0 and browser.count("script:not([data-krait])") == 1
        assert "</script>" in browser.text(".finding pre") and "</script>" in browser.text(".hero .note")
        assert browser.run(OUTSIDE) == []
        is_quiet(browser)


def test_findings_schemes(folder):
    """Readable in light and dark (WCAG 2: contrast of at least 4.5), and to screen readers."""
    page = make_page(folder, "-q", "--checker", "leopard", write(folder, "locks", *CASES["locks"][:3]), write(folder, "cycle", *CASES["cycle"][:3]))
    for scheme in ("light", "dark"):
        with Browser(scheme) as browser:
            browser.open(page)
            browser.settle()
            browser.settle()
            panel = colour(browser, ".finding", "backgroundColor")
            for selector, name, behind in ((".finding .chip", "color", None), (".gaps .wrong", "color", ".gaps .wrong"), (".lanes .head", "fill", None), (".lanes .when", "fill", None),
                                           (".lanes .label.locked", "fill", None), (".lanes .label.gap", "fill", None), (".lanes .label.named", "fill", None)):
                ratio = contrast(colour(browser, behind, "backgroundColor") if behind else panel, colour(browser, selector, name))
                assert ratio >= 4.5, (scheme, selector, ratio)
            told = browser.attribute(".lanes svg", "aria-label")
            assert "lock of a by 14 < release by b from 27" in told and "w x 1 from 10 to 14" in told and "commit from 40 to no known end" in told, told
            is_quiet(browser)


if __name__ == "__main__":
    sys.exit(webdriver.run_tests(sys.argv[1:], globals(), webdriver.missing()))
