# Option host=guard beside others who handle SIGSEGV: crash handlers, Python's faulthandler, AddressSanitizer,
# handlers set past the C library; and where the guard must stay off, or has a limit.
tree=$(realpath "$(dirname "$test")/../..")
csan=$root/bin/csan
guarded() { run "$csan" run --device=embedded --options=host=guard"$extra" "$@"; }
extra=
ended() { [ "$status" = "$1" ]; }
says() { grep -Eq -- "$1" err; }
line_of() { grep -n "// at: $1\$" guard.cu | cut -d: -f1; }

cat >guard.cu <<'END'
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef LIKE_GO
__asm__(".pushsection .note.go.buildid, \"a\", @note\n.long 4, 4, 4\n.ascii \"Go\\0\\0\"\n.long 1\n.popsection");
#endif

enum { BYTES = 65536 };
static int *host;
static volatile int sink;

static void on_crash(int number)
{
    sink = host[2]; // at: crash
    puts("handled");
    fflush(stdout);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_nested(int)
{
    if (write(1, "nested\n", 7) == 7)
        *(volatile int *)16 = 1;
}

static void on_own(int) { _exit(5); }

// As the kernel has it.
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
};

static void past_the_library()
{
    kernel_action old, action;
    syscall(SYS_rt_sigaction, SIGSEGV, nullptr, &old, 8);
    action = old;
    action.handler = on_own;
    syscall(SYS_rt_sigaction, SIGSEGV, &action, nullptr, 8);
}

int main(int, char **arguments)
{
    const char *how = arguments[1];
    int *device;
    cudaStream_t stream;
    cudaMallocHost((void **)&host, BYTES);
    cudaMalloc((void **)&device, BYTES);
    cudaMemset(device, 0, BYTES);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!strcmp(how, "past"))
        past_the_library();
    for (int i = 0; i < 40; i++)
        cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream);
    if (!strcmp(how, "crash"))
        signal(SIGSEGV, on_crash);
    if (!strcmp(how, "nested"))
        signal(SIGSEGV, on_nested);
    if (!strcmp(how, "crash") || !strcmp(how, "nested") || !strcmp(how, "null"))
        *(volatile int *)16 = 1;
    sink = host[1]; // at: access
    cudaStreamSynchronize(stream);
#ifdef OVERFLOW
    volatile char *small = (char *)malloc(7);
    if (!strcmp(how, "overflow"))
        sink = small[7];
    free((void *)small);
#endif
    puts("done");
}
END
compiled() { "$nvcc" -w -g -cudart shared "${@:2}" guard.cu -o "$1"; }

compiled guard || echo "not ok test_host_guard: it cannot be compiled"
guarded ./guard access
check "the access is found" eval 'ended 66 && says "^CSAN: data race: the host.s load \(guard.cu:$(line_of access)\)"'
guarded sh -c './guard crash; echo "code $?"'
check "a crash handler runs, and the signal ends the process" eval 'ended 66 && grep -qx handled out && grep -qx "code 139" out'
check "what it reads too early is found" says "guard.cu:$(line_of crash)"
guarded ./guard nested
check "a handler that crashes itself ends the process" eval 'ended 139 && [ "$(grep -c nested out)" -lt 100 ]'
guarded ./guard null
check "without a handler the signal ends it, too" ended 139
guarded ./guard past
check "a handler past the C library: pages are guarded no more" eval 'ended 0 && grep -qx done out && says "no page is guarded since"'
extra=:host_guard_mb=1:host_guard_us=1000000 guarded ./guard access
check "no more memory is guarded than host_guard_mb says, and the rest is counted" eval \
    'says "host memory: 16 ops guarded \(0 of them in part\), 24 not guarded \(24 by the limits" && says "guard.cu:$(line_of access)"'
extra=:host_guard_us=1 guarded ./guard access
check "a limit that is reached is in the summary" says 'host memory: [0-9]+ ops guarded \(0 of them in part\), [1-9][0-9]* not guarded \([1-9][0-9]* by the limits'

run env CSAN_DEVICE_HOST_PAGES=1 "$csan" run --device=embedded --options=host=guard ./guard access
check "a GPU that uses the host's page tables: no page is guarded, and csan says so" eval \
    'ended 0 && grep -qx done out && says "uses the host.s page tables" && ! says "^CSAN:"'

compiled go -DLIKE_GO
guarded ./go access
check "a program with parts in Go: no page is guarded, and csan says so" eval 'ended 0 && says "written in Go" && ! says "^CSAN:"'

# ---- Launches that may be deferred

cat >word.cu <<'END'
#include <cuda_runtime.h>
// A library that shares a word with its kernels, as cuDNN does.
extern "C" int *shared_word()
{
    int *word;
    cudaMallocHost((void **)&word, 4096);
    return word;
}
END
cat >launches.cu <<'END'
#include <cuda_runtime.h>
#include <cstdio>
extern "C" int *shared_word();
__global__ void work(int *memory, int *word)
{
    if (memory[threadIdx.x] < 0)
        *word = 1;
}
int main()
{
    int *memory, *word = shared_word();
    cudaStream_t stream;
    cudaMalloc((void **)&memory, 4096);
    cudaMemset(memory, 0, 4096);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 3000; i++)
        work<<<1, 32, 0, stream>>>(memory, word);
    cudaDeviceSynchronize();
    puts("done");
}
END
# deferred LIBRARY: runs launches.cu whose word is of that library
deferred()
{
    "$nvcc" -w -shared -Xcompiler -fPIC -cudart shared word.cu -o "lib$1.so" &&
        "$nvcc" -w -cudart shared launches.cu -o "launches_$1" -L. -l"$1" -Xlinker -rpath='$ORIGIN' || return
    extra=:verbosity=1:trace=0 guarded "./launches_$1"
}
if [ "$(nproc)" -gt 1 ]; then
    deferred word
    check "a launch with a pointer to memory that the host shares is checked at its call" eval \
        'ended 0 && says " 0 launches and the like were checked beside the program"'
    deferred cudnn_word
    check "one whose word is of CUDA's own library need not be" eval \
        'ended 0 && says " [1-9][0-9]* launches and the like were checked beside the program"'
else
    echo "skipped deferred launches: this machine has one processor"
fi

# ---- Whose access it is: by the library's name, or NCCL's by its thread's

cat >touch.c <<'END'
#include <string.h>
#include <unistd.h>
int touch(const int *memory) { return *(const volatile int *)memory; }
void copy(void *to, const void *memory) { memcpy(to, memory, 4096); }
long give(int file, const char *memory) { return write(file, memory, 4096); }
long look(const char *memory) { return strlen(memory); }
END
cat >libraries.cu <<'END'
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
extern "C" int touch(const int *memory);
extern "C" void copy(void *to, const void *memory);
extern "C" long give(int file, const char *memory);
extern "C" long look(const char *memory);
static int *host;
static char to[4096];
static void *in_thread(void *name)
{
    pthread_setname_np(pthread_self(), (const char *)name);
    if (*(volatile int *)(host + 4096) < 0)
        puts("never");
    return nullptr;
}
int main(int, char **arguments)
{
    void *device;
    cudaStream_t stream;
    cudaMallocHost((void **)&host, 65536);
    cudaMalloc(&device, 65536);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemcpyAsync(device, host, 65536, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpyAsync(host, device, 65536, cudaMemcpyDeviceToHost, stream);
    if (!strcmp(arguments[1], "library")) {
        touch(host);
        copy(to, host + 2048);
        FILE *file = fopen("/dev/null", "w");
        if (give(fileno(file), (char *)(host + 4096)) != 4096 || look((char *)(host + 8192)))
            puts("wrong");
        fclose(file);
    } else {
        pthread_t thread;
        pthread_create(&thread, nullptr, in_thread, arguments[1]);
        pthread_join(thread, nullptr);
    }
    cudaStreamSynchronize(stream);
    puts("done");
}
END
# with_library NAME: the access within lib$NAME.so
with_library()
{
    gcc -O1 -g -shared -fPIC -fno-builtin touch.c -o "lib$1.so" && "$nvcc" -w -g -cudart shared libraries.cu -o "main_$1" -L. -l"$1" -Xlinker -rpath=. &&
        guarded "./main_$1" library && grep -qx done out
}
check "what the driver's and transports' libraries touch is their affair, and counted" eval \
    'for name in uct_copy ncclnet nvshmem_host; do with_library $name; ended 0 && says "4 accesses not checked" && ! grep -q wrong out && ! says "^CSAN:" || break; done'
check "what another library touches is the program's" eval 'with_library custom && ended 66 && says "^CSAN: .*the host.s load \(touch.c:3\)" && says "touch.c:4" &&
    says "write reading from memory at give touch.c:5" && says "strlen reading from memory at look touch.c:6"'
guarded ./main_custom "NCCL Progress 0"
check "NCCL's threads are known by their names" eval 'ended 0 && says "1 access not checked"'
guarded ./main_custom "worker 0"
check "others' are the program's" eval 'ended 66 && says "^CSAN: .*the host.s load \(libraries.cu"'

# ---- Commands for disks, and memory that a network adapter registers: what stands for the kernel is preloaded

cat >kernel.c <<'END'
#define _GNU_SOURCE
#include <linux/ioctl.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Whether the kernel may read it. */
static int may_read(const void *memory)
{
    int ends[2];
    long result;
    if (pipe(ends) != 0)
        return 0;
#ifdef __aarch64__
    register long number __asm__("x8") = SYS_write, file __asm__("x0") = ends[1], bytes __asm__("x2") = 16;
    register const void *from __asm__("x1") = memory;
    __asm__ volatile("svc 0" : "+r"(file) : "r"(number), "r"(from), "r"(bytes) : "memory");
    result = file;
#else
    __asm__ volatile("syscall" : "=a"(result) : "a"((long)SYS_write), "D"((long)ends[1]), "S"(memory), "d"(16L) : "rcx", "r11", "memory");
#endif
    return result == 16;
}
int ioctl(int file, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void **argument = va_arg(list, void **);
    va_end(list);
    if (request == SG_IO)
        return may_read(((struct sg_io_hdr *)argument)->dxferp) ? 0 : -1;
    if (request == NVME_IOCTL_IO_CMD)
        return may_read((void *)(unsigned long)((struct nvme_passthru_cmd *)argument)->addr) ? 0 : -1;
    if ((request >> 8 & 0xff) == 0x1b)
        return may_read(*argument) ? 0 : -1;
    return (int)syscall(SYS_ioctl, file, request, argument);
}
END
cat >disk.cu <<'END'
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <linux/nvme_ioctl.h>
#include <scsi/sg.h>
#include <sys/ioctl.h>
static char *host;
static void *device;
static cudaStream_t stream;
static void *result() // which a copy may still write
{
    cudaMemcpyAsync(host, device, 65536, cudaMemcpyDeviceToHost, stream);
    return host;
}
int main(int, char **arguments)
{
    cudaMallocHost((void **)&host, 65536);
    cudaMalloc(&device, 65536);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMemcpyAsync(device, host, 65536, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    int status = 1;
    if (!strcmp(arguments[1], "scsi")) {
        sg_io_hdr command = {};
        command.interface_id = 'S';
        command.dxfer_direction = SG_DXFER_TO_DEV;
        command.dxfer_len = 4096;
        command.dxferp = result();
        status = ioctl(0, SG_IO, &command); // at: scsi
    } else if (!strcmp(arguments[1], "nvme")) {
        nvme_passthru_cmd command = {};
        command.opcode = 1;
        command.data_len = 4096;
        command.addr = (unsigned long)result();
        status = ioctl(0, NVME_IOCTL_IO_CMD, &command); // at: nvme
    } else {
        void *memory = result();
        status = ioctl(0, _IOWR(0x1b, 1, int), &memory);
    }
    cudaStreamSynchronize(stream);
    printf("status %d\n", status);
}
END
disk()
{
    local line
    line=$(grep -n "// at: $1\$" disk.cu | cut -d: -f1)
    LD_PRELOAD=./libkernel.so guarded ./disk "$1"
    grep -qx "status 0" out && if [ "$line" ]; then says "^CSAN: data race: ioctl \(disk.cu:$line\) does not wait for"; else ended 0 && ! says "^CSAN:"; fi
}
case $root in
*san) ;; # whose run-time wants to be the first
*)
    check "commands for disks read and write the program's buffers" eval \
        'gcc -shared -fPIC kernel.c -o libkernel.so && "$nvcc" -w -g -cudart shared disk.cu -o disk && disk scsi && disk nvme'
    check "what a network adapter registers is open meanwhile, and no access" disk rdma
    ;;
esac

# ---- AddressSanitizer in the program

case $root in
*san) ;;
*)
    if [ "$processor" != "$(uname -m)" ]; then
        echo "# test_host_guard: an emulated program has no room for AddressSanitizer's shadow"
    elif compiled asan -DOVERFLOW -Xcompiler -fsanitize=address 2>/dev/null; then
        guarded ./asan access
        check "a program with AddressSanitizer: the access is found" says "^CSAN: data race: the host.s load \(guard.cu:$(line_of access)\)"
        guarded ./asan overflow
        check "what AddressSanitizer finds, it finds" says 'ERROR: AddressSanitizer: heap-buffer-overflow'
        guarded ./asan null
        check "and its handler of SIGSEGV is in its place" says 'ERROR: AddressSanitizer: SEGV'
    else
        echo "# test_host_guard: no AddressSanitizer for programs here"
    fi
    ;;
esac

# ---- A library between csan and the C library whose handlers block every signal, as ThreadSanitizer's do

cat >blocks.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    int (*next)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    struct sigaction blocks;
    if (!action)
        return next(number, NULL, before);
    blocks = *action;
    sigfillset(&blocks.sa_mask);
    return next(number, &blocks, before);
}
END
case $root in
*/asan | */tsan) ;; # the run-time that is preloaded is such a library, or has its own signal handlers
*)
    run gcc -shared -fPIC blocks.c -o libblocks.so -ldl
    for program in host_signal_read host_handler_within_step; do
        run env LD_PRELOAD="$scratch/libblocks.so" "$csan" run --device=embedded --options=host=guard "$plain/$program"
        check "handlers that a library makes block every signal: $program" eval 'ended 66 && says "^CSAN: data race"'
    done
    ;;
esac

# ---- A debugger, which keeps the traps of single steps for itself

case $root in
*/asan | */tsan) debugger="gdb that runs with a sanitizer's library" ;;
*) debugger=gdb ;;
esac
if for_programs "$debugger"; then
    debugged() { guarded gdb -q -batch -ex 'handle SIGSEGV nostop noprint pass' "$@"; }
    debugged -ex 'break main' -ex run -ex 'print 6 * 7' -ex continue --args "$plain/host_pinned_read"
    check "under gdb the access is found" eval 'says "^CSAN: data race" && grep -q " = 42" out && grep -q "exited normally" out'
    debugged -ex run --args "$plain/host_page_shared"
    check "and what lies beside an op's bytes is left alone" eval 'ended 0 && ! says "^CSAN" && grep -q "exited normally" out && ! grep -q SIGTRAP out'
    check "and counted" says "[1-9][0-9]* access(es)? not checked"
else
    echo "# test_host_guard: no $debugger here"
fi

# ---- Python's faulthandler

cat >fault.py <<'END'
import ctypes, faulthandler, sys

faulthandler.enable()
cuda = ctypes.CDLL("libcudart.so.13")
host, device, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cudaMallocHost(ctypes.byref(host), ctypes.c_size_t(65536))
cuda.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(65536))
cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1)
cuda.cudaMemcpyAsync(device, host, ctypes.c_size_t(65536), 1, stream)
values = (ctypes.c_int * 16384).from_address(host.value)
values[5] = 1  # too early
cuda.cudaStreamSynchronize(stream)
print("done", flush=True)
if "crash" in sys.argv:
    ctypes.string_at(16)
END
if command -v python3 >/dev/null; then
    guarded python3 fault.py
    check "with Python's faulthandler the line is found" eval \
        'ended 66 && grep -qx done out && says "^CSAN: data race: the host.s store \(fault.py:$(grep -n "# too early" fault.py | cut -d: -f1)\)"'
    guarded python3 fault.py crash
    check "and a crash is Python's" eval 'says "^Fatal Python error: Segmentation fault" && says "fault.py\", line 15 in"'
else
    echo "# test_host_guard: no Python here"
fi

# ---- A Java virtual machine: it has faults of its own, and its compiler makes the code that reads

cat >Early.java <<'END'
import java.nio.*;
public class Early {
    static native ByteBuffer pinned(int bytes);
    static native void copy(ByteBuffer to, int bytes);
    static native void synchronize();
    static long sum(IntBuffer buffer) {
        long sum = 0;
        for (int i = 0; i < buffer.capacity(); i++)
            sum += buffer.get(i);
        return sum;
    }
    public static void main(String[] arguments) {
        System.loadLibrary("early");
        ByteBuffer memory = pinned(65536).order(ByteOrder.nativeOrder());
        IntBuffer host = memory.asIntBuffer();
        long sum = 0;
        for (int i = 0; i < 2000; i++)
            sum += sum(host);
        copy(memory, 65536);
        if (arguments.length > 0)
            synchronize();
        sum += sum(host);
        synchronize();
        try {
            Object none = sum == 1 ? "" : null;
            none.hashCode();
        } catch (NullPointerException exception) {
            System.out.println("caught");
        }
        for (int i = 0; i < 40; i++) {
            copy(memory, 4096);
            byte[] garbage = new byte[1 << 20];
            sum += garbage.length;
            System.gc();
            synchronize();
        }
        System.out.println("done");
    }
}
END
cat >early.cu <<'END'
#include <cuda_runtime.h>
#include <jni.h>
static cudaStream_t stream;
static void *device;
extern "C" JNIEXPORT jobject JNICALL Java_Early_pinned(JNIEnv *java, jclass, jint bytes)
{
    void *host;
    cudaMallocHost(&host, bytes);
    cudaMalloc(&device, bytes);
    cudaMemset(device, 0, bytes);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return java->NewDirectByteBuffer(host, bytes);
}
extern "C" JNIEXPORT void JNICALL Java_Early_copy(JNIEnv *java, jclass, jobject to, jint bytes)
{
    cudaMemcpyAsync(java->GetDirectBufferAddress(to), device, bytes, cudaMemcpyDeviceToHost, stream); // at: copy
}
extern "C" JNIEXPORT void JNICALL Java_Early_synchronize(JNIEnv *, jclass) { cudaStreamSynchronize(stream); }
END
java_home=$(readlink -f "$(command -v javac)" 2>/dev/null) java_home=${java_home%/bin/javac}
case $root in
*san) ;;
*)
    if for_programs java && [ -f "$java_home/include/jni.h" ]; then
        check "a library for Java is compiled" eval 'javac Early.java && "$nvcc" -g -shared -Xcompiler -fPIC -cudart shared \
            -I"$java_home/include" -I"$java_home/include/linux" early.cu -o libearly.so'
        guarded java -Djava.library.path=. Early
        check "what Java reads too early is found" eval 'ended 66 && grep -qx caught out && grep -qx done out &&
            says "^CSAN: data race: the host.s load .* does not wait for cudaMemcpyAsync \(early.cu:$(grep -n "// at: copy" early.cu | cut -d: -f1)\)"'
        guarded java -Djava.library.path=. Early right
        check "what waits is silent, and the machine's own faults are its own" eval \
            'ended 0 && grep -qx caught out && grep -qx done out && ! says "^CSAN:"'
    else
        echo "# test_host_guard: no Java here"
    fi
    ;;
esac

# ---- Constructors that call a function of the C library before csan's have run

cat >later.c <<'EOF'
#include <stdlib.h>
__attribute__((visibility("default"))) long __isoc23_strtol(const char *text, char **end, int base);
long __isoc23_strtol(const char *text, char **end, int base) { return (strtol)(text, end, base); }
EOF
cat >first.c <<'EOF'
#include <string.h>
long __isoc23_strtol(const char *text, char **end, int base);
long first_number;
__attribute__((constructor)) static void first(void)
{
    volatile const char *text = "42";
    first_number = __isoc23_strtol((const char *)text, 0, 10) + (long)strlen((const char *)text);
}
EOF
cat >early.c <<'EOF'
#include <stdio.h>
extern long first_number;
int main(void) { return printf("%ld\n", first_number) < 0; }
EOF
check "libraries with a constructor are built" eval 'gcc -fno-builtin -shared -fPIC later.c -o liblater.so &&
    gcc -fno-builtin -shared -fPIC first.c -o libfirst.so -L. -llater -Wl,-rpath,"$PWD" &&
    gcc early.c -o early -L. -lfirst -llater -Wl,-rpath,"$PWD"'
guarded ./early
check "... which calls functions that the C library has since 2.38" eval 'ended 0 && grep -qx 44 out'
