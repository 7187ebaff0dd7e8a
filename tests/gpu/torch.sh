#!/bin/bash
# PyTorch programs checked on a GPU: the samples and their twins, operators in order, a backward pass,
# a captured graph, kernels of Triton and torch.compile, two GPUs and NCCL where there are two.
#
#   torch.sh ROOT         ROOT holds bin/csan, samples and tests/torch
#
# Prints "ok NAME" or "not ok NAME: why". Exit code 1 if any failed.
set -u
root=$(cd "$1" && pwd) csan=$(cd "$1" && pwd)/bin/csan failed=0
programs=$root/tests/torch/programs
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())' 2>/dev/null || echo 0)
[ "$gpus" -gt 0 ] || { echo "skipped PyTorch: no PyTorch that sees a GPU"; exit 0; }

# expect NAME RACES OUTPUT COMMAND...: how many races, and the last line of its output.
expect()
{
    local name=$1 races=$2 output=$3 said
    shift 3
    timeout 180 "$csan" run "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" </dev/null
    said=$(grep -o '[0-9]* races\?, [0-9]* possible' "$scratch/$name.err" | tail -1)
    if [ "${said%% *}" = "$races" ] && [ "$(tail -1 "$scratch/$name.out")" = "$output" ]; then
        echo "ok $name"
    else
        echo "not ok $name: '$said', printed '$(tail -1 "$scratch/$name.out")'"
        tail -15 "$scratch/$name.err"
    fi
}

# The first builds the adapter, which the others then find.
expect quiet 0 quiet python3 "$programs/quiet.py"
{
    expect backward_stack 1 '' python3 "$programs/backward_stack.py" &
    expect graph_race 1 '' python3 "$programs/graph_race.py" &
    expect graph_fixed 0 done python3 "$programs/graph_race.py" fixed &
    wait
    for maker in triton compile; do
        for order in race event halves; do
            if [ $order = race ]; then races=1 output=; else races=0 output=done; fi
            expect ${maker}_$order $races "$output" python3 "$root/tests/torch/triton_streams.py" \
                $maker $order &
        done
    done
    wait
    if [ "$gpus" -ge 2 ]; then
        expect two_gpus 0 3 python3 "$programs/two_gpus.py" &
        expect two_gpus_race 1 '' python3 "$programs/two_gpus.py" race &
        wait
        samples=
    else
        samples="batch example missing non_blocking overlapping triton"
        echo "skipped NCCL and copies between GPUs: there is one GPU"
    fi
    python3 "$root/tests/torch/check_samples.py" "$csan" "$root/samples/torch" --jobs=3 $samples
} | tee "$scratch/results"
grep -q '^not ok' "$scratch/results" && failed=1
exit $failed
