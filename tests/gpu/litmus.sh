#!/bin/bash
# The litmus table: what each rule of CUDA's order promises, what this machine shows, what csan says.
#
#   litmus.sh ROOT [--only TEXT] [further options of tests/litmus/litmus.cu]
#
# ROOT holds lib/ and tests/programs/litmus. On a GPU where there is one, else on the embedded device,
# whose schedules take the place of long kernels; CSAN_DEVICE=gpu|embedded decides, and gpu is skipped
# where there is none. What it prints is Markdown as a whole: on a GPU, with all rules, it is what
# tests/litmus/TABLE.md holds (litmus.sh ROOT > tests/litmus/TABLE.md). Exit code 1: csan calls ordered what was seen to overlap, or a race what is
# promised to be ordered.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
shift
present=$here/../../scripts/gpu-present
if [ -z "${CSAN_DEVICE:-}" ]; then
    CSAN_DEVICE=embedded
    "$present" && CSAN_DEVICE=gpu
fi
export CSAN_DEVICE
rm -f "$root"/tests/litmus.log.*
if [ "$CSAN_DEVICE" = gpu ]; then
    "$present" || { echo "skipped litmus: no GPU"; exit 0; }
    driver=$(sed -n 's/^NVRM version:.* \([0-9][0-9.]*\)  .*/\1/p' /proc/driver/nvidia/version 2>/dev/null)
    printf '# The litmus table\n\nWritten by `make litmus` on a machine with driver %s.\n' "${driver:-unknown}"
    timeout -k 5 300 "$root/tests/programs/litmus/litmus" --log "$root/tests/litmus.log" "$@"
else
    CSAN_DEVICES=${CSAN_DEVICES:-2} timeout -k 5 300 "$root/tests/programs/litmus/litmus" --embedded --trials 1 --hold 20 \
        --log "$root/tests/litmus.log" "$@"
fi
