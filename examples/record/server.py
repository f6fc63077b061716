"""A database server for the time of a recording: in a folder of its own, on a free port, gone afterwards."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # exit status where the machine lacks what a recorder needs


def lacks(what):
    print(f"skipped: this machine lacks {what}", file=sys.stderr)
    sys.exit(SKIPPED)


def program(name, package, *folders):
    """The path of a program, also where it is not on the path."""
    for pattern in folders:
        for path in sorted(glob.glob(os.path.join(pattern, name)), reverse=True):
            return path
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin") or lacks(f"{name} (Debian's package {package})")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """Servers refuse to run as root: then they run as `user`, whom their Debian package has made."""

    def __init__(self, user):
        self.user = user if os.getuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="krait-record-")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = None
        if self.user:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)

    def call(self, *command):
        with open(self.log.name, "ab") as log:
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, user=self.user)

    def start(self, command, is_ready, seconds=30):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=self.folder, user=self.user)
        end = time.monotonic() + seconds
        while not is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{command[0]} did not start:\n{open(self.log.name, errors='replace').read()[-2000:]}")
            time.sleep(0.05)

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
