/* See frames.h.
 *
 * A frame:   bit 63   1
 *            62..20   the code's number
 *            19..0    instruction, in code units of 2 bytes
 *
 * Numbers from 1 on: frames below 2^20, but for bit 63, are an adapter's own. */
#include "runtime/python/frames.h"
#include "csan/stack/stack_source.h"
#include "runtime/python/code.h"
#include "runtime/python/code_cache.h"
#include "runtime/python/code_text.h"
#include "runtime/python/layout_check.h"

#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTION_BITS = 20,
    INSTRUCTION_BYTES = 2, /* a unit */
    LEFT_OUT_MAX = 1 << 16 /* more than any recursion limit in use */
};
#define FRAME_BIT        ((uint64_t)1 << 63)
#define INSTRUCTION_LAST (((uint64_t)1 << INSTRUCTION_BITS) - 1)

static struct {
    const struct python_interpreter *interpreter;
    void (*note)(const char *line);
    int layout_matches; /* 0: not tried yet, 1: yes, -1: no */
    int strange;
} stacks;

/* After this many stacks that do not match the layout, csan reads no more. If the interpreter has
 * another layout, all stacks fail. */
static const void *thread_slow(const struct python_interpreter *python, const void *thread)
{
    enum { STRANGE_MAX = 16 };
    int layout_matches = python_layout_is_known(python, thread);
    if (layout_matches > 0)
        __atomic_store_n(&stacks.layout_matches, 1, __ATOMIC_RELAXED);
    if (layout_matches < 0 &&
        __atomic_add_fetch(&stacks.strange, 1, __ATOMIC_RELAXED) == STRANGE_MAX) {
        __atomic_store_n(&stacks.layout_matches, -1, __ATOMIC_RELAXED);
        stacks.note("Python's stacks are left out: its structures are not laid out as this version "
                    "of CPython has them");
    }
    return layout_matches > 0 ? thread : NULL;
}

/* The calling thread's Python state; NULL: it is no Python thread, or csan cannot read it. */
static const void *this_thread(const struct python_interpreter *python)
{
    const void *thread = python->is_initialized() ? python->this_thread() : NULL;
    int layout_matches = __atomic_load_n(&stacks.layout_matches, __ATOMIC_RELAXED);
    if (__builtin_expect(layout_matches > 0, 1) || !thread)
        return thread;
    return layout_matches < 0 ? NULL : thread_slow(python, thread);
}

static const void *top(void)
{
    const struct python_interpreter *python = stacks.interpreter;
    const void *thread = this_thread(python);
    const void *frame = thread ? python_pointer_at(thread, python->layout.thread_frame) : NULL;
    return frame && python->layout.indirect
               ? python_pointer_at(frame, python->layout.indirect_frame)
               : frame;
}

/* Where a walk reads, in bytes from a frame. */
struct walk {
    size_t previous, code, instruction;
    size_t instructions; /* in a code object; 0: the instruction is a number */
    size_t number_bytes;
};

static struct walk walk_of(const struct python_layout *layout)
{
    return (struct walk){.previous = layout->frame_previous,
                         .code = layout->frame_code,
                         .instruction = layout->frame_instruction,
                         .instructions = layout->code_instructions,
                         .number_bytes = layout->number_bytes};
}

/* In code units. An instruction outside the code object (a thread's own copy in a free-threaded
 * interpreter) becomes the last unit, which no line table covers. */
static inline uint64_t instruction_of(const struct walk *walk, const void *frame, const void *code)
{
    if (__builtin_expect(walk->instructions != 0, 1)) {
        uintptr_t at = (uintptr_t)python_pointer_at(frame, walk->instruction);
        uint64_t units = (at - (uintptr_t)code - walk->instructions) / INSTRUCTION_BYTES;
        return units < INSTRUCTION_LAST ? units : INSTRUCTION_LAST;
    }
    int number = python_number_at(frame, walk->instruction);
    return number < 0 ? 0 : (uint64_t)number * walk->number_bytes / INSTRUCTION_BYTES;
}

/* The interpreter's own frames run a code object or None, which no frame of the program runs. Of
 * other objects nothing is remembered: when they die, code may get their address. */
static __attribute__((noinline)) uint32_t number_slow(const void *frame, const void *executable)
{
    const struct python_interpreter *python = stacks.interpreter;
    uint32_t number;
    if (!executable)
        return 0;
    if (code_cache_find(executable, &number))
        return number;
    number = python_runs_code(&python->layout, frame) ? python_code_number(python, executable) : 0;
    if (executable == python->none ||
        python_pointer_at(executable, python->layout.objects.type) == python->code_type)
        code_cache_put(executable, number);
    return number;
}

static size_t capture(const void **frames, size_t capacity, int locked)
{
    const struct walk walk = walk_of(&stacks.interpreter->layout);
    const void *frame = top();
    size_t count = 0, left_out = 0;
    (void)locked; /* it does not block */
    for (; frame && count < capacity; frame = python_pointer_at(frame, walk.previous)) {
        const void *code = python_code_of(python_pointer_at(frame, walk.code));
        uint32_t number;
        if (__builtin_expect(!code_cache_get(code, &number), 0))
            number = number_slow(frame, code);
        if (number)
            frames[count++] =
                (const void *)(uintptr_t)(FRAME_BIT | (uint64_t)number << INSTRUCTION_BITS |
                                          instruction_of(&walk, frame, code));
        else if (++left_out == LEFT_OUT_MAX)
            break;
    }
    return count;
}

static int describe(const void *frame, struct csan_source_line *line)
{
    uint64_t bits = (uint64_t)(uintptr_t)frame & ~FRAME_BIT;
    return python_code_line((uint32_t)(bits >> INSTRUCTION_BITS),
                            (bits & INSTRUCTION_LAST) * INSTRUCTION_BYTES, line);
}

/* ---- For others ---- */

static const struct csan_stack_source source = {sizeof source, capture, describe, 0};

static bool start(const void *in)
{
    const struct python_interpreter *found = python_interpreter(in);
    if (found && stacks.note && !stacks.interpreter) {
        code_cache_start(found);
        stacks.interpreter = found;
        stack_source_set_mixed(&source);
    }
    return stacks.interpreter != NULL;
}

void python_frames_start(bool read, void (*note)(const char *line))
{
    if (read)
        stacks.note = note;
    start(NULL);
}

const struct csan_python_stacks *python_frames(const void *in)
{
    static const struct csan_python_stacks table = {sizeof table, top, &source};
    return start(in) ? &table : NULL;
}
