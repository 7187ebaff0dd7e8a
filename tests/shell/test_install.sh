# The installed tree, and what is made of it: each is put into an empty folder, and a small project
# that knows nothing but its name is built against it and checked on the embedded device.

case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): what people install has no sanitizer in it"
    return 0
    ;;
esac

tree=$(dirname "$(dirname "$(dirname "$(realpath "$test")")")")
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

# ---- CMake

if command -v cmake >/dev/null; then
    project with_cmake
    cat >with_cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(app LANGUAGES C CXX CUDA)
find_package(csan @VERSION@ REQUIRED)
add_executable(plain plain.c)
target_link_libraries(plain PRIVATE csan::csan)
add_executable(app app.cu)
target_compile_options(app PRIVATE -g)
target_link_libraries(app PRIVATE csan::csan)
add_executable(early early.cu)
target_compile_options(early PRIVATE -g)
target_link_libraries(early PRIVATE csan::host)
set_target_properties(early PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
END
    cat >with_cmake/early.cu <<'END'
#include <cuda_runtime.h>
int main()
{
    int *host, *device;
    cudaMallocHost(&host, 4096);
    cudaMalloc(&device, 4096);
    cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice);
    host[3] = 7;
    cudaDeviceSynchronize();
}
END
    version=$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/csan.pc")
    sed -i "s/@VERSION@/$version/" with_cmake/CMakeLists.txt
    configured()
    {
        run cmake -S with_cmake -B "$1" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CUDA_COMPILER="$nvcc" \
            -DCMAKE_CUDA_ARCHITECTURES=75
    }
    configured made_by_cmake
    check "CMake finds csan" ended 0
    run cmake --build made_by_cmake
    check "CMake builds with csan::csan" ended 0
    run made_by_cmake/plain
    check "what it built has the detector, of the version asked for" [ "$(cat out)" = "$version made" ]
    check "what CMake built is checked" checked made_by_cmake/app
    run "$prefix/bin/csan" run --device=embedded --options=host=instrumented made_by_cmake/early
    check "with csan::host, stores announce themselves" eval '[ "$status" = 66 ] && grep -q "^CSAN: data race: the host.s store (.*early.cu:8)" err'
    sed -i "s/csan $version REQUIRED/csan 99.0 REQUIRED/; s/ LANGUAGES.*/ LANGUAGES C)/" with_cmake/CMakeLists.txt
    configured of_another_version
    check "CMake refuses another version, and names this one" \
        eval '[ "$status" != 0 ] && grep -q "csan-config.cmake, version: $version" err'
else
    echo "skipped part of $(basename "$test" .sh): there is no cmake"
fi

# ---- The wheel

if command -v python3 >/dev/null; then
    made wheel
    wheel=$tree/$(tail -1 out)
    check "make wheel" [ -f "$wheel" ]
    check "its name says which glibc it runs with" \
        eval '[[ $wheel = *-py3-none-manylinux_2_28_$(uname -m).whl ]]'
    cat >record.py <<'END'
# Every file is listed in RECORD with its own digest and size, and nothing else is.
import base64, csv, hashlib, sys, zipfile

archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
(record,) = [name for name in names if name.endswith(".dist-info/RECORD")]
rows = list(csv.reader(archive.read(record).decode().splitlines()))
assert sorted(row[0] for row in rows) == sorted(names), rows
for name, digest, size in rows:
    data = archive.read(name)
    own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert name == record or (digest, int(size)) == (f"sha256={own}", len(data)), name
for name in ("csan_torch.pth", "csan_torch/native/csan/csan.h", "csan_torch/native/csan/adapter.h", "csan_torch/native/csan/detector.h",
             "csan_torch/native/adapter.cpp", "csan/__init__.py", "csan/tree/include/csan/csan.h", "csan/tree/lib/libcsan.so.0",
             "csan/tree/lib/csan/embedded/libcuda.so.1", "csan/tree/lib/cmake/csan/csan-config.cmake"):
    assert name in names, name
assert not [i.filename for i in archive.infolist() if (i.external_attr >> 28) == 0o12], "a symbolic link"
END
    run python3 record.py "$wheel"
    check "the wheel's list of files is true" ended 0
    first=$(sha256sum <"$wheel")
    made wheel
    check "the same sources make the same wheel" [ "$(sha256sum <"$wheel")" = "$first" ]
    made wheel WHEEL_OLDEST=2.5
    check "a wheel for an older glibc than its libraries need is refused" \
        eval '[ "$status" != 0 ] && grep -q "needs glibc 2.*a wheel for 2.5 is asked for" err'
    if python3 -m pip --version >/dev/null 2>&1; then
        run python3 -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
            --target site "$wheel"
        check "pip installs the wheel" ended 0
        export PYTHONPATH=$scratch/site
        run python3 -c \
            'import importlib.metadata as m; print(m.version("csan-cuda"), m.metadata("csan-cuda")["License"])'
        check "pip knows it by name and version" \
            [ "$(cat out)" = "$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/csan.pc") Apache-2.0" ]
        run site/bin/csan run --device=embedded python3 "$tree/tests/python/race.py"
        check "the command that it installs finds a race of Python's" \
            eval 'ended 66 && grep -q "does not wait for fill" err'
        run python3 -m csan run --device=embedded python3 "$tree/tests/python/race.py" ordered
        check "so does python -m csan, and finds none where there is none" eval 'ended 0 && grep -q " 0 races" err'
        run python3 -c 'import csan; print(csan.get_include()); print(csan.get_library_dir()); print(csan.get_cmake_dir())'
        folder=$scratch/site/csan/tree
        check "csan.get_include() and others name its folders" \
            [ "$(paste -sd: out)" = "$folder/include:$folder/lib:$folder/lib/cmake/csan" ]
        project with_wheel
        cd with_wheel || return 1
        run gcc plain.c -o plain -I"$folder/include" -L"$folder/lib" -lcsan -Wl,-rpath="$folder/lib"
        check "gcc links with its library" ended 0
        run ./plain
        check "what it linked has the detector" eval 'ended 0 && grep -q " made" out'
        run gcc -fsanitize=thread -c plain.c -o host.o -I"$folder/include"
        run gcc host.o -o host -L"$folder/lib" -lcsan_host -lcsan -Wl,-rpath="$folder/lib"
        check "-lcsan_host is found without symbolic links" ended 0
        cd "$scratch" || return 1
        if command -v cmake >/dev/null; then
            printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(app LANGUAGES C)' \
                'find_package(csan REQUIRED)' 'add_executable(plain plain.c)' \
                'target_link_libraries(plain PRIVATE csan::csan)' >with_wheel/CMakeLists.txt
            run cmake -S with_wheel -B with_wheel/made \
                -Dcsan_DIR="$(python3 -c 'import csan; print(csan.get_cmake_dir())')"
            run cmake --build with_wheel/made
            check "CMake builds with csan::csan of the wheel" ended 0
        fi
        unset PYTHONPATH
    else
        echo "skipped part of $(basename "$test" .sh): python3 has no pip; the wheel is unpacked by hand"
        python3 -m zipfile -e "$wheel" site
    fi
    cat >wheel.py <<'END'
import csan_torch

handler = csan_torch.EventHandler()
handler._handle_kernel_launch(1, [], [4096], {}, "write", {4096: ["out"]})
print(csan_torch.__file__, len(handler._handle_kernel_launch(2, [4096], [], {}, "read", {4096: ["x"]})))
END
    run env PYTHONPATH="$scratch/site" python3 wheel.py
    check "its csan_torch finds a race with its own library" \
        [ "$(cat out)" = "$scratch/site/csan_torch/__init__.py 1" ]
    started='import site, sys; site.addsitedir("site"); print("csan_torch.startup" in sys.modules)'
    run env CSAN=1 python3 -c "$started"
    check "its .pth file starts it with the interpreter" [ "$(cat out)" = True ]
else
    echo "skipped part of $(basename "$test" .sh): there is no python3"
fi

# ---- The Debian package

if command -v dpkg-deb >/dev/null; then
    made deb DEB_LEVEL=1 # by itself dpkg-deb takes 20 s of a processor to compress
    package=$tree/$(tail -1 out)
    check "make deb" [ -f "$package" ]
    run dpkg-deb --info "$package"
    check "it depends on the C library, of a version" grep -Eq '^ Depends: libc6 \(>= 2\.[0-9]+\)' out
    check "and has csan's version" \
        grep -q "^ Version: $(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/csan.pc")\$" out
    run dpkg-deb --extract "$package" deb
    check "it can be unpacked" ended 0
    run dpkg-deb --control "$package" deb/DEBIAN
    licenses() { grep -q "^==== $1: from the package" deb/usr/share/doc/csan/copyright; }
    check "it has the licenses of what is linked statically" eval 'licenses libjson-c.a && licenses libdw.a && licenses libzstd.a'
    check "and their words" grep -q 'Permission is hereby granted, free of charge' deb/usr/share/doc/csan/copyright
    run "$tree/scripts/package/notices.sh" notices libz.a libcsan_stranger.a
    check "a library of nobody's stops it" \
        [ "$status: $(cat err)" = "1: notices: no installed package has libcsan_stranger.a, whose license belongs into the package" ]
    check "its files are those it lists" eval '(cd deb && md5sum --quiet -c DEBIAN/md5sums) >err 2>&1'
    run find deb/usr ! -perm -a+r -o -type f -perm /022
    check "everybody may read them and nobody write" [ ! -s out ]
    project with_deb
    cd with_deb || return 1
    run "$nvcc" -g -cudart shared app.cu -o app -I"$scratch/deb/usr/include"
    run "$scratch/deb/usr/bin/csan" run --device=embedded ./app
    check "its csan runs and finds the race" eval 'ended 66 && grep -q "scale(float\*, float, int)" err'
    run "$nvcc" -g app.cu -o linked -L"$scratch/deb/usr/lib" -lcsan \
        -Xlinker -rpath="$scratch/deb/usr/lib"
    check "what is linked with its library is checked" checked ./linked
    cd "$scratch" || return 1

    if command -v cmake >/dev/null; then
        ln -s usr/lib deb/lib
        cat >with_deb/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(app LANGUAGES C)
find_package(csan REQUIRED)
add_executable(plain plain.c)
target_link_libraries(plain PRIVATE csan::csan)
END
        run cmake -S with_deb -B with_deb/made -DCMAKE_PREFIX_PATH="$scratch/deb"
        run cmake --build with_deb/made
        check "CMake finds it through /lib, a link to /usr/lib" ended 0
    fi

    mkdir -p stranger/usr/lib
    echo 'int here(void); int here(void) { return 0; }' >stranger.c
    gcc -shared -fPIC stranger.c -Wl,-soname,libcsan_stranger.so.1 -o libcsan_stranger.so.1
    gcc -shared -fPIC stranger.c -Wl,--no-as-needed libcsan_stranger.so.1 -o stranger/usr/lib/libuser.so
    run "$tree/scripts/package/deb.sh" stranger 0 'nobody <nobody@localhost>' stranger.deb /dev/null
    check "a library of no package is named" \
        [ "$status: $(cat err)" = "1: deb: no installed package has libcsan_stranger.so.1, which csan needs" ]
    check "and no package made" absent stranger.deb
else
    echo "skipped part of $(basename "$test" .sh): there is no dpkg-deb"
fi

# ---- The RPM package

if command -v rpmbuild >/dev/null; then
    made rpm
    package=$tree/$(tail -1 out)
    check "make rpm" [ -f "$package" ]
    run rpm -qp --requires "$package"
    check "it needs the C library and no driver" eval 'grep -q "^libc.so.6(GLIBC_2" out && ! grep -Eq "libcuda|libcsan" out'
    run rpm -qp --provides "$package"
    check "it provides none of NVIDIA's libraries" eval '! grep -q "^libcu" out'
    mkdir -p rpm
    cp "$package" rpm/csan.rpm && run rpm2archive rpm/csan.rpm && tar -xzf rpm/csan.rpm.tgz -C rpm
    check "its command is a link into /opt/csan" [ "$(readlink rpm/usr/bin/csan)" = /opt/csan/bin/csan ]
    run rpm/opt/csan/bin/csan doctor
    check "csan doctor finds nothing broken in it" ended 0
    check "it has the licenses of others" grep -q '^==== libjson-c.a: from the package' rpm/opt/csan/share/licenses/LICENSE
else
    echo "skipped part of $(basename "$test" .sh): there is no rpmbuild"
fi

# ---- Recipes, which are not run here

cat >recipes.py <<'END'
# What the recipes name is in the tree, and what they run csan has.
import re, subprocess, sys
top, csan = sys.argv[1:]
for path in ("samples/containers/Dockerfile", "samples/containers/csan.def", "scripts/package/conda/recipe.yaml"):
    text = open(f"{top}/{path}").read()
    assert "csan_cuda" in text and "csan doctor" in text, path
assert subprocess.run([csan, "doctor"], stdout=subprocess.DEVNULL).returncode == 0
commands = re.findall(r"^(ARG|FROM|SHELL|RUN|ENV|COPY|CMD) ", open(f"{top}/samples/containers/Dockerfile").read(), re.M)
assert commands[:2] == ["ARG", "FROM"] and commands[-1] == "CMD", commands
END
run python3 recipes.py "$tree" "$root/bin/csan"
check "the recipes for containers and conda" ended 0

# ---- And away again

made uninstall PREFIX=/csan DESTDIR="$scratch/elsewhere"
check "make uninstall leaves no file" [ -z "$(find "$prefix" ! -type d)" ]
