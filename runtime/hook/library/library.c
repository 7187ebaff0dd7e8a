/* The entry from the stubs of libraries' functions, and the addresses of the real functions. See
 * library.h. */
#include "runtime/hook/library/library.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/interpose/detour_aarch64.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/library/collective.h"
#include "runtime/hook/library/touch.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/observe/trace.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct library_table library_table;

/* A call runs on this thread: those that it makes are part of it. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* ---- Where the functions are ---- */

/* What a function returns that is nowhere: an error of any of the libraries. */
static int function_absent(void)
{
    return 3; /* CUBLAS_STATUS_ALLOC_FAILED, CUFFT_INVALID_TYPE, ncclInternalError */
}

static void *look_up(void *handle, const struct library_home *home, const char *symbol)
{
    return home->versioned ? dlvsym(handle, symbol, home->name) : driver_dlsym(handle, symbol);
}

/* The object that holds the address, or NULL. */
static struct link_map *object_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Opened like this a library stays in the process as long as csan may jump to it. */
static void *open_again(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
}

/* In the library of that name; else where the caller would have found it without csan. */
static void *function_find(const struct library_home *home, const char *symbol, const void *caller)
{
    void *handle = open_again(home->name), *found = NULL;
    if (handle)
        found = look_up(handle, home, symbol);
    if (!found)
        found = look_up(RTLD_NEXT, home, symbol);
    struct link_map *map = found ? NULL : object_of(caller);
    if (map && (handle = open_again(*map->l_name ? map->l_name : NULL)))
        found = look_up(handle, home, symbol);
    if (!found && (handle = dlopen(home->name, RTLD_NOW | RTLD_LOCAL)))
        found = look_up(handle, home, symbol);
    return found;
}

/* Where the entry goes on, for a call from there. */
static void *entry_real(struct library_entry *entry, const void *caller)
{
    void *real = __atomic_load_n(&entry->real, __ATOMIC_ACQUIRE);
    if (real != entry->thunk)
        return real;
    real = function_find(entry->home, entry->function->symbol, caller);
    if (!real) {
        fprintf(stderr, "csan: %s was called, but %s has no such function; the call fails\n",
                entry->function->symbol, entry->home->name);
        real = (void *)function_absent;
    }
    __atomic_store_n(&entry->real, real, __ATOMIC_RELEASE);
    return real;
}

void *library_ask(struct library_home *home, enum library_question question)
{
    static const char *const symbols[LIBRARY_QUESTIONS] = {
        [LIBRARY_POINTER_MODE] = "cublasGetPointerMode_v2",
        [LIBRARY_LT_LAYOUT] = "cublasLtMatrixLayoutGetAttribute",
        [LIBRARY_LT_PRODUCT] = "cublasLtMatmulDescGetAttribute",
        [LIBRARY_WORK_BYTES] = "cufftGetSize",
        [LIBRARY_SPARSE_POINTER_MODE] = "cusparseGetPointerMode",
        [LIBRARY_SPARSE_FORMAT] = "cusparseSpMatGetFormat",
        [LIBRARY_SPARSE_BATCHES] = "cusparseSpMatGetStridedBatch",
        [LIBRARY_SPARSE_CSR] = "cusparseConstCsrGet",
        [LIBRARY_SPARSE_CSC] = "cusparseConstCscGet",
        [LIBRARY_SPARSE_COO] = "cusparseConstCooGet",
        [LIBRARY_DENSE_VECTOR] = "cusparseConstDnVecGet",
        [LIBRARY_DENSE_MATRIX] = "cusparseConstDnMatGet",
        [LIBRARY_DENSE_BATCHES] = "cusparseDnMatGetStridedBatch",
        [LIBRARY_SPMV_BYTES] = "cusparseSpMV_bufferSize",
        [LIBRARY_SPMM_BYTES] = "cusparseSpMM_bufferSize",
        [LIBRARY_CSR2CSC_BYTES] = "cusparseCsr2cscEx2_bufferSize",
        [LIBRARY_TO_SPARSE_BYTES] = "cusparseDenseToSparse_bufferSize",
        [LIBRARY_TO_DENSE_BYTES] = "cusparseSparseToDense_bufferSize",
        [LIBRARY_RANK] = "ncclCommUserRank",
        [LIBRARY_RANKS] = "ncclCommCount",
        [LIBRARY_DEVICE] = "ncclCommCuDevice",
        [LIBRARY_WINDOW_ADDRESS] = "ncclGetPeerDevicePointer",
        [LIBRARY_CUBIN_BYTES] = "nvrtcGetCUBINSize",
        [LIBRARY_PTX_BYTES] = "nvrtcGetPTXSize",
        [LIBRARY_PTX] = "nvrtcGetPTX",
        [LIBRARY_LINK_CREATE] = "nvJitLinkCreate",
        [LIBRARY_LINK_DESTROY] = "nvJitLinkDestroy",
        [LIBRARY_LINK_ADD_DATA] = "nvJitLinkAddData",
        [LIBRARY_LINK_ADD_FILE] = "nvJitLinkAddFile",
        [LIBRARY_LINK_COMPLETE] = "nvJitLinkComplete",
        [LIBRARY_LINK_CUBIN_BYTES] = "nvJitLinkGetLinkedCubinSize",
        [LIBRARY_LINK_PTX_BYTES] = "nvJitLinkGetLinkedPtxSize",
        [LIBRARY_LINK_PTX] = "nvJitLinkGetLinkedPtx"};
    void *found = __atomic_load_n(&home->asked[question], __ATOMIC_ACQUIRE);
    if (!found) {
        found = function_find(home, symbols[question], NULL);
        __atomic_store_n(&home->asked[question], found, __ATOMIC_RELEASE);
    }
    return found;
}

/* ---- The order of libraries ---- */

/* Objects come in the order in which symbols are looked up; `user` is where the name of a library
 * goes that comes before libcsan. */
static int object_check(struct dl_phdr_info *object, size_t bytes, void *user)
{
    const char **earlier = user;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash ? slash + 1 : object->dlpi_name;
    (void)bytes;
    if (strncmp(name, "libcsan.so", 10) == 0)
        return 1;
    for (unsigned i = 0; i < library_table.count; i++)
        if (strcmp(library_table.entries[i].home->name, name) == 0)
            *earlier = library_table.entries[i].home->name;
    return 0;
}

void library_check_order(void)
{
    const char *earlier = NULL;
    if (dl_iterate_phdr(object_check, &earlier) == 1 && earlier)
        session_note("%s comes before libcsan, so what calls of it touch is not known; name -lcsan "
                     "first when you link",
                     earlier);
}

/* ---- dlsym ---- */

/* The name by which objects need this one. */
static const char *soname_of(const struct link_map *map)
{
    const char *strings = NULL;
    size_t name = 0;
    for (const ElfW(Dyn) *dyn = map->l_ld; dyn && dyn->d_tag != DT_NULL; dyn++)
        if (dyn->d_tag == DT_STRTAB)
            strings = (const char *)dyn->d_un.d_ptr;
        else if (dyn->d_tag == DT_SONAME)
            name = dyn->d_un.d_val;
    return strings && name ? strings + name : "";
}

static bool may_be_ours(const char *symbol)
{
    return strncmp(symbol, "cublas", 6) == 0 || strncmp(symbol, "cufft", 5) == 0 ||
           strncmp(symbol, "cusolver", 8) == 0 || strncmp(symbol, "curand", 6) == 0 ||
           strncmp(symbol, "cusparse", 8) == 0 || strncmp(symbol, "nccl", 4) == 0 ||
           strncmp(symbol, "nvrtc", 5) == 0 || strncmp(symbol, "nvJitLink", 9) == 0 ||
           strncmp(symbol, "__nvJitLink", 11) == 0;
}

/* A second copy of a library in the process is let alone: an entry goes on to one. */
void *library_stub_of(const char *symbol, void *real)
{
    struct link_map *map = may_be_ours(symbol) && !inside ? object_of(real) : NULL;
    const char *name = map ? soname_of(map) : "";
    for (unsigned i = 0; *name && i < library_table.count; i++) {
        struct library_entry *entry = &library_table.entries[i];
        if (strcmp(entry->function->symbol, symbol) != 0 || strcmp(entry->home->name, name) != 0)
            continue;
        void *known = entry->thunk;
        if (!open_again(map->l_name))
            return real;
        if (__atomic_compare_exchange_n(&entry->real, &known, real, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            known == real)
            return entry->stub;
        return real;
    }
    return real;
}

/* ---- Calls ---- */

uint64_t library_forward(void *real, const uint64_t *registers, const uint64_t *stack,
                         uint64_t words);

/* Whether its beginning, launches and end may be deferred. */
static bool may_be_deferred(const struct library_function *function)
{
    return deferred_limit() && function->touch && !function->apart && !function->after &&
           function->stream < 0 && !operator_deferred_or_other() && !trace_has_all();
}

/* What is known of a call before it is made; with the guard. */
static void call_begin(struct touch *call, struct callsite_stack *stack,
                       const struct library_entry *entry, const uint64_t *registers,
                       const uint64_t *arguments)
{
    deferred_prefetch();
    touch_collect(call, entry->function, entry->home, registers, arguments);
    if (call->reads_content) { /* as it is once all is enqueued */
        deferred_flush();
        touch_release(call);
        touch_collect(call, entry->function, entry->home, registers, arguments);
    }
    callsite_capture(stack);
    if (call->incomplete)
        counters_unmodelled("what library calls touch through arrays of addresses, or by plans, "
                            "that csan did not see being made");
}

static bool is_traced(struct library_home *home)
{
    uint8_t traced = __atomic_load_n(&home->traced, __ATOMIC_RELAXED);
    if (traced == LIBRARY_TRACED_UNKNOWN) {
        void *handle = open_again(home->name);
        traced = handle && driver_dlsym(handle, "csan_library_traces") ? LIBRARY_TRACED_YES
                                                                       : LIBRARY_TRACED_NO;
        __atomic_store_n(&home->traced, traced, __ATOMIC_RELAXED);
    }
    return traced == LIBRARY_TRACED_YES;
}

/* With the guard. */
static bool begin_deferred(const struct operator_library *what)
{
    struct operator_library deferred = *what;
    deferred.stack = NULL;
    deferred.site = callsite_recall(what->stack, what->what->name, what->what->argument_count);
    return deferred.site && operator_deferred_begin(&deferred);
}

static void end_deferred(void)
{
    if (guard_enter_without_flush()) {
        operator_deferred_end();
        guard_leave();
    }
}

static uint64_t call_made(const struct library_entry *entry, void *real, const uint64_t *registers,
                          const uint64_t *arguments, bool may)
{
    const struct library_function *function = entry->function;
    struct touch call;
    struct callsite_stack stack;
    call_begin(&call, &stack, entry, registers, arguments);
    const struct operator_library what = {.what = &function->operation,
                                          .stack = &stack,
                                          .accesses = call.accesses,
                                          .count = call.count,
                                          .apart = function->apart,
                                          .complete = !function->apart && !call.incomplete,
                                          .traced = is_traced(entry->home)};
    const bool deferred = may && begin_deferred(&what);
    if (may && !deferred)
        deferred_flush();
    guard_leave();
    const bool owns = function->touch || function->apart;
    if (owns && !deferred)
        operator_library_begin(&what);
    uint64_t result = library_forward(real, registers, arguments, function->stack_words);
    if (deferred)
        end_deferred();
    else if (owns)
        operator_library_end(&call.made, &call.made_bytes);
    const bool orders = function->after || function->stream >= 0;
    if (orders && guard_enter()) {
        if (function->after)
            function->after(&call, (int)result);
        if (function->stream >= 0)
            collective_called(&call, &stack, (int)result);
        guard_leave();
    }
    touch_release(&call);
    return result;
}

/* A call that changes what later calls of its handle touch. It enqueues nothing. PyTorch makes two
 * of them before each product, so what is deferred stays deferred. */
static uint64_t call_noted(const struct library_entry *entry, void *real, const uint64_t *registers,
                           const uint64_t *arguments)
{
    struct touch call; /* for its arguments: no ranges are made */
    call.function = entry->function;
    call.registers = registers;
    call.stack = arguments;
    const uint64_t result =
        library_forward(real, registers, arguments, entry->function->stack_words);
    entry->function->notes(&call, (int)result);
    return result;
}

/* A program's call of a library function that csan exports in its place. `registers`: the six
 * integer arguments (System V ABI, "Parameter Passing"), on aarch64 eight; the eight words below
 * them hold the floating-point ones, xmm0 to xmm7 or d0 to d7. `arguments`: those on the stack,
 * behind the address to return to. */
uint64_t library_call(struct library_entry *entry, const uint64_t *registers,
                      const uint64_t *arguments);
uint64_t library_call(struct library_entry *entry, const uint64_t *registers,
                      const uint64_t *arguments)
{
    void *real = entry_real(entry, (const void *)(uintptr_t)arguments[-1]);
    if (entry->function->notes)
        return call_noted(entry, real, registers, arguments);
    const bool deferred = !inside && may_be_deferred(entry->function);
    if (inside || !(deferred ? guard_enter_without_flush() : guard_enter()))
        return library_forward(real, registers, arguments, entry->function->stack_words);
    inside = true;
    uint64_t result = call_made(entry, real, registers, arguments, deferred);
    inside = false;
    return result;
}

/* A thunk's call: where to go on. */
void *library_resolve(struct library_entry *entry, const void *caller);
void *library_resolve(struct library_entry *entry, const void *caller)
{
    return entry_real(entry, caller);
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".macro framed name\n" /* the begin of a function of this library alone, and its frame */
        ".type \\name, @function\n"
        ".globl \\name\n"
        ".hidden \\name\n"
        "\\name:\n"
        "    .cfi_startproc\n"
        "    pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        ".endm\n"
        /* The stub's entry is in rax. Keeps the registers of arguments where C can read them. */
        "framed library_enter\n"
        "    pushq %r9\n"
        "    pushq %r8\n"
        "    pushq %rcx\n"
        "    pushq %rdx\n"
        "    pushq %rsi\n"
        "    pushq %rdi\n"
        "    subq $64, %rsp\n" /* floating-point arguments: library_forward takes them from here */
        "    movsd %xmm0, (%rsp)\n"
        "    movsd %xmm1, 8(%rsp)\n"
        "    movsd %xmm2, 16(%rsp)\n"
        "    movsd %xmm3, 24(%rsp)\n"
        "    movsd %xmm4, 32(%rsp)\n"
        "    movsd %xmm5, 40(%rsp)\n"
        "    movsd %xmm6, 48(%rsp)\n"
        "    movsd %xmm7, 56(%rsp)\n"
        "    movq %rax, %rdi\n"
        "    leaq 64(%rsp), %rsi\n"
        "    leaq 16(%rbp), %rdx\n"
        "    call library_call\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size library_enter, .-library_enter\n"
        /* library_forward(real, registers, stack, words): makes the call again. */
        "framed library_forward\n"
        "    movq %rdi, %r11\n"
        "    movq %rsi, %r10\n"
        "    leaq 1(%rcx), %rax\n"
        "    andq $-2, %rax\n"
        "    shlq $3, %rax\n"
        "    subq %rax, %rsp\n"
        "    movq %rdx, %rsi\n"
        "    movq %rsp, %rdi\n"
        "    rep movsq\n"
        "    movq (%r10), %rdi\n"
        "    movq 8(%r10), %rsi\n"
        "    movq 16(%r10), %rdx\n"
        "    movq 24(%r10), %rcx\n"
        "    movq 32(%r10), %r8\n"
        "    movq 40(%r10), %r9\n"
        "    movsd -64(%r10), %xmm0\n"
        "    movsd -56(%r10), %xmm1\n"
        "    movsd -48(%r10), %xmm2\n"
        "    movsd -40(%r10), %xmm3\n"
        "    movsd -32(%r10), %xmm4\n"
        "    movsd -24(%r10), %xmm5\n"
        "    movsd -16(%r10), %xmm6\n"
        "    movsd -8(%r10), %xmm7\n"
        "    xorl %eax, %eax\n"
        "    call *%r11\n"
        "    leave\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size library_forward, .-library_forward\n"
        /* The thunks come here: off, or on the first call. */
        "framed library_resolve_common\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    subq $16, %rsp\n" /* no function has more than two floating-point arguments */
        "    movsd %xmm0, (%rsp)\n"
        "    movsd %xmm1, 8(%rsp)\n"
        "    movq %rax, %rdi\n"
        "    movq 8(%rbp), %rsi\n"
        "    call library_resolve\n"
        "    movsd (%rsp), %xmm0\n"
        "    movsd 8(%rsp), %xmm1\n"
        "    addq $16, %rsp\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size library_resolve_common, .-library_resolve_common\n"
        ".purgem framed\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".balign 4\n"
        ".macro framed name\n" /* the begin of a function of this library alone, and its frame */
        ".type \\name, %function\n"
        ".globl \\name\n"
        ".hidden \\name\n"
        "\\name:\n"
        "    .cfi_startproc\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset x29, -16\n"
        "    .cfi_offset x30, -8\n"
        "    mov x29, sp\n"
        "    .cfi_def_cfa_register x29\n"
        ".endm\n"
        /* The stub's entry is in x16. Keeps the registers of arguments where C can read them: in
         * order, and below them those of floating-point arguments. */
        "framed library_enter\n"
        "    stp x6, x7, [sp, #-16]!\n"
        "    stp x4, x5, [sp, #-16]!\n"
        "    stp x2, x3, [sp, #-16]!\n"
        "    stp x0, x1, [sp, #-16]!\n"
        "    stp d6, d7, [sp, #-16]!\n"
        "    stp d4, d5, [sp, #-16]!\n"
        "    stp d2, d3, [sp, #-16]!\n"
        "    stp d0, d1, [sp, #-16]!\n"
        "    mov x0, x16\n"
        "    add x1, sp, #64\n"
        "    add x2, x29, #16\n"
        "    bl library_call\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa sp, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size library_enter, .-library_enter\n"
        "framed library_forward\n"
        "    mov x16, x0\n"
        "    mov x17, x1\n"
        "    add x9, x3, #1\n" /* the stack is aligned to 16 bytes */
        "    and x9, x9, #-2\n"
        "    sub sp, sp, x9, lsl #3\n"
        "    mov x10, sp\n"
        "1:  cbz x3, 2f\n"
        "    ldr x9, [x2], #8\n"
        "    str x9, [x10], #8\n"
        "    sub x3, x3, #1\n"
        "    b 1b\n"
        "2:  ldp d0, d1, [x17, #-64]\n"
        "    ldp d2, d3, [x17, #-48]\n"
        "    ldp d4, d5, [x17, #-32]\n"
        "    ldp d6, d7, [x17, #-16]\n"
        "    ldp x0, x1, [x17]\n"
        "    ldp x2, x3, [x17, #16]\n"
        "    ldp x4, x5, [x17, #32]\n"
        "    ldp x6, x7, [x17, #48]\n"
        "    blr x16\n"
        "    mov sp, x29\n"
        "    ldp x29, x30, [sp], #16\n"
        "    .cfi_def_cfa sp, 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size library_forward, .-library_forward\n"
        ".purgem framed\n"
        ".popsection\n");

DETOUR_AARCH64("library_resolve_common", "library_resolve");
#endif
