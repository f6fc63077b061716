"""krait-lab where libraries of databases are missing: built in a folder of its own, in which pkg-config does not know some of them.

    test_lab_build.py NAME     runs test_NAME; 77: cmake or pkg-config is missing
"""

import glob
import os
import shutil
import subprocess
import sys

from lab import FOLDER, KRAIT, main

HIDDEN = {"postgresql": ("libpq", "libpq-dev"), "mariadb": ("libmariadb", "libmariadb-dev"), "redis": ("hiredis", "libhiredis-dev")}


def say(*command, status=0, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == status, (command, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout + done.stderr


def hide_libraries():
    """A folder with all that pkg-config has, but those."""
    folder = os.path.join(FOLDER.name, "pkgconfig")
    os.mkdir(folder)
    for path in say("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":"):
        for file in glob.glob(os.path.join(path, "*.pc")):
            name = os.path.basename(file)
            if name[:-3] not in [module for module, _ in HIDDEN.values()] and not os.path.exists(os.path.join(folder, name)):
                os.symlink(file, os.path.join(folder, name))
    return folder


def compiler():
    """That of the build under test."""
    with open(os.path.join(os.path.dirname(KRAIT), "..", "CMakeCache.txt")) as file:
        lines = [line.strip().split(":", 1) for line in file if line.startswith(("CMAKE_C_COMPILER:", "CMAKE_C_COMPILER_LAUNCHER:", "CMAKE_MAKE_PROGRAM:", "CMAKE_GENERATOR:"))]
    values = {name: rest.split("=", 1)[1] for name, rest in lines}
    return ["-G", values.pop("CMAKE_GENERATOR"), *(f"-D{name}={value}" for name, value in values.items())]


def test_drivers_left_out():
    """Each of several drivers without a library: configuring says so, it is listed as not built, and asked for it is skipped; the others are there."""
    if not shutil.which("cmake") or not shutil.which("pkg-config"):
        print("skipped: this machine lacks cmake or pkg-config")
        sys.exit(77)
    build, hidden = os.path.join(FOLDER.name, "build"), {"PKG_CONFIG_LIBDIR": hide_libraries()}
    said = say("cmake", "-S", ".", "-B", build, *compiler(), "-DKRAIT_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", **hidden)
    for driver, (module, package) in HIDDEN.items():
        assert f"krait-lab: driver {driver} is left out: {module} (Debian's package {package}) was not found" in said, said
    say("cmake", "--build", build, "--target", "krait-lab", "kr_driver_sim", "-j", "2", **hidden)
    lab = os.path.join(build, "bin", "krait-lab")
    lines = say(lab, "drivers").splitlines()
    for driver, (module, package) in HIDDEN.items():
        assert f"{driver:16} not built: {module} (Debian's package {package}) was not found" in lines, lines
        assert sum(line.startswith(driver) for line in lines) == 1
        said = say(lab, "record", "-d", driver, "-o", os.path.join(FOLDER.name, "none.jsonl"), status=77)
        assert f"driver {driver} was not built: {module} (Debian's package {package}) was not found" in said, said
        assert "was not built" in say(lab, "provoke", "-d", driver, status=77)
    assert any(line.startswith("sim ") and "not built" not in line for line in lines)
    krait = os.path.join(build, "bin", "krait")
    for name in ("lab_postgresql", "lab_mariadb", "lab_redis"):
        say(sys.executable, "-B", "tests/lab/test_lab_live.py", name, status=77, KRAIT=krait)


if __name__ == "__main__":
    main(globals())
