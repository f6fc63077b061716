#!/bin/sh
# The checks of this folder accept a small good tree and refuse it once spoilt.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

good_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/include/krait"
    cd "$work/tree" || exit 1
    while read -r layer uses; do
        mkdir -p "$layer"
        echo "kr_layer($layer${uses:+ $uses})" >"$layer/CMakeLists.txt"
        printf '/* For the test. */\n#include "%s/x.h"\n\n#include <stdio.h>\n' "$layer" >"$layer/x.c"
        printf '/* For the test. */\n#ifndef KR_%s_X_H\n#define KR_%s_X_H\n#endif\n' \
            "$(echo "$layer" | tr a-z A-Z)" "$(echo "$layer" | tr a-z A-Z)" >"$layer/x.h"
    done <<LAYERS
base
ir base
frontend base ir
passes base ir
verify base frontend
checkers passes frontend verify
cli checkers
LAYERS
    printf '/* For the test. */\n#include "ir/x.h"\n#include "base/x.h"\nchar *x = "abort (A)"; /* free (x) */\n' >passes/y.c
    printf '/* For the test. */\n#include "frontend/x.h"\n' >verify/y.c
    printf '/* For the test. */\nint kr_x(void)\n' >base/z.c
    echo 'See `base/z.c:kr_x`, `base/x.h` and [it](README.md).' >README.md
}

# refuses CHECK FILE LINE MESSAGE: with LINE added to FILE, CHECK fails and says MESSAGE.
refuses() {
    good_tree
    printf '%b\n' "$3" >>"$2"
    said=$(sh "$here/$1" "$work/tree") && { echo "$1 accepts '$4' in $2"; failed=1; return; }
    echo "$said" | grep -qF "$4" || { echo "$1 refuses $2, but not for '$4': $said"; failed=1; }
}

for check in include_direction.sh style.sh idiom.sh docs.sh; do
    good_tree
    sh "$here/$check" "$work/tree" || { echo "$check refuses the good tree"; failed=1; }
    mkdir -p "$work/empty"
    sh "$here/$check" "$work/empty" >/dev/null 2>&1 && { echo "$check accepts an empty tree"; failed=1; }
done

refuses include_direction.sh base/x.c '#include "ir/x.h"' 'base/x.c:5: base/ includes "ir/x.h": an include points upward'
refuses include_direction.sh base/x.h '#  include "cli/x.h"' 'an include points upward'
refuses include_direction.sh passes/x.c '#include "frontend/x.h"' 'an include points upward'
refuses include_direction.sh passes/x.c '#include "x.h"' 'expected an include from the root'
refuses include_direction.sh passes/x.c '#include <ir/x.h>' 'angle brackets'
refuses include_direction.sh verify/x.c '#include "ir/x.h"' 'an include points upward'
refuses include_direction.sh frontend/x.h '#include "ir/x.h"' 'reaches "ir/x.h": verify/ shares nothing'
refuses include_direction.sh include/krait/x.h '#include "base/x.h"' 'a public header includes'

refuses docs.sh README.md 'In `base/gone.c` is' 'README.md:2: base/gone.c: there is no such file'
refuses docs.sh README.md 'In `base/z.c:kr_y` is' 'README.md:2: base/z.c has no function kr_y'
refuses docs.sh README.md '[a](docs/gone.md#b)' 'README.md: links to docs/gone.md, which there is not'

refuses style.sh base/x.c 'int x; ' 'base/x.c:5: blanks at the end'
refuses style.sh base/x.c 'int x;\r' 'a carriage return'
refuses style.sh base/x.c '    int x;' 'expected tabs'
refuses style.sh base/x.c "/* $(printf '%0110d' 0) */" 'base/x.c:5: more than 110 columns'
refuses style.sh base/x.h "\\t\\t/* $(printf '%090d' 0) */" 'base/x.h:5: more than 110 columns'
refuses style.sh base/x.c '/* TO''DO */' 'an unfinished place'
refuses style.sh base/y.c 'int x;' 'does not open with what it is for'
refuses style.sh base/y.h '/* x */' 'expected the include guard KR_BASE_Y_H'
refuses style.sh ir/x.h 'struct kr_x {\n};\nenum kr_x {\n};\nstruct kr_x {' 'struct kr_x is also that of ir/x.h: a tag with two meanings'
refuses style.sh ir/x.c '\tprintf("x");' 'only cli/ and lab/ print or exit'
refuses style.sh ir/x.c '\texit(1);' 'only cli/ and lab/ print or exit'
refuses style.sh ir/x.c '\t*p = malloc(1);' 'memory comes from base/mem.h'
in_function() { printf '%s' "enum kr_status f(int a)\\n{\\n\\tint b;\\n\\tenum kr_status status = KR_OK;\\n\\n$1\\n\\tb = a;\\n\\treturn status;\\n}"; }
refuses idiom.sh base/x.c "$(in_function '\tif ((status = g(a)))\n\t\treturn status;')" 'base/x.c:10: expected KR_TRY(...)'
refuses idiom.sh base/x.c "$(in_function '\tif (a && (status = g("(", a)) != KR_OK)\n\t\treturn status;')" 'base/x.c:10: expected KR_TRY(...)'
refuses idiom.sh base/x.c "$(in_function '\tstatus = g(a) /* ; */;\n\n\tif (status != KR_OK)\n\t\treturn status;')" 'base/x.c:12: expected KR_TRY(...)'
refuses idiom.sh base/x.c "$(in_function '')" 'base/x.c:7: b is declared without a value, which it gets in line 11'
blank=$(yes '\n' | head -n 100 | tr -d '\n')
refuses style.sh checkers/x.c "const struct kr_checker kr_checker_x = {$blank$blank" '205 lines, expected at most 110'
refuses style.sh passes/x.c "const struct kr_pass kr_pass_x = {$blank$blank$blank$blank" '405 lines, expected at most 330'
refuses style.sh passes/x.c "$blank$blank$blank$blank$blank$blank" '605 lines, expected at most 600'
exit $failed
