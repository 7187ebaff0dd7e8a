/* pthread_create, as programs see it. See thread_birth.h. */
#include "runtime/hook/state/thread_birth.h"
#include "csan/base/thread_create.h"
#include "csan/base/thread_sanitizer.h"
#include "csan/stack/unwind.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The assembly entry below reads it. False: calls go straight to the next pthread_create, which the
 * entry reads, too. */
__attribute__((used)) bool thread_birth_watched;
_Static_assert(offsetof(struct libc_next, create_thread) == 0, "the assembly entry reads it there");

__attribute__((used)) int thread_birth_create(pthread_t *thread, const pthread_attr_t *attributes,
                                              void *(*run)(void *), void *argument);

/* A site is made of it only when a report may need one: a process that does nothing with CUDA is
 * not to be recorded. */
struct thread_birth {
    size_t count;
    const void *frames[];
};

/* What a new thread finds. */
struct start {
    void *(*run)(void *);
    void *argument;
    struct thread_birth *birth;
};

static __thread struct {
    struct thread_birth *birth; /* its own */
    bool creating;              /* an allocator may create a thread within pthread_create */
} self __attribute__((tls_model("initial-exec")));

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where this library's code begins and ends; the linker defines both. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* ---- stacks */

/* Whatever the program's locks, the interpreter's included, may be held. */
struct thread_birth *thread_birth_take(void)
{
    struct callsite_stack stack;
    callsite_capture_memory(&stack);
    const size_t bytes = stack.count * sizeof *stack.frames;
    struct thread_birth *birth = stack.count ? malloc(sizeof *birth + bytes) : NULL;
    if (!birth)
        return NULL;
    birth->count = stack.count;
    memcpy(birth->frames, stack.frames, bytes);
    return birth;
}

void thread_birth_free(struct thread_birth *birth)
{
    free(birth);
}

static void birth_end(void *birth)
{
    self.birth = NULL;
    free(birth);
}

static void key_create(void)
{
    pthread_key_create(&key, birth_end);
}

void thread_birth_is(struct thread_birth *birth)
{
    pthread_once(&once, key_create);
    if (birth && pthread_setspecific(key, birth) == 0)
        self.birth = birth;
    else
        free(birth);
}

csan_site thread_birth_site(void)
{
    const struct thread_birth *birth = self.birth;
    if (!birth)
        return 0;
    return csan_site_intern(session_context(), "pthread_create", NULL, 0, birth->frames,
                            birth->count);
}

/* ---- pthread_create */

/* Who creates a thread may hold what another one waits for, which has the loader's lock: nothing is
 * opened or looked up then. */
void thread_birth_start(bool reports)
{
    if (!reports && session_options()->stack_depth)
        unwind_open();
    __atomic_store_n(&thread_birth_watched, !reports, __ATOMIC_RELEASE);
}

static void *run_born(void *user)
{
    const struct start start = *(struct start *)user;
    free(user);
    thread_birth_is(start.birth);
    return start.run(start.argument);
}

/* NULL: the thread is csan's own, or csan is at work. */
static struct start *start_create(const void *caller)
{
    if (thread_sanitizer_is_here()) /* run_born may come before its run-time */
        return NULL;
    if ((const char *)caller >= __ehdr_start && (const char *)caller < etext)
        return NULL;
    if (self.creating || guard_self.depth)
        return NULL;
    guard_self.depth = 1; /* no use of CUDA, so not guard_enter */
    struct thread_birth *birth = thread_birth_take();
    struct start *start = birth ? malloc(sizeof *start) : NULL;
    if (start)
        start->birth = birth;
    else
        free(birth);
    guard_self.depth = 0;
    return start;
}

int thread_birth_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                        void *argument)
{
    libc_next_need();
    struct start *start = start_create(__builtin_return_address(0));
    if (!start)
        return libc_next.create_thread(thread, attributes, run, argument);
    start->run = run;
    start->argument = argument;
    self.creating = true;
    const int error = libc_next.create_thread(thread, attributes, run_born, start);
    self.creating = false;
    if (error) {
        free(start->birth);
        free(start);
    }
    return error;
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl pthread_create\n"
        ".type pthread_create, @function\n"
        "pthread_create:\n"
        "    cmpb $0, thread_birth_watched(%rip)\n"
        "    jne thread_birth_create\n"
        "    movq libc_next(%rip), %rax\n"
        "    testq %rax, %rax\n"
        "    jne 1f\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    subq $8, %rsp\n"
        "    call libc_next_find\n"
        "    addq $8, %rsp\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    movq libc_next(%rip), %rax\n"
        "1:  jmp *%rax\n"
        ".size pthread_create, .-pthread_create\n"
        ".popsection\n");
#else
__asm__(".pushsection .text\n"
        ".globl pthread_create\n"
        ".type pthread_create, %function\n"
        "pthread_create:\n"
        "    adrp x16, thread_birth_watched\n"
        "    ldrb w16, [x16, :lo12:thread_birth_watched]\n"
        "    cbz w16, 2f\n"
        "    b thread_birth_create\n"
        "2:  adrp x16, libc_next\n"
        "    ldr x16, [x16, :lo12:libc_next]\n"
        "    cbnz x16, 1f\n"
        "    stp x29, x30, [sp, #-48]!\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    bl libc_next_find\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x29, x30, [sp], #48\n"
        "    adrp x16, libc_next\n"
        "    ldr x16, [x16, :lo12:libc_next]\n"
        "1:  br x16\n"
        ".size pthread_create, .-pthread_create\n"
        ".popsection\n");
#endif
