# csan beside other tools, and on machines whose driver does not work.

says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }
csan=$root/bin/csan

# AddressSanitizer wants to be first in every program that it is in.
case $root in
*san) ;;
*)
    echo 'int puts(const char *); int main(int n, char **v) { char p[4] = {0}; puts("ran"); return p[n > 1 ? n + 3 : 0]; }' >asan.c
    if gcc -g -O0 -fsanitize=address asan.c -o asan 2>/dev/null && ./asan >out; then
        run "$csan" run ./asan
        check "a program built with AddressSanitizer runs under csan run" printed ran
        check "... and ends as it does" ended 0
        run "$csan" run sh -c "./asan; true"
        check "so does a child" printed ran
        run "$csan" run ./asan error
        check "AddressSanitizer still finds its errors" says 'AddressSanitizer: stack-buffer-overflow'
        tree=$(realpath "$(dirname "$test")/../..")
        handover=("$nvcc" -w -g -std=c++17 -cudart shared -I"$tree/include" -I"$tree/tests/integration"
            "$tree/tests/integration/threads_every_handover.cu" -L"$root/lib" -lcsan -lcsan_threads
            -Xlinker -rpath="$root/lib" -Xlinker -rpath="$root/lib/csan/embedded")
        "${handover[@]}" -Xcompiler -fsanitize=address -o handover
        run env CSAN=1 CSAN_OPTIONS=host_order=threads ./handover
        check "a linked program: what it asks of pthread goes through AddressSanitizer, and orders its threads" ended 0
        check "... and csan has seen all the work" says '^csan: [1-9][0-9]* ops .* 0 races'
        if "${handover[@]}" -Xcompiler -fsanitize=thread -o handover_thread 2>/dev/null; then
            run env CSAN=1 CSAN_OPTIONS=host_order=threads ./handover_thread
            check "beside ThreadSanitizer, host_order=threads is left out" \
                eval 'printed "done" && says "^csan: host_order=threads does not work beside ThreadSanitizer"'
            run "$csan" run --device=embedded --options=host_order=threads ./handover_thread
            check "... likewise under csan run" \
                eval 'printed "done" && says "^csan: host_order=threads does not work beside ThreadSanitizer"'
        fi
    fi
    ;;
esac

if for_programs valgrind && [[ $root != *san ]]; then
    run "$csan" run --device=embedded valgrind -q "$plain/example_error"
    check "a program ends under valgrind" ended 66
    check "... and is checked" says '^csan: 2 ops .*1 race'
    run env CSAN=1 valgrind -q "$programs/example_error"
    check "so does a linked one" ended 66
fi

# ---- A driver that is there and does not work

mkdir broken none
echo 'int cuInit(unsigned f) { return 100; } int cuDeviceGetCount(int *n) { return 100; }
int cuGetErrorName(int e, const char **n) { *n = "CUDA_ERROR_NO_DEVICE"; return 0; }' >broken.c
gcc -shared -fPIC broken.c -o broken/libcuda.so.1
echo 'int cuInit(unsigned f) { return 0; } int cuDeviceGetCount(int *n) { *n = 0; return 0; }' >none.c
gcc -shared -fPIC none.c -o none/libcuda.so.1
mkdir ends
echo '#include <stdlib.h>
int cuInit(unsigned f) { abort(); } int cuDeviceGetCount(int *n) { return 0; }' >ends.c
gcc -shared -fPIC ends.c -o ends/libcuda.so.1
unset CSAN_DEVICE
run env LD_LIBRARY_PATH=$PWD/broken "$csan" run true
check "--device=auto says why it does not take a GPU" \
    says '^csan run: the NVIDIA driver cannot use a GPU \(error 100, CUDA_ERROR_NO_DEVICE\); the embedded device is used'
run env LD_LIBRARY_PATH=$PWD/none CUDA_VISIBLE_DEVICES= "$csan" run true
check "... so where none is visible" says "the NVIDIA driver shows no GPU \(CUDA_VISIBLE_DEVICES is ''\)"
run env LD_LIBRARY_PATH=$PWD/none "$csan" run --device=embedded true
check "... and not where nobody asked for one" eval '! says driver'
run env CSAN=1 LD_LIBRARY_PATH=$PWD/broken "$programs/stream_same"
check "a linked program says it, too" says '^csan: the NVIDIA driver cannot use a GPU \(error 100\)'

run env LD_LIBRARY_PATH=$PWD/ends "$csan" run true
check "a driver that ends the process that asks it ends no csan run" ended 0
check "... which says so" says '^csan run: the NVIDIA driver gave no answer when it was asked for GPUs'
run env CSAN=1 LD_LIBRARY_PATH=$PWD/ends "$programs/stream_same"
check "nor does it end a linked program" ended 0
check "... which says it, too" says '^csan: the NVIDIA driver gave no answer when it was asked for GPUs'

# A driver that is initialized in the program is of no use in a child of it.
mkdir early
cat >early.c <<'END'
#include <unistd.h>
static int used;
int cuInit(unsigned f) { if (used && used != getpid()) return 3; used = getpid(); return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return used == getpid() ? 0 : 3; }
END
gcc -shared -fPIC early.c -o early/libcuda.so.1
cat >early_program.c <<'END'
#include <dlfcn.h>
int cudaGetDeviceCount(int *n);
int main(void)
{
    int n;
    ((int (*)(unsigned))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuInit"))(0);
    cudaGetDeviceCount(&n);
    return 0;
}
END
gcc early_program.c -o early_program -L"$root/lib" -lcsan -Wl,-rpath,"$root/lib"
run env CSAN=1 LD_LIBRARY_PATH=$PWD/early ./early_program
check "a program that has initialized the driver keeps its GPU" eval '! says "embedded device is used"'
check "... and nothing is said of a child" eval '! says "this process was forked"'

# ---- Files of runs go away

for signal in TERM HUP; do
    TMPDIR=$scratch/tmp.$signal
    mkdir "$TMPDIR"
    export TMPDIR
    # nohup has SIGHUP ignored, which csan leaves so.
    env --default-signal=$signal "$csan" explore --runs=5000 "$plain/stream_same" >out 2>err &
    for i in $(seq 100); do [ -n "$(ls "$TMPDIR")" ] && break || sleep 0.1; done
    kill -$signal $!
    wait $! 2>/dev/null
    check "an explore that SIG$signal interrupts leaves no files" [ -z "$(ls "$TMPDIR")" ]
done
