/* See interpreter.h. */
#include "runtime/python/interpreter.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS_MAX = 8 };

static struct {
    pthread_mutex_t lock;
    struct python_interpreter interpreter;
    int state; /* 0: none was found yet, 1: one that is known, -1: one that is not */
    size_t segment_count;
    struct {
        uintptr_t begin, end;
    } segments[SEGMENTS_MAX]; /* of its code */
} python = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Layouts that follow from the version alone ---- */

/* 3.8 to 3.11. */
static const struct python_objects objects = {
    .type = 8,
    .string_length = 16,
    .string_state = 32,
    .string_ascii = 48,
    .string_compact = 72,
    .string_kind_bit = 2,
    .bytes_length = 16,
    .bytes_data = 32,
};

/* 3.8 and 3.9, whose frames are objects, and 3.11, whose frames are not. */
static const struct python_layout frame_objects = {
    .lines = PYTHON_LNOTAB,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 104,
    .number_bytes = 1,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    .code_first_line = 40,
};
static const struct python_layout frame_structs = {
    .lines = PYTHON_LOCATIONS,
    .thread_frame = 56,
    .indirect = true,
    .indirect_frame = 8,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_instruction = 56,
    .frame_owner = 69,
    .code_file = 112,
    .code_name = 120,
    .code_lines = 136,
    .code_first_line = 72,
    .code_instructions = 184,
};

/* In 3.12 to 3.14; 0 for code that was made after four billion others. */
enum { CODE_VERSION = 92 };

static bool layout_of_table(unsigned version, void *handle)
{
    struct python_layout *layout = &python.interpreter.layout;
    /* A build for debugging reference counts has two pointers more in front of every object. */
    if (version < 0x0308 || dlsym(handle, "_Py_PrintReferences"))
        return false;
    *layout = version < 0x030b ? frame_objects : frame_structs;
    layout->objects = objects;
    layout->version = (uint16_t)version;
    if (version == 0x030a) {
        layout->lines = PYTHON_RANGES;
        layout->frame_instruction = 96;
        layout->number_bytes = 2;
    }
    if (version == 0x030c) {
        layout->indirect_frame = layout->frame_code = 0;
        layout->frame_previous = 8;
        layout->frame_owner = 70;
        layout->code_first_line = 68;
        layout->code_version = CODE_VERSION;
        layout->code_instructions = 192;
        layout->objects.string_ascii = 40;
        layout->objects.string_compact = 56;
    }
    return true;
}

/* ---- Layouts that the interpreter publishes ---- */

/* Which of debug_offsets' words of 64 bits is what, the cookie being the first (0). */
struct published_offsets {
    unsigned version;
    uint8_t free_threaded, current_frame, previous, executable, instruction, owner;
    uint8_t file, name, lines, first_line, instructions;
    uint8_t object_type, bytes_length, bytes_data, string_state, string_length, string_ascii;
};
static const struct published_offsets published_layouts[] = {
    {0x030d, 2, 23, 29, 30, 31, 33, 35, 36, 38, 39, 43, 45, 65, 66, 68, 69, 70},
    {0x030e, 2, 26, 32, 33, 34, 36, 40, 41, 43, 44, 48, 51, 75, 76, 78, 79, 80},
};

static bool layout_of(const struct published_offsets *index, const uint64_t *offsets)
{
    if (offsets[index->free_threaded])
        return false;
    uint16_t ascii = (uint16_t)offsets[index->string_ascii];
    python.interpreter.layout = (struct python_layout){
        .version = (uint16_t)index->version,
        .lines = PYTHON_LOCATIONS,
        .thread_frame = (uint16_t)offsets[index->current_frame],
        .frame_previous = (uint16_t)offsets[index->previous],
        .frame_code = (uint16_t)offsets[index->executable],
        .frame_instruction = (uint16_t)offsets[index->instruction],
        .frame_owner = (uint16_t)offsets[index->owner],
        .objects.type = (uint16_t)offsets[index->object_type],
        .code_file = (uint16_t)offsets[index->file],
        .code_name = (uint16_t)offsets[index->name],
        .code_lines = (uint16_t)offsets[index->lines],
        .code_first_line = (uint16_t)offsets[index->first_line],
        .code_version = CODE_VERSION,
        .code_instructions = (uint16_t)offsets[index->instructions],
        .objects.string_length = (uint16_t)offsets[index->string_length],
        .objects.string_state = (uint16_t)offsets[index->string_state],
        .objects.string_ascii = ascii,
        .objects.string_compact = (uint16_t)(ascii + 16), /* and the text's UTF-8 with its length */
        .objects.string_kind_bit = 2,
        .objects.bytes_length = (uint16_t)offsets[index->bytes_length],
        .objects.bytes_data = (uint16_t)offsets[index->bytes_data]};
    return true;
}

static bool layout_published(unsigned version, void *handle)
{
    static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    const uint64_t *offsets = dlsym(handle, "_PyRuntime");
    if (!offsets || memcmp(offsets, cookie, sizeof cookie) != 0 || offsets[1] >> 16 != version)
        return false;
    for (size_t i = 0; i < sizeof published_layouts / sizeof *published_layouts; i++)
        if (published_layouts[i].version == version)
            return layout_of(&published_layouts[i], offsets);
    return false;
}

/* ---- The interpreter ---- */

/* All code of the object: what reorders functions puts some in a segment of their own. */
static int object_look(struct dl_phdr_info *object, size_t size, void *user)
{
    uintptr_t address = (uintptr_t)user;
    bool here = false;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        here |= segment->p_type == PT_LOAD &&
                address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
    }
    for (int i = 0; here && i < object->dlpi_phnum && python.segment_count < SEGMENTS_MAX; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        python.segments[python.segment_count].begin = begin;
        python.segments[python.segment_count++].end = begin + segment->p_memsz;
    }
    return here;
}

static unsigned version_read(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    return (unsigned)(major << 8 | (*end == '.' ? strtoul(end + 1, NULL, 10) : 0));
}

static int interpreter_look(void *handle)
{
    const char *(*version_text)(void) = (const char *(*)(void))dlsym(handle, "Py_GetVersion");
    if (!version_text)
        return 0;
    struct python_interpreter *found = &python.interpreter;
    dl_iterate_phdr(object_look, (void *)(uintptr_t)version_text);
    found->is_initialized = (int (*)(void))dlsym(handle, "Py_IsInitialized");
    found->this_thread = (const void *(*)(void))dlsym(handle, "PyGILState_GetThisThreadState");
    found->code_type = dlsym(handle, "PyCode_Type");
    found->none = dlsym(handle, "_Py_NoneStruct");
    found->string_type = dlsym(handle, "PyUnicode_Type");
    found->bytes_type = dlsym(handle, "PyBytes_Type");
    unsigned version = version_read(version_text());
    bool whole = found->is_initialized && found->this_thread && found->code_type &&
                 found->string_type && found->bytes_type;
    bool known =
        version < 0x030d ? layout_of_table(version, handle) : layout_published(version, handle);
    return whole && known ? 1 : -1;
}

static void interpreter_find(const void *in)
{
    Dl_info info;
    void *handle = NULL;
    if (in && dladdr(in, &info) && info.dli_fname)
        handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD); /* once found, for ever */
    pthread_mutex_lock(&python.lock);
    if (!python.state) {
        int state = interpreter_look(RTLD_DEFAULT);
        if (!state && handle)
            state = interpreter_look(handle);
        __atomic_store_n(&python.state, state, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&python.lock);
}

const struct python_interpreter *python_interpreter(const void *in)
{
    if (!__atomic_load_n(&python.state, __ATOMIC_ACQUIRE))
        interpreter_find(in);
    return __atomic_load_n(&python.state, __ATOMIC_ACQUIRE) > 0 ? &python.interpreter : NULL;
}

bool python_interpreter_has(const void *address)
{
    if (!__atomic_load_n(&python.state, __ATOMIC_ACQUIRE))
        return false;
    for (size_t i = 0; i < python.segment_count; i++)
        if ((uintptr_t)address - python.segments[i].begin <
            python.segments[i].end - python.segments[i].begin)
            return true;
    return false;
}
