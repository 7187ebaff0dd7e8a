# The installed tree, and what is made of it: each is put into an empty folder, and a small project
# that knows nothing but its name is built against it and checked on the embedded device.

case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): what people install has no sanitizer in it"
    return 0
    ;;
esac

tree=$(dirname "$(dirname "$(dirname "$(realpath "$test")")")")
nvcc=$(sed -n 's/^CUDA_HOME := //p' "$tree/build/config.mk")/bin/nvcc
ended() { [ "$status" = "$1" ]; }
made() { run env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" --no-print-directory "$@"; }
absent() { [ ! -e "$1" ]; }
# csan finds the race of the sample that was just built
checked()
{
    run env CSAN=1 "$@"
    [ "$status" = 66 ] && grep -q 'scale(float\*, float, int)' err
}
# A project: the sample with the race, whose own header is all it takes from the tree.
project()
{
    rm -rf "$1"
    mkdir "$1"
    cp "$tree/samples/check.h" "$1"
    cp "$tree/samples/example_error.cu" "$1/app.cu"
    cat >"$1/plain.c" <<'END'
#include <csan/csan.h>
#include <stdio.h>

int main(void)
{
    char message[256];
    csan_context *context = csan_context_create("", NULL, NULL, message, sizeof message);
    printf("%d.%d %s\n", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR, context ? "made" : message);
    csan_context_destroy(context);
    return 0;
}
END
}

# ---- The tree, installed in one place and moved to another

made install PREFIX=/opt/csan DESTDIR="$scratch/root"
check "make install" ended 0
mkdir -p elsewhere
mv root/opt/csan elsewhere/csan
prefix=$scratch/elsewhere/csan
nothing_of_the_tree() { ! grep -rlI -e "$tree" -e "$scratch" "$prefix" --include=*.pc --include=*.cmake; }
check "pkg-config's and CMake's files name no folder" nothing_of_the_tree

# ---- pkg-config

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    project with_pkg_config
    cd with_pkg_config || return 1
    libdir=$(pkg-config --variable=libdir csan)
    # shellcheck disable=SC2046 # words are what is wanted
    run gcc plain.c -o plain $(pkg-config --cflags --libs csan) -Wl,-rpath="$libdir"
    check "gcc with pkg-config builds" ended 0
    run ./plain
    check "what it built has the detector, of pkg-config's version" \
        [ "$(cat out)" = "$(pkg-config --modversion csan) made" ]
    # shellcheck disable=SC2046
    run "$nvcc" -g app.cu -o app $(pkg-config --cflags --libs csan) -Xlinker -rpath="$libdir"
    check "nvcc with pkg-config builds" ended 0
    check "what it built is checked" checked ./app
    cd "$scratch" || return 1
    unset PKG_CONFIG_PATH
else
    echo "skipped part of $(basename "$test" .sh): there is no pkg-config"
fi
