# What a terminal shows: colours unless NO_COLOR says no, lines no wider than the terminal, and progress.

if ! python3 -c 'import pty' 2>/dev/null; then
    echo "skipped $(basename "$test" .sh): there is no python3"
    return 0
fi
csan=$root/bin/csan
cat >terminal.py <<'END'
# terminal.py COLUMNS SECONDS COMMAND...: runs it on a terminal of that width; prints what it shows.
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    os.execvp(command[0], command)
shown = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
os.waitpid(child, 0)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
END
on_terminal() { run python3 terminal.py "$@"; }
program=$root/tests/programs/plain/missing_wait
widest() { sed 's/\x1b\[[0-9;]*m//g' out | grep -v '^ .*[./]' | awk '{ if (length($0) > widest) widest = length($0) } END { print widest }'; }

on_terminal 200 "$csan" run --device=embedded "$program"
check "a report has colours on a terminal" grep -q $'\x1b\[' out
cp out wide
on_terminal 60 "$csan" run --device=embedded --options=strip_path_prefix=/ "$program"
check "lines are broken at the terminal's width" [ "$(widest)" -le 60 ]
sed 's/\x1b\[[0-9;]*m//g' out | grep -A3 '^Fix: ' >fix
check "and go on indented" eval '[ "$(sed -n 2p fix | cut -c1-2)" = "  " ]'
on_terminal 200 env NO_COLOR=1 "$csan" run --device=embedded "$program"
check "NO_COLOR is honoured" eval 'grep -q "^CSAN: data race" out && ! grep -q $'"'"'\x1b\['"'"' out'
on_terminal 200 env NO_COLOR= "$csan" run --device=embedded "$program"
check "an empty NO_COLOR says nothing" grep -q $'\x1b\[' out
on_terminal 200 env NO_COLOR=1 "$csan" run --device=embedded --options=color=always "$program"
check "color=always goes before NO_COLOR" grep -q $'\x1b\[' out
run "$csan" run --device=embedded "$program"
check "a file gets neither colours nor breaks" eval '! grep -q $'"'"'\x1b\['"'"' err && grep -q "^Fix: .*missing_wait.cu:[0-9]*).$" err'

# What other commands print for people is broken, too; documents for programs are not.
no_wider() { [ "$(sed 's/.*\r//; s/\x1b\[[0-9;]*[mK]//g' out | awk '{ if (length($0) > widest) widest = length($0) } END { print widest }')" -le "$1" ]; }
on_terminal 60 "$csan" help run
check "help is broken at the terminal's width" no_wider 60
cp "$program" short
"$csan" record --device=embedded -o short.csan ./short >/dev/null 2>&1
on_terminal 60 "$csan" info --statistics short.csan
check "csan info's statistics are" no_wider 60
on_terminal 60 "$csan" mutate --options=strip_path_prefix=/ ./short
check "csan mutate's findings are" eval 'grep -q "needed" out && no_wider 60'
check "csan mutate shows how far it is" grep -q 'csan mutate: [0-9]* of [0-9]* left out' out
on_terminal 60 "$csan" explore --runs=3 --options=strip_path_prefix=/ ./short
check "what csan explore found is" eval 'grep -q "race" out && no_wider 60'
check "csan explore shows how far it is" grep -q 'run [0-9]* of 3: 1 race, ' out
on_terminal 60 "$csan" fix --runs=3 --options=strip_path_prefix=/ ./short
check "what csan fix tried is" eval 'grep -q "wait" out && no_wider 60'
check "csan fix shows how far it is" grep -q 'csan fix: ' out
"$csan" record --device=embedded -o one.csan "$program" >/dev/null 2>&1
on_terminal 60 "$csan" info --format=json short.csan
check "a document is not" eval 'grep -q "^    {" out && ! no_wider 100'

# Whatever takes longer than a second shows how far it is. Here the clock is fast: each look at it takes 0.6 s.
cat >fast_clock.c <<'END'
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static long long looks;
    (void)clock;
    const long long tenths = 6 * __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
    now->tv_sec = 1000000 + tenths / 10;
    now->tv_nsec = tenths % 10 * 100000000;
    return 0;
}
END
case $root in
*/asan | */tsan)
    echo "skipped part of $(basename "$test" .sh): the sanitizers' run-time looks at the clock, too"
    return 0
    ;;
esac
gcc -shared -fPIC -O1 fast_clock.c -o fast_clock.so
slowly() { on_terminal 200 env LD_PRELOAD="$PWD/fast_clock.so" "$@"; }
cat >many.py <<'END'
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDeviceGet(ctypes.byref(device), 0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)
cuda.cuMemAlloc_v2(ctypes.byref(memory), 4096)
for _ in range(10000):
    cuda.cuMemsetD8Async(memory, 1, 64, None)
cuda.cuCtxSynchronize()
END
"$csan" record --device=embedded -o many.csan python3 many.py >/dev/null 2>&1
cp many.csan other.csan
progress="^csan replay: \[#+ *\] +[0-9]+%, 0\.0 million entries, [0-9]+ s left"
slowly "$csan" replay many.csan
check "csan replay shows how far it is" eval 'tr "\r" "\n" <out | sed "s/\x1b\[K//g" | grep -Eq "$progress"'
slowly "$csan" report many.csan
check "csan report shows how far it is" grep -Eq 'csan report: \[#+ *\] +[0-9]+%' out
slowly "$csan" info --statistics many.csan
check "csan info shows how far it is" grep -Eq 'csan info: [0-9]+%' out
kernels=$root/tests/programs/plain/event_query_orders # it has several
slowly "$csan" kernels "$kernels"
check "csan kernels shows how far it is" grep -Eq 'csan kernels: kernel [0-9]+, ' out
slowly "$csan" merge --json=merged.json many.csan other.csan one.csan one.csan
check "csan merge shows how far it is" grep -q 'csan merge: file [0-9]* of 4, ' out
slowly "$csan" merge --order many.csan other.csan
check "csan merge --order shows how far it is" grep -Eq 'csan merge: ' out
for what in "replay many.csan" "report many.csan" "info many.csan" "kernels $kernels" "merge --json=merged.json many.csan other.csan one.csan"; do
    run env LD_PRELOAD="$PWD/fast_clock.so" "$csan" $what
    check "csan ${what%% *} shows nothing of that where there is no terminal" eval '! grep -Eq "csan [a-z]+: (\[#|[0-9]+%|kernel [0-9]|file [0-9])" err'
done
