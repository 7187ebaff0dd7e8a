# What the libraries export and need: they live in other people's processes.

exported() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }' | grep -v -e '^libcudart\.so' -e '^CSAN_RT$'; }
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
all_match() { ! exported "$1" | grep -Evq "$2"; }
# Before glibc 2.34 the C library had files of their own for threads and dlopen. Or each other:
only_c_library() { ! needed "$1" | grep -Evq "^(lib(c|m)\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-(x86-64\.so\.2|aarch64\.so\.1)|libcsan\.so\.0)\$"; }
libcsan=$root/lib/libcsan.so.0
libcsan_rt=$root/lib/libcsan_rt.so.0

unversioned() { ! nm -D --defined-only "$1" | grep -v -e @ -e ' A ' | awk '{ print $3 }' | grep -Evq "$2"; }
# What the page guard stands in front of: signals, calls through which the kernel accesses memory, mappings.
guarded='sigaction|(bsd_|s|(__)?sysv_)?signal|pthread_(sigmask|attr_setsigmask_np)|sigprocmask|sigsuspend|ppoll|pselect|epoll_pwait|syscall|ioctl'
guarded+='|(p?(read|write)|p(read|write)v)(64)?|readv|writev|p(read|write)v(64v)?2|process_vm_(read|write)v|vmsplice|getrandom|getentropy'
guarded+='|(fread|fwrite)(_unlocked)?|fgets|setv?buf(fer)?|recv(from|m?msg)?|send(to|m?msg)?|__(p?read(64)?|recv(from)?|fread(_unlocked)?|fgets)_chk'
guarded+='|f?puts|(v?(f|s|sn)?printf)|__(v?(f|s|sn)?printf)_chk'
guarded+='|aio_(read|write)(64)?|lio_listio(64)?|io_submit|io_uring_(setup|enter|submit[a-z_]*|register(_buffers[a-z_]*)?)'
# And those whose arguments it looks at.
guarded+='|'$(grep -ohE '(NUMBER|POINTER|ERROR|LOSING|WAITS)\([a-z0-9_]+[,)]' "$(dirname "$test")"/../../runtime/hook/host/host_{arguments,waits}.def | tr '(),' '   ' | awk '{ print $2 }' | paste -sd'|')
guarded+='|mmap(64)?|munmap|mremap|(pkey_)?mprotect|madvise|mlock2?'
# And functions for strings, and those that begin a parallel region of OpenMP's.
host=$(dirname "$test")/../../runtime/hook/host
guarded+='|'$(grep -ohE 'call\([a-z_0-9]+\)' "$host/host_strings.c" | tr '()' '  ' | awk '{ print $2 }' | paste -sd'|')
guarded+='|'$(sed -n 's/^REGION(\(.*\))$/\1/p' "$host/host_parallel.def" | paste -sd'|')
check "libcsan exports csan_*, cu* and what it stands in front of only, without versions" unversioned "$libcsan" \
    '^(csan_[a-z_]+|'"$guarded"'|cu[A-Z][A-Za-z0-9_]*|dlsym|getenv|InitializeInjectionNvtx(2|Extension)|pthread_create|_exit|_Exit|quick_exit|abort|f?execve|execv|execvpe?|execl[pe]?|execveat|posix_spawnp?|v?fork)$'
# A linker uses default versions (@@): a program would no longer need the library itself.
no_default_version() { ! nm -D --defined-only "$1" | grep -q '@@'; }
libraries_only() { ! nm -D --defined-only "$1" | awk '$3 ~ /@/ { print $3 }' | grep -Evq '^(cublas[A-Za-z0-9_]+@libcublas(Lt)?\.so\.[0-9]+|cusolver[A-Za-z0-9]+@libcusolver\.so\.[0-9]+|curand[A-Za-z]+@libcurand\.so\.10|cusparse[A-Za-z0-9_]+@libcusparse\.so\.12|cufft[A-Za-z0-9]+@libcufft\.so\.[0-9]+|nvrtc[A-Za-z]+@libnvrtc\.so\.[0-9]+|(__)?nvJitLink[A-Za-z0-9_]+@libnvJitLink\.so\.[0-9]+|nccl[A-Za-z]+@CSAN_UNVERSIONED)$'; }
check "libcsan exports no function that a linker would bind instead of a library's" no_default_version "$libcsan"
check "libcsan exports functions of libraries under those libraries' versions" libraries_only "$libcsan"
check "libcsan_rt exports cuda* and __cuda* only" all_match "$libcsan_rt" '^(cuda[A-Z][A-Za-z0-9_]*|__cuda[A-Z][A-Za-z0-9_]*)$'

case $root in
*san) ;; # a sanitizer's run-time is a dependency of its own
*)
    check "libcsan needs the C library only" only_c_library "$libcsan"
    check "libcsan_rt needs the C library only" only_c_library "$libcsan_rt"
    ;;
esac

# Every function of the toolkit's runtime library has its trampoline: under that library's version, for
# programs linked with it, and under csan's own, which a linker takes for programs linked with -lcsan.
all_forwarded()
{
    comm -23 <(exported "$1" | sort -u) <(nm -D --defined-only "$libcsan_rt" | sed -n "s/.* \(.*\)$2\$/\1/p" | sort -u) >missing
    [ ! -s missing ] || { cat missing; return 1; }
}
cudart=$root/lib/csan/libcudart.so.13
[ -e "$cudart" ] && check "libcsan_rt forwards the whole runtime API of CUDA 13" all_forwarded "$cudart" @libcudart.so.13
[ -e "$cudart" ] && check "libcsan_rt offers it to programs linked with -lcsan" all_forwarded "$cudart" @@CSAN_RT
versioned() { ! nm -D --defined-only "$1" | awk '$2 == "T"' | grep -Evq '(@libcudart\.so\.1[23]|@@CSAN_RT)$'; }
check "libcsan_rt's functions carry a version each" versioned "$libcsan_rt"

# The unit tests link every archive: a name defined in two of them would be taken from either.
no_name_twice()
{
    for archive in "$root"/lib{csan_core,access,device,ptx}.a; do
        nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
    done | sort | uniq -d >twice
    [ ! -s twice ] || { cat twice; return 1; }
}
[ -e "$root/libcsan_core.a" ] && check "no name is defined in two archives" no_name_twice

# What takes the place of ThreadSanitizer's library.
libcsan_host=$root/lib/libcsan_host.so.0
check "libcsan_host exports __tsan_*, its annotations, csan_host_* and memcpy's kind only" all_match "$libcsan_host" '^(__tsan_[a-z0-9_]+|Annotate[A-Za-z]+|RunningOnValgrind|ValgrindSlowdown|csan_host_(activate|access|range|written|touched)|mem(p?cpy|move|set|cmp)|__memcmpeq|b(cmp|copy|zero)|__mem(p?cpy|move|set)_chk)$'
