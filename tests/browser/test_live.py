"""The page of `krait watch --http`, opened in chromium while a stream comes in.

    test_live.py NAME...    runs these tests (all: no name); 77: there is no browser here, or krait was built without libmicrohttpd
"""

import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
import server
import webdriver
from server import PATIENCE, Watch, auto, header, overwritten, until
from test_page import colour, contrast
from webdriver import Browser


def tile(browser, name, part="value"):
    return browser.text(f"[data-tile={name}] .{part}")


def says(browser):
    return browser.run("return [...document.querySelectorAll('.findings summary')].map((e) => e.textContent)")


def is_quiet(browser, watch):
    """No complaint, and nothing asked for but the page and its events."""
    complaints = browser.complaints()
    assert complaints == [], complaints
    asked = set(browser.requests())
    assert asked == {watch.url, watch.url + "events"}, asked


def test_live_findings(folder):
    """From before the first line to after the last: numbers move, findings come one by one with their explanations, and the page stays when krait has gone."""
    with Watch() as watch, Browser() as browser:
        browser.visit(watch.url)
        until("live", lambda: browser.text(".connection"))
        assert browser.text("h1") == "Waiting for the first event" and browser.text(".trace") == "standard input"
        assert browser.text(".counts").startswith("None so far")
        watch.tell(header(), auto("t1", "writer", ["w", "x", 1], 10, 11))
        until("Nothing found so far", lambda: browser.text("h1"))
        assert browser.text("header .chip") == "postgresql-rr" and browser.attribute(".hero", "class") == "hero watching"
        until("\u2013", lambda: tile(browser, "watermark"))  # the reader may still tell of any time
        assert tile(browser, "watermark", "note") == "nothing was heard of session reader"
        watch.tell({"s": "reader", "now": 15}, {"txn": "open", "s": "writer", "op": ["w", "y", 1, {"t": [12, 13]}]})
        until("13", lambda: tile(browser, "watermark"))
        assert tile(browser, "watermark", "note") == "held by session writer, 2 behind the newest time"
        assert tile(browser, "open") == "1" and tile(browser, "open", "note") == "the oldest: open of session writer, since 12"
        assert tile(browser, "rate", "note") == "1 ended, 4 lines read"
        watch.tell({"txn": "open", "s": "writer", "end": [14, 15], "status": "committed"}, *overwritten(1, 100))
        until(1, lambda: browser.count(".findings > li"))
        assert says(browser)[0].startswith("CR garbagestale1 read x = 2: "), says(browser)
        until("1 finding", lambda: browser.text("h1"))
        assert browser.attribute(".hero", "class") == "hero violated" and browser.run("return document.title") == "(1) standard input - krait"
        assert browser.text(".counts li") == "CR consistent read 1"
        assert int(tile(browser, "versions")) >= 3 and int(tile(browser, "locks")) >= 3  # t1, open, old1, new1 wrote; some may be forgotten

        browser.click(".findings summary")
        explanation = until(bool, lambda: browser.text(".findings pre"))
        assert "Let:" in explanation and "sent 100, answered 101" in explanation and "However, " in explanation, explanation
        assert explanation.rstrip().endswith("postgresql-rr: CR, garbage."), explanation
        box = browser.run("const box = document.querySelector('.findings pre').getBoundingClientRect(); return [box.width, box.height]")
        assert box[0] > 300 and box[1] > 60, box

        watch.tell(*overwritten(2, 1000))
        until("Show 1 new finding", lambda: browser.text(".more"))
        assert browser.count(".findings > li") == 1  # nothing moves below a reader's eyes
        browser.click(".more")
        assert [text[:17] for text in says(browser)] == ["CR garbagestale2 ", "CR garbagestale1 "], says(browser)
        is_quiet(browser, watch)
        assert watch.end() == 1
        until("ended", lambda: browser.text(".connection"))
        assert browser.text(".badge") == "ended" and browser.text("h1") == "2 findings" and browser.count(".findings > li") == 2
        assert tile(browser, "watermark", "note") == "the input has ended" and tile(browser, "rate", "note").endswith("8 ended, 15 lines read"), tile(browser, "rate", "note")
        time.sleep(2.5)  # longer than a browser waits before it tries again
        assert browser.complaints() == [] and browser.requests() == []


def test_live_nothing_found(folder):
    with Watch() as watch, Browser() as browser:
        browser.visit(watch.url)
        watch.tell(header(), auto("t1", "writer", ["w", "x", 1], 10, 11), {"s": "writer", "now": None}, auto("t2", "reader", ["r", "x", 1], 20, 21))
        until("Nothing found so far", lambda: browser.text("h1"))
        assert watch.end() == 0
        until("Nothing found", lambda: browser.text("h1"))
        assert browser.attribute(".hero", "class") == "hero watching" and "no proof" in browser.text(".sentence")
        assert browser.text(".counts") == "There are none."
        is_quiet(browser, watch)


def test_live_unbounded(folder):
    """A stream that does not say that it is one is looked at when it is over."""
    with Watch() as watch, Browser() as browser:
        browser.visit(watch.url)
        watch.tell(header(stream=False), *overwritten(1, 100))
        until("any time may still come: nothing is looked at before the end", lambda: tile(browser, "watermark", "note"))
        assert browser.text("h1") == "Nothing found so far" and tile(browser, "open") == "3"
        assert watch.end() == 1
        until("1 finding", lambda: browser.text("h1"))
        until(1, lambda: browser.count(".findings > li"))
        is_quiet(browser, watch)


def test_live_late(folder):
    """What comes too late is told; so is an end by an error."""
    with Watch("--profile", "postgresql-rc") as watch, Browser() as browser:
        browser.visit(watch.url)
        watch.tell(header(), {"s": "reader", "now": 50}, auto("t1", "writer", ["w", "x", 1], 40, 41), auto("t2", "writer", ["w", "x", 2], 30, 31))
        until("41", lambda: tile(browser, "watermark"))
        text = until(lambda text: "1 event" in (text or ""), lambda: browser.text(".warning"))
        assert "instants after 30 is not to be trusted" in text, text
        assert browser.attribute(".hero", "class") == "hero unknown" and browser.text("h1") == "Nothing found so far"
        watch.tell(*overwritten(7, 100))
        until("1 finding", lambda: browser.text("h1"))
        assert browser.attribute(".hero", "class") == "hero unknown" and "too late" in browser.text(".sentence"), browser.text(".sentence")
        watch.process.stdin.write("no json\n")
        assert watch.end() == 255
        until("ended with an error", lambda: browser.text(".connection"))
        assert "-:10" in browser.text(".sentence") and browser.attribute(".hero", "class") == "hero unknown", browser.text(".sentence")
        is_quiet(browser, watch)


def test_live_again(folder):
    """Whoever comes later, or again, sees everything once; after krait has died the page waits for another one, and begins anew with it."""
    with Watch() as watch, Browser() as browser, Browser() as other:
        watch.tell(header(), *overwritten(1, 100))
        for one in (browser, other, browser):  # the last is a reload
            one.visit(watch.url)
            until(1, lambda: one.count(".findings > li"))
            until("1 finding", lambda: one.text("h1"))
        watch.tell(*overwritten(2, 1000))
        for one in (browser, other):
            until(2, lambda: one.count(".findings > li"))
            is_quiet(one, watch)
        watch.process.kill()
        until("connection lost, trying again", lambda: browser.text(".connection"))
        assert browser.text("h1") == "2 findings" and browser.count(".findings > li") == 2
        time.sleep(3)
        with Watch(address=f"127.0.0.1:{watch.port}") as second:
            until("live", lambda: browser.text(".connection"))
            until("Waiting for the first event", lambda: browser.text("h1"))
            assert browser.count(".findings > li") == 0
            second.tell(header(), *overwritten(7, 100))
            until(1, lambda: browser.count(".findings > li"))
            assert "stale7" in says(browser)[0]
            assert second.end() == 1


def test_live_many(folder):
    """More findings than a page holds: the last ones, and how many are not shown."""
    with Watch() as watch, Browser() as browser, Browser() as later:
        browser.visit(watch.url)
        watch.tell(header(), *(event for n in range(600) for event in overwritten(n, 100 * n)))
        until("600 findings", lambda: browser.text("h1"))
        later.visit(watch.url)
        for one in (browser, later):
            until(lambda shown: shown and "stale599" in shown[0], lambda: says(one))
            assert len(says(one)) == 500 and "stale100" in says(one)[-1], says(one)[-1]
            until(lambda text: text.startswith("100 findings not shown here"), lambda: one.text(".panel > .note"))
            is_quiet(one, watch)


def test_live_stopped(folder):
    for number in (signal.SIGINT, signal.SIGTERM):
        with Watch() as watch, Browser() as browser:
            browser.visit(watch.url)
            watch.tell(header(), *overwritten(1, 100))
            until("1 finding", lambda: browser.text("h1"))
            watch.process.send_signal(number)
            assert watch.process.wait(PATIENCE) == -number
            until("stopped", lambda: browser.text(".connection"))
            assert browser.text("h1") == "1 finding" and browser.count(".findings > li") == 1
            is_quiet(browser, watch)


def test_live_hostile(folder):
    """Names that look like a program are text."""
    name = "</script><img src=x onerror=\"document.title='got'\">\u202e<!--"
    with Watch() as watch, Browser() as browser:
        browser.visit(watch.url)
        watch.tell(header(), {"txn": name, "s": "writer", "op": ["w", "x", 1, {"t": [1, 2]}]}, *overwritten(1, 100, key=name)[3:], {"s": "writer", "now": 150})
        until(lambda text: "<img src=x" in text, lambda: tile(browser, "open", "note"))
        watch.tell({"txn": name, "s": "writer", "end": [151, 152], "status": "committed"}, *overwritten(2, 200, key=name))
        until(lambda found: any("<img src=x" in text for text in found), lambda: says(browser))
        browser.click(".findings summary")
        until(lambda text: text and "</script>" in text and "\u202e" not in text, lambda: browser.text(".findings pre"))
        assert browser.count("img") == 0 and browser.run("return document.title").endswith("- krait")
        is_quiet(browser, watch)


def test_live_looks(folder):
    """Readable and without sideways scrolling on a desk and on a telephone, by day and by night; whatever takes the focus has a name. KRAIT_SHOTS: a folder for pictures of it."""
    shots = os.environ.get("KRAIT_SHOTS")
    for scheme in ("light", "dark"):
        with Watch("--profile", "postgresql-rr") as watch, Browser(scheme) as browser:
            watch.tell(header(), {"txn": "a-long-name-of-a-transaction", "s": "writer", "op": ["r", "z", None, {"t": [1, 2]}]}, {"txn": "a-long-name-of-a-transaction", "s": "writer", "end": [3, 4], "status": "aborted"})
            for n in range(40):
                watch.tell(*overwritten(n, 1732873223123456789 + 100 * n), *([auto(f"late{n}", "writer", ["w", "y", n], 5, 6)] if n == 30 else []))
                time.sleep(0.05)
            browser.visit(watch.url)
            until(40, lambda: browser.count(".findings > li"))
            for width in (1280, 400):
                browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
                browser.settle()
                if width == 1280:
                    browser.click(".findings li:nth-child(2) summary")
                assert browser.run("return document.documentElement.scrollWidth") <= width
                for selector in (".badge", ".sentence", ".tile .note", ".findings summary", ".findings .place", ".findings pre", ".connection", ".counts li"):
                    back = ".findings pre" if selector.endswith("pre") else ".badge" if selector == ".badge" else ".panel"
                    assert contrast(colour(browser, selector, "color"), colour(browser, back, "backgroundColor")) >= 4.5, (scheme, selector)
                if shots:
                    browser.screenshot(os.path.join(shots, f"live-{scheme}-{width}.png"))
            for node in browser.cdp("Accessibility.getFullAXTree")["nodes"]:
                properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
                if properties.get("focusable") and not node.get("ignored") and node.get("role", {}).get("value") not in ("RootWebArea", "generic", "code", "Pre"):
                    assert node.get("name", {}).get("value"), node
            is_quiet(browser, watch)


if __name__ == "__main__":
    sys.exit(webdriver.run_tests(sys.argv[1:], globals(), webdriver.missing() or server.missing()))
