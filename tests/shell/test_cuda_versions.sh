# Programs of CUDA versions: of 12 and 13 the embedded device has the runtime library, of others it says
# that it has none. (The programs for CUDA 12 themselves are run by scripts/run-integration --cuda 12.)

says() { grep -q -- "$1" err; }
# needs VERSION: a program that needs libcudart.so.VERSION, and that library, which is empty
needs()
{
    echo | gcc -shared -x c - -o "libcudart.so.$1" -Wl,-soname,"libcudart.so.$1"
    echo 'int main(void) { return 7; }' | gcc -x c - -x none -o "needs$1" -Wl,--no-as-needed "./libcudart.so.$1" \
        -Wl,-rpath,"$PWD"
}

needs 11.0
run "$root/bin/csan" run --device=embedded ./needs11.0
check "a program of CUDA 11 is not started" [ "$status" = 126 ]
check "and csan says why" says "built with another version of CUDA than 12 or 13"
for version in 12 13; do
    needs $version
    run "$root/bin/csan" run --device=embedded ./needs$version
    check "a program of CUDA $version is" [ "$status" = 7 ]
done
