/* Exceptions of kernels in words. See exception_text.h. The embedded device and a GPU's core dump
 * name some of them differently (exec_fault.c, coredump.c): the begin of the words decides. */
#include "csan/report/exception_text.h"

#include <inttypes.h>
#include <string.h>

struct exception {
    const char *words, *cause, *fix;
};

/* Stacks, traps and assertions: CUDA C++ Programming Guide, "Call Stack", "Trap function",
 * "Assertion"; the heap of kernels: "Dynamic Global Memory Allocation and Operations"; surfaces:
 * "Surface Functions"; virtual functions: "Virtual Functions". */
static const struct exception exceptions[] = {
    {"failed assert", "the assertion does not hold in that thread",
     "find out where the values that it compares come from"},
    {"trap", "the kernel gave up on purpose: by __trap(), or by a check of a library",
     "find the check in that line, and what it asks for"},
    {"stack overflow", "the calls in that thread need more stack than it has",
     "end the recursion, or give threads more stack (cudaDeviceSetLimit, cudaLimitStackSize)"},
    {"stack overwritten", "the thread wrote behind the end of an array on its stack",
     "check the indices of the function's local arrays"},
    {"shared or local memory",
     "the address is outside of the block's shared memory, or of the thread's own",
     "check the index against the size of the __shared__ or local array; that of an extern "
     "__shared__ array is what the launch asks for"},
    {"shared memory access out of range",
     "the address is outside of the shared memory of that block of the cluster",
     "check the index against the size of the __shared__ array"},
    {"access to shared memory of a block", "the block had ended, and its shared memory with it",
     "let all blocks of the cluster wait at its end (cluster.sync())"},
    {"call or jump", "a function pointer, or an object with virtual functions, leads to no code",
     "set function pointers, and construct such objects, on the device"},
    {"invalid free()", "the kernel freed what no malloc() of a kernel gave, or freed it twice",
     "free in kernels, and once, what kernels allocate"},
    {"free of what", "the kernel freed what no malloc() of a kernel gave, or freed it twice",
     "free in kernels, and once, what kernels allocate"},
    {"surface access", "the coordinates are outside of the surface",
     "check them against its size; x is in bytes"},
    {"deadlock", "some threads of the block never come to the barrier that the others wait at",
     "call __syncthreads() where all threads of the block come by"},
};

static const struct exception *exception_of(const struct csan_race *race)
{
    const char *words = race->error->exception ? race->error->exception : "";
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strncmp(words, exceptions[i].words, strlen(exceptions[i].words)) == 0)
            return &exceptions[i];
    return NULL;
}

static bool is_misaligned(const struct csan_race *race)
{
    const char misaligned[] = "misaligned";
    return race->error->exception &&
           strncmp(race->error->exception, misaligned, sizeof misaligned - 1) == 0;
}

/* A null pointer, or a member or an early element of what it would point to. */
static bool is_null(const struct csan_race *race)
{
    enum { NULL_BYTES = 4096 };
    return race->bytes && !race->error->where && race->address < NULL_BYTES;
}

static void misaligned_add(struct text *text, const struct csan_race *race)
{
    text_add(text, "the address is no multiple of ");
    if (race->bytes)
        text_add(text, "%" PRIu64 ", ", race->bytes);
    text_add(text, "the size of the access");
}

static void null_add(struct text *text, const struct csan_race *race)
{
    text_add(text, "the pointer is null");
    if (race->address)
        text_add(text, ", and the access lies %" PRIu64 " byte%s behind it", race->address,
                 race->address == 1 ? "" : "s");
}

bool exception_cause_add(struct text *text, const struct csan_race *race)
{
    const struct exception *exception = exception_of(race);
    if (is_misaligned(race))
        misaligned_add(text, race);
    else if (exception)
        text_add(text, "%s", exception->cause);
    else if (is_null(race))
        null_add(text, race);
    else
        return false;
    return true;
}

bool exception_fix_add(struct text *text, const struct csan_race *race)
{
    const struct exception *exception = exception_of(race);
    if (is_misaligned(race))
        text_add(text, "use an address that is a multiple of the size of the access");
    else if (exception)
        text_add(text, "%s", exception->fix);
    else if (is_null(race))
        text_add(text, "find out why that pointer is not set, in the arguments or in memory");
    else
        return false;
    return true;
}
