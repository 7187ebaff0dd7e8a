#!/bin/bash
# csan's own CUDA libraries against NVIDIA's: each program that names `libraries` runs on the GPU with
# NVIDIA's and on the embedded device with csan's. It checks its numbers against loops on the host, so
# both must print the same, and csan must give the same verdict.
#
#   cuda_libraries.sh ROOT   ROOT holds bin/csan and tests/programs; NVIDIA's libraries are looked for as
#                            scripts/run-integration does (CSAN_TEST_LIBRARIES names their folders)
#
# Prints "N passed, N failed". Exit code 1 if any failed.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
root=$(cd "$1" && pwd) || exit 2
if ! "$top/scripts/gpu-present"; then
    echo "skipped cuda_libraries: no GPU"
    exit 0
fi
names=$(grep -l '^// libraries: ' "$top"/tests/integration/*.cu "$top"/samples/*.cu | xargs -n1 basename | sed 's/\.cu$//' | paste -sd' ')
passed=0 failed=0
for device in embedded gpu; do
    said=$("$top/scripts/run-integration" --root "$root" --device $device --jobs "${JOBS:-8}" --only "$names" \
        "$top/tests/integration" "$top/samples")
    echo "$said"
    counts=$(sed -nE 's/^integration on .*: ([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' <<<"$said")
    passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
