#!/bin/bash
# Operators of PyTorch from summaries (option operator_summaries) on a GPU.
#
#   torch_summaries.sh ROOT [part...]      ROOT holds bin/csan; parts: verify ranks samples steps memory
#
#   verify    1,000 steps of each model, and of programs that fail after so many: each operator is compared with its
#             summary, and none is narrower (tests/torch/check_verified.py)
#   ranks     the same for DDP, FSDP and others, on two GPUs where there are two
#   samples   reports are the same with operators followed, at rest, and in a second process
#   steps     400 steps: a first process rests in most of them, a second one in all; no reports
#   memory    100,000 steps of a loop whose shapes repeat, and of one whose shapes never do
#
#   CSAN_TEST_DEVICE=embedded: on the embedded device, which has no cuBLAS and no NCCL: memory, samples, verify, and
#   steps of the models without matrix products.
#   CSAN_TEST_MODELS: instead of all models these, with blanks between. CSAN_TEST_STEPS: of verify, ranks and memory.
#   CSAN_TEST_SECONDS: in which memory must end (560). CSAN_TORCH_PYTHON: instead of python3.
#
# Prints "ok NAME" or "not ok NAME: why", and "N passed, N failed". Exit code 1 if any failed.
set -u
root=$(cd "$1" && pwd) csan=$(cd "$1" && pwd)/bin/csan passed=0 failed=0
shift
parts=${*:-verify ranks steps samples memory}
device=${CSAN_TEST_DEVICE:-gpu} python=${CSAN_TORCH_PYTHON:-python3}
top=$(cd "$(dirname "$0")/../.." && pwd)
programs=$top/tests/torch/programs
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export CSAN_CACHE=$scratch/cache
wanted='import torch'
if [ "$device" = embedded ]; then
    export CSAN_MACHINE_CODE=skip TRITON_LIBCUDA_PATH=$root/lib/csan/embedded
else
    wanted="$wanted; assert torch.cuda.is_available()"
fi
"$python" -c "$wanted" 2>/dev/null || { echo "skipped PyTorch: no PyTorch that sees a GPU"; exit 0; }
models="mlp resnet18 transformer gru flash gemm tokens"
"$python" -c 'import transformers' 2>/dev/null && models="$models gpt2 llama"
[ "$device" = embedded ] && models="pointwise tokens"
models=${CSAN_TEST_MODELS:-$models}

ok() { passed=$((passed + 1)); echo "ok $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok $1: $2"; }
is_wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }

# steps MODEL COUNT OPTIONS: the model's steps under csan; what csan says is in $scratch/err.
steps()
{
    CSAN_OPTIONS=verbosity=2:$3 timeout 400 "$csan" run --device="$device" "$python" "$programs/steps.py" \
        "$1" "$2" >"$scratch/out" 2>"$scratch/err"
    grep -q "^$2 steps" "$scratch/out" && grep -q ' 0 races, 0 possible races' "$scratch/err"
}
said() { grep -E "^csan: ($1)" "$scratch/err" | tail -${2:-3}; }

# counted FILE: adds what a test of many programs printed.
counted()
{
    cat "$1"
    passed=$((passed + $(grep -c '^ok ' "$1")))
    failed=$((failed + $(grep -c '^not ok ' "$1")))
}

if is_wanted verify || is_wanted ranks; then
    groups=
    is_wanted verify && groups="${CSAN_TEST_MODELS:-models} errors silent"
    is_wanted ranks && groups="$groups ranks"
    # shellcheck disable=SC2086
    "$python" "$top/tests/torch/check_verified.py" "$csan" --device="$device" --steps="${CSAN_TEST_STEPS:-1000}" \
        $groups >"$scratch/verified"
    counted "$scratch/verified"
fi
# Whether operators rested for as many launches as they ought to. A few launches may come before.
has_rested()
{
    local added answered
    read -r added answered < <(sed -n \
        's/^csan: operator summaries: \([0-9]*\) launches of operators added, \([0-9]*\) answered.*/\1 \2/p' \
        "$scratch/err")
    [ -n "${answered-}" ] || return 1
    [ "$1" = second ] && added=$((added * 20))
    [ "$answered" -ge "$added" ] || [ "$added" -le 1000 ]
}
if is_wanted steps; then
    for model in $models; do
        if [ "$model" = gru ]; then # an operator that works on several streams is followed for good
            if steps gru 100 operator_summaries=1 && ! grep -q 'operators rest' "$scratch/err"; then
                ok "follow gru"
            else
                not_ok "follow gru" "$(tail -3 "$scratch/err")"
            fi
            continue
        fi
        for process in first second; do
            name="rest $model, $process process"
            if steps "$model" 400 operator_summaries=1 && has_rested $process; then
                ok "$name"
            else
                not_ok "$name" "$(grep -v 'operator summaries:' "$scratch/err" | tail -3)"
            fi
            tail -2 "$scratch/out"
            said 'operators rest|operators are followed|operator summaries: ([0-9]+ launches of operators|no answer)' 12
            said 'operator summaries: [0-9]+ (times|operators did|kinds)|operators do not rest|operator summaries: operators do' 6
            said 'operator summaries: [0-9]+ launches of [^o]' 3
        done
    done
fi
if is_wanted samples; then
    # The first one sleeps and makes many launches at each turn. The others need not one GPU only.
    others="example missing non_blocking overlapping triton"
    [ "$("$python" -c 'import torch; print(torch.cuda.device_count())')" -ge 2 ] && others="$others allreduce"
    "$python" "$top/tests/torch/check_repeated.py" "$csan" "$top/samples/torch" --device="$device" --times=300 batch \
        >"$scratch/repeated"
    # shellcheck disable=SC2086
    "$python" "$top/tests/torch/check_repeated.py" "$csan" "$top/samples/torch" --device="$device" $others \
        >>"$scratch/repeated"
    counted "$scratch/repeated"
fi
if is_wanted memory; then # beside each other
    shapes()
    {
        CSAN_OPTIONS=verbosity=1:operator_summaries=1 timeout "${CSAN_TEST_SECONDS:-560}" "$csan" run --device="$device" "$python" \
            "$programs/shapes.py" "$1" "${CSAN_TEST_STEPS:-100000}" >"$scratch/$1.out" 2>"$scratch/$1.err"
    }
    shapes repeat &
    shapes never &
    wait
    for kind in repeat never; do
        grew=$(tail -1 "$scratch/$kind.out")
        if [ -n "$grew" ] && [ "$grew" -lt $([ $kind = never ] && echo 60000 || echo 4000) ]; then
            ok "memory, shapes $kind: $grew KiB more after ${CSAN_TEST_STEPS:-100000} steps than after a fifth of them"
        else
            not_ok "memory, shapes $kind" "grew by '$grew' KiB: $(tail -3 "$scratch/$kind.err")"
        fi
        grep -E '^csan: operator summaries' "$scratch/$kind.err" | tail -3
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
