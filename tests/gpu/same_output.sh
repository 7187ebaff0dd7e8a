#!/bin/bash
# The programs of what the embedded device has beside plain kernels, on the GPU and on the embedded
# device: both must print the same, end alike, and have the same verdict. Racy ones and their right
# twins are among them.
#
#   same_output.sh CSAN_ROOT [--jobs N] [--only NAMES]   CSAN_ROOT: a build, or an unpacked tarball,
#                  with tests/programs; --only: of the programs these, or patterns, with blanks between
#
# A line "// gpu:" at a program's top says which verdict csan has on a GPU, where it knows less of
# what was touched. Then that one is expected, and counted as weaker. In the right twins of those
# the verdict is none on both. Prints what differs, a line for each feature, and "N passed, N
# failed". Exit code 1 if any failed. Needs a GPU of compute capability 9.0, and nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$1" && pwd) || exit 2
shift
jobs=12 only= one=
while [ $# -gt 0 ]; do
    case $1 in
    --jobs) jobs=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    --one) one=$2; shift 2 ;;
    *) echo "same_output.sh: unknown argument $1" >&2; exit 2 ;;
    esac
done
programs=$root/tests/programs/plain
sources=("$here/../integration" "$here/../../samples")
device=gpu
. "$here/../../scripts/program-ways.sh"

# A feature, then patterns of its programs.
features()
{
    cat <<'END'
arrays, textures, surfaces: array_* texture_* surface_* mipmap_* untraced_texture
libraries: cublas_* cublaslt_* cufft_* fft_* curand_* cusparse_* cusolver_*
code made at run time: rtc_* jit_link_*
launches from kernels: device_launch_* device_copy_* device_set_*
memory that kernels allocate: device_heap_*
nodes of graphs: graph_if_* graph_while* graph_switch_* value_node_*
memory of several processes: interprocess interprocess_pool
tensor copies, matrices, clusters: tensor_* wgmma_* mma_* cluster_*
kernels that wait for each other: ad_hoc_*
cuBLAS, cuFFT and textures over four streams: image_filter image_filter_fixed
END
}

# Of what a run printed: race, possible, none, or "no summary".
verdict_of()
{
    awk '/^csan: [0-9]+ ops?/ {
             summary = 1
             if (match($0, /, [0-9]+ races?/)) races += substr($0, RSTART + 2)
             if (match($0, /, [0-9]+ possible races?/)) possible += substr($0, RSTART + 2)
         }
         END { print !summary ? "no summary" : races ? "race" : possible ? "possible" : "none" }' "$1"
}

# run_on DEVICE SOURCE BASE LIBRARIES: into $BASE.out, $BASE.err and $BASE.end
run_on()
{
    env LD_LIBRARY_PATH="$4" CSAN_OPTIONS="$(directive options "$2")" CSAN_CACHE="$3.cache" \
        timeout -k 5 120 "$root/bin/csan" run "--device=$1" "$programs/$(basename "$2" .cu)" \
        >"$3.all" 2>"$3.err" </dev/null
    echo $? >"$3.end"
    # NVIDIA's cuBLAS writes such a line where an argument is wrong, as some of the programs' are.
    grep -v '^ \*\* On entry to ' "$3.all" >"$3.out"
}

# Why the program is not run here, or nothing.
why_not()
{
    local name library
    name=$(basename "$1" .cu)
    if [ "$(directive skip "$1")" ]; then
        echo "it is for one device alone"
    elif [ ! -x "$programs/$name" ]; then
        echo "it is not built"
    else
        for library in $(directive libraries "$1") $(directive link "$1" | grep -o 'nvrtc\|nvJitLink'); do
            library_present "$library" "$GPU_LIBRARIES" || echo "no lib$library.so"
        done
    fi
}

# compare_program SOURCE: prints ok, weaker, skipped or "not ok", and why.
compare_program()
{
    local name why base there here weaker
    name=$(basename "$1" .cu) base=$WORK/$(basename "$1" .cu)
    why=$(why_not "$1")
    [ -z "$why" ] || { echo "skipped $name: $why"; return; }
    gpu_choose "$1"
    run_on gpu "$1" "$base.gpu" "$GPU_LIBRARIES:${LD_LIBRARY_PATH:-}"
    run_on embedded "$1" "$base.embedded" "$root/lib/csan/embedded/libraries:${LD_LIBRARY_PATH:-}"
    there=$(verdict_of "$base.gpu.err") here=$(verdict_of "$base.embedded.err")
    weaker=$(directive gpu "$1")
    [ "$here" = race ] && weaker="$weaker possible"
    if [ "$here" = "no summary" ]; then
        echo "not ok $name: it did not run on the embedded device: $(tail -1 "$base.embedded.err")"
    elif ! cmp -s "$base.gpu.out" "$base.embedded.out"; then
        echo "not ok $name: it prints \"$(head -c 80 "$base.gpu.out")\" and \"$(head -c 80 "$base.embedded.out")\""
    elif [ "$there" = "$here" ] && cmp -s "$base.gpu.end" "$base.embedded.end"; then
        echo "ok $name: $there"
    elif [ "$there" != "no summary" ] && [[ " $weaker " == *" $there "* || " $weaker " == *" any "* ]]; then
        echo "weaker $name: $there on the GPU, $here on the embedded device"
    else
        echo "not ok $name: $there ($(<"$base.gpu.end")) on the GPU, $here ($(<"$base.embedded.end")) on the embedded device"
    fi
}

if [ -n "$one" ]; then
    compare_program "$one"
    exit
fi
if [ ! -d "$programs" ] || ! "$here/../../scripts/gpu-present"; then
    echo "skipped same_output: no programs, or no GPU"
    exit 0
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
GPU_LIBRARIES=${CSAN_TEST_LIBRARIES:-$(libraries_find | grep . | paste -sd:)}
export WORK GPU_LIBRARIES
features >"$WORK/features"
while IFS=: read -r feature names; do
    programs_find "$names" 1/1 "${sources[@]}" | while read -r source; do
        [ -z "$only" ] || [[ " $(programs_find "$only" 1/1 "${sources[@]}" | paste -sd' ') " == *" $source "* ]] || continue
        printf '%s\t%s\n' "$feature" "$source"
    done
done <"$WORK/features" >"$WORK/all"
cut -f2 "$WORK/all" | xargs -P "$jobs" -I{} "$0" "$root" --one {} >"$WORK/said"
grep '^not ok\|^weaker\|^skipped' "$WORK/said" | sort
awk -F'\t' 'FNR == NR { n = $2; sub(/.*\//, "", n); sub(/\.cu$/, "", n); of[n] = $1; next }
            { split($0, word, /[ :]/); f = of[word[word[1] == "not" ? 3 : 2]]; seen[f]; count[f, word[1]]++
              races[f] += word[1] == "ok" && /: (race|possible)$/ }
            END { for (f in seen)
                      printf "%s: %d the same, %d of them with races; %d with a weaker verdict on the GPU, %d differ, %d skipped\n", f,
                             count[f, "ok"], races[f], count[f, "weaker"], count[f, "not"], count[f, "skipped"] }' \
    "$WORK/all" "$WORK/said" | sort
failed=$(grep -c '^not ok' "$WORK/said")
passed=$(grep -c '^ok\|^weaker' "$WORK/said")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
