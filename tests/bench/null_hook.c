/* A hook that does nothing, to be preloaded: the least that any tool in front of the driver costs.
 * It stands in front of the driver's functions that csan has hooks for, counts the calls, and jumps
 * on to the driver. Nothing else of the program is changed.
 *
 *   NULL_HOOK_LINES=N   each launch of a kernel first reads so many lines of the processor's cache,
 * in turn of NULL_HOOK_SETS times as many (64): what a tool's own data drives out of the caches
 *   NULL_HOOK_COUNTS=1  says at exit how many calls of each function there were */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 512, LINE = 64, SETS = 64 };

/* A function that was asked for. The code at the end knows how it lies. */
struct slot {
    void *real;
    uint64_t calls;
    uint64_t lines; /* that each call reads */
    const char *name;
};
_Static_assert(sizeof(struct slot) == 32, "the code at the end shifts by 5");

/* By name: "cuLaunchKernel", from driver.table. */
static const char *const names[] = {
#include "null_hook_names.h"
};

__attribute__((used, visibility("hidden"))) struct slot null_hook_slots[SLOTS];
__attribute__((used, visibility("hidden"))) void *null_hook_dlsym_real;
extern const unsigned char null_hook_stubs[], null_hook_second[];
__attribute__((used)) void null_hook_touch(uint64_t lines);
__attribute__((used)) void *null_hook_dlsym_find(void);
__attribute__((used)) void *null_hook_dlsym(void *handle, const char *symbol);

static struct {
    pthread_mutex_t mutex;
    unsigned count, sets;
    uint64_t lines;
    unsigned char *memory;
    void *ask, *ask_v2; /* cuGetProcAddress */
} own = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void null_hook_touch(uint64_t lines)
{
    static __thread unsigned set __attribute__((tls_model("initial-exec")));
    const unsigned char *at = own.memory + (size_t)(set++ % own.sets) * lines * LINE;
    for (uint64_t i = 0; i < lines; i++)
        (void)*(const volatile unsigned char *)(at + i * LINE);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void counts_print(void)
{
    for (unsigned i = 0; i < own.count; i++)
        if (null_hook_slots[i].calls)
            fprintf(stderr, "null hook: %10llu %s\n", (unsigned long long)null_hook_slots[i].calls,
                    null_hook_slots[i].name);
}

static __attribute__((constructor)) void begin(void)
{
    own.lines = number_of("NULL_HOOK_LINES", 0);
    own.sets = (unsigned)number_of("NULL_HOOK_SETS", SETS);
    if (!own.sets)
        own.sets = 1;
    if (own.lines && !(own.memory = calloc((size_t)own.sets * own.lines, LINE)))
        own.lines = 0;
    if (own.memory)
        memset(own.memory, 1, (size_t)own.sets * own.lines * LINE); /* pages of its own */
    if (getenv("NULL_HOOK_COUNTS"))
        atexit(counts_print);
}

/* The function that a symbol is a form of: cuLaunchKernel_ptsz is cuLaunchKernel. NULL: none of
 * csan's. */
static const char *name_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(symbol, names[i], length) == 0 &&
            (!symbol[length] || strncmp(symbol + length, "_v", 2) == 0 ||
             strncmp(symbol + length, "_pt", 3) == 0))
            return names[i];
    }
    return NULL;
}

/* What the program gets in place of it. */
static void *stub_of(const char *name, void *real)
{
    const size_t stub_bytes = (size_t)(null_hook_second - null_hook_stubs);
    unsigned i = 0;
    pthread_mutex_lock(&own.mutex);
    while (i < own.count && null_hook_slots[i].real != real)
        i++;
    if (i == own.count && i < SLOTS)
        null_hook_slots[own.count++] =
            (struct slot){real, 0, strncmp(name, "cuLaunch", 8) == 0 ? own.lines : 0, name};
    pthread_mutex_unlock(&own.mutex);
    return i < SLOTS ? (void *)(uintptr_t)(null_hook_stubs + i * stub_bytes) : real;
}

static void *instead_of(const char *symbol, void *real);

static int ask(const char *symbol, void **function, int version, uint64_t flags)
{
    const int result =
        ((int (*)(const char *, void **, int, uint64_t))own.ask)(symbol, function, version, flags);
    if (result == 0 && function && *function)
        *function = instead_of(symbol, *function);
    return result;
}

static int ask_v2(const char *symbol, void **function, int version, uint64_t flags, int *status)
{
    const int result = ((int (*)(const char *, void **, int, uint64_t, int *))own.ask_v2)(
        symbol, function, version, flags, status);
    if (result == 0 && function && *function)
        *function = instead_of(symbol, *function);
    return result;
}

static void *asks_instead(const char *symbol, void *real)
{
    Dl_info info;
    const bool second = dladdr(real, &info) && info.dli_sname
                            ? strcmp(info.dli_sname, "cuGetProcAddress_v2") == 0
                            : strcmp(symbol, "cuGetProcAddress_v2") == 0;
    *(second ? &own.ask_v2 : &own.ask) = real;
    return second ? (void *)(uintptr_t)ask_v2 : (void *)(uintptr_t)ask;
}

static void *instead_of(const char *symbol, void *real)
{
    if (strncmp(symbol, "cuGetProcAddress", 16) == 0)
        return asks_instead(symbol, real);
    const char *name = name_of(symbol);
    return name ? stub_of(name, real) : real;
}

void *null_hook_dlsym_find(void)
{
    if (!null_hook_dlsym_real)
        null_hook_dlsym_real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!null_hook_dlsym_real)
        null_hook_dlsym_real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return null_hook_dlsym_real;
}

void *null_hook_dlsym(void *handle, const char *symbol)
{
    void *real = ((void *(*)(void *, const char *))null_hook_dlsym_find())(handle, symbol);
    return real && strncmp(symbol, "cu", 2) == 0 ? instead_of(symbol, real) : real;
}

/* Calls with RTLD_NEXT and RTLD_DEFAULT depend on where the caller lies: they keep its return
 * address. */
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    leaq 1(%rdi), %rax\n"
        "    cmpq $1, %rax\n"
        "    ja null_hook_dlsym\n"
        "    movq null_hook_dlsym_real(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    subq $8, %rsp\n"
        "    call null_hook_dlsym_find\n"
        "    addq $8, %rsp\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "1:  jmp *%rax\n"
        ".size dlsym, .-dlsym\n"
        /* One entry for each driver function. All have one length, so that its address follows from
         * its number. */
        ".balign 16\n"
        "null_hook_stubs:\n"
        "    .set slot, 0\n"
        "    .rept 512\n"
        "    movl $slot, %eax\n"
        "    jmp null_hook_call\n"
        "    .balign 16\n"
        "    .if slot == 0\n"
        "null_hook_second:\n"
        "    .endif\n"
        "    .set slot, slot + 1\n"
        "    .endr\n"
        "null_hook_call:\n"
        "    leaq null_hook_slots(%rip), %r11\n"
        "    shlq $5, %rax\n"
        "    addq %rax, %r11\n"
        "    incq 8(%r11)\n"
        "    cmpq $0, 16(%r11)\n"
        "    jne 1f\n"
        "    jmp *(%r11)\n"
        "1:  pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r11\n"
        "    movq 16(%r11), %rdi\n"
        "    call null_hook_touch\n"
        "    popq %r11\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    jmp *(%r11)\n"
        ".popsection\n");
