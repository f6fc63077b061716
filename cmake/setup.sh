# Sourced by quickstart.sh and test.sh: what the machine lacks is installed, then
# a preset is configured and built. Sets `root`. Looks before it asks apt, so that
# a second run needs neither network nor rights.

root=$(cd "$(dirname "$0")" && pwd)
missing=
wanted=

# need PACKAGE COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# want PACKAGE COMMAND...: the same of what krait can be built without. Once there is a build it is no reason to ask apt.
want() {
    package=$1
    shift
    [ -d "$root/build" ] || "$@" >/dev/null 2>&1 || wanted="$wanted $package"
}

tool() { command -v "$1"; }
compiles() { printf '#include <stdio.h>\n' | cc -fsyntax-only -xc -; }
cmake_is_new() {
    version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    set -- ${version:-0 0}
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

need_for_build() {
    need gcc tool cc
    need libc6-dev compiles
    need cmake cmake_is_new
    need ninja-build tool ninja
    need pkg-config tool pkg-config
    need libz3-dev pkg-config --exists z3
    need libjansson-dev pkg-config --exists jansson
    need zlib1g-dev pkg-config --exists zlib
    want libmicrohttpd-dev pkg-config --exists 'libmicrohttpd >= 0.9.74'
    # Compressed traces.
    want libzstd-dev pkg-config --exists libzstd
    want liblzma-dev pkg-config --exists liblzma
    want libbz2-dev test -f /usr/include/bzlib.h
    # Drivers of krait-lab.
    want libsqlite3-dev pkg-config --exists sqlite3
    want libpq-dev pkg-config --exists libpq
    want libmariadb-dev pkg-config --exists libmariadb
    want liblmdb-dev pkg-config --exists lmdb
    want libwiredtiger-dev pkg-config --exists wiredtiger
    want librocksdb-dev pkg-config --exists rocksdb
    want libdb-dev test -f /usr/include/db.h
    want libcurl4-openssl-dev pkg-config --exists libcurl
    want libhiredis-dev pkg-config --exists hiredis
    want firebird-dev test -f /usr/include/ibase.h
    want unixodbc-dev pkg-config --exists odbc
}

need_for_tests() {
    need libcmocka-dev pkg-config --exists cmocka
    need z3 tool z3
    need cvc5 tool cvc5
    need python3 tool python3
    need libxml2-utils tool xmllint
    need python3-jsonschema /usr/bin/python3 -c 'import jsonschema'
    need chromium tool chromium
    need chromium-driver tool chromedriver
    need fonts-dejavu-core test -d /usr/share/fonts/truetype/dejavu
}

# Debian starts servers that it installs; the tests start others of their own.
need_for_live() {
    need postgresql sh -c 'ls /usr/lib/postgresql/*/bin/postgres'
    need python3-psycopg2 /usr/bin/python3 -c 'import psycopg2'
    need mariadb-server test -x /usr/sbin/mariadbd
    need python3-pymysql /usr/bin/python3 -c 'import pymysql'
    need etcd-server tool etcd
    want mariadb-plugin-rocksdb test -f /usr/lib/mysql/plugin/ha_rocksdb.so
    want redis-server tool redis-server
    want firebird3.0-server-core test -d /usr/lib/x86_64-linux-gnu/firebird
    want odbc-postgresql test -n "$(find /usr/lib -name 'psqlodbc*.so' -print -quit)"
    want galera-4 test -f /usr/lib/galera/libgalera_smm.so
}

apt_waits="-o DPkg::Lock::Timeout=600" # another apt may be at work

apt_install() {
    echo "Installing: $*" >&2
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get $apt_waits install -q -y --no-install-recommends "$@" >&2
}

install_missing() {
    [ -n "$missing$wanted" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root="sudo"
        tool sudo >/dev/null || as_root=none
    fi
    if [ "$as_root" = none ] || ! tool apt-get >/dev/null; then
        [ -n "$missing" ] || { echo "Going on without:$wanted" >&2; return 0; }
        echo "Missing, and not installable from here (needs Debian's apt-get, and root or sudo):$missing" >&2
        exit 1
    fi
    $as_root apt-get $apt_waits update -q >&2 || [ -z "$missing" ] || { echo "apt-get could not install:$missing" >&2; exit 1; }
    [ -z "$missing" ] || apt_install $missing || { echo "apt-get could not install:$missing" >&2; exit 1; }
    [ -z "$wanted" ] || apt_install $wanted || for package in $wanted; do # no release of Debian has all of them for ever
        apt_install "$package" || echo "Going on without: $package" >&2
    done
}

# Shows the last line of a file on a terminal, as long as the process PID runs.
follow() {
    while [ -t 2 ] && kill -0 "$2" 2>/dev/null; do
        printf '\r\033[K%.78s' "$(tail -n 1 "$1" 2>/dev/null)" >&2
        sleep 1
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
}

# build PRESET [TARGET]: a line of progress on a terminal, else silent, unless it fails.
build() {
    (
        cd "$root" || exit 1
        log=$(mktemp) || exit 1
        trap 'rm -f "$log"' EXIT
        trap 'exit 1' HUP INT TERM
        [ -f "build/$1/build.ninja" ] || echo "Building $1 ..." >&2
        { cmake --preset "$1" && cmake --build --preset "$1" ${2:+--target "$2"}; } >"$log" 2>&1 &
        follow "$log" $!
        wait $! || { cat "$log" >&2; exit 1; }
    ) || exit 1
}
