"""`krait schema`: what the schemas accept and refuse.

    test_schema.py NAME     runs test_NAME; 77: there is no jsonschema here
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema on this machine")
    sys.exit(77)

KRAIT = os.environ.get("KRAIT", "build/dev/bin/krait")
TRACES = sorted(glob.glob("traces/*/trace.jsonl"))


def krait(*arguments):
    return subprocess.run([KRAIT, *arguments], capture_output=True, text=True).stdout


def load(name):
    schema = json.loads(krait("schema", name))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:krait:schema:1:{name}", schema["$id"]
    return jsonschema.Draft202012Validator(schema)


def must_hold(validator, value, where):
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    assert error is None, f"{where}: {error.message} at {list(error.absolute_path)}: {json.dumps(value)[:300]}"


def test_traces():
    trace, lines = load("trace"), 0
    assert len(TRACES) > 200
    for path in TRACES:
        with open(path) as file:
            text = file.read()
        try:
            parts = [json.loads(line) for line in text.splitlines() if line.strip()]
        except json.JSONDecodeError:
            parts = [json.loads(text)]  # one document
        for i, part in enumerate(parts):
            must_hold(trace, part, f"{path}:{i + 1}")
            lines += 1
    print(f"{lines} lines of {len(TRACES)} traces are valid")
    generated = krait("gen", "-n", "300", *[f"--{kind}=8" for kind in ("deletes", "inserts", "cas", "incs", "appends", "adds", "ranges", "scans", "updates", "unknown", "aborted", "untold")],
                      "--reads=10", "--initial=given", "--serial")
    for i, line in enumerate(generated.splitlines()):
        must_hold(trace, json.loads(line), f"generated:{i + 1}")
    assert i >= 299


def test_outputs():
    commands = [["check", "--json", "-l", "all", "--explain", "--stats", *TRACES], ["stats", "--json", *TRACES], ["lint", "--json", *TRACES], ["classify", "--json", *TRACES[:40]]]
    commands += [[name, "--json"] for name in ("levels", "checkers", "passes", "formats", "backends", "profiles")]
    for command in commands:
        validator, lines = load(command[0]), krait(*command).splitlines()
        assert len(lines) > 3, command[0]
        for line in lines:
            must_hold(validator, json.loads(line), command[0])
        print(f"{command[0]}: {len(lines)} objects are valid")


def test_mechanisms():
    """What `check --profile` prints, and the findings that it writes, of traces that some row finds fault with."""
    validator, finding, found = load("mechanisms"), load("finding"), 0
    for profile in ("postgresql-rc", "postgresql-ser", "mariadb-rr", "sqlite-ser"):
        for line in krait("check", "-q", "--json", "--explain", "--profile", profile, *TRACES).splitlines():
            value = json.loads(line)
            must_hold(validator, value, profile)
            for one in value["findings"]:
                must_hold(finding, one, profile)
                found += 1
    print(f"{found} findings are valid")
    assert found > 40


def test_streams():
    """The events of `check --stream`, and that it finds something wherever `check --profile` does."""
    watch, finding, found = load("watch"), load("finding"), 0
    for profile in ("postgresql-rc", "postgresql-ser", "mariadb-rr", "sqlite-ser"):
        whole = {value["trace"]: {one["mechanism"] for one in value["findings"]}
                 for value in map(json.loads, krait("check", "-q", "--json", "--profile", profile, *TRACES).splitlines())}
        streamed = {trace: set() for trace in whole}
        for line in krait("check", "-q", "--json", "--stream", "--profile", profile, *TRACES).splitlines():
            value = json.loads(line)
            must_hold(watch, value, profile)
            if value["event"] == "finding":
                must_hold(finding, value, profile)
                streamed[value["trace"]].add(value["mechanism"])
                found += 1
        assert streamed == whole, {trace: (whole[trace], streamed[trace]) for trace in whole if whole[trace] != streamed[trace]}
    print(f"{found} findings of streams are valid")
    assert found > 40


def test_progress():
    """Of a stream long enough to have some: what is held is little, and somebody holds the watermark."""
    with tempfile.TemporaryDirectory() as folder:
        path, watch = os.path.join(folder, "stream.jsonl"), load("watch")
        krait("gen", "-n", "20000", "--sessions", "8", "--store", "postgresql-rr", "--stream", "--op-times", "-o", path)
        events = [json.loads(line) for line in krait("watch", "--json", "--profile", "postgresql-rr", path).splitlines()]
        for event in events:
            must_hold(watch, event, "progress")
        progress = [event for event in events if event["event"] == "progress"]
        assert len(progress) >= 1 and events[-1]["event"] == "end" and events[-1]["txns"] == 20000, events
        for event in progress:
            assert event["holder"] in {f"s{i}" for i in range(8)} | set(range(8)) and event["watermark"] <= event["newest"], event
            assert 0 < event["versions"] < 20000 and 0 < event["locks"] < 20000 and 0 < event["held"] < 20000, event
        print(f"{len(events)} events are valid, {len(progress)} of progress")


def test_golden():
    """Every object of every golden case with --json is valid for a command of the case (or a line of a trace, which some print, too)."""
    names, checked = krait("schema").split(), 0
    validators = {name: load(name) for name in names}
    for path in sorted(glob.glob("tests/golden/cases/*/cmd")):
        case = os.path.dirname(path)
        with open(path) as file:
            text = file.read()
            commands = set(re.findall(r"(?:krait|run|claim) +(\w+)", text)) & set(names) | ({"mechanisms", "finding"} if "--profile" in text else set()) | ({"watch"} if "--stream" in text else set()) | ({"crosscheck"} if "crosscheck" in case else set())
        with open(path) as file:
            if "--json" not in file.read() or not os.path.exists(f"{case}/stdout"):
                continue
        with open(f"{case}/stdout") as file:
            for line in file:
                if not line.startswith("{") or case.endswith("/check-stats-json"):  # which cuts its output to pieces; test_outputs has the whole
                    continue
                value = json.loads(re.sub(r": (SECONDS|PEAK_MIB)", ": 0", line))
                assert any(validators[name].is_valid(value) for name in commands | {"trace"}), (case, sorted(commands), line)
                if "verdict" in value and commands == {"check"}:
                    must_hold(validators["check"], value, case)
                checked += 1
    print(f"{checked} objects of golden cases are valid")
    assert checked > 40


REFUSED = {
    "trace": [{}, {"id": "a"}, {"ops": {}}, {"ops": [["r"]]}, {"ops": [["w", "x"]]}, {"ops": [["w", "x", None]]}, {"ops": [["read", "x", 1]]}, {"ops": [["w", None, 1]]}, {"ops": [["inc", "x", "1"]]},
              {"ops": [["insert", "x", 1, 1]]}, {"ops": [["cas", "x", 1, None, True]]}, {"ops": [], "status": "done"}, {"ops": [], "begin": [1]}, {"ops": [], "id": 1.5}, {"krait": 2},
              {"ops": [["range", "a", "b", [["a"]]]]}, {"ops": [["scan", {"prefix": "a"}, []]]}, {"version_order": "x"}, {"txns": [{}]}, []],
    "check": [{}, {"trace": "t", "level": "ser", "order": "none", "checker": "ser", "verdict": "violated", "txns": 1, "ops": 1, "seconds": 0, "peak_mib": 1},
              {"trace": "t", "level": "ser", "order": "none", "checker": "ser", "verdict": "maybe", "txns": 1, "ops": 1, "seconds": 0, "peak_mib": 1},
              {"trace": "t", "level": "ser", "order": "none", "checker": "ser", "verdict": "unknown", "txns": 1, "ops": 1, "seconds": 0, "peak_mib": 1},
              {"trace": "t", "level": "ser", "order": "none", "checker": "ser", "verdict": "violated", "txns": 1, "ops": 1, "seconds": 0, "peak_mib": 1,
               "anomaly": {"name": "G0", "message": "m", "cycle": [{"from": 1, "to": 2, "kind": "ww", "why": "w"}]}}],
    "watch": [{}, {"event": "end"}, {"event": "late", "session": "a", "line": 1, "invoked": 1}, {"event": "dispatch", "session": "a"}, {"event": "over", "txns": 1},
              {"event": "progress", "watermark": 1, "lines": 1, "txns": 1, "open": 0, "oldest": None, "findings": 0, "mib": 1}],
    "stats": [{"trace": "t"}], "lint": [{"trace": "t", "kind": "no-end"}], "verify": [{"trace": "t", "level": "ser", "order": "none", "verdict": "unknown", "result": "confirmed"}],
}


def test_refused():
    for name, values in REFUSED.items():
        validator = load(name)
        for value in values:
            assert not validator.is_valid(value), (name, value)


if __name__ == "__main__":
    globals()["test_" + sys.argv[1]]()
