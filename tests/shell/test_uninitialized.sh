# init_check: exact reads of bytes that nothing has written are found, and nothing else is.

says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
finds() { [ "$(grep -c '^CSAN: ' err)" = "$1" ]; }

csan=$root/bin/csan
sources=$(dirname "$test")/../gpu
"$nvcc" -g -lineinfo -arch=sm_90 -std=c++17 -cudart shared -I"$sources/../../include" "$sources/uninitialized.cu" \
    -o uninitialized
csan_run() { run "$csan" run --device=embedded --options="$1" ./uninitialized "$2"; }

csan_run init_check=0 plain
check "without the option nothing is found" ended 0

csan_run init_check=1 plain
check "a read of what nothing has written is a finding" ended 66
check "one" finds 1
check "with kernel, bytes and allocation" says \
    '^CSAN: uninitialized memory read: add \(.*uninitialized.cu:[0-9]+\) reads 4096 bytes of the 4096 bytes allocated at .*uninitialized.cu:[0-9]+, which nothing has written$'
check "with the argument" says '^  reading 4096 bytes at 0x[0-9a-f]+, at byte 0 of .*, argument 1$'
check "with the launch" says '^Launched on stream A'
check "with where the memory was allocated" says '^The memory was allocated with stack trace:$'
csan_run init_check=1 half
check "of what is half written, the other half" says ' reads 2048 bytes of the 4096 bytes'
csan_run init_check=1 twice
check "three reads of the same bytes are one finding" finds 1
csan_run init_check=1 again
check "memory that a stream's pool gives out again is new" finds 1

for case in set copied filled scratch scatter through vectors maybe copy managed pinned graph ignored pool pitch; do
    csan_run init_check=1 $case
    check "$case: nothing is found" finds 0
    csan_run init_check=1:access=ptx $case
    check "$case: nor by PTX alone" finds 0
done
csan_run init_check=1:access=ptx plain
check "by PTX alone it is found, too" finds 1
