#!/bin/bash
# Operators of PyTorch from summaries (option operator_summaries) on a GPU.
#
#   torch_summaries.sh ROOT [part...]      ROOT holds bin/csan; parts: verify samples steps memory
#
#   verify    each model's operators are compared with their summaries: none is narrower
#   samples   reports are the same with operators followed, at rest, and in a second process
#   steps     400 steps: a first process rests in most of them, a second one in all; no reports
#   memory    a loop whose shapes repeat, and one whose shapes never do
#
#   CSAN_TEST_MODELS: instead of all models these, with blanks between.
#
# Prints "ok NAME" or "not ok NAME: why", and "N passed, N failed". Exit code 1 if any failed.
set -u
root=$(cd "$1" && pwd) csan=$(cd "$1" && pwd)/bin/csan passed=0 failed=0
shift
parts=${*:-verify steps samples memory}
top=$(cd "$(dirname "$0")/../.." && pwd)
bench=$top/tests/bench/torch
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export CSAN_CACHE=$scratch/cache
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
    { echo "skipped PyTorch: no PyTorch that sees a GPU"; exit 0; }
models="mlp resnet18 transformer gru flash gemm"
python3 -c 'import transformers' 2>/dev/null && models="$models gpt2 llama"
models=${CSAN_TEST_MODELS:-$models}

ok() { passed=$((passed + 1)); echo "ok $1"; }
not_ok() { failed=$((failed + 1)); echo "not ok $1: $2"; }
is_wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }

# What a process keeps belongs to its program, which is a file, not "-".
cat >"$scratch/steps.py" <<'PYTHON'
import sys, time
sys.path.insert(0, sys.argv[1])
import models
step, count = models.training_step(sys.argv[2]), int(sys.argv[3])
start = time.monotonic()
for i in range(count):
    step()
    if i % 20 == 0:
        models.synchronize()  # as loops do that print their loss
    if i == 0:
        print(f"first step {time.monotonic() - start:.2f} s")
models.synchronize()
print(f"{count} steps {time.monotonic() - start:.2f} s")
PYTHON

# steps MODEL COUNT OPTIONS: the model's steps under csan; what csan says is in $scratch/err.
steps()
{
    CSAN_OPTIONS=verbosity=2:$3 timeout 400 "$csan" run --device=gpu python3 "$scratch/steps.py" \
        "$bench" "$1" "$2" >"$scratch/out" 2>"$scratch/err"
    grep -q "^$2 steps" "$scratch/out" && grep -q ' 0 races, 0 possible races' "$scratch/err"
}
said() { grep -E "^csan: ($1)" "$scratch/err" | tail -${2:-3}; }

if is_wanted verify; then
    for model in $models; do
        if ! steps "$model" 200 verify_operators=1; then
            not_ok "verify $model" "$(tail -5 "$scratch/err")"
        elif grep -q 'verify_operators: [1-9][0-9]* launches compared, 0 narrower' "$scratch/err"; then
            ok "verify $model"
        else
            not_ok "verify $model" "a summary is narrower than its operator, or none was compared"
        fi
        said 'verify_operators|operator summaries: (no launch|[0-9]+ launches of operators)' 30
    done
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
    # The first one sleeps and makes many launches at each turn.
    {
        python3 "$top/tests/torch/check_repeated.py" "$csan" "$top/samples/torch" --device=gpu --times=300 batch
        python3 "$top/tests/torch/check_repeated.py" "$csan" "$top/samples/torch" --device=gpu \
            example missing non_blocking overlapping
    } >"$scratch/repeated"
    cat "$scratch/repeated"
    passed=$((passed + $(grep -c '^ok ' "$scratch/repeated")))
    failed=$((failed + $(grep -c '^not ok ' "$scratch/repeated")))
fi
if is_wanted memory; then
    for kind in repeat never; do
        CSAN_OPTIONS=verbosity=1:operator_summaries=1 timeout 400 "$csan" run --device=gpu python3 - $kind \
            >"$scratch/out" 2>"$scratch/err" <<'PYTHON'
import resource, sys, torch
kept = torch.zeros(1 << 20, device="cuda")
def step(i):
    size = 1000 + (i if sys.argv[1] == "never" else i % 7)
    x = torch.randn(size, device="cuda")
    kept[:size].add_(x * 2)
def grown(first, last):
    for i in range(first, last):
        step(i)
    torch.cuda.synchronize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = grown(0, 20000)
print(grown(20000, 100000) - before)
PYTHON
        grew=$(tail -1 "$scratch/out")
        if [ -n "$grew" ] && [ "$grew" -lt $([ $kind = never ] && echo 300000 || echo 30000) ]; then
            ok "memory, shapes $kind: $grew KiB more after 100,000 steps than after 20,000"
        else
            not_ok "memory, shapes $kind" "grew by '$grew' KiB: $(tail -3 "$scratch/err")"
        fi
        said 'operator summaries'
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
