# What csan must not do for somebody who has no right to it.

says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
source_root=$(cd "$(dirname "$test")/../.." && pwd)
csan=$root/bin/csan

# Where root has the only user of its namespace, as in some containers and under scripts/test-aarch64, no file can be given away.
touch given
others=
if [ "$(id -u)" = 0 ] && chown 65534 given 2>/dev/null; then
    others=yes
else
    echo "skipped part of $(basename "$test" .sh): files and programs of other users cannot be made here"
fi

# ---- The environment is read by one function

readers()
{
    grep -rnE '\b(getenv|secure_getenv|__secure_getenv)[[:space:]]*\(|\benviron\b' "$source_root/csan" \
        "$source_root/runtime" "$source_root/include" --include=*.c --include=*.h --include=*.cpp |
        grep -vE '/runtime/cli/|/csan/base/environment.h:|/runtime/hook/interpose/getenv.c:|:[[:space:]]*(/\*|\*|//)'
}
# Two hand the whole environment on to a program: the helper's, and those of the exec family.
check "nothing in csan's libraries reads a variable but csan/base/environment.h" \
    eval '[ -z "$(readers | grep -vE "/csan/stack/symbolizer.c:|/runtime/hook/run/exec.c:")" ]'

# ---- A program that gains rights

if [ -n "$others" ] && command -v setpriv >/dev/null && [[ $root != */asan && $root != */tsan ]]; then
    mkdir -m 755 public
    chmod 755 "$scratch"
    cp -r "$root/lib" public/lib
    cp "$programs/ended_without_handlers" public/gains
    patched=public/gains
    chmod 4755 $patched
    printf '#!/bin/sh\necho "$(id -u)" >%s/ran\n' "$scratch" >public/helper
    chmod 755 public/helper
    mkdir -m 777 evil
    as_nobody()
    {
        run setpriv --reuid=65534 --regid=65534 --clear-groups env -i CSAN=1 CSAN_DEVICE=embedded \
            CSAN_OPTIONS="log_path=$scratch/evil/log:external_symbolizer_path=$scratch/public/helper:record=$scratch/evil/rec" \
            CSAN_CACHE="$scratch/evil/cache" CUDA_HOME="$scratch/evil" CSAN_RUN_LOG="$scratch/evil/run" \
            CSAN_CALL_COUNTS="$scratch/evil/counts" CSAN_TREE=/proc/self/fd/0 "$@"
    }
    as_nobody $patched _exit
    check "a set-user-id program is not checked" eval '! says "^csan|^CSAN"'
    check "... writes no file that its caller named" eval '[ -z "$(ls evil)" ]'
    check "... and runs no program that its caller named" [ ! -e ran ]
    if for_programs strace; then
        run strace -u nobody -f -o trace env -i CSAN=1 CUDA_HOME="$scratch/evil" \
            CSAN_CACHE="$scratch/evil/cache" $patched _exit
        check "... nor opens what its caller named" eval 'grep -q libcsan trace && ! grep "$scratch/evil" trace | grep -v execve'
    fi
    run setpriv --reuid=65534 --regid=65534 --clear-groups "$csan" run --device=embedded $patched _exit
    check "csan run refuses a set-user-id program" says 'runs with another user.s or group.s rights'
    run setpriv --reuid=65534 --regid=65534 --clear-groups "$csan" run --device=embedded sh -c "$scratch/$patched _exit"
    check "csan run names one below it" says "started without csan and not checked: '.*gains' \(runs with other rights, as set-user-id\)"
fi

# ---- The cache

learn() { run env CSAN_CACHE="$1" CSAN_OPTIONS=access=learn "$csan" run --device=embedded "$plain/example_error_fixed"; }
learn "$scratch/cache"
check "the cache is the user's alone" eval '[ "$(find cache -type d -perm /077 -o -type f -perm /077)" = "" ]'
check "... and holds what was learned" eval 'ls cache/learned/*.learned >out'
umask 000
learn "$scratch/open"
check "... whatever the umask" eval '[ "$(find open -perm /077 ! -type l)" = "" ]'
umask 022
chmod 755 cache/learned
learn "$scratch/cache"
check "one that was open to others is closed" eval '[ "$(stat -c %a cache/learned)" = 700 ]'
mkdir linked elsewhere
ln -s ../elsewhere linked/learned
learn "$scratch/linked"
check "no link is followed in it" eval '[ -z "$(ls elsewhere)" ]'
check "... which is said" says 'the cache .*/linked/learned, or the directory it lies in, is a link or a file: nothing is read from it or kept'
mkdir -m 777 writable
learn "$scratch/writable"
check "one that others can write is refused" says 'can be written by other users: nothing is read from it or kept'
if [ -n "$others" ]; then
    mkdir others
    chown 65534 others
    learn "$scratch/others"
    check "one of another user is refused" says "is another user's: nothing is read from it or kept"
    check "... and left alone" eval '[ -z "$(ls others)" ]'
    check "... and the program runs" ended 0
    run env CSAN_CACHE="$scratch/others" "$csan" kernels --learned
    check "csan kernels refuses it, too" says "is another user's"
    cp -r cache theirs
    chown 65534 theirs/learned/*
    run env CSAN_CACHE="$scratch/theirs" "$csan" kernels --learned
    check "a file of another user is not read" says 'Operation not permitted'
fi

# ---- The PyTorch adapter's part of the cache, which is code

cat >adapter.py <<'END'
import importlib.util, os, pathlib, sys
spec = importlib.util.spec_from_file_location("adapter", sys.argv[1])
adapter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)
os.umask(0)
place = pathlib.Path("adapters/csan/torch-1").absolute()
library = place / adapter._NAME

def refused(path=place):
    try:
        adapter._refuse_what_is_not_ours(path)
    except adapter.BuildError as error:
        return str(error)
    return ""

def private(*paths):
    return all(path.stat().st_mode & 0o077 == 0 for path in paths)

adapter._make(place)
assert private(place, place.parent) and not refused()
place.chmod(0o777)
assert not refused() and private(place)
def read_only(*_):
    raise OSError(30, "Read-only file system")

library.write_text("")
library.chmod(0o700)
chmod, pathlib.Path.chmod = pathlib.Path.chmod, read_only
assert not refused() and library.exists()  # nothing is changed where nothing need be
pathlib.Path.chmod = chmod
library.chmod(0o777)
assert not refused() and not library.exists()
library.symlink_to("/dev/null")
assert "is a link" in refused() or "another user" in refused()
library.unlink()
place.parent.rename("adapters/csan2")
pathlib.Path("adapters/csan").symlink_to("csan2")
assert not refused()  # a cache of our own elsewhere
if sys.argv[2:] == ["others"]:
    os.chown(place, 65534, 0)
    assert "another user" in refused()
END
if command -v python3 >/dev/null; then
    run python3 adapter.py "$source_root/runtime/torch/csan_torch/adapter.py" ${others:+others}
    check "the PyTorch adapter's directory keeps the same rules" ended 0
fi

# ---- Control characters

name=$'ev\e[31mil\a\302\233'
cp "$plain/example_error" "./$name"
run "$csan" run --device=embedded --options=symbolize=0 "./$name"
check "a report shows no control character of a name" eval '! LC_ALL=C grep -q "[[:cntrl:]]" err'
check "... but what it is" says 'ev\\x1b\[31mil\\x07\\xc2\\x9b'
run "$csan" run $'./no\e[2Jthing'
check "nor does a message" eval 'says "no.x1b\[2Jthing" && ! LC_ALL=C grep -q "[[:cntrl:]]" err'
run env CSAN=1 CSAN_OPTIONS=$'fo\e[2Jo=1' "$programs/example_error_fixed"
check "nor what is said of an option" eval '! LC_ALL=C grep -q "[[:cntrl:]]" err'
run "$csan" run --device=embedded --options=color=always "$plain/example_error"
coloured() { grep -q $'\e\\[1;31m' err; }
check "csan's own colours stay" coloured
