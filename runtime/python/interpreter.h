/* The CPython interpreter in this process, and the offsets in its structures that a stack walk
 * needs.
 *
 * csan compiles against none of Python's headers, so one libcsan serves every interpreter. Up to
 * 3.12 a table holds the offsets. They are the same in all releases of a minor version, because its
 * internal structures are part of that version's ABI (PEP 387 and the C API's "C API Stability").
 * From 3.13 on the interpreter publishes them for debuggers in _PyRuntime.debug_offsets
 * (Include/internal/pycore_debug_offsets.h). csan does not support free-threaded builds: a thread
 * there runs its own copies of code. */
#ifndef RUNTIME_PYTHON_INTERPRETER_H
#define RUNTIME_PYTHON_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a code object encodes the lines of its instructions. */
enum python_lines {
    PYTHON_LNOTAB,    /* to 3.9: Objects/lnotab_notes.txt */
    PYTHON_RANGES,    /* 3.10: PEP 626 */
    PYTHON_LOCATIONS, /* from 3.11 on: PEP 657, InternalDocs/code_objects.md */
};

/* Of any object, of strings and of bytes; offsets in bytes. */
struct python_objects {
    uint16_t type;
    uint16_t string_length, string_state, string_ascii, string_compact; /* the last two: the text */
    uint8_t string_kind_bit;                                            /* in its state */
    uint16_t bytes_length, bytes_data;
};

/* Offsets in bytes. */
struct python_layout {
    uint16_t version; /* 0x030c: 3.12 */
    uint8_t lines;    /* enum python_lines */

    uint16_t thread_frame;   /* in PyThreadState, the frame that runs */
    bool indirect;           /* that is a pointer to what points to the frame at, */
    uint16_t indirect_frame; /* there */

    uint16_t frame_previous, frame_code;
    uint16_t frame_instruction; /* a pointer from 3.11 on, a number before */
    uint16_t frame_owner;       /* one byte; 0: there is none */

    uint16_t code_file, code_name, code_lines, code_first_line;
    uint16_t code_version;      /* a number that no other code object was given; 0: there is none */
    uint16_t code_instructions; /* where they begin; 0: frame_instruction is a number */
    uint8_t number_bytes;       /* what that number counts */

    struct python_objects objects;
};

struct python_interpreter {
    /* What each stack needs lies in one line of the cache. */
    int (*is_initialized)(void);      /* Py_IsInitialized */
    const void *(*this_thread)(void); /* PyGILState_GetThisThreadState */
    struct python_layout layout;
    const void *code_type, *string_type, *bytes_type;
    const void *none; /* Py_None; NULL: not found */
} __attribute__((aligned(64)));

/* A member of a structure of the interpreter's. */
static inline const void *python_pointer_at(const void *object, size_t offset)
{
    const void *value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline int python_number_at(const void *object, size_t offset)
{
    int value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/* The code object of a frame; pointers to it may have tags from 3.14 on. */
static inline const void *python_code_of(const void *executable)
{
    enum { TAGS = 3 };
    return (const void *)((uintptr_t)executable & ~(uintptr_t)TAGS);
}

/* False: the interpreter's own frame, between those of the program. */
static inline bool python_runs_code(const struct python_layout *layout, const void *frame)
{
    enum { OWNED_BY_C = 3 }; /* from 3.12 on, and what is above */
    return !layout->frame_owner || ((const unsigned char *)frame)[layout->frame_owner] < OWNED_BY_C;
}

/* Finds the interpreter among the process' global symbols, or in the object that contains the
 * address `in` unless it is NULL (a library loaded with RTLD_LOCAL has no global symbols). It looks
 * again until it has found one. NULL: there is none, or csan does not know its version. Any thread.
 */
const struct python_interpreter *python_interpreter(const void *in);

/* Whether code at that address belongs to the interpreter, of a known version or not. If the
 * interpreter is linked into the program, that is the whole program. */
bool python_interpreter_has(const void *address);

#endif
