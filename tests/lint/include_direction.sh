#!/bin/sh
# No include may point upward. A layer may include itself and the layers that its
# kr_layer() line names, directly or through those; verify/, which checks what
# the pipeline claims, nothing beyond base/ and frontend/, not even through other
# headers. Includes are written from the root: "base/mem.h". What plug-ins share
# with krait's own modules, include/krait/ but for krait.h, is below all layers.
#
#   include_direction.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 1

{
    sed -n 's/^kr_layer(\(.*\))$/layer \1/p' ./*/CMakeLists.txt
    grep -n '^[[:space:]]*#[[:space:]]*include' ./*/*.[ch] ./frontend/*/*.[ch] ./mechanisms/*/*.[ch] ./lab/*/*.[ch] include/krait/*.h 2>/dev/null |
        sed -n 's/^\(\.\/\)\{0,1\}\([^:]*\):\([0-9]*\):[^"<]*\(["<][^">]*[">]\).*/include \2 \3 \4/p'
} | awk '
function fail(what) { print file[i] ":" line[i] ": " what; failed = 1 }
# A folder within a layer belongs to it.
function folder(path) { if (path ~ /^include\/krait\//) return "include/krait"; sub(/\/.*$/, "", path); return path }

BEGIN { n = 0 } # Debian 12'"'"'s gawk frees twice what an unset variable indexed

$1 == "layer" {
    is_layer[$2] = 1
    for (f = 2; f <= NF; f++) names[$2] = names[$2] " " $f
}
$1 == "include" {
    file[n] = $2; line[n] = $3
    quoted[n] = $4 ~ /^"/
    path[n] = substr($4, 2, length($4) - 2)
    n++
}

# May `layer` use `used`? The lines form no cycle, so the depth is bounded by their number.
function allows(layer, used,    part, parts, p) {
    if (layer == used) return 1
    parts = split(names[layer], part, " ")
    for (p = 1; p <= parts; p++)
        if (part[p] == used || (layer != "verify" && part[p] != layer && allows(part[p], used))) return 1
    return 0
}

# Everything that `start` includes, in `reached`.
function reach(start,    todo, top, now, k) {
    split("", reached)
    todo[top = 1] = start
    while (top > 0) {
        now = todo[top--]
        if (now in reached) continue
        reached[now] = 1
        for (k = 0; k < n; k++) if (file[k] == now && quoted[k]) todo[++top] = path[k]
    }
}

END {
    if (n == 0) { print "found no include, expected some: wrong folder?"; exit 1 }
    for (i = 0; i < n; i++) {
        from = folder(file[i]); to = folder(path[i])
        if (from == "include/krait") {
            if (quoted[i] && to != "krait") fail("a public header includes \"" path[i] "\", expected only <...> and \"krait/...\"")
            continue
        }
        if (!(from in is_layer)) continue
        if (!quoted[i]) {
            if (to in is_layer) fail("<" path[i] "> is written in angle brackets, expected \"" path[i] "\"")
            continue
        }
        if (path[i] == "krait/krait.h" && from !~ /^(api|cli|lab)$/) fail(from "/ includes \"" path[i] "\", expected only api/, cli/ and lab/ to")
        if (to == "krait") continue
        if (!(to in is_layer)) fail("\"" path[i] "\" does not start with a layer, expected an include from the root")
        else if (!allows(from, to)) fail(from "/ includes \"" path[i] "\": an include points upward")
    }
    for (i = 0; i < n; i++) {
        if (folder(file[i]) != "verify" || seen[file[i]]++) continue
        reach(file[i])
        for (header in reached) {
            to = folder(header)
            if (to != "verify" && to != "base" && to != "frontend" && to != "krait") fail("reaches \"" header "\": verify/ shares nothing with the pipeline")
        }
    }
    exit failed
}'
