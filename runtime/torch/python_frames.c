/* Python's stacks. See python_frames.h.
 *
 * A frame:   bit 63   1
 *            62..20   address of the code object / 16, which CPython's allocator aligns to
 *            19..0    instruction, in code units of 2 bytes
 *
 * The frames of CPython 3.11 and 3.12 are read as their internal headers lay them out; later and
 * earlier ones are asked through the public API, which needs the interpreter's lock. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000 && !defined(CSAN_PORTABLE_FRAMES)
#define CSAN_DIRECT_FRAMES 1
#define Py_BUILD_CORE      1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#include "python_frames.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_BITS = 20, UNSETTLED_MAX = 64, TABLE_START = 1024, HEADING_MAX = 16 };
#define FRAME_BIT        ((uint64_t)1 << 63)
#define INSTRUCTION_MASK (((uint64_t)1 << INSTRUCTION_BITS) - 1)

/* A code object met, and what a report says of it. */
struct code {
    PyCodeObject *object;
    char *file, *name;
};

/* Found without a lock; grown under one. A smaller table that was replaced is never freed: a reader
 * may still be in it. */
struct code_table {
    size_t size, count; /* a power of two */
    struct code *slots[];
};

static struct {
    pthread_mutex_t lock;
    struct code_table *table;
} codes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    PyCodeObject *items[UNSETTLED_MAX];
    size_t count;
} unsettled;

/* ---- Code objects ---- */

static size_t place_of(const struct code_table *table, const void *object)
{
    return ((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 32 & (table->size - 1);
}

static struct code *code_find(const void *object)
{
    const struct code_table *table = __atomic_load_n(&codes.table, __ATOMIC_ACQUIRE);
    if (!table)
        return NULL;
    for (size_t at = place_of(table, object);; at = (at + 1) & (table->size - 1)) {
        struct code *code = __atomic_load_n(&table->slots[at], __ATOMIC_ACQUIRE);
        if (!code || (const void *)code->object == object)
            return code;
    }
}

static void table_put(struct code_table *table, struct code *code)
{
    size_t at = place_of(table, code->object);
    while (table->slots[at])
        at = (at + 1) & (table->size - 1);
    __atomic_store_n(&table->slots[at], code, __ATOMIC_RELEASE);
    table->count++;
}

static struct code_table *table_with_room(void)
{
    struct code_table *old = codes.table;
    if (old && old->count < old->size / 2)
        return old;
    size_t size = old ? old->size * 2 : TABLE_START;
    struct code_table *table = calloc(1, sizeof *table + size * sizeof table->slots[0]);
    if (!table)
        return NULL;
    table->size = size;
    for (size_t i = 0; old && i < old->size; i++)
        if (old->slots[i])
            table_put(table, old->slots[i]);
    __atomic_store_n(&codes.table, table, __ATOMIC_RELEASE);
    return table;
}

static char *put_character(char *at, Py_UCS4 c)
{
    if (c < 0x80) {
        *at++ = (char)c;
    } else if (c < 0x800) {
        *at++ = (char)(0xc0 | c >> 6);
        *at++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *at++ = (char)(0xe0 | c >> 12);
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
        *at++ = (char)(0x80 | (c & 0x3f));
    } else {
        *at++ = (char)(0xf0 | c >> 18);
        *at++ = (char)(0x80 | (c >> 12 & 0x3f));
        *at++ = (char)(0x80 | (c >> 6 & 0x3f));
        *at++ = (char)(0x80 | (c & 0x3f));
    }
    return at;
}

/* The string as UTF-8, without a change to the object: the lock may be another thread's. */
static char *string_copy(PyObject *string)
{
    if (!string || !PyUnicode_Check(string))
        return strdup("?");
    Py_ssize_t length = PyUnicode_GET_LENGTH(string);
    char *copy = malloc((size_t)length * 4 + 1), *at = copy;
    for (Py_ssize_t i = 0; copy && i < length; i++)
        at = put_character(at, PyUnicode_READ_CHAR(string, i));
    if (copy)
        *at = '\0';
    return copy;
}

/* 1: it is in the table now, by this call. */
static bool code_add(PyCodeObject *object)
{
    struct code *code = calloc(1, sizeof *code);
    bool added = false;
    if (!code)
        return false;
    *code = (struct code){object, string_copy(object->co_filename), string_copy(object->co_name)};
    pthread_mutex_lock(&codes.lock);
    if (!code_find(object)) {
        struct code_table *table = table_with_room();
        if (table && code->file && code->name) {
            table_put(table, code);
            added = true;
        }
    }
    pthread_mutex_unlock(&codes.lock);
    if (!added) {
        free(code->file);
        free(code->name);
        free(code);
    }
    return added;
}

/* A code object on the calling thread's stack. False: it cannot be told of. */
static bool code_know(PyCodeObject *object, enum python_frames_mode mode)
{
    if (__builtin_expect(code_find(object) != NULL, 1))
        return true;
    if (mode == PYTHON_FRAMES_KNOWN || unsettled.count == UNSETTLED_MAX)
        return false;
    if (code_add(object))
        unsettled.items[unsettled.count++] = object;
    return code_find(object) != NULL;
}

void python_frames_settle(void)
{
    if (__builtin_expect(unsettled.count == 0, 1) || !Py_IsInitialized())
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    while (unsettled.count)
        Py_INCREF((PyObject *)unsettled.items[--unsettled.count]);
    PyGILState_Release(state);
}

/* ---- Frames ---- */

static const void *frame_encode(const PyCodeObject *code, int instruction)
{
    uint64_t units = instruction < 0 ? 0 : (uint64_t)instruction / sizeof(uint16_t);
    if (units > INSTRUCTION_MASK)
        units = INSTRUCTION_MASK;
    return (const void *)(uintptr_t)(FRAME_BIT |
                                     (uint64_t)(uintptr_t)code >> 4 << INSTRUCTION_BITS | units);
}

#ifdef CSAN_DIRECT_FRAMES

const int PYTHON_FRAMES_NEED_LOCK = 0;

const void *python_frames_top(void)
{
    const PyThreadState *thread = Py_IsInitialized() ? PyGILState_GetThisThreadState() : NULL;
    return thread && thread->cframe ? thread->cframe->current_frame : NULL;
}

size_t python_frames_capture(const void **frames, size_t capacity, enum python_frames_mode mode)
{
    size_t count = 0;
    const PyThreadState *thread = Py_IsInitialized() ? PyGILState_GetThisThreadState() : NULL;
    if (!thread || !thread->cframe)
        return 0;
    for (struct _PyInterpreterFrame *frame = thread->cframe->current_frame;
         frame && count < capacity; frame = frame->previous) {
#if PY_VERSION_HEX >= 0x030c0000
        if (frame->owner == FRAME_OWNED_BY_CSTACK)
            continue;
#endif
        if (_PyFrame_IsIncomplete(frame))
            continue;
        if (!code_know(frame->f_code, mode))
            break;
        frames[count++] = frame_encode(frame->f_code, _PyInterpreterFrame_LASTI(frame) *
                                                          (int)sizeof(_Py_CODEUNIT));
    }
    if (mode == PYTHON_FRAMES_WAIT)
        python_frames_settle();
    return count;
}

#else

#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#endif

const int PYTHON_FRAMES_NEED_LOCK = 1;

const void *python_frames_top(void)
{
    return NULL;
}

/* In bytes. */
static int frame_instruction(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLasti(frame);
#elif PY_VERSION_HEX >= 0x030a0000
    return frame->f_lasti * (int)sizeof(uint16_t);
#else
    return frame->f_lasti;
#endif
}

size_t python_frames_capture(const void **frames, size_t capacity, enum python_frames_mode mode)
{
    size_t count = 0;
    if (mode == PYTHON_FRAMES_KNOWN || !Py_IsInitialized() || !PyGILState_GetThisThreadState())
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    while (frame && count < capacity) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        if (code_know(code, mode))
            frames[count++] = frame_encode(code, frame_instruction(frame));
        Py_DECREF((PyObject *)code);
        PyFrameObject *outer = PyFrame_GetBack(frame);
        Py_DECREF((PyObject *)frame);
        frame = outer;
    }
    Py_XDECREF((PyObject *)frame);
    python_frames_settle();
    PyGILState_Release(state);
    return count;
}

#endif

int python_frames_describe(const void *frame, struct csan_source_line *line)
{
    uint64_t bits = (uint64_t)(uintptr_t)frame;
    const void *object = (const void *)(uintptr_t)((bits & ~FRAME_BIT) >> INSTRUCTION_BITS << 4);
    const struct code *code = code_find(object);
    if (!code)
        return 0;
    int at = (int)((bits & INSTRUCTION_MASK) * sizeof(uint16_t));
    int number = PyCode_Addr2Line(code->object, at);
    *line = (struct csan_source_line){code->file, code->name, number > 0 ? (unsigned)number : 0};
    return 1;
}

const void *python_frames_heading(unsigned number)
{
    return (const void *)(uintptr_t)(FRAME_BIT | number);
}

int python_frames_heading_number(const void *frame)
{
    uint64_t number = (uint64_t)(uintptr_t)frame & ~FRAME_BIT;
    return number < HEADING_MAX ? (int)number : -1;
}
