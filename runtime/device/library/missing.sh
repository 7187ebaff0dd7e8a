#!/bin/sh
# Makes the functions of a library that are not built: each returns CODE and says so once. And the
# library's major version, for those that are asked.
#   usage: missing.sh SYMBOLS CUDA_VERSION MAJOR CODE OBJECT... > missing.c
set -eu
export LC_ALL=C
symbols=$1 cuda=$2 major=$3 code=$4
shift 4
have=$(nm --defined-only "$@" | awk '$2 == "T" { print $3 }')
echo '/* Made by missing.sh. */'
echo '#include "runtime/device/library/work.h"'
echo "const int library_major = $major;"
awk -v have="$have" -v cuda="$cuda" -v code="$code" '
    BEGIN { split(have, names, "\n"); for (i in names) known[names[i]] = 1 }
    /^#/ || ($2 != "" && $2 != cuda) || ($1 in known) { next }
    { printf "LIBRARY_MISSING(%s, %s)\n", $1, code }' "$symbols"
