#!/bin/sh
# The binary side of the architecture.
#
#   symbols.sh exports LIBKRAIT_SO KRAIT    they export krait_* and nothing else, the program for its plug-ins, and the same
#   symbols.sh layers BUILD_FOLDER LAYER... no layer's objects need a symbol of a later one; verify/ needs none of ir/, passes/
#                                           and backend/ (the layers are given in the order of the architecture)
#   symbols.sh mutable BUILD_FOLDER LAYER.. no global or static variable that can be written to
set -u
what=$1
shift

objects() { find "$1/CMakeFiles/kr_$1.dir" -name '*.o'; }

case $what in
exports)
    for file; do
        exported=$(nm -D --defined-only --format=posix "$file" | cut -d' ' -f1 | grep -v @) # NAME@VERSION: the system's
        echo "$exported" | grep -q '^krait_' || { echo "$file exports nothing that starts with krait_"; exit 1; }
        foreign=$(echo "$exported" | grep -v -e '^krait_')
        [ -z "$foreign" ] || { echo "$file exports, beside krait_*:" $foreign; exit 1; }
        [ -z "${before-}" ] || [ "$exported" = "$before" ] || { echo "$file exports not what the library does"; exit 1; }
        before=$exported
    done
    ;;
layers)
    cd "$1" || exit 1
    shift
    for layer; do
        nm --format=posix $(objects "$layer") | sed -n "s/^\(kr[a-z]*_[^ ]*\) \([A-Z]\).*/$layer \1 \2/p"
    done | awk -v order="$*" '
        BEGIN { count = split(order, layers, " "); for (i = 1; i <= count; i++) place[layers[i]] = i }
        $3 == "U" { used[$1 " " $2] = 1; next }
        { home[$2] = $1 }
        END {
            for (use in used) {
                split(use, part, " ")
                if (!(part[2] in home)) continue
                to = home[part[2]]
                if (place[to] > place[part[1]] || (part[1] == "verify" && to ~ /^(ir|passes|backend)$/)) {
                    print part[1] "/ uses " part[2] " of " to "/"
                    failed = 1
                }
            }
            if (!count || !length(home)) { print "found no symbols"; failed = 1 }
            exit failed
        }'
    ;;
mutable)
    cd "$1" || exit 1
    shift
    for layer; do objects "$layer"; done | xargs objdump -t | awk '
        / file format / { object = $1; seen = 1 }
        # Pointers in constant tables are relocated (.data.rel.ro, shown as d or D too): ask for the section.
        / O / && /[ \t]\.(data|bss|tdata|tbss|data\.rel|data\.rel\.local)[ \t]/ { print object " can be written to: " $NF; failed = 1 }
        END {
            if (!seen) { print "found no objects"; failed = 1 }
            exit failed
        }'
    ;;
esac
