/* Stacks of an interpreter that is laid out as CPython 3.12 is, or 3.13, and made by hand: this
 * program exports what an interpreter does. Each test is a process of its own, since an interpreter
 * is looked for once. */
#include "csan/stack/stack_source.h"
#include "runtime/python/frames.h"
#include "runtime/python/interpreter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* ---- The interpreter ---- */

static unsigned deallocated;

static void code_dealloc(void *object)
{
    (void)object;
    __atomic_add_fetch(&deallocated, 1, __ATOMIC_RELAXED);
}

/* As all versions have them. */
EXPORTED struct type {
    char unused[48];
    void (*dealloc)(void *object);
} PyCode_Type = {.dealloc = code_dealloc};
EXPORTED char PyUnicode_Type[8], PyBytes_Type[8], _Py_NoneStruct[16];
EXPORTED uint64_t _PyRuntime[128];

static const char *version = "3.12.1 (made by hand)";
static int initialized = 1;
static void *thread; /* the main one's */
static _Thread_local void *own_state;

EXPORTED const char *Py_GetVersion(void)
{
    return version;
}
EXPORTED int Py_IsInitialized(void)
{
    return initialized;
}
EXPORTED void *PyGILState_GetThisThreadState(void)
{
    return own_state ? own_state : thread;
}

/* As 3.12 has them, and where _PyRuntime says that 3.13 has them. */
struct object {
    size_t references;
    const void *type;
};
struct string {
    struct object object;
    size_t length, hash;
    uint32_t state;
    union {
        char ascii[64];
        struct {
            size_t utf8_length;
            char *utf8;
            uint16_t characters[16];
        } wide;
    } text;
};
struct bytes {
    struct object object;
    size_t length, hash;
    unsigned char data[16];
};
struct code {
    struct object object;
    char unused[52];
    int first_line;
    char unused_too[20];
    uint32_t version;
    char unused_more[16];
    const void *file, *name, *qualified, *lines;
    char more[48];
    uint16_t instructions[32];
};
struct frame {
    const void *code;
    struct frame *previous;
    char unused[40];
    const uint16_t *instruction;
    int stack_top;
    uint16_t offset;
    char owner;
};
struct thread_state {
    char unused[56];
    struct frame **where; /* 3.12 */
    size_t unused_too;
    struct frame *frame; /* 3.13 */
};

_Static_assert(offsetof(struct string, text.ascii) == 40, "3.12");
_Static_assert(offsetof(struct string, text.wide.characters) == 56, "3.12");
_Static_assert(offsetof(struct bytes, data) == 32, "3.12");
_Static_assert(offsetof(struct code, first_line) == 68, "3.12");
_Static_assert(offsetof(struct code, version) == 92, "3.12");
_Static_assert(offsetof(struct code, file) == 112, "3.12");
_Static_assert(offsetof(struct code, lines) == 136, "3.12");
_Static_assert(offsetof(struct code, instructions) == 192, "3.12");
_Static_assert(offsetof(struct frame, instruction) == 56, "3.12");
_Static_assert(offsetof(struct frame, owner) == 70, "3.12");
_Static_assert(offsetof(struct thread_state, where) == 56, "3.12");
_Static_assert(offsetof(struct type, dealloc) == 48, "3.12");

enum { ASCII = 1 << 6 | 1 << 5 | 1 << 2, WIDE = 1 << 5 | 2 << 2 };

static struct string ascii(const char *text)
{
    struct string string = {{1, PyUnicode_Type}, strlen(text), 0, ASCII, {{0}}};
    memcpy(string.text.ascii, text, strlen(text));
    return string;
}

static struct string file, name, other_name;
static struct bytes lines; /* 8 instructions a line, from the first line on */
static struct code code;
static struct frame inner, outer;
static struct frame *current;
static struct thread_state state;

static void make_program(void)
{
    file = ascii("/src/loop.py");
    name = ascii("step");
    other_name = ascii("run");
    lines = (struct bytes){{1, PyBytes_Type}, 4, 0, {0xd7, 0, 0xdf, 1}};
    code = (struct code){.object = {1, &PyCode_Type},
                         .first_line = 10,
                         .version = 1,
                         .file = &file,
                         .name = &name,
                         .lines = &lines};
    outer = (struct frame){.code = &code, .instruction = code.instructions};
    inner = (struct frame){.code = &code, .previous = &outer, .instruction = code.instructions + 9};
    current = &inner;
    state.where = &current;
    state.frame = &inner;
    thread = &state;
}

static char noted[256];

static void note(const char *line)
{
    snprintf(noted, sizeof noted, "%s", line);
}

static size_t capture(const void **frames, size_t capacity)
{
    const struct csan_python_stacks *python = python_frames(NULL);
    return python ? python->source->capture(frames, capacity, 0) : 0;
}

/* As the interpreter lets go of a code object; then others may have its address. */
static void code_dies(struct code *object)
{
    PyCode_Type.dealloc(object);
}

static void is_line(const void *frame, const char *function, unsigned number)
{
    struct csan_source_line line = {0};
    assert_true(python_frames(NULL)->source->describe(frame, &line));
    assert_string_equal(line.file, "/src/loop.py");
    assert_string_equal(line.function, function);
    assert_int_equal(line.line, number);
}

/* ---- Each in a process ---- */

static bool is_alone;

/* True in a process that the test has for itself; there it goes on. */
static bool alone(const char *test)
{
    int status;
    if (is_alone) {
        make_program();
        return true;
    }
    const char *runner = getenv("TEST_RUNNER"); /* under qemu-user: scripts/test-aarch64 */
    pid_t child = fork();
    if (child == 0) {
        close(STDOUT_FILENO); /* failures are on the other one */
        execl(runner ? runner : "/proc/self/exe", "test_python_frames", test, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return false;
}

static void a_stack_is_read(void **unused)
{
    const void *frames[4];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    assert_true(stack_source_mixes());
    assert_int_equal(capture(frames, 4), 2);
    is_line(frames[0], "step", 11);
    is_line(frames[1], "step", 10);
    assert_true(stack_source_owns(frames[0]));
    assert_true(((uintptr_t)frames[0] & INTPTR_MAX) >= 1 << 20); /* the rest is the adapters' */
    assert_ptr_equal(python_frames(NULL)->top(), &inner);
    assert_int_equal(capture(frames, 1), 1);
    assert_true(python_interpreter_has((const void *)(uintptr_t)Py_GetVersion));
    assert_false(python_interpreter_has((const void *)(uintptr_t)getpid));
    thread = NULL;
    assert_int_equal(capture(frames, 4), 0);
    thread = &state;
    initialized = 0;
    assert_int_equal(capture(frames, 4), 0);
    assert_null(python_frames(NULL)->top());
}

/* Another code object where the first one was, with all the same members; and the first one's
 * frames stay what they were. */
static void memory_used_again_is_other_code(void **unused)
{
    const void *before[2], *after[2], *again[2];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    assert_int_equal(capture(before, 2), 2);
    code_dies(&code);
    lines.data[1] = 5 << 1; /* 0xd7: a form without columns */
    lines.data[0] = 0xef;
    code.version = 2;
    assert_int_equal(capture(after, 2), 2);
    assert_ptr_not_equal(before[0], after[0]);
    is_line(before[1], "step", 10);
    is_line(after[1], "step", 15);
    code_dies(&code);
    code.name = &other_name;
    code.version = 3;
    assert_int_equal(capture(again, 2), 2);
    is_line(again[1], "run", 15);
}

/* Until it dies, a code object is read once. */
static void code_is_read_again_when_it_has_died(void **unused)
{
    static struct code other;
    const void *before[2], *after[2];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    assert_int_equal(capture(before, 2), 2);
    code.name = &other_name;
    code.version = 2;
    assert_int_equal(capture(after, 2), 2);
    assert_memory_equal(before, after, sizeof before);
    code_dies(&other);
    assert_int_equal(deallocated, 1); /* the interpreter's own function is called */
    assert_int_equal(capture(after, 2), 2);
    assert_memory_equal(before, after, sizeof before);
    code_dies(&code);
    assert_int_equal(capture(after, 2), 2);
    is_line(after[0], "run", 11);
    is_line(after[1], "run", 10);
}

/* A type that is laid out in another way. */
static void where_deaths_are_not_known_code_is_always_read(void **unused)
{
    const void *frames[2];
    (void)unused;
    if (!alone(__func__))
        return;
    PyCode_Type.dealloc = NULL;
    python_frames_start(true, note);
    assert_int_equal(capture(frames, 2), 2);
    is_line(frames[1], "step", 10);
    code.name = &other_name;
    code.version = 2;
    assert_int_equal(capture(frames, 2), 2);
    is_line(frames[1], "run", 10);
    assert_null(PyCode_Type.dealloc);
}

/* Such an object may give its address to code, and no code has died. */
static void what_was_no_code_may_become_code(void **unused)
{
    const void *frames[2];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    assert_int_equal(capture(frames, 2), 2);
    static struct code other;
    inner.code = &other;
    assert_int_equal(capture(frames, 2), 1);
    other = code;
    inner.instruction = other.instructions + 9;
    assert_int_equal(capture(frames, 2), 2);
    is_line(frames[0], "step", 11);
}

/* Random stacks of code that is born and dies, in frames at random places, against what each frame
 * was given. */
enum { CODES = 4000, PLACES = 64, DEPTH_MAX = 20, PLACE_BYTES = 4096 };
static struct {
    struct code codes[CODES];
    _Alignas(PLACE_BYTES) char places[PLACES][PLACE_BYTES];
    unsigned born;
    uint64_t random;
} model;

static unsigned random_below(unsigned end)
{
    model.random = model.random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(model.random >> 33) % end;
}

static void code_is_born(struct code *object)
{
    if (object->object.type)
        code_dies(object);
    *object = code;
    object->version = random_below(4) ? ++model.born : 0;
    object->first_line = 1 + (int)random_below(1000);
}

/* Its frames, the innermost first, and the lines of those that are the program's. Returns how many
 * these are. */
static unsigned stack_make(unsigned *line_of)
{
    const unsigned depth = 1 + random_below(DEPTH_MAX);
    struct frame **link = &current;
    unsigned place = random_below(PLACES), code_frames = 0;
    for (unsigned i = 0; i < depth; i++, place = (place + 1 + random_below(2)) % PLACES) {
        const bool own = random_below(4) == 0; /* the interpreter's own frame */
        struct code *object = &model.codes[own ? 0 : 1 + random_below(CODES - 1)];
        struct frame *frame = (struct frame *)(model.places[place] + 8 * random_below(64));
        const unsigned instruction = random_below(16);
        *frame = (struct frame){.code = object,
                                .instruction = object->instructions + instruction,
                                .owner = own ? 3 : (char)random_below(3)};
        if (!own)
            line_of[code_frames++] = (unsigned)object->first_line + instruction / 8;
        *link = frame;
        link = &frame->previous;
    }
    return code_frames;
}

static void random_stacks_are_what_they_were_made_of(void **unused)
{
    unsigned line_of[DEPTH_MAX];
    const void *frames[DEPTH_MAX];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    for (unsigned i = 0; i < CODES; i++)
        code_is_born(&model.codes[i]);
    for (unsigned step = 0; step < 20000; step++) {
        if (random_below(3) == 0)
            code_is_born(&model.codes[random_below(CODES)]);
        const unsigned count = stack_make(line_of);
        assert_int_equal(capture(frames, DEPTH_MAX), count);
        for (unsigned i = 0; i < count; i++)
            is_line(frames[i], "step", line_of[i]);
    }
}

/* Before 3.12 code has no number of its own. */
static void without_numbers_lines_identify_code(void **unused)
{
    const void *before[2], *after[2];
    (void)unused;
    if (!alone(__func__))
        return;
    code.version = 0;
    python_frames_start(true, note);
    assert_int_equal(capture(before, 2), 2);
    code_dies(&code);
    lines.data[0] = 0xef;
    lines.data[1] = 5 << 1;
    assert_int_equal(capture(after, 2), 2);
    is_line(before[1], "step", 10);
    is_line(after[1], "step", 15);
    code_dies(&code);
    code.first_line = 20;
    assert_int_equal(capture(after, 2), 2);
    is_line(after[1], "step", 25);
}

/* A thread that is ending, or has not begun: all that runs is the interpreter's own frame. */
static void a_thread_without_code_decides_nothing(void **unused)
{
    static struct object none;
    const void *frames[2];
    struct frame entry = {.code = &none, .owner = 3};
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    current = &entry;
    for (int i = 0; i < 100; i++)
        assert_int_equal(capture(frames, 2), 0);
    current = NULL;
    assert_int_equal(capture(frames, 2), 0);
    current = &inner;
    assert_int_equal(capture(frames, 2), 2);
    assert_string_equal(noted, "");
}

/* Threads that meet other code at the same few addresses all the time, each its own. */
enum { WRITERS = 4, ROUNDS = 20000 };
static void *meets_code(void *user)
{
    static struct code codes[WRITERS][4];
    static struct frame frames[WRITERS];
    static _Thread_local struct thread_state mine;
    static _Thread_local struct frame *running;
    size_t me = (size_t)user;
    const void *frame_number;
    struct csan_source_line line;
    own_state = &mine;
    mine.where = &running;
    running = &frames[me];
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct code *object = &codes[me][i % 4];
        code_dies(object);
        *object = code;
        object->version = 1 + i * WRITERS + (unsigned)me;
        object->first_line = 1 + (int)(i % 50);
        frames[me] = (struct frame){.code = object, .instruction = object->instructions};
        if (capture(&frame_number, 1) != 1 ||
            !python_frames(NULL)->source->describe(frame_number, &line) || line.line != 1 + i % 50)
            return "wrong";
    }
    return NULL;
}

static void threads_find_their_own_code(void **unused)
{
    pthread_t threads[WRITERS];
    void *wrong;
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, meets_code, (void *)i), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

/* A program that makes code for ever. */
static void there_is_room_for_so_much(void **unused)
{
    enum { BYTES = 8 << 20, TEXTS = 12 };
    static const struct object bytes_head = {1, PyBytes_Type};
    const void *frames[TEXTS];
    struct csan_source_line line;
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    for (unsigned i = 0; i < TEXTS; i++) {
        struct bytes *large = calloc(1, sizeof *large + BYTES);
        large->object = bytes_head;
        large->length = BYTES;
        large->data[0] = 0xd7;
        large->data[2] = (unsigned char)i;
        code_dies(&code);
        code.lines = large;
        code.version = i + 2;
        assert_int_equal(capture(&frames[i], 1), 1);
        free(large);
    }
    is_line(frames[0], "step", 10);
    assert_true(python_frames(NULL)->source->describe(frames[TEXTS - 1], &line));
    assert_string_equal(line.file, "?");
}

/* The same source run twice, as notebooks and exec do. */
static void equal_code_is_one(void **unused)
{
    static struct code copy;
    static struct bytes copied;
    const void *first[2], *second[2];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    assert_int_equal(capture(first, 2), 2);
    copied = lines;
    copy = code;
    copy.lines = &copied;
    inner.code = &copy;
    inner.instruction = copy.instructions + 9;
    assert_int_equal(capture(second, 2), 2);
    assert_ptr_equal(first[0], second[0]);
}

static void what_is_no_code_is_left_out(void **unused)
{
    static struct object none;
    static struct code trampoline, cleanup;
    const void *frames[4];
    struct frame entry = {.code = &none, .previous = &outer};
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    inner.previous = &entry;
    assert_int_equal(capture(frames, 4), 2);
    trampoline = cleanup = code;
    entry.code = &trampoline;
    entry.owner = 3; /* the interpreter's own */
    for (int i = 0; i < 3; i++)
        assert_int_equal(capture(frames, 4), 2);
    entry.owner = 0;
    entry.code = &cleanup;
    assert_int_equal(capture(frames, 4), 3);
    code_dies(&cleanup);
    cleanup.first_line = 0; /* after a call of a class */
    cleanup.file = cleanup.name;
    cleanup.version = 2;
    assert_int_equal(capture(frames, 4), 2);
    code_dies(&trampoline);
    entry.code = &trampoline;
    assert_int_equal(capture(frames, 4), 3);
}

/* None is what the interpreter's own frames run from 3.13 on. Of anything else that is no code csan
 * remembers nothing: its address may become a code object's. */
static void only_none_is_known_to_stay(void **unused)
{
    static struct code other;
    struct frame entry = {.previous = &outer, .owner = 3};
    const void *frames[4];
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(true, note);
    inner.previous = &entry;
    entry.code = &_Py_NoneStruct;
    for (int i = 0; i < 3; i++)
        assert_int_equal(capture(frames, 4), 2);
    entry.code = &other;
    assert_int_equal(capture(frames, 4), 2);
    other = code;
    entry.owner = 0;
    assert_int_equal(capture(frames, 4), 3);
}

/* \u00e9 in a string of two bytes a character, and one that UTF-8 has three bytes for. */
static void names_are_copied_as_utf8(void **unused)
{
    const void *frame;
    (void)unused;
    if (!alone(__func__))
        return;
    name = (struct string){{1, PyUnicode_Type}, 3, 0, WIDE, {{0}}};
    memcpy(name.text.wide.characters, (const uint16_t[]){'p', 0xe9, 0x20ac}, 6);
    python_frames_start(true, note);
    assert_int_equal(capture(&frame, 1), 1);
    is_line(frame, "p\xc3\xa9\xe2\x82\xac", 11);
}

/* A thread's own copy of the code: which line that is is not known, the function is. */
static void an_instruction_elsewhere_has_the_functions_line(void **unused)
{
    static const uint16_t elsewhere[4];
    const void *frame;
    (void)unused;
    if (!alone(__func__))
        return;
    inner.instruction = elsewhere;
    python_frames_start(true, note);
    assert_int_equal(capture(&frame, 1), 1);
    is_line(frame, "step", 10);
}

static void offsets_are_the_interpreters(void **unused)
{
    const void *frames[4];
    (void)unused;
    if (!alone(__func__))
        return;
    version = "3.13.9 (made by hand)";
    memcpy(_PyRuntime, "xdebugpy", 8);
    _PyRuntime[1] = 0x030d09f0;
    _PyRuntime[23] = offsetof(struct thread_state, frame);
    _PyRuntime[29] = offsetof(struct frame, previous);
    _PyRuntime[30] = offsetof(struct frame, code);
    _PyRuntime[31] = offsetof(struct frame, instruction);
    _PyRuntime[33] = offsetof(struct frame, owner);
    _PyRuntime[35] = offsetof(struct code, file);
    _PyRuntime[36] = offsetof(struct code, name);
    _PyRuntime[38] = offsetof(struct code, lines);
    _PyRuntime[39] = offsetof(struct code, first_line);
    _PyRuntime[43] = offsetof(struct code, instructions);
    _PyRuntime[45] = offsetof(struct object, type);
    _PyRuntime[65] = offsetof(struct bytes, length);
    _PyRuntime[66] = offsetof(struct bytes, data);
    _PyRuntime[68] = offsetof(struct string, state);
    _PyRuntime[69] = offsetof(struct string, length);
    _PyRuntime[70] = offsetof(struct string, text.ascii);
    state.where = NULL;
    python_frames_start(true, note);
    assert_int_equal(capture(frames, 4), 2);
    is_line(frames[0], "step", 11);
}

static void a_version_that_nobody_knows_is_left_alone(void **unused)
{
    (void)unused;
    if (!alone(__func__))
        return;
    version = "3.99.0 (made by hand)";
    python_frames_start(true, note);
    assert_null(python_frames(NULL));
    assert_false(stack_source_mixes());
    assert_true(python_interpreter_has((const void *)(uintptr_t)Py_GetVersion));
}

/* Members that are somewhere else, which would lead anywhere. */
static void a_layout_that_does_not_fit_is_given_up(void **unused)
{
    const void *frames[4];
    (void)unused;
    if (!alone(__func__))
        return;
    memset(&state, 0x5a, sizeof state);
    python_frames_start(true, note);
    for (int i = 0; i < 20; i++)
        assert_int_equal(capture(frames, 4), 0);
    assert_non_null(strstr(noted, "Python's stacks are left out"));
    make_program();
    assert_int_equal(capture(frames, 4), 0);
}

static void a_strange_stack_is_not_all(void **unused)
{
    const void *frames[4];
    (void)unused;
    if (!alone(__func__))
        return;
    code.lines = &name;
    python_frames_start(true, note);
    assert_int_equal(capture(frames, 4), 0);
    code.lines = &lines;
    assert_int_equal(capture(frames, 4), 2);
}

static void it_can_be_switched_off(void **unused)
{
    (void)unused;
    if (!alone(__func__))
        return;
    python_frames_start(false, note);
    assert_null(python_frames(NULL));
    assert_true(python_interpreter_has((const void *)(uintptr_t)Py_GetVersion));
}

/* Whose threads run copies of code of their own. */
static void a_build_without_the_lock_is_left_alone(void **unused)
{
    (void)unused;
    if (!alone(__func__))
        return;
    version = "3.14.0 (made by hand)";
    memcpy(_PyRuntime, "xdebugpy", 8);
    _PyRuntime[1] = 0x030e00f0;
    _PyRuntime[2] = 1;
    python_frames_start(true, note);
    assert_null(python_frames(NULL));
}

/* An argument: that test alone. */
int main(int argc, char **argv)
{
    is_alone = argc > 1;
    if (is_alone)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_read),
        cmocka_unit_test(memory_used_again_is_other_code),
        cmocka_unit_test(code_is_read_again_when_it_has_died),
        cmocka_unit_test(where_deaths_are_not_known_code_is_always_read),
        cmocka_unit_test(what_was_no_code_may_become_code),
        cmocka_unit_test(random_stacks_are_what_they_were_made_of),
        cmocka_unit_test(without_numbers_lines_identify_code),
        cmocka_unit_test(a_thread_without_code_decides_nothing),
        cmocka_unit_test(threads_find_their_own_code),
        cmocka_unit_test(there_is_room_for_so_much),
        cmocka_unit_test(equal_code_is_one),
        cmocka_unit_test(what_is_no_code_is_left_out),
        cmocka_unit_test(only_none_is_known_to_stay),
        cmocka_unit_test(names_are_copied_as_utf8),
        cmocka_unit_test(an_instruction_elsewhere_has_the_functions_line),
        cmocka_unit_test(offsets_are_the_interpreters),
        cmocka_unit_test(a_version_that_nobody_knows_is_left_alone),
        cmocka_unit_test(a_layout_that_does_not_fit_is_given_up),
        cmocka_unit_test(a_strange_stack_is_not_all),
        cmocka_unit_test(it_can_be_switched_off),
        cmocka_unit_test(a_build_without_the_lock_is_left_alone),
    };
    return cmocka_run_group_tests_name("python_frames", tests, NULL, NULL);
}
