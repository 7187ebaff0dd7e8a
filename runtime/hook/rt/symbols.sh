#!/bin/sh
# The functions of the CUDA runtime library, one a line, sorted; first the name of the version they
# all carry.   usage: symbols.sh LIBCUDART
set -eu
export LC_ALL=C
nm -D --defined-only "$1" | awk '
    $2 == "A" { print " " $3 }                       # the version itself; the blank sorts it first
    $2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u | sed 's/^ //'
