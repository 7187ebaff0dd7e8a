# The products run with the glibc that runtime/glibc/build.mk names: no symbol that they need is newer.

case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): a sanitizer's run-time needs its own C library"
    return 0
    ;;
esac

tree=$(realpath "$(dirname "$test")/../..")
oldest=$(sed -n 's/^GLIBC_OLDEST := //p' "$tree/runtime/glibc/build.mk")

# newer_symbols FILE...: lines "FILE SYMBOL VERSION" of what a glibc as old as that does not have.
newer_symbols()
{
    local file
    for file; do
        objdump -T "$file" | awk -v file="$(basename "$file")" -v oldest="$oldest" '
            function number(text,  part) { split(text, part, "."); return part[1] * 1000 + part[2] }
            /\*UND\*/ && match($0, /GLIBC_[0-9.]+/) {
                version = substr($0, RSTART + 6, RLENGTH - 6)
                if (number(version) > number(oldest)) print file, $NF, version
            }'
    done
}

mapfile -t products < <(find "$root/bin" "$root/lib" -type f ! -name 'libcudart.so.13' \
    -exec sh -c 'head -c4 "$1" | grep -q ELF' sh {} \; -print | grep -v '\.o$')
check "there are products to look at" [ ${#products[@]} -ge 15 ]
newer_symbols "${products[@]}" >out 2>err
check "none needs a symbol newer than glibc $oldest" [ ! -s out ]

# What an old glibc has in a library of its own is looked for there.
needed_by_libcsan() { readelf -d "$root/lib/libcsan.so.0" | grep -q "NEEDED.*\[$1\]"; }
check "libcsan needs libpthread and libdl, which an old glibc has apart" \
    eval 'needed_by_libcsan libpthread.so.0 && needed_by_libcsan libdl.so.2'

# What csan brings itself is nobody else's. It stands in front of stat and its kind, and where the C library has no
# such functions makes the system calls (tests/unit/hook/host/test_host_arguments.c).
run nm -D --defined-only "$root/lib/libcsan.so.0"
check "libcsan exports none of the functions that an old glibc lacks" eval '! grep -Ew "gettid|__libc_single_threaded" out'

# The test finds what it looks for: a program as this compiler links it.
if [ "$(printf '%s\n' 2.34 "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" | sort -V | head -1)" = 2.34 ]; then
    cat >new.c <<'END_C'
#include <pthread.h>
int main(void) { return pthread_join(pthread_self(), 0) == 0; }
END_C
    gcc new.c -o new
    newer_symbols new >out
    check "a newer symbol is found" grep -qx 'new pthread_join 2.34' out
    gcc -L"$root/gen/glibc" new.c -o old
    newer_symbols old >out
    check "and is gone when the program is linked with the stubs" [ ! -s out ]
    run_foreign ./old
    check "which runs" [ "$status" = 0 ]
fi
