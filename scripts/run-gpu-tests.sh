#!/bin/bash
# Runs csan's integration programs on this machine's GPU, from an unpacked tarball: nothing but the
# NVIDIA driver is needed. Says "skipped: no GPU" and succeeds where there is none.
#
#   run-gpu-tests.sh [--bench | --access]
#
# --bench: also measures what a launch costs with and without csan. --access: only compares what the
# programs' launches touch with what is known of them. JOBS programs at once, each with a context of its
# own on the GPU: as many as there are processors, but no more than 16.
cd "$(dirname "$0")" || exit 1
jobs=$(($(nproc) < 16 ? $(nproc) : 16))
if [ "${1:-}" = --access ]; then
    JOBS="${JOBS:-$jobs}" exec tests/gpu/access.sh .
fi
scripts/run-integration --root . --device gpu --jobs "${JOBS:-$jobs}" tests/integration samples
status=$?
if [ -d tests/cuda12 ]; then # the samples again, built for CUDA 12
    scripts/run-integration --root tests/cuda12 --device gpu --cuda 12 --jobs "${JOBS:-$jobs}" samples || status=1
fi
tests/gpu/unharmed.sh . || status=1
tests/gpu/torch.sh . || status=1
tests/gpu/failures.sh . || status=1
tests/gpu/torch_failures.sh . || status=1
tests/gpu/learn.sh . || status=1
tests/gpu/libraries.sh . || status=1
CSAN_DEVICE=gpu tests/gpu/litmus.sh . || status=1
tests/gpu/hook_counts.sh . || status=1
if [ "${1:-}" = --bench ] && [ $status = 0 ]; then
    scripts/bench-launch --root . --device gpu || status=1
fi
exit $status
