#!/bin/bash
# Programs of PyTorch, Triton and CuPy run unharmed under `csan run` on a GPU, and their launches are
# counted.
#
#   unharmed.sh ROOT      ROOT holds bin/csan
#
# Prints "ok NAME" or "not ok NAME: why"; skips what is not installed. Exit code 1 if any failed.
set -u
root=$1
here=$(cd "$(dirname "$0")" && pwd)
failed=0
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
usable()
{
    case $1 in
    pytorch) python3 -c 'import torch; assert torch.cuda.is_available()' ;;
    triton) usable pytorch && python3 -c 'import triton' ;;
    cupy) python3 -c 'import cupy; assert cupy.cuda.runtime.getDeviceCount() > 0' ;;
    esac 2>/dev/null
}
for program in pytorch triton cupy; do
    script=$here/${program}_unharmed.py
    if ! usable $program; then
        echo "skipped $program: not installed, or it sees no GPU"
        continue
    fi
    plain=$(python3 "$script" 2>/dev/null)
    checked=$("$root/bin/csan" run --device=gpu python3 "$script" 2>"$errors")
    status=$?
    summary=$(grep '^csan: [0-9]* op' "$errors")
    launches=$(sed -n 's/^csan: \([0-9]*\) op.*/\1/p' <<<"$summary")
    if [ -z "$plain" ] || [ "$plain" != "$checked" ]; then
        echo "not ok $program: printed '$checked' instead of '$plain' (status $status)"
        tail -5 "$errors"
        failed=1
    elif [ "${launches:-0}" -lt 2 ]; then
        echo "not ok $program: no launches counted: $summary"
        failed=1
    else
        echo "ok $program ($summary)"
    fi
done
exit $failed
