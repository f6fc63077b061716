"""A browser to test pages with: Debian's chromium, headless, spoken to through chromedriver by the W3C WebDriver protocol (https://www.w3.org/TR/webdriver2/). Standard library only."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element
ENTER, SPACE, TAB, RIGHT = "\ue007", "\ue00d", "\ue004", "\ue014"


def missing():
    """What this machine lacks, or None."""
    for tool in ("chromium", "chromedriver"):
        if not shutil.which(tool):
            return tool
    return None


class Failed(Exception):
    pass


class Browser:
    def __init__(self, scheme="light", width=1400, height=1000):
        self.profile = tempfile.mkdtemp(prefix="krait-browser-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0", "--log-level=SEVERE"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = self.find_port()
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.profile}",
                     f"--window-size={width},{height}", "--hide-scrollbars", "about:blank"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # chromium refuses to run as root with one
        always = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        try:
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": always}})["sessionId"]
        except Exception:
            self.close()
            raise
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def find_port(self):
        for line in self.driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise Failed("chromedriver does not start")

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method, headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=600) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(f"{method} {path}: {json.load(error)['value']['message']}") from error

    def do(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, **parameters):
        return self.do("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path):
        self.visit("file://" + os.path.abspath(path))

    def visit(self, url):
        self.requests(), self.complaints()  # those of the page that the browser starts with
        self.do("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def settle(self):
        """Waits until the page is there (what is packed in it is unpacked beside) and two frames have been drawn."""
        self.do("POST", "/execute/async", {"script": """const done = arguments[0], wait = () => !document.querySelector("#page > *") ? setTimeout(wait, 5)
            : requestAnimationFrame(() => requestAnimationFrame(done)); wait();""", "args": []})

    def find(self, selector):
        return self.do("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def attribute(self, selector, name):
        return self.run("return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null", selector, name)

    def click(self, selector):
        self.do("POST", f"/element/{self.find(selector)}/click", {})

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def press(self, *keys):
        steps = [step for key in keys for step in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.do("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def complaints(self):
        """What the page wrote to the console, errors and warnings of the browser among it."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.do("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses asked for, but for files."""
        asked = []
        for entry in self.do("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if not url.startswith(("file:", "data:"))]

    def screenshot(self, path, whole=False):
        answer = self.cdp("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        try:
            if hasattr(self, "session"):
                self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run_tests(names, space, lacks):
    """The functions test_NAME of a script, each with a folder of its own; the exit status."""
    if lacks:
        print(f"skipped: no {lacks} on this machine")
        return 77
    tests = {name[5:]: test for name, test in space.items() if name.startswith("test_")}
    for name in names or tests:
        with tempfile.TemporaryDirectory() as folder:
            tests[name](folder)
        print(f"{name}: passed")
    return 0
