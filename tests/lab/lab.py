"""What tests of krait-lab share, those of its own database and those of real ones."""

import json
import os
import subprocess
import sys
import tempfile

KRAIT = os.path.abspath(os.environ.get("KRAIT", "build/dev/bin/krait"))
LAB = KRAIT + "-lab"
FOLDER = tempfile.TemporaryDirectory(prefix="krait-test-lab-")
TRACE = os.path.join(FOLDER.name, "trace.jsonl")
TRIES = 4

# Private databases go there, too, so that what other recordings of this machine do is told from what a test has left.
os.chmod(FOLDER.name, 0o1777)  # as of /tmp: they run under users of their own
os.environ["TMPDIR"] = FOLDER.name


def run(*options, status=0, path=TRACE, timeout=600):
    """Records; what was said on standard output, and on standard error. `status`: or several that will do."""
    done = subprocess.run([LAB, "record", "-q", "-o", path, *options], capture_output=True, text=True, timeout=timeout)
    right = status if isinstance(status, tuple) else (status,)
    if done.returncode == 77 and 77 not in right:
        print(done.stderr)
        sys.exit(77)
    assert done.returncode in right, (options, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def read(path=TRACE):
    """Header, transactions, and the other lines."""
    with open(path) as file:
        header, *lines = map(json.loads, file)
    return header, [line for line in lines if "ops" in line], [line for line in lines if "ops" not in line]


def check(*options, path=TRACE):
    """Verdicts by level."""
    done = subprocess.run([KRAIT, "check", "--json", *options, path], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), done.stdout + done.stderr
    return {verdict["level"]: verdict["verdict"] for verdict in map(json.loads, done.stdout.splitlines())}


def keeps(driver, level, workload, *options):
    return run("-d", driver, "-l", level, "-w", workload, "--txns", "120", "--check", "keeps", "--timeout", "60", *options)


def shows(driver, level, workload, broken, *options):
    """The level of krait is violated in some run."""
    for seed in range(1, TRIES + 1):
        run("-d", driver, "-l", level, "-w", workload, "--seed", str(seed), "--think", "500", *options)
        if check("-l", broken)[broken] == "violated":
            return
    raise AssertionError(f"{driver} {level}: none of {TRIES} runs violates {broken}")


def reads_only(txn):
    return all(op[0] in ("r", "range", "scan") for op in txn["ops"])


def standby_lags(*options):
    """What the standby of two nodes shows is another state than that of the first one. Of each recording: whether clients or transactions were spread, and what was said."""
    skewed = stale = False
    for seed in range(1, TRIES + 1):
        for spread in ("transactions", "clients"):
            _, said = run(*options, "--spread", spread, "-w", "registers:rmw=80", "--seed", str(seed), "--check", "keeps", "--timeout", "60")
            yield spread, said
            verdicts = check("-l", "ser,ra")
            skewed |= verdicts["ser"] == "violated"
            stale |= verdicts["ra"] == "violated"
            assert spread == "clients" or verdicts["ra"] == "satisfied", "there is no session"
        if skewed and stale:
            return
    assert skewed and stale


def main(namespace):
    namespace[f"test_{sys.argv[1]}"]()
