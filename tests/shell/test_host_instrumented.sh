# Option host=instrumented: code compiled with -fsanitize=thread and linked with -lcsan_host announces
# its loads and stores. Programs of the guard's tests find the same; atomic operations do what C says;
# gcc, clang and gfortran speak the same interface.
tree=$(realpath "$(dirname "$test")/../..")
library=$cuda_lib
lib=$root/lib
case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): the sanitizers have their own library for instrumented code"
    return 0
    ;;
esac

# instrumented NAME: a program of tests/integration, announced. The host's compiler compiles those that have
# no device code of their own, as in the build (scripts/host-programs), but for a pair that nvcc compiles
# as a user does it.
host_programs=" $("$tree/scripts/host-programs" "$tree/tests/integration" | grep -v '^host_pinned_write' | tr '\n' ' ')"
instrumented()
{
    local flags=(-g -w -I"$tree/include" -I"$tree/tests/integration")
    if [[ $host_programs == *" $1 "* ]]; then
        g++ -x c++ -std=c++14 -fsanitize=thread "${flags[@]}" -isystem "$cuda/include" \
            -c "$tree/tests/integration/$1.cu" -o "$1.o" &&
            g++ "$1.o" "$program_kernels" -o "$1" -L"$lib" -lcsan_host -Wl,-rpath="$lib" \
                -L"$library" -lcudart -lpthread
    else
        "$nvcc" -Xcompiler -fsanitize=thread "${flags[@]}" -c "$tree/tests/integration/$1.cu" -o "$1.o" &&
            "$nvcc" -cudart shared "$1.o" -o "$1" -L"$lib" -lcsan_host -Xlinker -rpath="$lib"
    fi
}
# finds NAME: its race, at the line that says so
finds()
{
    local line
    line=$(grep -n 'at: access' "$tree/tests/integration/$1.cu" | cut -d: -f1)
    instrumented "$1" && run "$root/bin/csan" run --device=embedded --options=host=instrumented "./$1"
    [ "$status" = 66 ] && grep -q "$1.cu:$line" err && grep -q "^CSAN: data race: the host's" err
}
silent()
{
    instrumented "$1" && run "$root/bin/csan" run --device=embedded --options=host=instrumented "./$1"
    [ "$status" = 0 ] && ! grep -q '^CSAN:' err
}
for name in host_pinned_write host_pinned_read host_mapped_read host_registered_read host_managed_read host_managed_write \
    host_managed_add host_thread_read host_signal_read host_vector_read host_sort host_page_shared_race host_memcpy_from host_memset_to; do
    check "$name is found" finds $name
done
for name in host_pinned_write_ordered host_pinned_read_ordered host_mapped_read_ordered host_registered_read_ordered \
    host_managed_read_ordered host_managed_write_ordered host_managed_add_ordered host_thread_read_ordered \
    host_signal_read_ordered host_vector_read_ordered host_sort_ordered host_page_shared host_memcpy_from_ordered \
    host_memset_to_ordered host_call_read_ordered host_call_write_ordered host_call_fread_ordered host_call_nothing_read \
    host_call_refused host_polls host_strings_beside; do
    check "$name is silent" silent $name
done
# Functions of the C library that read and write buffers, as the program itself expects them of the guard.
expected()
{
    local expectation
    instrumented "$1" && run "$root/bin/csan" run --device=embedded --options=host=instrumented "./$1"
    [ "$status" = 66 ] || return
    while read -r expectation; do
        grep -Eq -- "$expectation" err || { echo "$1 lacks $expectation"; return 1; }
    done < <(sed -n 's,^// expect: ,,p' "$tree/tests/integration/$1.cu" | sed 's/{[a-z]*}/[0-9]+/')
}
for name in host_call_read host_call_write host_call_fread host_call_kinds host_call_messages host_call_direct host_io_uring host_strings host_memcmp; do
    if [ ! -e "$plain/$name" ] && grep -q "^program.* $name[ :]" "$tree/tests/aarch64_skipped" && [ "$processor" = aarch64 ]; then
        echo "skipped $name: tests/aarch64_skipped says why"
        continue
    fi
    check "$name is found" expected $name
done
check "memcmp and its kind: all bytes, at once" eval '[ "$(grep -c "Overlap: 64 bytes, 32 to 95" err)" = 6 ]'
# A function that runs behind the copy's call, as a lazy device has it, in front of it by its stream.
CSAN_SCHEDULE=lazy check "a host function that fills a pageable source is found" finds host_function_fills
CSAN_SCHEDULE=lazy check "one that fills a pinned source is silent" silent host_function_fills_pinned
check "the overlap is the access" eval 'finds host_vector_read && grep -q "Overlap: 16 bytes, 256 to 271" err'
check "without instrumented code it says so" eval '
    "$nvcc" -w -g -I"$tree/include" -I"$tree/tests/integration" -cudart shared "$tree/tests/integration/host_page_shared.cu" -o plain &&
    run "$root/bin/csan" run --device=embedded --options=host=instrumented ./plain && grep -q "lcsan_host" err'

# ---- How it is linked: loads and stores are in the program's own code, so that each is a call and no jump besides

cat >library.c <<'EOF'
void fill(int *host) { host[3] = 7; } /* at: library */
EOF
cat >linked.cu <<'EOF'
#include <cuda_runtime.h>
extern "C" void fill(int *host);
int main(int count, char **)
{
    int *host, *device;
    cudaStream_t stream;
    cudaMallocHost(&host, 4096);
    cudaMalloc(&device, 4096);
    cudaStreamCreate(&stream);
    cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream);
    if (count > 1)
        cudaStreamSynchronize(stream);
    fill(host);
    cudaStreamSynchronize(stream);
}
EOF
# linked LINKER FLAGS: the library is linked with FLAGS
linked()
{
    gcc -g -fPIC -fsanitize=thread -c library.c && gcc -shared library.o -o libfill.so "${@:2}" &&
        "$nvcc" -g -Xcompiler -fsanitize=thread -c linked.cu -o linked.o &&
        g++ "-fuse-ld=$1" linked.o -o linked -L. -lfill -L"$lib" -lcsan_host -L"$library" -lcudart -Wl,-rpath="$lib:." || return
    run "$root/bin/csan" run --device=embedded --options=host=instrumented ./linked
    [ "$status" = 66 ] && grep -q "^CSAN: data race: the host.s store (.*library.c:1)" err || return
    run "$root/bin/csan" run --device=embedded --options=host=instrumented ./linked ordered
    [ "$status" = 0 ] && ! grep -q '^CSAN:' err
}
for linker in bfd gold lld; do
    if ! command -v "ld.$linker" >/dev/null || { [ $linker = lld ] && ! for_programs ld.lld; }; then
        echo "# $(basename "$test" .sh): no $linker here"
        continue
    fi
    check "a library that is linked with it ($linker)" linked $linker -L"$lib" -lcsan_host
    check "its calls are its own" eval 'nm libfill.so | grep -q " [tT] __tsan_write4$"'
    check "a library that is not linked with it uses the program's ($linker)" eval 'linked $linker && nm linked | grep -q " T __tsan_write4$"'
done

# ---- Atomic operations
cat >atomic.c <<'EOF'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
enum { THREADS = 4, TURNS = 20000 };
#define EACH(each) each(8, unsigned char) each(16, unsigned short) each(32, unsigned) each(64, unsigned long) each(128, unsigned __int128)
#define COUNTER(bits, type) static _Atomic type counter##bits;
EACH(COUNTER)
static void *work(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
#define ADD(bits, type) atomic_fetch_add(&counter##bits, 3); atomic_fetch_sub_explicit(&counter##bits, 1, memory_order_relaxed);
        EACH(ADD)
    }
    return unused;
}
int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
#define CHECK(bits, type)                                                                          \
    if (atomic_load(&counter##bits) != (type)((type)2 * THREADS * TURNS)) return bits;             \
    atomic_store(&counter##bits, 12);                                                              \
    if (atomic_fetch_and(&counter##bits, 10) != 12 || atomic_fetch_or(&counter##bits, 3) != 8 ||   \
        atomic_fetch_xor(&counter##bits, 1) != 11 || atomic_exchange(&counter##bits, 5) != 10)     \
        return bits + 1;                                                                           \
    { type expected = 4;                                                                           \
      if (atomic_compare_exchange_strong(&counter##bits, &expected, 9) || expected != 5 ||         \
          !atomic_compare_exchange_strong(&counter##bits, &expected, 9) || atomic_load(&counter##bits) != 9) \
          return bits + 2; }
    EACH(CHECK)
    atomic_thread_fence(memory_order_seq_cst);
    char from[64], to[64];
    memset(from, 7, sizeof from);
    memcpy(to, from, sizeof to);
    puts(to[63] == 7 ? "right" : "wrong");
    return 0;
}
EOF
wide= # what 16 bytes at once need
[ "$processor" != x86_64 ] || wide=-mcx16
# compiled COMPILER FLAGS: prints "right"
compiled()
{
    "$@" -g -O1 $wide -fsanitize=thread -c atomic.c -o atomic.o && gcc atomic.o -o atomic -L"$lib" -lcsan_host -lpthread -Wl,-rpath,"$lib" &&
        run ./atomic && [ "$status" = 0 ] && grep -q '^right$' out
}
check "gcc's atomic operations do what they are to" compiled gcc
if for_programs clang; then
    check "clang's, too" compiled clang
else
    echo "# $(basename "$test" .sh): no clang here"
fi

# ---- What the standard library does in headers: atomic operations, which show an order without any call

cat >handover.cu <<'EOF'
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateHappensBefore(const char *, int, const volatile void *);
extern "C" void AnnotateHappensAfter(const char *, int, const volatile void *);
static int *memory;
static int pinned; // the memory is the host's
static volatile int given; // orders nothing that csan sees
static void work(bool waits)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (pinned && !waits) {
        memory[3]++;
        return;
    }
    cudaMemsetAsync(memory, 1, 4096, stream);
    if (waits)
        cudaStreamSynchronize(stream);
}
template <typename Give, typename Get> static void hand_over(bool early, Give give, Get get)
{
    std::thread first([&] {
        if (!early)
            work(true);
        give();
        if (early)
            work(true);
        given = 1;
    });
    std::thread second([&] {
        while (!given)
            usleep(1000);
        get();
        work(false);
    });
    first.join();
    second.join();
}
int main(int count, char **arguments)
{
    const char *how = arguments[1];
    const bool early = count > 2 && !strcmp(arguments[2], "early");
    pinned = count > 3;
    static char key;
    void *const fiber = __tsan_create_fiber(0);
    std::promise<void> promise;
    std::latch latch(2);
    std::counting_semaphore<4> semaphore(0);
    std::barrier barrier(2);
    std::atomic<int> value{0};
    std::mutex mutex;
    std::shared_mutex shared;
    std::condition_variable_any any;
    bool ready = false;
    if (pinned)
        cudaMallocHost((void **)&memory, 4096);
    else
        cudaMalloc((void **)&memory, 4096);
    if (!strcmp(how, "promise"))
        hand_over(early, [&] { promise.set_value(); }, [&] { promise.get_future().get(); });
    else if (!strcmp(how, "latch"))
        hand_over(early, [&] { latch.count_down(); }, [&] { latch.arrive_and_wait(); });
    else if (!strcmp(how, "semaphore"))
        hand_over(early, [&] { semaphore.release(); }, [&] { semaphore.acquire(); });
    else if (!strcmp(how, "barrier"))
        hand_over(early, [&] { (void)barrier.arrive(); }, [&] { barrier.arrive_and_wait(); });
    else if (!strcmp(how, "atomic"))
        hand_over(early, [&] { value = 1; value.notify_one(); }, [&] { value.wait(0); });
    else if (!strcmp(how, "spin"))
        hand_over(early, [&] { value = 1; }, [&] { while (!value) ; });
    else if (!strcmp(how, "tsan_release"))
        hand_over(early, [&] { __tsan_release(&key); }, [&] { __tsan_acquire(&key); });
    else if (!strcmp(how, "tsan_mutex"))
        hand_over(early, [&] { __tsan_mutex_pre_unlock(&key, 0); __tsan_mutex_post_unlock(&key, 0); },
            [&] { __tsan_mutex_pre_lock(&key, 0); __tsan_mutex_post_lock(&key, 0, 0); });
    else if (!strcmp(how, "annotation"))
        hand_over(early, [&] { AnnotateHappensBefore(__FILE__, __LINE__, &key); }, [&] { AnnotateHappensAfter(__FILE__, __LINE__, &key); });
    else if (!strcmp(how, "fiber")) // the first thread leaves it, the second goes on with it
        hand_over(early, [&] { __tsan_switch_to_fiber(fiber, 0); __tsan_switch_to_fiber(__tsan_create_fiber(0), 0); },
            [&] { __tsan_switch_to_fiber(fiber, 0); });
    else if (!strcmp(how, "shared"))
        hand_over(early, [&] { shared.lock(); shared.unlock(); }, [&] { shared.lock_shared(); shared.unlock_shared(); });
    else
        hand_over(early, [&] { { std::lock_guard<std::mutex> held(mutex); ready = true; } any.notify_one(); },
            [&] { std::unique_lock<std::mutex> held(mutex); any.wait(held, [&] { return ready; }); });
    cudaDeviceSynchronize();
    puts("done");
}
EOF
handover() { run env LD_LIBRARY_PATH="$library" "$root/bin/csan" run --device=embedded --options=host_order=threads:"$host" ./handover "$@"; }
handed() # WHAT: in order, and too early
{
    local host
    for host in host=instrumented host=guard; do
        handover "$1"
        [ "$status" = 0 ] && grep -qx done out && ! grep -q '^CSAN:' err || return
        handover "$1" early
        [ "$status" = 66 ] && grep -q '^CSAN: data race: cudaMemsetAsync' err || return
        [ "$host" = host=instrumented ] || continue
        handover "$1" late pinned
        [ "$status" = 0 ] && grep -qx done out && ! grep -q '^CSAN:' err || return
        handover "$1" early pinned
        [ "$status" = 66 ] && grep -Eq "^CSAN: data race: (the host's|cudaMemsetAsync)" err || return
    done
}
if g++ -x c++ -std=c++20 -g -fsanitize=thread -w -isystem "$cuda/include" -c handover.cu -o handover.o 2>handover.log; then
    check "objects of the standard library: the program" eval 'g++ handover.o -o handover -L"$lib" -lcsan_host -Wl,-rpath="$lib" -L"$library" -lcudart -lpthread'
    for what in promise latch semaphore barrier atomic spin shared any tsan_release tsan_mutex annotation fiber; do
        check "$what orders threads, by any option host" handed $what
    done
else
    echo "# $(basename "$test" .sh): this compiler has no C++20: $(head -1 handover.log)"
fi

# ---- What the interface has beside plain loads and stores

cat >kinds.cu <<'EOF'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <new>
struct shape {
    int side;
    explicit shape(int side) : side(side) {}
    virtual int area() { return side * side; }
    virtual ~shape() {}
};
struct block {
    int values[64];
};
struct __attribute__((packed)) odd {
    char first;
    long value;
};
template <typename T> static void hide(T *&p) { asm volatile("" : "+r"(p)); }
int main(int, char **arguments)
{
    const char *how = arguments[1];
    char *host, *device;
    block other = {};
    cudaStream_t stream;
    cudaMallocHost((void **)&host, 65536);
    cudaMalloc((void **)&device, 65536);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    shape *made = new (host) shape(3);
    hide(made);
    const bool store = !strncmp(how, "store", 5);
    cudaMemcpyAsync(store ? device : host + 64, store ? host : device, store ? 65536 : 4096,
                    store ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream);
    if (!strcmp(how, "right"))
        cudaStreamSynchronize(stream);
    odd *unaligned = (odd *)(host + 4093 - offsetof(odd, value));
    hide(unaligned);
    block *blocks = (block *)(host + 1024);
    hide(blocks);
    long sum = 0;
    if (!strcmp(how, "unaligned") || !strcmp(how, "right"))
        sum += unaligned->value; // at: unaligned
    if (!strcmp(how, "struct") || !strcmp(how, "right"))
        other = *blocks; // at: struct
    if (!strcmp(how, "store struct") || !strcmp(how, "right"))
        *blocks = other; // at: store struct
    if (!strcmp(how, "store vptr") || !strcmp(how, "right"))
        made->~shape(), sum += (new (host) shape(4))->side; // at: store vptr
    if (!strcmp(how, "move") || !strcmp(how, "right"))
        memmove(&other, host + 100, sum + 200); // at: move
    cudaStreamSynchronize(stream);
    puts(sum + other.values[1] == 12345 ? "" : "done");
}
EOF
kinds() { run "$root/bin/csan" run --device=embedded --options=host=instrumented ./kinds "$@"; }
check "its compiler's other announcements: the program" eval '"$nvcc" -g -O1 -w -Xcompiler -fsanitize=thread -c kinds.cu &&
    "$nvcc" -cudart shared kinds.o -o kinds -L"$lib" -lcsan_host -Xlinker -rpath="$lib"'
for kind in unaligned struct "store struct" "store vptr" move; do
    line=$(grep -n "// at: $kind\$" kinds.cu | cut -d: -f1)
    kinds "$kind"
    check "$kind is found" eval '[ "$status" = 66 ] && grep -q "kinds.cu:$line" err && grep -q "^CSAN: data race: the host.s" err'
done
kinds unaligned
check "all bytes of an unaligned load" grep -q "Overlap: 8 bytes, 4093 to 4100 " err
kinds right
check "none of them is one behind a wait" eval '[ "$status" = 0 ] && grep -qx done out && ! grep -q "^CSAN:" err'

# ---- Fortran

fortran_compiled()
{
    gfortran -g -fsanitize=thread -c "$tree/tests/shell/host_early.f90" -o early_f.o &&
        gfortran early_f.o -o early_f -L"$library" -lcudart -L"$lib" -lcsan_host -Wl,-rpath,"$lib"
}
fortran() { run env LD_LIBRARY_PATH="$library" "$root/bin/csan" run --device=embedded --options=host=instrumented ./early_f "$@"; }
if for_programs gfortran; then
    line=$(grep -n '! too early' "$tree/tests/shell/host_early.f90" | cut -d: -f1)
    check "gfortran's code is linked with it" fortran_compiled
    fortran
    check "a program in Fortran: the store that comes too early is found" eval \
        '[ "$status" = 66 ] && grep -q "^CSAN: data race: the host.s store (.*host_early.f90:$line)" err'
    fortran right
    check "the same program that waits is silent" eval '[ "$status" = 0 ] && grep -qx done out && ! grep -q "^CSAN:" err'
else
    echo "# $(basename "$test" .sh): no gfortran here"
fi

# ---- Rust: its compiler has the same interface behind a flag of its own

rust_compiled()
{
    RUSTC_BOOTSTRAP=1 rustc -g -Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer "$tree/tests/shell/host_early.rs" \
        -o early -L "$library" -L "$lib" -lcsan_host -C link-arg=-Wl,-rpath,"$lib" >/dev/null 2>rust.log
}
rust() { run env LD_LIBRARY_PATH="$library" "$root/bin/csan" run --device=embedded --options=host=instrumented ./early "$@"; }
if ! for_programs rustc; then
    echo "# $(basename "$test" .sh): no Rust here"
elif ! rust_compiled; then
    echo "# $(basename "$test" .sh): this Rust has no -Zsanitizer=thread: $(head -1 rust.log)"
else
    line=$(grep -n '// too early' "$tree/tests/shell/host_early.rs" | cut -d: -f1)
    rust
    check "a program in Rust: the store that comes too early is found" eval \
        '[ "$status" = 66 ] && grep -q "^CSAN: data race: the host.s store (.*host_early.rs:$line)" err'
    rust right
    check "the same program that waits is silent" eval '[ "$status" = 0 ] && grep -qx done out && ! grep -q "^CSAN:" err'
fi
