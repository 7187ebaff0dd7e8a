# Allocations that fail for want of memory: reported if the program gives up, with what held the
# memory; not if it goes on.

says() { grep -Eq -- "$1" err; }
silent_of() { ! grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
finds() { [ "$(grep -c '^CSAN: out of memory' err)" = "$1" ]; }

csan=$root/bin/csan
sources=$(dirname "$test")/../gpu
"$nvcc" -g -lineinfo -arch=sm_90 -std=c++17 -cudart shared -I"$sources/../../include" "$sources/exhausted.cu" -o exhausted
export CSAN_DEVICE_MEMORY=64M
csan_run() { run "$csan" run --device=embedded --options="$1" ./exhausted "$2"; }
line_of() { grep -nF -- "$1" "$sources/exhausted.cu" | head -1 | cut -d: -f1; }

csan_run oom=auto exit
check "a program that gives up has a finding" finds 1
check "which is a failure" ended 66
check "with what was asked and free" says \
    '^CSAN: out of memory: cudaMalloc \(.*exhausted.cu:[0-9]+\) asked for 32.0 MiB where 16.0 MiB of 64.0 MiB were free$'
check "in bytes, too" says '^  free on device 0: 16777216 of 67108864 bytes$'
check "with its stack" says "^  #1 main .*exhausted.cu:$(line_of '// fails')\$"
check "with what the process holds, the largest first" [ "$(grep -A1 'held there by this process: 48.0 MiB in 11' err |
    sed -n '2s/ by .*//p')" = '    40.0 MiB in 10 allocations' ]
check "by who allocated it" says "by cudaMalloc, .*exhausted.cu:$(line_of '// make'), called at .*exhausted.cu:$(line_of '// many')"
check "with how the program ended" says '^  The program then ended with exit code 1\.$'
check "with the error that the program got" says '^The program gets CUDA_ERROR_OUT_OF_MEMORY\.$'

for way in abort throw segv _exit; do
    csan_run oom=auto $way
    check "$way: it is reported" finds 1
done
check "and the code is that of a finding" ended 66
csan_run oom=auto retry
check "a later allocation of less changes nothing" finds 1
csan_run oom=auto again
check "one of as much does: the program had its memory" finds 0
csan_run oom=auto survives
check "a program that goes on and ends well is not reported" finds 0
check "and ends as it does" ended 0
csan_run oom=auto fine
check "a program that fails for another reason is not reported" finds 0
check "and ends as it does" ended 3

csan_run oom=1 survives
check "oom=1 reports at once" finds 1
csan_run oom=1 loop
check "each place once" finds 2
csan_run oom=off exit
check "oom=off reports nothing" finds 0
csan_run errors=off exit
check "nor does errors=off" finds 0

csan_run oom=auto blocks
check "pools say what they reserved and what of it is allocated" says \
    '^  of pools that hand out blocks: 12.0 MiB reserved, 4.0 MiB of it allocated$'
run "$csan" record --check -o exhausted.csan --device=embedded ./exhausted exit
grep -v '^csan' err >live
run "$csan" replay exhausted.csan
check "a recording has it: its replay says the same" cmp -s live <(grep -v '^csan' err)
run "$csan" report --html=exhausted.html exhausted.csan
if command -v node >/dev/null; then
    run node "$sources/../shell/page_script.js" exhausted.html
    check "the page says what was held" grep -q '^tr 40.0 MiB in 10 allocations: cudaMalloc, exhausted.cu' out
fi
run "$csan" run --device=embedded --options=log_path=report.json:format=json ./exhausted exit
check "the report in JSON has it" grep -q '"finding": "out_of_memory"' report.json*

# Python: the line that asked, and those that hold.
cat >exhausted.py <<'EOF'
import ctypes
cudart = ctypes.CDLL("libcudart.so.13")
def allocate(size):
    p = ctypes.c_void_p()
    if cudart.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(size)):
        raise MemoryError("no memory")
def train():
    for step in range(100):
        allocate(8 << 20)
train()
EOF
case $root in
*/asan | */tsan) ;;
*)
    run "$csan" run --device=embedded python3 exhausted.py
    check "an exception that nobody catches is a program that gives up" finds 1
    check "with the line in Python" says '^CSAN: out of memory: cudaMalloc \(exhausted.py:5\)'
    check "and who called it" says '64.0 MiB in 8 allocations by cudaMalloc, exhausted.py:5, called at exhausted.py:9'
    ;;
esac
