# shellcheck shell=bash disable=SC2034,SC2154
# What the scripts share that run each test program in one way and compare the outcomes. Sourced;
# `root` is the build, or an unpacked tarball, and `device` is embedded or gpu.

# Libraries built with a sanitizer need its run-time first in every program.
sanitizer_env=()
case $root in
*/asan) sanitizer_env=("LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
    "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0:exitcode=99") ;;
*/tsan) sanitizer_env=("LD_PRELOAD=$(gcc -print-file-name=libtsan.so)"
    "TSAN_OPTIONS=exitcode=99:suppressions=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../tests/tsan.supp")") ;;
esac

# directive NAME FILE: the rest of the line "// NAME: ..." among the comment lines at the file's top. It
# starts no process, for it is asked twenty times a program.
directive()
{
    local line
    while IFS= read -r line && [[ $line == //* ]]; do
        [[ $line == "// $1: "* ]] || continue
        echo "${line#"// $1: "}"
        break
    done <"$2"
}

# programs_find ONLY PART DIRECTORY...: the sources of the programs ONLY, names or patterns with
# blanks between, or of all; of PART i/n every n-th, from the i-th on.
programs_find()
{
    local names name part=${2:-1/1} wanted=(-false)
    read -ra names <<<"${1:-*}"
    for name in "${names[@]}"; do wanted+=(-o -name "$name.cu"); done
    shift 2
    find "$@" -maxdepth 1 \( "${wanted[@]}" \) | sort |
        awk -v i="${part%/*}" -v n="${part#*/}" 'NR % n == i % n'
}

# library_loads NAME: does the loader find it?
library_loads()
{
    ldconfig -p | grep -q "^[[:space:]]*$1 "
}

# Why the source's program is not run here, or nothing.
program_missing()
{
    local devices
    devices=$(directive devices "$1")
    if [ "$(directive skip "$1")" = $device ]; then
        echo "it is not for this device"
    elif [[ $root == */tsan && -n $(directive no-tsan "$1") ]]; then
        directive no-tsan "$1"
    elif [ $device = gpu ] && [ -n "$(directive libraries "$1")" ]; then
        echo "its libraries are the embedded device's"
    elif [ $device = gpu ] && [ "${devices:-1}" -gt 1 ] && [ "$devices" -gt "$GPU_COUNT" ]; then
        echo "it needs $devices GPUs"
    elif [ $device = gpu ] && [ "$(directive link "$1")" = -lcmocka ] && ! library_loads libcmocka.so.0; then
        echo "it needs libcmocka"
    fi
}

# GPU_COUNT: how many GPUs there are; asked once, by the first of the scripts.
gpus_count()
{
    local count
    count=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
    echo $((count > 0 ? count : 1))
}
[ $device != gpu ] || export GPU_COUNT="${GPU_COUNT:-$(gpus_count)}"

# gpu_choose SOURCE: where a machine has several GPUs, a program that needs one sees one, by its name
# another: it takes long to make a context, and longer with every GPU that is seen.
gpu_choose()
{
    local number
    [ $device = gpu ] && [ -z "${CUDA_VISIBLE_DEVICES:-}$(directive devices "$1")" ] || return
    number=$(basename "$1" .cu | cksum)
    [ "$GPU_COUNT" -gt 1 ] && export CUDA_VISIBLE_DEVICES=$((${number%% *} % GPU_COUNT))
}

# command_find SOURCE: how it is run, into `command`: linked with csan where it can be.
command_find()
{
    local name ways group
    name=$(basename "$1" .cu) ways=$(directive ways "$1") group=$(basename "$(dirname "$1")")
    command=("$root/tests/programs/static/$name")
    if [[ $1 == *corpus/* ]]; then
        command=("$root/tests/corpus-75/$group/$name")
    elif [[ " ${ways:-static} " != *" static "* ]]; then
        command=("$root/bin/csan" run "--device=$device" "$root/tests/programs/plain/$name")
    fi
}

# program_run SOURCE OPTIONS [NAME=VALUE...]: runs it. Its libraries are the stand-ins on either
# device, so that both make the same launches.
program_run()
{
    local source=$1 options=$2 library libraries limit
    library=$(directive library "$source") limit=$(directive limit "$source")
    libraries=$(directive libraries "$source")
    shift 2
    gpu_choose "$source"
    env ${sanitizer_env[@]+"${sanitizer_env[@]}"} ${library:+"LD_LIBRARY_PATH=$root/tests/libraries"} \
        ${libraries:+"LD_LIBRARY_PATH=$root/lib/csan/embedded/libraries:${LD_LIBRARY_PATH:-}"} CSAN=1 CSAN_DEVICE="$device" \
        CORPUS_SOURCE="$(dirname "$(dirname "$source")")" CSAN_SCHEDULE=eager \
        CSAN_DEVICES="$(directive devices "$source")" \
        CSAN_OPTIONS="$(directive options "$source"):$options" "$@" \
        timeout -k 5 "${limit:-60}" "${command[@]}" </dev/null
}

# Where NVIDIA's libraries may be on a machine with a GPU, with colons between.
libraries_find()
{
    echo /usr/local/cuda/lib64
    ldconfig -p 2>/dev/null | sed -nE 's#.* => (.*)/lib(cublas|cublasLt|cufft|nccl)\.so\..*#\1#p' | sort -u
    python3 -c 'import glob, sys
for path in sys.path:
    print("\n".join(glob.glob(path + "/nvidia/*/lib")))' 2>/dev/null
}
# library_present NAME [DIRECTORIES]: is it in one of them (`libraries`), with colons between?
library_present()
{
    local directory IFS=:
    for directory in ${2:-$libraries}; do
        compgen -G "$directory/lib$1.so.[0-9]*" >/dev/null && return
    done
    return 1
}
