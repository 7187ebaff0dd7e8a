#!/bin/bash
# On a GPU: kernels of PyTorch, Triton and CuPy that fail, and memory that runs out. csan names the program's own line, and
# PyTorch raises what it raises without csan. torch_silent.sh has programs that are right.
#
#   torch_failures.sh CSAN_ROOT
set -u
root=$1
root=$(cd "$root" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/torch_errors.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || { echo "skipped: no PyTorch with a GPU"; exit 0; }
passed=0 failed=0

# The marked line of a case.
line_of() { awk -v name="$1" '$0 ~ "^def " name "\\(" { inside = 1 } inside && /# fails/ { print NR; exit }' "$programs"; }
exception_of() { grep -oE '^(torch|cupy|cupy_backends|RuntimeError)[A-Za-z_.]*: (CUDA (error: [a-z -]+|out of memory)|CUDA_ERROR_[A-Z_]+)' "$1" | tail -1; }

check()
{
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $what"
        grep -vE '^/pytorch' csan.log | head -30
    fi
}

# What the report says of the indices; "": nothing.
indices_of()
{
    case $1 in
    scatter) echo 'index \(int64\[8, 4\]\) must be in \[0, 16\), dimension 1 of self\.' ;;
    gather) echo 'index \(int64\[2, 2\]\) must be in \[0, 16\), dimension 1 of self; index\[1, 1\] was copied to the device as 16\.' ;;
    advanced_index) echo 'indices \(int64\[3\]\) must be in \[-8, 8\), dimension 0 of self\. indices \(int64\[3\]\) must be in \[-16, 16\), dimension 1 of self; indices\[1\] was -17\.' ;;
    embedding) echo 'indices \(int64\[4\]\) must be below 10, dimension 0 of weight; indices\[2\] was copied to the device as 10\.' ;;
    cross_entropy) echo 'target \(int64\[4\]\) must be in \[0, 5\) or -100, dimension 1 of self; target\[2\] was copied to the device as 7\.' ;;
    ignored_label) echo 'target \(int64\[4\]\) must be in \[0, 5\) or -100, dimension 1 of self; target\[2\] was copied to the device as 7\.' ;;
    backward) echo 'index \(int64\[3\]\) must be in \[0, 6\), dimension 0 of self' ;;
    esac
}

for entry in 'scatter:failed assert in aten::scatter_' 'embedding:failed assert in aten::embedding' \
    'cross_entropy:failed assert in aten::nll_loss_forward' 'gather:failed assert in aten::gather' \
    'advanced_index:failed assert in aten::index' 'ignored_label:failed assert in aten::nll_loss_forward' 'backward:failed assert in aten::index_add_' \
    'triton_kernel:illegal memory access in fill' 'cpu_pointer:illegal memory access in add' \
    'out_of_memory:out of memory'; do
    name=${entry%%:*} words=${entry#*:}
    [ "$name" = triton_kernel ] && ! python3 -c 'import triton' 2>/dev/null && continue
    [ "$name" = cpu_pointer ] && ! python3 -c 'import cupy' 2>/dev/null && continue
    timeout 120 python3 "$programs" "$name" >plain.log 2>&1
    CSAN_OPTIONS=access=ptx timeout 200 "$root/bin/csan" run python3 "$programs" "$name" >csan.log 2>&1
    check "$name: the headline names the line" grep -qE "^CSAN: $words.*torch_errors.py:$(line_of "$name")\)" csan.log
    check "$name: PyTorch's own exception ('$(exception_of plain.log)' without csan, '$(exception_of csan.log)' with it)" [ "$(exception_of plain.log)" = "$(exception_of csan.log)" ]
    [ "$name" = out_of_memory ] ||
        check "$name: which says which kernel it was" grep -qE "^csan: $words" csan.log
    [ -z "$(indices_of "$name")" ] && continue
    # The driver prints the assertion itself, too: FILE:LINE: FUNCTION: block: ..., Assertion `...` failed.
    printed=$(sed -nE 's/^(.*):([0-9]+): .*: block: .*Assertion `(.*)` failed\.$/\1:\2/p' plain.log | head -1)
    check "$name: the assertion, and the indices" grep -qE "^  Assertion \`.*\` failed\. $(indices_of "$name")" csan.log
    check "$name: PyTorch's exception has both, too" grep -qE "^csan: $words.*Assertion \`.*\` failed\. $(indices_of "$name")" csan.log
    check "$name: the assertion's place is what the driver prints" grep -qF "at ${printed:-nowhere}" csan.log
done
# The kernels of failure.cu, in PyTorch's stream, with tensors as their memory.
# shellcheck source=tests/gpu/failure_table.sh
. "$here/failure_table.sh"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
nvcc -fatbin -lineinfo -gencode "arch=compute_$capability,code=[sm_$capability,compute_$capability]" -std=c++17 \
    "$here/failure.cu" -o failure.fatbin 2>/dev/null || { echo "torch_failures: nvcc failed"; exit 1; }
# All at once: a process mostly waits, and each has a context of its own.
for kind in none $(failure_table | cut -d'|' -f1); do
    (
        timeout 120 python3 "$here/torch_kinds.py" failure.fatbin "$kind" >"$kind.plain" 2>"$kind.plain_err"
        echo "without csan it ended with $?" >>"$kind.plain_err"
        CSAN_OPTIONS=access=ptx:halt_on_error=0 timeout 200 "$root/bin/csan" run python3 "$here/torch_kinds.py" \
            failure.fatbin "$kind" >"$kind.out" 2>"$kind.err"
    ) &
done
wait
for kind in none $(failure_table | cut -d'|' -f1); do
    { tail -3 "$kind.plain_err"; cat "$kind.err"; } >csan.log
    check "$kind: PyTorch raises what it raises without csan ($(diff "$kind.plain" "$kind.out" | grep '^[<>]' | tr '\n' ' '))" \
        cmp -s "$kind.plain" "$kind.out"
    if [ "$kind" = none ]; then
        check "a program that is right gets no report" eval '! grep -q "^CSAN" csan.log && grep -q "^synchronize well" none.out'
        continue
    fi
    check "$kind: an exception" grep -qE '^synchronize (AcceleratorError|RuntimeError) CUDA error: ' "$kind.out"
    while IFS='|' read -r name pattern; do
        check "$kind: $name" grep -qE -- "$pattern" csan.log
    done < <(torch_lines "$kind" gpu)
done
echo "torch_failures: $passed passed, $failed failed"
[ $failed = 0 ]
