#!/bin/sh
# Prints the name of every function of the driver API: what NVIDIA's libcuda exports, all versions of
# each entry point included. The headers declare them all under a macro.
#   usage: symbols.sh INCLUDE_DIR NEWER
#
# NEWER is runtime/cuda/newer.table: functions that the headers may lack.
set -eu
{
printf '#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n#include <cudaProfiler.h>\n' |
    ${CC:-cc} -E -P -I"$1" - | tr '\n' ' ' |
    grep -oE 'CUresult +cu[A-Z][A-Za-z0-9_]* *\(' | sed 's/CUresult *//; s/ *($//'
    awk '/^cu/ { print $1 }' "$2"
} | LC_ALL=C sort -u
