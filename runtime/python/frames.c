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
#include "runtime/python/code_text.h"
#include "runtime/python/layout_check.h"

#include <stdlib.h>
#include <string.h>

enum {
    INSTRUCTION_BITS = 20,
    INSTRUCTION_BYTES = 2, /* a unit */
    FRAMES_MAX = 1 << 16   /* looked at; more than any recursion limit in use */
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

/* In code units. An instruction outside the code object (a thread's own copy in a free-threaded
 * interpreter) becomes the last unit, which no line table covers. */
static uint64_t instruction_of(const struct python_layout *layout, const void *frame,
                               const void *code)
{
    int number;
    if (layout->code_instructions) {
        uintptr_t at = (uintptr_t)python_pointer_at(frame, layout->frame_instruction);
        uint64_t units = (at - ((uintptr_t)code + layout->code_instructions)) / INSTRUCTION_BYTES;
        return units < INSTRUCTION_LAST ? units : INSTRUCTION_LAST;
    }
    memcpy(&number, (const char *)frame + layout->frame_instruction, sizeof number);
    return number < 0 ? 0 : (uint64_t)number * layout->number_bytes / INSTRUCTION_BYTES;
}

/* The frames' code objects and instructions, innermost first. Meanwhile it prefetches what
 * identifies each code object. */
static size_t walk(const struct python_interpreter *python, const void **codes,
                   uint64_t *instructions, size_t capacity)
{
    const struct python_layout *layout = &python->layout;
    const void *frame = top();
    size_t count = 0;
    for (size_t seen = 0; frame && count < capacity && seen < FRAMES_MAX; seen++) {
        if (python_runs_code(layout, frame)) {
            codes[count] = python_code_of(python_pointer_at(frame, layout->frame_code));
            python_code_prefetch(python, codes[count]);
            instructions[count] = instruction_of(layout, frame, codes[count]);
            count++;
        }
        frame = python_pointer_at(frame, layout->frame_previous);
    }
    return count;
}

static size_t capture(const void **frames, size_t capacity, int locked)
{
    enum { WALKED_MAX = 64 };
    const struct python_interpreter *python = stacks.interpreter;
    const void *codes[WALKED_MAX];
    uint64_t instructions[WALKED_MAX];
    (void)locked; /* it does not block */
    size_t count = 0;
    size_t walked =
        walk(python, codes, instructions, capacity < WALKED_MAX ? capacity : WALKED_MAX);
    for (size_t i = 0; i < walked; i++) {
        uint64_t number = python_code_number(python, codes[i]);
        if (number)
            frames[count++] =
                (const void *)(uintptr_t)(FRAME_BIT | number << INSTRUCTION_BITS | instructions[i]);
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
