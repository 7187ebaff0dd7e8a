#!/bin/bash
# What is known of the test programs' kernels, from all sources: what the launches touched, as
# the GPU's tracer saw it, lies within the PTX's ranges, is all of those that are exact, and is what
# the embedded device saw of the same launches; what was learned is what is learned there; and the
# verdicts are the same by PTX and learned.
#
#   access.sh ROOT [I/N]  ROOT holds bin/csan and tests/programs; of N parts of the programs the I-th
#
# CSAN_DEVICE is the device (gpu), JOBS how many programs run at once (8). Prints "ok NAME" or "not ok
# NAME: why". Exit code 1 if any failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
device=${CSAN_DEVICE:-gpu} jobs=${JOBS:-8} part=${2:-1/1}
if [ "$device" = gpu ] && ! "$top/scripts/gpu-present"; then
    echo "skipped access: no GPU"
    exit 0
fi
unset CSAN_DEVICE
programs=("$top/tests/integration" "$top/samples")
status=0

# compare NAME SCRIPT LIST SOURCE-DIR...
compare()
{
    local name=$1 script=$2
    shift 2
    if "$top/scripts/$script" --root "$root" --device "$device" --jobs "$jobs" --part "$part" "$@"; then
        echo "ok $name"
    else
        echo "not ok $name: see above"
        status=1
    fi
}
root=$1
compare traces compare-traces "$top/tests/gpu/trace_differences" "${programs[@]}" \
    "$top/tests/corpus/classics" "$top/tests/corpus/triton"
compare verdicts compare-access "$top/tests/integration/access_differences" "${programs[@]}"
exit $status
