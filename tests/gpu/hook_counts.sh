#!/bin/bash
# csan's hooks see every call of the driver API that they should: for each program the calls that came
# to a hook are compared with the driver's own count, by CUPTI. They must be equal, or the difference
# stand in `explained` below. What csan passes through must be named by it.
#
#   hook_counts.sh ROOT [PROGRAM...]      ROOT holds bin/csan and tests/programs; by default all of
#                                         plain-static whose names fit `default_programs`
#   hook_counts.sh --compare CSAN CUPTI   compares two files of counts (runtime/hook/interpose/call_count.h,
#                                         tests/gpu/cupti_counts.c)
#
# Prints "not ok NAME: ..." for each program that differs, and what was explained. Exit code 1 if any
# differs. Says "skipped" where there is no GPU, no CUPTI, or it was not built.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# Exported symbols, and why csan and CUPTI may count them differently.
explained='
cuGetProcAddress     CUPTI begins within cuInit, and the runtime looks functions up before
cuGetProcAddress_v2  CUPTI begins within cuInit, and the runtime looks functions up before
cuModuleUnload       the runtime unloads while the process ends, after CUPTI has stopped
cuLibraryUnload      the runtime unloads while the process ends, after CUPTI has stopped
cuDevicePrimaryCtxRelease     the runtime lets go of its context while the process ends, after CUPTI has stopped
cuDevicePrimaryCtxRelease_v2  the runtime lets go of its context while the process ends, after CUPTI has stopped
'

# Lines "SYMBOL csan N, cupti M", with "explained: why" behind those that are.
compare()
{
    awk -v explained="$explained" '
        BEGIN {
            lines = split(explained, list, "\n")
            for (i = 1; i <= lines; i++)
                if (split(list[i], words, " ") > 1) {
                    why = list[i]
                    sub(/^[^ ]+ +/, "", why)
                    reason[words[1]] = why
                }
        }
        FNR == 1 { file++; next }
        file == 1 { class[$2] = $1; csan[$2] = $3; next }
        { cupti[$1] = $2 }
        END {
            for (symbol in class) {
                seen = cupti[symbol] + 0
                if (class[symbol] == "unmodelled" ? !csan[symbol] == !seen : csan[symbol] == seen)
                    continue
                printf "%s csan %d, cupti %d%s\n", symbol, csan[symbol], seen,
                    symbol in reason ? " explained: " reason[symbol] : ""
            }
        }' "$1" "$2" | sort
}

if [ "${1:-}" = --compare ]; then
    difference=$(compare "$2" "$3")
    [ -n "$difference" ] && echo "$difference"
    ! grep -qv ' explained: ' <<<"${difference:- explained: }"
    exit
fi

root=$(cd "$1" && pwd) || exit 2
shift
programs=$root/tests/programs/plain-static
library=$root/tests/programs/cupti/libcupti_counts.so
"$here/../../scripts/gpu-present" || { echo "skipped hook counts: no GPU"; exit 0; }
[ -e "$library" ] || { echo "skipped hook counts: built without CUPTI's header"; exit 0; }
if [ $# = 0 ]; then
    default_programs='annotat|atomic|blocking|capture|columns|device|driver|event|free|graph|host|launch'
    default_programs+='|legacy|malloc|managed|mem|nonblocking|operator|per_thread|pool|stream|texture'
    # A driver may end the program that uses a destroyed stream (CUDA Driver API, cuStreamDestroy).
    set -- $(ls "$programs" | grep -E "^($default_programs)" | grep -v -e forever -e used_after_destroy)
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# One program, in a process of its own: prints its line, if there is something to say.
program_compare()
{
    local name=$1 csan cupti difference
    CUDA_INJECTION64_PATH=$library CSAN_CALL_COUNTS=$scratch/$name.csan \
        CUPTI_CALL_COUNTS=$scratch/$name.cupti CSAN_OPTIONS=exitcode=0 \
        timeout -k 5 60 "$root/bin/csan" run --device=gpu "$programs/$name" >/dev/null 2>&1 </dev/null
    csan=$(ls "$scratch/$name".csan.* 2>/dev/null) cupti=$(ls "$scratch/$name".cupti.* 2>/dev/null)
    if [ -z "$csan" ] || [ -z "$cupti" ]; then
        echo "uncounted $name (csan: ${csan:-no counts}; CUPTI: ${cupti:-no counts})"
    elif grep -q '^no cupti' "$cupti"; then
        head -1 "$cupti"
    elif difference=$("$here/hook_counts.sh" --compare "$csan" "$cupti"); then
        echo "ok $name"
        sed "s/^/explained $name: /" <<<"$difference" | grep csan
    else
        echo "not ok $name: $(grep -v ' explained: ' <<<"$difference" | paste -sd ';')"
    fi
}
export -f program_compare
export root library scratch here programs
printf '%s\n' "$@" | xargs -P 8 -I{} bash -c 'program_compare {}' >"$scratch/results"
if grep -q '^no cupti' "$scratch/results"; then
    echo "skipped hook counts: $(grep -m1 '^no cupti' "$scratch/results" | sed 's/^no cupti: //')"
    exit 0
fi
grep '^not ok' "$scratch/results"
grep '^uncounted' "$scratch/results"
sed -n 's/^explained [^:]*: \([^ ]*\) .* explained: \(.*\)/explained: \1: \2/p' "$scratch/results" | sort | uniq -c
good=$(grep -c '^ok ' "$scratch/results") bad=$(grep -c '^not ok ' "$scratch/results")
echo "hook counts against CUPTI: $good programs equal or explained, $bad not"
[ "$bad" = 0 ] && [ "$good" -gt 0 ]
