#!/bin/bash
# On a GPU: what watching for kernels that fail costs a training step of PyTorch. The steps of the bench's models in turns,
# with errors=off and with errors=auto: the median of the rounds' ratios is at most 1.01.
#
#   failure_cost_torch.sh CSAN_ROOT [SECONDS [MODELS]]     SECONDS: a model, its start in
#   CSAN_OPTIONS: more options for both; access=ptx if there are none
set -u
root=$(cd "$1" && pwd) || exit 2
seconds=${2:-40} models=${3:-mlp,resnet18,transformer}
bench=$(cd "$(dirname "$0")/../bench/torch" && pwd)
python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || { echo "skipped: no PyTorch with a GPU"; exit 0; }
said=$(mktemp)
trap 'rm -f "$said"' EXIT
passed=0 failed=0
# Builds the adapter, which the others then find.
"$root/bin/csan" run python3 -c 'import torch; torch.zeros(4, device="cuda")' >/dev/null 2>&1
for model in ${models//,/ }; do
    python3 "$bench/bench_errors.py" "$root/bin/csan" --models="$model" --seconds="$seconds" | tee "$said"
    ratio=$(sed -nE 's/^  errors=auto +[0-9.]+ +([0-9.]+)x.*/\1/p' "$said")
    if awk -v r="${ratio:-9}" 'BEGIN { exit !(r <= 1.01) }'; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $model: errors=auto takes '${ratio:-?}' times as long as errors=off"
    fi
done
echo "failure_cost_torch: $passed passed, $failed failed"
[ $failed = 0 ]
