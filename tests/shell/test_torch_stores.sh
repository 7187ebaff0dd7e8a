# What torch.distributed's stores and gloo's calls, and multiprocessing's queues order between two processes that share memory
# (tests/python/store_order.py, gloo_order.py, queue_order.py), on the embedded device, with a Python that has PyTorch (python3, or the one that CSAN_TORCH_PYTHON names).

csan=$root/bin/csan
program=$(dirname "$(dirname "$(realpath "$test")")")/python/store_order.py
python=${CSAN_TORCH_PYTHON:-python3}
export CSAN_CACHE=$PWD/cache CSAN_MACHINE_CODE=skip TMPDIR=$PWD
unset RANK PORT

if ! "$python" -c 'import torch.distributed as d; d.TCPStore' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): $python has no PyTorch with torch.distributed (set CSAN_TORCH_PYTHON)"
    return 0
fi
ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" out; }
notes() { grep -Eq -- "$1" err; }
record()
{
    rm -f app.*.csan
    run "$csan" record --device=embedded -o app.%r.csan "$python" "$program" "$@"
    ran=$status right=$(cat out)
}
merge() { run "$csan" merge --order app.0.csan app.1.csan; }

for mode in set bytes wait prefix named file count chain swap several queue barrier; do
    record $mode
    check "the store orders the two ($mode)" eval '[ "$ran" = 0 ] && [ "$right" = right ]'
    merge
    check "... which csan merge --order knows" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"'
    check "... and lacks nothing" eval '! notes "possible ones$"'
done
for mode in set count; do # each process takes seconds to import PyTorch
    record $mode racy
    merge
    check "... but not what is waited for behind the call ($mode)" eval 'ended 66 && says "^Race 1 is certain"'
done
for mode in other unlike; do
    record $mode
    merge
    check "what is read is not what was set ($mode)" eval 'ended 66 && says "^Race 1 is certain"'
done
record append racy
merge
check "what is not followed is said" notes 'calls of a store that do not say who set what .* all races .* possible ones$'
check "... and no race is certain then" eval '! says "^Race [0-9]+ is certain"'

if command -v node >/dev/null; then
    record set racy
    run "$csan" report --html=page.html app.0.csan app.1.csan
    run node "$(dirname "$test")/page_script.js" page.html
    check "the page shows who read what was set" says '^li the host of rank 1: read value, from the host of rank 0$'
fi
# Queues of multiprocessing, in both directions, and a Pipe that goes both ways.
queues=$(dirname "$program")/queue_order.py
pipes="pipe pipe_answer"
"$python" -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)' 2>/dev/null || {
    echo "skipped: the kernel does not say which sockets belong together"
    pipes=
}
for mode in put answer $pipes; do
    for form in '' racy; do
        rm -f app.*.csan
        run "$csan" record --device=embedded -o app.%p.csan "$python" "$queues" $mode $form
        check "a queue between two processes runs ($mode $form)" grep -qx right out
        run "$csan" merge --order app.*.csan
        if [ "$form" = racy ]; then
            check "... what is waited for behind the message is reported" eval 'ended 66 && says "^Race 1 is certain"'
        else
            check "... and orders the two" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"'
        fi
    done
done

# Calls of torch.distributed with tensors of the CPU, which gloo moves.
program=$(dirname "$program")/gloo_order.py
for mode in all_reduce barrier broadcast object gather send anysource requests polled subgroup; do
    record $mode
    check "a call that gloo makes orders the two ($mode)" eval '[ "$ran" = 0 ] && [ "$right" = right ]'
    merge
    check "... which csan merge --order knows" eval 'ended 0 && notes " 0 races between processes, 0 of them possible$"'
    check "... and lacks nothing" eval '! notes "possible ones$"'
done
record all_reduce racy
merge
check "... but not what is waited for behind the call" eval 'ended 66 && says "^Race 1 is certain"'
for mode in broadcast_of_reader reduce_to_writer late; do
    record $mode
    merge
    check "a call that the reader need not wait in orders nothing ($mode)" eval 'ended 66 && says "^Race 1 is certain"'
done

for mode in ddp functional; do
    record $mode
    check "calls of gloo that PyTorch's C++ makes order the two ($mode)" eval '[ "$ran" = 0 ] && [ "$right" = right ]'
    merge
    check "... which csan does not follow, and no race is certain" eval \
        'ended 0 && notes " ([1-9][0-9]*) races between processes, \1 of them possible$"'
    check "... it says so" notes 'calls that move data between processes and are not followed: all races .* possible ones$'
done

run "$csan" run --device=embedded "$python" -c \
    'import torch.distributed as d; print(d.Store.set.__module__ == "csan_torch.stores", d.HashStore().add("n", 2))'
check "without a recording the stores are as they were" says '^False 2$'
