#!/bin/sh
# Runs command-line cases: what is printed, where, and the exit status.
#
#   tests/golden/run.sh [--update] CASE_FOLDER...
#
# A golden case is a folder with
#   cmd      one shell command line, run in the folder, with krait on the PATH,
#            $KRAIT_DATA the recorded histories, $KRAIT_PLUGINS the plug-ins of
#            tests/plugins/ and $TMP a folder for outputs
#   stdout   expected standard output   (no file: nothing)
#   stderr   expected standard error    (no file: nothing)
#   status   expected exit status       (no file: 0)
#   needs    commands that the case needs beside krait, one a line (optional);
#            `script` stands for a pseudo-terminal, too: some containers have none
# A negative case is a folder with the malformed input and
#   expect   the one line expected on standard error; standard output must be
#            empty and the status 255
#   cmd      as above (no file: `krait check` of the folder's other file)
#
# Outputs are compared after normalise.sed; the names of $TMP and $KRAIT_DATA
# appear as such. --update writes what a golden case printed as what it must
# print: read the difference before you commit it.
#
# KRAIT names the program (default: build/dev/bin/krait). Exit status: 0 all
# passed, 1 some failed, 77 none could run.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
KRAIT=${KRAIT:-$root/build/dev/bin/krait}
KRAIT_DATA=${KRAIT_DATA:-$root/../shared/data}
[ -d "$KRAIT_DATA" ] && KRAIT_DATA=$(cd "$KRAIT_DATA" && pwd)
# /usr/bin: a python3 elsewhere may be a script that looks for one
PATH=$(cd "$(dirname "$KRAIT")" && pwd):/usr/bin:$PATH
KRAIT_PLUGINS=$(dirname "$(cd "$(dirname "$KRAIT")" && pwd)")/tests/plugins
KRAIT_PLUGIN_PATH=
export PATH KRAIT_DATA KRAIT_PLUGINS KRAIT_PLUGIN_PATH
unset NO_COLOR COLUMNS

update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 254; }
[ -x "$KRAIT" ] || { echo "$KRAIT: not there; build it, or set KRAIT" >&2; exit 1; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

normalise() {
    sed -f "$here/normalise.sed" -e "s|$TMP|\$TMP|g" -e "s|$KRAIT_DATA|\$KRAIT_DATA|g" -e "s|$KRAIT_PLUGINS|\$KRAIT_PLUGINS|g" "$1"
}

# The command line of the case in the current folder.
command_line() {
    if [ -f cmd ]; then
        cat cmd
        return
    fi
    input=
    for file in *; do
        [ "$file" = expect ] && continue
        [ -z "$input" ] || { echo "more than one input, and no cmd" >&2; return 1; }
        input=$file
    done
    [ -n "$input" ] || { echo "neither cmd nor input" >&2; return 1; }
    echo "krait check '$input'"
}

# same WHAT EXPECTED_FILE GOT_FILE
same() {
    cmp -s "$2" "$3" && return 0
    echo "$1 differs (- expected, + got):"
    diff -u "$2" "$3" | sed '1,2d'
    return 1
}

# keep FILE GOT_FILE: an absent file stands for an empty one.
keep() {
    if [ -s "$2" ]; then cp "$2" "$1"; else rm -f "$1"; fi
}

run_case() (
    cd "$1" || exit 1
    TMP=$work/tmp
    export TMP
    rm -rf "$TMP"
    mkdir "$TMP"
    line=$(command_line) || exit 1

    case $line in
    *KRAIT_DATA*)
        [ -d "$KRAIT_DATA" ] || { echo "skipped: no recorded histories in $KRAIT_DATA"; exit 77; }
        ;;
    esac
    if [ -f needs ]; then
        while read -r tool; do
            command -v "$tool" >/dev/null || { echo "skipped: no $tool on this machine"; exit 77; }
            [ "$tool" != script ] || script -qec true /dev/null >/dev/null 2>&1 || { echo "skipped: no pseudo-terminal on this machine"; exit 77; }
        done <needs
    fi

    sh -c "$line" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    normalise "$work/out" >"$work/stdout"
    normalise "$work/err" >"$work/stderr"
    echo "$status" >"$work/status"

    if [ -f expect ]; then
        cp expect "$work/want_stderr"
        : >"$work/want_stdout"
        echo 255 >"$work/want_status"
    elif [ $update = yes ]; then
        keep stdout "$work/stdout"
        keep stderr "$work/stderr"
        if [ $status -ne 0 ] || [ -f status ]; then cp "$work/status" status; fi
        exit 0
    else
        for stream in stdout stderr; do
            if [ -f $stream ]; then cat $stream; fi >"$work/want_$stream"
        done
        if [ -f status ]; then cat status; else echo 0; fi >"$work/want_status"
    fi

    failed=0
    for what in status stderr stdout; do
        same "$what" "$work/want_$what" "$work/$what" || failed=1
    done
    [ $failed = 0 ] || echo "command: $line"
    exit $failed
)

passed=0 failed=0 skipped=0
for folder; do
    run_case "$folder"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        echo "FAILED: $folder"
        failed=$((failed + 1))
        ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
