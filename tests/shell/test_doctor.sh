# csan doctor: what is there, what is broken, what that costs and what to do; in a copy of the installation
# parts are taken away.

csan=$root/bin/csan
ended() { [ "$status" = "$1" ]; }
state() { grep -q "^$1 *$2 " out; }
advice() { awk -v name="$1" '$2 == name { on = 1; next } /^[a-z]/ { on = 0 } on' out | grep -q "$2"; }

unset CSAN_DEVICE
export CSAN_CACHE=$scratch/cache

run "$csan" doctor
check "nothing is broken here" ended 0
check "csan itself is there" state ok csan
check "a kernel runs on the embedded device" eval 'state ok embedded-device && grep -q "a kernel ran on it" out'
check "a store to a guarded page is caught" state ok page-guard
check "the cache's folder is made and named" eval 'state ok permissions && [ -d "$CSAN_CACHE" ] && grep -qF "$CSAN_CACHE" out'
check "the last line counts" eval 'tail -1 out | grep -Eq "^csan doctor: [0-9]+ ok, [0-9]+ absent, 0 broken$"'
cp out all

run "$csan" doctor --format=json
check "as JSON it says the same" eval 'ended 0 && python3 - <<END
import json, re
document = json.load(open("out"))
assert document["format"] == "csan-doctor" and document["enough"] is True
lines = [line.split()[:2] for line in open("all") if re.match("(ok|absent|broken) ", line)]
assert lines == [[check["state"], check["name"]] for check in document["checks"]], lines
assert all((check["to_do"] is None) == (check["state"] == "ok") for check in document["checks"])
END'

# ---- The driver

if ! "$root/../scripts/gpu-present" >/dev/null 2>&1; then
    run "$csan" doctor --need=driver
    check "a driver that is needed and absent fails" eval 'ended 1 && state absent driver && grep -q "need names it" out'
    mkdir -p broken
    echo 'int cuInit(unsigned flags) { return 999; } int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
          int cuDeviceGetCount(int *n) { *n = 0; return 0; }
          int cuGetErrorName(int e, const char **n) { *n = "CUDA_ERROR_UNKNOWN"; return 0; }' >driver.c
    gcc -shared -fPIC driver.c -o broken/libcuda.so.1
    run env LD_LIBRARY_PATH=broken "$csan" doctor
    check "a driver without a GPU is described" \
        eval 'grep -q "^[a-z]* *driver *CUDA 12.4, and no GPU to use (error 999, CUDA_ERROR_UNKNOWN)" out'
    echo 'int cuInit(unsigned flags) { for (;;) *(volatile int *)8 = 0; }
          int cuDriverGetVersion(int *v) { return 0; } int cuDeviceGetCount(int *n) { return 0; }' >driver.c
    gcc -shared -fPIC driver.c -o broken/libcuda.so.1
    run env LD_LIBRARY_PATH=broken "$csan" doctor
    check "one that crashes takes nothing along" eval 'ended 1 && state broken driver && state ok csan && grep -q "did not answer" out'
    check "and csan doctor says what to do" advice driver nvidia-smi
fi

# ---- csan itself, in a copy

mkdir -p copy
cp -a "$root/bin" "$root/lib" copy/
chmod u+w copy/lib/csan/embedded/*
mv copy/lib/csan/embedded/libcuda.so.1 saved
run copy/bin/csan doctor
check "a part that is missing is named" eval 'ended 1 && state broken csan && grep -q "embedded/libcuda.so.1" out'
check "and the embedded device is broken" state broken embedded-device
printf garbage >copy/lib/csan/embedded/libcuda.so.1
run copy/bin/csan doctor
check "so is one that is no library" eval 'ended 1 && state broken embedded-device && grep -q "cannot be loaded" out'

# ---- What the environment says

run env CSAN_OPTIONS=halt_on_eror=0 "$csan" doctor
check "a wrong option is found, with the nearest" eval 'ended 1 && state broken variables && grep -q halt_on_error out'
run env CSAN_DEVICE=tpu "$csan" doctor
check "so is a device that there is not" eval 'ended 1 && state broken variables'

# ---- Toolkit, tools interface, PyTorch

mkdir -p toolkit/include toolkit/compute-sanitizer
echo '#define CUDA_VERSION 12080' >toolkit/include/cuda.h
echo 'int sanitizerPatchModule(void) { return 0; } int sanitizerSetLaunchCallbackData(void) { return 0; }' >tools.c
gcc -shared -fPIC tools.c -o toolkit/compute-sanitizer/libsanitizer-public.so
run env CUDA_HOME="$scratch/toolkit" "$csan" doctor
check "a toolkit is found by CUDA_HOME" grep -q "^ok *toolkit *CUDA 12.8 in $scratch/toolkit\$" out
if grep -qa sanitizerPatchModule "$root/lib/libcsan.so.0"; then
    check "and its tools interface" grep -q "^ok *tools-interface *$scratch/toolkit/compute-sanitizer/" out
    run env CUDA_HOME="$scratch/toolkit" CUDA_INJECTION64_PATH=/other.so "$csan" doctor
    check "another tool is named" eval 'state absent tools-interface && grep -q "/other.so" out'
    echo 'int sanitizerPatchModule(void) { return 0; }' >tools.c
    gcc -shared -fPIC tools.c -o toolkit/compute-sanitizer/libsanitizer-public.so
    run env CUDA_HOME="$scratch/toolkit" "$csan" doctor
    check "a tools interface that is too old is broken" eval 'ended 1 && state broken tools-interface'
fi
echo '#define CUDA_VERSION 11080' >toolkit/include/cuda.h
run env CUDA_HOME="$scratch/toolkit" "$csan" doctor
check "a toolkit of CUDA 11 is broken" eval 'ended 1 && state broken toolkit'

# An interpreter is asked by a program of one line that it prints.
printf '#!/bin/sh\necho "2.11.0+cu130 1 /usr/bin/c++"\n' >python
chmod +x python
run "$csan" doctor --python=./python --need=pytorch
check "PyTorch is found" eval 'ended 0 && grep -q "^ok *pytorch *PyTorch 2.11, Python.s headers are there, compiler /usr/bin/c++" out'
printf '#!/bin/sh\necho "2.2.1 1 /usr/bin/c++"\n' >python
run "$csan" doctor --python=./python
check "one that is too old is broken" eval 'ended 1 && state broken pytorch'
printf '#!/bin/sh\necho "2.11.0 0 -"\n' >python
run "$csan" doctor --python=./python
check "without headers the adapter is not built" eval 'ended 0 && state absent pytorch && advice pytorch python3-dev'
run "$csan" doctor --python=./no-python
check "without an interpreter there is none" eval 'ended 0 && state absent pytorch'

# ---- Permissions

touch file
run env CSAN_CACHE="$scratch/file" "$csan" doctor
check "a cache that cannot be made is said" eval '! state ok permissions && advice permissions CSAN_CACHE'
run env -u HOME -u CSAN_CACHE -u XDG_CACHE_HOME "$csan" doctor
check "so is one without a place" eval 'state absent permissions && grep -q "HOME is not set" out'

# ---- Usage

run "$csan" doctor --need=drivr
check "a name that is none is wrong usage" eval 'ended 2 && grep -q "nothing named .drivr" err'
run "$csan" doctor --ned=driver
check "a misspelt option has the nearest" eval 'ended 2 && grep -q "did you mean .--need" err'
run "$csan" doctor file
check "a file is wrong usage" ended 2
