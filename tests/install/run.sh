#!/bin/sh
# Installs the build into an empty folder, moves it, and uses it as others do:
# the program, the manual, and the library through pkg-config and CMake, shared
# and static.
#
#   run.sh BUILD_FOLDER COMPILER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

step() { echo "$@"; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }

step "install"
quietly cmake --install "$build" --prefix "$work/staged"
mv "$work/staged" "$work/prefix"
prefix=$work/prefix

for file in bin/krait include/krait/krait.h share/doc/krait/LICENSE share/doc/krait/README.md share/man/man1/krait.1 \
    share/bash-completion/completions/krait share/zsh/site-functions/_krait share/fish/vendor_completions.d/krait.fish; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
pc=$(find "$prefix" -name krait.pc)
libdir=$(dirname "$(dirname "$pc")")
for file in libkrait.a libkrait.so libkrait.so.0; do
    [ -s "$libdir/$file" ] || { echo "not installed: $file"; exit 1; }
done

step "links between the installed pages"
find "$prefix/share/doc/krait" -name '*.md' | while read -r page; do
    grep -o '\](\([^)#:]*\)[)#]' "$page" | sed 's/^](//; s/[)#]$//' | sort -u | while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$page")/$link" ] || echo "$page: broken link: $link"
    done
done >"$work/broken"
[ ! -s "$work/broken" ] || { cat "$work/broken"; exit 1; }
cmp README.md "$prefix/share/doc/krait/README.md"

bash -n "$prefix/share/bash-completion/completions/krait"

step "the program"
version=$("$prefix/bin/krait" --version)
expected=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --modversion krait)
case $version in
*"$expected"*) ;;
*) echo "krait --version says '$version', expected it to name $expected"; exit 1 ;;
esac

if [ -x "$build/bin/krait-lab" ]; then
    step "krait-lab, whose drivers are where it finds them"
    [ -s "$prefix/share/man/man1/krait-lab.1" ] || { echo "not installed: share/man/man1/krait-lab.1"; exit 1; }
    quietly "$prefix/bin/krait-lab" record -d sim --txns 20 -o "$work/recorded.jsonl" --check keeps
fi

# Prints 0 or 1 as the trace is serializable or not.
consumer() {
    step "  runs"
    LD_LIBRARY_PATH=${2-} "$1" "$here/../../traces/write-skew/trace.jsonl" >"$work/said" || { cat "$work/said"; exit 1; }
    grep -qx violated "$work/said" || { echo "expected: violated, found:"; cat "$work/said"; exit 1; }
}

export PKG_CONFIG_PATH="$(dirname "$pc")"
step "pkg-config, shared"
quietly $cc -std=c11 -Wall -Werror -o "$work/shared" "$here/consumer.c" $(pkg-config --cflags --libs krait)
consumer "$work/shared" "$libdir"

step "pkg-config, static"
quietly $cc -std=c11 -Wall -Werror -o "$work/static" "$here/consumer.c" $(pkg-config --cflags krait) \
    "$libdir/libkrait.a" $(pkg-config --static --libs krait | sed 's/-lkrait//g')
consumer "$work/static"

step "the example of the library"
quietly $cc -std=c11 -Wall -Wextra -Werror -o "$work/library" "$here/../../examples/library/library.c" $(pkg-config --cflags --libs krait)
LD_LIBRARY_PATH=$libdir "$work/library" >"$work/said" || { cat "$work/said"; exit 1; }
diff "$here/library.expected" "$work/said"

step "the example plug-in, with its own tests"
quietly cmake -S "$here/../../examples/plugin" -B "$work/plugin" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror"
quietly cmake --build "$work/plugin"
quietly ctest --test-dir "$work/plugin" --output-on-failure
unset KRAIT_PLUGIN_PATH # the folder that belongs to the program
mkdir -p "$(pkg-config --variable=pluginfolder krait)"
cp "$work/plugin/example.so" "$(pkg-config --variable=pluginfolder krait)"
"$prefix/bin/krait" levels | grep -q '^ua ' || { echo "the plug-in in the default folder was not loaded"; exit 1; }
KRAIT_PLUGIN_PATH= "$prefix/bin/krait" levels | grep '^ua ' && { echo "an empty KRAIT_PLUGIN_PATH loads plug-ins"; exit 1; }
quietly $cc -std=c11 -shared -fPIC -Wall -Werror -o "$work/by-hand.so" "$here/../plugins/broken.c" $(pkg-config --cflags krait)
"$prefix/bin/krait" backends --plugin "$work/by-hand.so" | grep -q '^broken-yes ' || { echo "the plug-in made with pkg-config was not loaded"; exit 1; }
rm "$(pkg-config --variable=pluginfolder krait)/example.so"

step "find_package, shared and static"
quietly cmake -S "$here/consumer" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
quietly cmake --build "$work/cmake"
consumer "$work/cmake/shared"
consumer "$work/cmake/static"
