# Calls of libraries reach the function that they would have reached without csan: in a program linked
# with -lcsan, under LD_PRELOAD, with two versions of a library in one process, by dlsym.

lib=$root/lib

# A stand-in whose function returns a number. library SONAME VERSION NUMBER FILE
library()
{
    local function=cublasSscal_v2
    [ "$2" = none ] && function=ncclGroupStart
    echo "int $function(void) { return $3; }" >"$4.c"
    if [ "$2" = none ]; then
        gcc -shared -fPIC -Wl,-soname,"$1" "$4.c" -o "$4"
    else
        echo "$2 { global: *; };" >"$4.map"
        gcc -shared -fPIC -Wl,-soname,"$1" -Wl,--version-script="$4.map" "$4.c" -o "$4"
    fi
}
mkdir -p other
library libcublas.so.13 libcublas.so.13 13 libcublas.so.13
library libcublas.so.12 libcublas.so.12 12 libcublas.so.12
library libcublas.so.11 libcublas.so.11 11 libcublas.so.11
library libcublas.so.13 libcublas.so.13 99 other/libcublas.so.13
library libnccl.so.2 none 2 libnccl.so.2
library libstatic_nccl.so none 5 libstatic_nccl.so

# Plugins, each bound to a version.
for version in 13 12 11; do
    echo "int cublasSscal_v2(); int plugin_$version(void) { return cublasSscal_v2(0, 0, 0, 0, 0); }" >plugin.c
    gcc -shared -fPIC plugin.c "./libcublas.so.$version" -o "libplugin_$version.so" -Wl,-rpath,"$PWD"
done
cat >program.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int plugin_13(void), plugin_12(void), plugin_11(void), ncclGroupStart(void);
static int by_dlsym(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int (*function)() = library ? (int (*)())dlsym(library, name) : NULL;
    return function ? function(0, 0, 0, 0, 0) : -1;
}
int main(void)
{
    printf("%d %d %d %d ", plugin_13(), plugin_12(), plugin_11(), ncclGroupStart());
    printf("%d %d ", by_dlsym("libcublas.so.13", "cublasSscal_v2"),
           by_dlsym("./other/libcublas.so.13", "cublasSscal_v2"));
    printf("%d\n", by_dlsym("./libstatic_nccl.so", "ncclGroupStart"));
    return 0;
}
C
build()
{
    local out=$1
    shift
    gcc program.c "$@" -L. -lplugin_13 -lplugin_12 -lplugin_11 ./libnccl.so.2 -ldl -o "$out" \
        -Wl,-rpath,"$PWD" -Wl,-rpath,"$lib"
}
build plain
build linked -Wl,--as-needed -L"$lib" -lcsan
right="13 12 11 2 13 99 5"
prints() { local wanted=$1; shift; [ "$("$@" 2>errors)" = "$wanted" ] || { "$@"; return 1; }; }

export CSAN_DEVICE=embedded
check "without csan" prints "$right" ./plain
case $root in
*san) ;; # their run-times want to come first
*)
    check "linked with csan, which is off" prints "$right" env CSAN=0 ./linked
    check "linked with csan, which is on" prints "$right" env CSAN=1 ./linked
    check "csan is loaded first, and off" prints "$right" env CSAN=0 LD_PRELOAD="$lib/libcsan.so.0" ./plain
    check "csan is loaded first, and on" prints "$right" env CSAN=1 LD_PRELOAD="$lib/libcsan.so.0" ./plain
    ;;
esac

# A program whose libraries come before csan.
gcc program.c -L. -lplugin_13 -lplugin_12 -lplugin_11 -Wl,--no-as-needed ./libnccl.so.2 -L"$lib" -lcsan \
    -ldl -o reversed -Wl,-rpath,"$PWD" -Wl,-rpath,"$lib"
says_order() { CSAN=1 "$1" 2>&1 | grep -q 'libnccl.so.2 comes before libcsan.*name -lcsan first'; }
is_silent() { ! CSAN=1 "$1" 2>&1 | grep -q 'comes before libcsan'; }
case $root in
*san) ;;
*)
    check "a library that comes before csan is named" says_order ./reversed
    check "one that comes after is not" is_silent ./linked
    ;;
esac

# What is linked with csan still needs the libraries that it calls.
needs() { readelf -d linked | grep -q "NEEDED.*\[$1\]"; }
check "a program linked with csan needs its own libraries" needs libnccl.so.2
imports() { readelf --dyn-syms -W linked | grep -q "UND ncclGroupStart$"; }
check "a program linked with csan asks for no version of csan's" imports

# NCCL inside a library that was opened for itself: no libnccl.so.2 is in the process.
echo 'int ncclGroupStart(void); int plugin(void) { return ncclGroupStart(); }' >static.c
gcc -shared -fPIC static.c ./libstatic_nccl.so -o libplugin_static.so -Wl,-rpath,"$PWD"
cat >opens.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *plugin = dlopen("./libplugin_static.so", RTLD_NOW | RTLD_LOCAL);
    int (*function)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin") : NULL;
    printf("%d\n", function ? function() : -1);
    return 0;
}
C
gcc opens.c -o opens -ldl
case $root in
*san) ;;
*)
    for on in 0 1; do
        check "NCCL of a library opened for itself, CSAN=$on" prints 5 env CSAN=$on \
            LD_PRELOAD="$lib/libcsan.so.0" ./opens
    done
    ;;
esac
