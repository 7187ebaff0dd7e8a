# Processes of PyTorch on the embedded device, with a Python that has it (python3, or the one that
# CSAN_TORCH_PYTHON names): ranks that torchrun starts, and a tensor that multiprocessing shares.

csan=$root/bin/csan
programs=$(dirname "$(dirname "$(realpath "$test")")")/python
python=${CSAN_TORCH_PYTHON:-python3}
export CSAN_CACHE=$PWD/cache CSAN_MACHINE_CODE=skip TMPDIR=$PWD
unset RANK PORT

if ! "$python" -c 'import torch.distributed.run' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch with torch.distributed (set CSAN_TORCH_PYTHON)"
    return 0
fi
ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }
ranks="$python -m torch.distributed.run --nproc-per-node 2 $programs/torchrun_streams.py"

run "$csan" run --device=embedded $ranks
check "csan run around torchrun: ranks in order are right" ended 0
run "$csan" run --device=embedded $ranks racy
check "... and one code for all that are not" ended 66
check "... with their number" notes '^csan run: [23] processes used CUDA: 2 races'
run "$csan" record --device=embedded -o app.%r.csan $ranks racy
run "$csan" merge app.*.csan
check "each rank has a recording of one pattern, and csan merge makes one report" says '^Seen by ranks 0, 1 of [23] processes'
run "$csan" merge --order app.*.csan
check "... nothing between them is missing" eval '! notes "possible ones$"'
rm -f app.*.csan
run "$csan" record --device=embedded -o app.%r.csan $ranks dies
run "$csan" info app.1.csan
check "a rank that dies leaves a recording that can be read" eval 'ended 2 && says "^ops +[1-9]"'
rm -f app.*.csan

for mode in right answered behind stream; do
    rm -f app.*.csan
    run "$csan" record --device=embedded -o app.%p.csan "$python" "$programs/tensor_order.py" $mode
    check "a process gives another one a tensor ($mode)" grep -qx right out
    run "$csan" merge --order app.*.csan
    case $mode in
    right | answered)
        check "... and is in order" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"' ;;
    *)
        check "... and races with it" eval 'ended 66 && says "^Race 1 is certain"'
        check "... with both stacks" eval 'says "tensor_order.py., line [0-9]+, in read" && says "tensor_order.py., line [0-9]+, in write"' ;;
    esac
done
