#!/bin/bash
# Learning on a GPU: kernels without PTX are traced, known, and checked by what was learned.
#
#   learn.sh ROOT         ROOT holds bin/csan and tests/torch
#
# Prints "ok NAME" or "not ok NAME: why". Exit code 1 if any failed.
set -u
root=$(cd "$1" && pwd) csan=$(cd "$1" && pwd)/bin/csan
program=$root/tests/torch/programs/learned.py
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
    { echo "skipped learning: no PyTorch that sees a GPU"; exit 0; }
export CSAN_CACHE=${CSAN_CACHE:-$scratch/cache}

# program NAME OPTIONS ARGUMENTS...
program()
{
    local name=$1 options=$2
    shift 2
    CSAN_OPTIONS=operators=0:halt_on_error=0:$options timeout 120 "$csan" run python3 "$program" "$@" \
        >"$scratch/$name.out" 2>"$scratch/$name.err" </dev/null
}

# said NAME RACES REGEX: races and possible races (a regex, too), and what the report says.
said()
{
    local name=$1 races=$2 regex=$3 said
    said=$(grep -o '[0-9]* races\?, [0-9]* possible' "$scratch/$name.err" | tail -1)
    if [[ $said =~ ^$races$ ]] && [ "$(tail -1 "$scratch/$name.out")" = done ] &&
        grep -Eq "$regex" "$scratch/$name.err"; then
        echo "ok $name"
    else
        echo "not ok $name: '$said', wanted '$races' and /$regex/"
        tail -30 "$scratch/$name.err"
    fi
}

# expect NAME RACES REGEX ARGUMENTS...: of one process, that learns.
expect()
{
    program "$1" access=learn:learn_cache_mb=0 "${@:4}"
    said "$1" "$2" "$3"
}

# kept NAME RACES REGEX ARGUMENTS...: the same, and of later processes that trace nothing: learning
# is given no memory, or PyTorch's CUPTI has the driver's tools interface.
kept()
{
    local name=$1 CSAN_CACHE=$scratch/kept_$1
    export CSAN_CACHE
    program "$name.learned" access=learn "${@:4}"
    program "$name" access=learn:learn_memory_mb=0 "${@:4}"
    said "$name" "$2" "$3"
    program "$name.auto" access=auto "${@:4}"
    said "$name.auto" "$2" "$3"
}

# Kernels of two processes wait for each other.
ranks()
{
    if CSAN_OPTIONS=access=learn:learn_cache_mb=0 timeout 120 "$csan" run \
        python3 "$root/samples/torch/allreduce_no_wait_fixed.py" >"$scratch/ranks.err" 2>&1 </dev/null; then
        echo "ok nccl_ranks"
    else
        echo "not ok nccl_ranks: exit code $?"
        tail -30 "$scratch/ranks.err"
    fi
}

{
    # The first builds the adapter, which the others then find.
    expect halves "0 races, 0 possible" ' learned' halves
    expect overlap "1 race, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' overlap &
    expect gather "0 races, [1-9] possible" ' learned' gather &
    expect wait "0 races, 0 possible" ' learned' wait &
    expect gemm "0 races, 0 possible" ' learned' gemm &
    expect half_gemm "0 races, 0 possible" ' learned' half_gemm &
    wait
    expect gemm_race "[1-9] races?, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' gemm_race &
    expect half_gemm_race "1 race, 0 possible" 'Overlap: 32768 bytes, 32768 to 65535 of' half_gemm_race &
    expect conv_race "0 races, [1-9] possible" 'Overlap: 6422528 bytes, 0 to 6422527 of' conv_race &
    expect stride "0 races, 0 possible" '0 not learned' stride &
    expect stride_race "0 races, [1-9] possible" 'Overlap: 6422528 bytes, 0 to 6422527 of' stride_race &
    expect permuted "0 races, 0 possible" '0 not learned' permuted &
    expect permuted_race "1 race, 0 possible" 'Overlap: 262144 bytes, 0 to 262143 of' permuted_race &
    expect fft_race "[1-9] races?, 0 possible" 'Overlap: 1048576 bytes, 0 to 1048575 of' fft_race &
    expect flash_race "[1-9] races?, 0 possible" 'Overlap: 2097152 bytes, 0 to 2097151 of' flash_race &
    expect triton_race "1 race, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' triton_race &
    expect graphs "0 races, 0 possible" ' 40 graph launches' graphs &
    expect graph_race "1 race, 0 possible" 'Overlap: 131072 bytes, 0 to 131071 of' graph_race &
    wait
    kept kept_overlap "1 race, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' overlap &
    kept kept_gemm_race "[1-9] races?, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' gemm_race &
    kept kept_stride_race "0 races, [1-9] possible" 'Overlap: 6422528 bytes, 0 to 6422527 of' stride_race &
    kept kept_permuted_race "1 race, 0 possible" 'Overlap: 262144 bytes, 0 to 262143 of' permuted_race &
    kept kept_triton_race "1 race, 0 possible" 'Overlap: 65536 bytes, 65536 to 131071 of' triton_race &
    kept kept_halves "0 races, 0 possible" ' learned' halves &
    wait
    if [ "$(python3 -c 'import torch; print(torch.cuda.device_count())')" -ge 2 ]; then
        expect nccl "0 races, 0 possible" ' learned' nccl &
        ranks &
        wait
    else
        echo "skipped NCCL: there is one GPU"
    fi
} | tee "$scratch/results"
! grep -q '^not ok' "$scratch/results"
