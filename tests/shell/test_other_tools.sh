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
    fi
    ;;
esac

if command -v valgrind >/dev/null && [[ $root != *san ]]; then
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

# ---- Files of runs go away

for signal in TERM HUP; do
    TMPDIR=$scratch/tmp.$signal
    mkdir "$TMPDIR"
    export TMPDIR
    "$csan" explore --runs=5000 "$plain/stream_same" >out 2>err &
    sleep 1
    kill -$signal $!
    wait $! 2>/dev/null
    check "an explore that SIG$signal interrupts leaves no files" [ -z "$(ls "$TMPDIR")" ]
done
