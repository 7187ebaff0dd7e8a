#!/bin/bash
# On a GPU: programs of PyTorch that are right, one process and several, with csan's ways to know what launches touch, and
# with pages guarded from the host. Each ends as without csan and prints the same, and csan finds nothing.
# Programs of two ranks run where there are two GPUs.
#
#   torch_silent.sh CSAN_ROOT [NAME...]    NAME: of a program; all by default
#   LOGS=DIR keeps what the programs and csan printed.
set -u
root=$(cd "$1" && pwd) || exit 2
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())' 2>/dev/null || echo 0)
[ "$gpus" -gt 0 ] || { echo "skipped torch_silent: no PyTorch that sees a GPU"; exit 0; }
passed=0 failed=0
names=("$@")

# Whether one of the names is of that file.
has()
{
    local name
    [ ${#names[@]} -gt 0 ] || return 0
    for name in "${names[@]}"; do
        grep -q "^def $name(" "$here/$1" && return 0
    done
    return 1
}

# What runs: its label, then the command.
commands()
{
    has torch_silent.py && echo "one python3 $here/torch_silent.py ${names[*]}"
    has torch_silent_distributed.py || return
    echo "rank python3 $here/torch_silent_distributed.py 1 ${names[*]}"
    [ "$gpus" -ge 2 ] || return
    echo "spawn python3 $here/torch_silent_distributed.py 2 ${names[*]}"
    echo "torchrun python3 -m torch.distributed.run --standalone --nproc-per-node=2" \
        "$here/torch_silent_distributed.py 2 ${names[*]}"
}

ways()
{
    cat <<'WAYS'
ptx halt_on_error=0:access=ptx
auto halt_on_error=0:access=auto
guard halt_on_error=0:access=auto:host=guard
WAYS
}

# start LABEL LIMIT COMMAND...: leaves LABEL.out, LABEL.err, LABEL.code and LABEL.seconds
start()
{
    local label=$1 limit=$2 begin=$SECONDS
    shift 2
    timeout -k 10 "$limit" "$@" >"$work/$label.out" 2>"$work/$label.err" </dev/null
    echo $? >"$work/$label.code"
    echo $((SECONDS - begin)) >"$work/$label.seconds"
}

check()
{
    local what=$1 label=$2
    shift 2
    if "$@"; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "not ok $what"
    diff "$work/${label%%-*}.out" "$work/$label.out" | head -5
    grep -E -A12 '^CSAN|^csan|Error' "$work/$label.err" | head -60
}

# What csan printed in the end, of each process.
summaries() { grep -E '^csan.* [0-9]+ races?, [0-9]+ possible races?' "$1"; }
says_nothing()
{
    summaries "$1" | grep -q . && ! summaries "$1" | grep -qv ' 0 races, 0 possible races; checked' && ! grep -q '^CSAN' "$1"
}

# Builds the adapter, which the others then find.
"$root/bin/csan" run python3 -c 'import torch; torch.zeros(4, device="cuda")' >/dev/null 2>"$work/adapter.err" ||
    cat "$work/adapter.err"
# Side by side: a program that has the GPU for itself does not test more.
while read -r label command; do
    # shellcheck disable=SC2086
    start "$label" 300 $command &
    while read -r way options; do
        # shellcheck disable=SC2086
        CSAN_OPTIONS=$options start "$label-$way" 500 "$root/bin/csan" run $command &
    done < <(ways)
done < <(commands)
wait
while read -r label _; do
    [ "$(cat "$work/$label.code")" = 0 ] || { echo "without csan $label fails:"; tail -20 "$work/$label.err"; }
    check "$label: it runs without csan" "$label" [ "$(cat "$work/$label.code")" = 0 ]
    while read -r way options; do
        of=$label-$way
        echo "# $label, $options: $(wc -l <"$work/$of.out") programs, $(cat "$work/$of.seconds") s," \
            "$(cat "$work/$label.seconds") s without csan"
        summaries "$work/$of.err" | sed 's/^/#   /' | cut -c1-400
        check "$label, $options: the exit code is that without csan (124: it hung)" "$of" \
            cmp -s "$work/$label.code" "$work/$of.code"
        check "$label, $options: it prints what it prints without csan" "$of" cmp -s "$work/$label.out" "$work/$of.out"
        check "$label, $options: nothing is found" "$of" says_nothing "$work/$of.err"
    done < <(ways)
done < <(commands)
[ -z "${LOGS:-}" ] || { mkdir -p "$LOGS" && cp "$work"/*.out "$work"/*.err "$LOGS"; }
echo "torch_silent: $passed passed, $failed failed"
[ $failed = 0 ]
