#!/bin/sh
# Makes entries.c: what the embedded libcuda exports and does not implement, and the table behind
# cuGetProcAddress.
#   usage: entries.sh SYMBOLS INCLUDE_DIR NEWER OBJECT... > entries.c
#
# NEWER is runtime/cuda/newer.table: types that the headers may lack.
#
# Every symbol of the file SYMBOLS (see symbols.sh) that no object defines becomes a function that returns
# CUDA_ERROR_NOT_SUPPORTED and says so once. cudaTypedefs.h names each entry point with the CUDA
# version that introduced it (PFN_cuMemAlloc_v3020); the newest version of a name is the symbol with
# the highest suffix (cuMemAlloc_v2), the one before it the next lower, and so on.
set -eu
symbols=$1
include=$2
newer=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

sort -u "$symbols" > "$scratch/all"
nm --defined-only "$@" | awk '$2 == "T" && $3 ~ /^cu[A-Z]/ { print $3 }' | sort -u > "$scratch/have"
comm -23 "$scratch/all" "$scratch/have" > "$scratch/lacking"
{ cat "$include/cudaTypedefs.h" "$include/cudaProfilerTypedefs.h"; awk '/^cu/ { print "PFN_" $2 }' "$newer"; } |
    grep -o 'PFN_cu[A-Za-z0-9_]*_v[0-9]\{4,5\}\(_pt[sd][sz]\)\?' | sort -u > "$scratch/typedefs"

echo '/* Made by entries.sh. */'
echo '#include "runtime/device/driver/driver.h"'
awk '{ printf "__attribute__((visibility(\"default\"))) CUresult %s_lacking(void) __asm__(\"%s\");\n", $1, $1
       printf "CUresult %s_lacking(void) { return device_lacks(\"%s\"); }\n", $1, $1 }' "$scratch/lacking"
# The table needs addresses only; other names avoid the prototypes of cuda.h.
awk '{ printf "extern CUresult %s_entry(void) __asm__(\"%s\");\n", $1, $1 }' "$scratch/all"
echo 'const struct device_entry device_entries[] = {'
awk '
FILENAME ~ /\/all$/ { symbol[$1] = 1; next }
{
    name = substr($1, 5); thread = ""
    if (match(name, /_pt[sd][sz]$/)) { thread = substr(name, RSTART); name = substr(name, 1, RSTART - 1) }
    match(name, /_v[0-9]+$/); version = substr(name, RSTART + 2) + 0; name = substr(name, 1, RSTART - 1)
    key = name SUBSEP thread
    if (!(key in count)) { order[++keys] = key }
    versions[key, ++count[key]] = version
}
END {
    for (k = 1; k <= keys; k++) {
        key = order[k]; split(key, part, SUBSEP); name = part[1]; thread = part[2]
        for (i = 2; i <= count[key]; i++)       # insertion sort: oldest first
            for (j = i; j > 1 && versions[key, j - 1] > versions[key, j]; j--) {
                t = versions[key, j]; versions[key, j] = versions[key, j - 1]; versions[key, j - 1] = t
            }
        suffixes = 0
        if ((name thread) in symbol) found[++suffixes] = name thread
        for (v = 2; v < 9; v++)
            if ((name "_v" v thread) in symbol) found[++suffixes] = name "_v" v thread
        for (i = count[key]; i >= 1 && suffixes >= 1; i--)
            printf("    {\"%s\", \"%s\", %d, %d, (void *)%s_entry},\n", name, found[suffixes],
                   versions[key, i], (thread != ""), found[suffixes--])
    }
}' "$scratch/all" "$scratch/typedefs" > "$scratch/table"
sort -t'"' -k2,2 "$scratch/table"
echo '};'
echo 'const size_t device_entry_count = sizeof device_entries / sizeof *device_entries;'
