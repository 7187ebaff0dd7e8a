#!/bin/bash
# What seeing the host's own loads and stores costs, in one run, by turns, each as a ratio to plain:
#   1. a pipeline of pinned buffers, with csan and host=off, guard, content, and both;
#   2. a stencil of the host on managed memory, and a loop of the host on its own: announced accesses (host=instrumented),
#      beside ThreadSanitizer's own library and beside empty functions, all of one object file;
#   3. training steps of PyTorch with the batches of a DataLoader, where PyTorch sees a GPU.
#
#   [CSAN_TEST_ARCH=sm_90] [CSAN_TEST_DEVICE=embedded] [CSAN_TEST_SECONDS=60] host_cost.sh CSAN_ROOT [ROUNDS]
#
# CSAN_TEST_SECONDS: for each model of the third. The last thing that is printed is one table of all figures.
#
# The embedded device says what the host does; its copies and kernels take a hundred times longer than a GPU's, so the
# pipeline's ratios there say little.
set -u
root=$(cd "${1:?where csan is installed}" && pwd) rounds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
device=${CSAN_TEST_DEVICE:-gpu}
# With PTX, as nvcc makes it by itself, and -arch=native leaves out: csan then knows what kernels touch.
arch=${CSAN_TEST_ARCH:-sm_75}
[ $device = embedded ] || arch=${CSAN_TEST_ARCH:-sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)}
built=
if command -v nvcc >/dev/null; then
    nvcc -O2 -g -arch="$arch" -cudart shared "$here/host_cost.cu" -o plain || exit 1
    nvcc -O2 -g -arch="$arch" -Xcompiler -fsanitize=thread -c "$here/host_cost.cu" -o announced.o || exit 1
    nvcc -cudart shared announced.o -o announced -L"$root/lib" -lcsan_host -Xlinker -rpath="$root/lib" || exit 1
    nvcc -cudart shared -Xcompiler -fsanitize=thread announced.o -o tsan || echo "no ThreadSanitizer library here"
    # The floor: the same object file, whose calls come to functions in the program that do nothing.
    nm -u announced.o | sed -n 's/.*\(__tsan_[a-z0-9_]*\)$/void \1(void) {}/p' >empty.c
    gcc -O2 -falign-functions=32 -c empty.c -o empty.o && nvcc -cudart shared announced.o empty.o -o empty
    built=1
else
    echo "skipped the programs in C++: no nvcc"
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null

declare -A times
step() { "$@" 2>>errors | sed -n 's/^ns_per_step //p'; }
# take NAME COMMAND...
take()
{
    local name=$1 value
    shift
    value=$(step "$@")
    [ -n "$value" ] && times[$name]+="$value "
}
median() { tr ' ' '\n' | grep . | sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'; }
# ratios WHAT AIM NAME...: against the first
ratios()
{
    local what=$1 aim=$2 first name value
    shift 2
    first=$(median <<<"${times[$1]:-}")
    for name; do
        value=$(median <<<"${times[$name]:-}")
        [ "$value" = nan ] ||
            awk -v w="$what" -v a="$aim" -v n="$name" -v v="$value" -v f="$first" 'BEGIN {
                printf "%s\t%s\t%s\t%s\n", w, a, n, n == "plain" ? sprintf("%.1f us", v / 1000) : sprintf("%.3f", f > 0 ? v / f : 0) }'
    done | tee -a figures | awk -F '\t' '{ printf "%-22s %-22s %s\n", $1, $3, $4 }'
    times=()
}
# of_training <TEXT: what bench_host.py printed, as lines of `figures`
of_training()
{
    awk '/^[a-z0-9_]+ on / { model = $1 }
         /^  [a-z]/ && !/^  mode/ { name = substr($0, 3, 22); sub(/ +$/, "", name); sub(/^csan /, "", name); $0 = substr($0, 25)
            if ($2 ~ /x$/) { sub(/x$/, "", $2); printf "training, %s\thost=guard 1.05\t%s\t%s\n", model, name, name == "plain" ? sprintf("%.1f us", $1 * 1000) : $2 } }'
}
# table <FIGURES: a line for each thing that was timed, a column for each way
table()
{
    awk -F '\t' '
        BEGIN { n = split("plain;hooks only;hooks only, host=guard;host=off;host=guard;host=content;host=guard+content;host=instrumented;empty functions;ThreadSanitizer", ways, ";") }
        !($1 in aims) { order[++rows] = $1 }
        { aims[$1] = $2; found[$1, $3] = $4 }
        END {
            line = "| a step of |"; under = "|---|"
            for (i = 1; i <= n; i++) { line = line " " ways[i] " |"; under = under "---|" }
            print line " aim |"; print under "---|"
            for (r = 1; r <= rows; r++) {
                line = "| " order[r] " |"
                for (i = 1; i <= n; i++) line = line " " ((order[r], ways[i]) in found ? found[order[r], ways[i]] : "-") " |"
                print line " " aims[order[r]] " |"
            }
        }'
}
csan() { env CSAN_OPTIONS=print_summary=0:"$1" "$root/bin/csan" run --device=$device "${@:2}"; }
# The embedded device is found by csan run alone.
plain() { if [ $device = gpu ]; then "$@"; else "$root/bin/csan" run --device=embedded env CSAN=0 "$@"; fi; }
# ThreadSanitizer's library wants the addresses where they are without randomization.
tsan() { plain env TSAN_OPTIONS=report_bugs=0 setarch "$(uname -m)" -R ./tsan "$@"; }
steps_of() { local steps=$1; [ $device = gpu ] || steps=$((steps / 100)); echo $((steps < 3 ? 3 : steps)); }

sizes="65536 1048576 67108864"
[ $device = gpu ] || sizes="65536 1048576" # its kernel is interpreted
for size in ${built:+$sizes}; do
    steps=$(steps_of $((size > 4000000 ? 150 : size > 100000 ? 10000 : 50000))) # about a second
    for ((i = 0; i < rounds; i++)); do
        take plain plain ./plain pipeline $size $steps
        take host=off csan host=off ./plain pipeline $size $steps
        take host=guard csan host=guard ./plain pipeline $size $steps
        take host=content csan host=content ./plain pipeline $size $steps
        take host=guard+content csan host=guard+content ./plain pipeline $size $steps
    done
    ratios "pipeline, $((size / 1024)) KiB" "host=guard 1.05" plain host=off host=guard host=content host=guard+content
done
for kind in ${built:+managed own}; do
    name="stencil, managed"
    [ $kind = own ] && name="loop on own memory"
    for ((i = 0; i < rounds; i++)); do
        take plain plain ./plain $kind 1000000 64
        take host=instrumented csan host=instrumented ./announced $kind 1000000 64
        [ -x empty ] && take "empty functions" plain ./empty $kind 1000000 64
        [ -x tsan ] && take ThreadSanitizer tsan $kind 1000000 64
    done
    ratios "$name" "host=instrumented 3" plain "empty functions" host=instrumented ThreadSanitizer
done
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    python3 "$here/../bench/torch/bench_host.py" "$root/bin/csan" --seconds="${CSAN_TEST_SECONDS:-60}" | tee training
    of_training <training >>figures
else
    echo "skipped PyTorch: it is not here, or sees no GPU"
fi
touch errors figures
sort errors | uniq -c | sort -rn | head -5
echo
table <figures
