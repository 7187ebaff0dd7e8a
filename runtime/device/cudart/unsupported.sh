#!/bin/sh
# Makes the functions of the runtime library that are not built: each returns cudaErrorNotSupported
# and says so once.   usage: unsupported.sh SYMBOLS OBJECT... > unsupported_stubs.c
set -eu
export LC_ALL=C
symbols=$1
shift
have=$(nm --defined-only "$@" | awk '$2 == "T" { print $3 }')
echo '/* Made by unsupported.sh. */'
echo '#include "runtime/device/cudart/unsupported.h"'
awk -v have="$have" '
    BEGIN { split(have, names, "\n"); for (i in names) known[names[i]] = 1 }
    !($1 in known) {
        printf "UNSUPPORTED(%s)\n", $1
    }' "$symbols"
