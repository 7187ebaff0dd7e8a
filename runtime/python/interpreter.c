/* See interpreter.h. */
#include "runtime/python/interpreter.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    struct python_interpreter interpreter;
    bool known;
    uintptr_t begin, end; /* of its code */
} python = {.once = PTHREAD_ONCE_INIT};

/* ---- Layouts that are told by the version alone ---- */

/* 3.8 and 3.9, whose frames are objects, and 3.11, whose frames are not. */
static const struct python_layout frame_objects = {
    .lines = PYTHON_LNOTAB,
    .thread_frame = 24,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_instruction = 104,
    .number_bytes = 1,
    .object_type = 8,
    .code_file = 104,
    .code_name = 112,
    .code_lines = 120,
    .code_first_line = 40,
    .string_length = 16,
    .string_state = 32,
    .string_ascii = 48,
    .string_compact = 72,
    .string_kind_bit = 2,
    .bytes_length = 16,
    .bytes_data = 32,
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
    .object_type = 8,
    .code_file = 112,
    .code_name = 120,
    .code_lines = 136,
    .code_first_line = 72,
    .code_instructions = 184,
    .string_length = 16,
    .string_state = 32,
    .string_ascii = 48,
    .string_compact = 72,
    .string_kind_bit = 2,
    .bytes_length = 16,
    .bytes_data = 32,
};

/* A build for debugging reference counts has two pointers more in front of every object. */
static bool traces_references(void)
{
    return dlsym(RTLD_DEFAULT, "_Py_PrintReferences") != NULL;
}

static bool layout_of_table(unsigned version)
{
    struct python_layout *layout = &python.interpreter.layout;
    if (version < 0x0308 || traces_references())
        return false;
    *layout = version < 0x030b ? frame_objects : frame_structs;
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
        layout->code_instructions = 192;
        layout->string_ascii = 40;
        layout->string_compact = 56;
    }
    return true;
}

/* ---- Layouts that the interpreter tells ---- */

/* Which of debug_offsets' words of 64 bits is what, the cookie being the first (0). */
struct told {
    unsigned version;
    uint8_t free_threaded, current_frame, previous, executable, instruction, owner;
    uint8_t file, name, lines, first_line, instructions;
    uint8_t object_type, bytes_length, bytes_data, string_state, string_length, string_ascii;
};
static const struct told tolds[] = {
    {0x030d, 2, 23, 29, 30, 31, 33, 35, 36, 38, 39, 43, 45, 65, 66, 68, 69, 70},
    {0x030e, 2, 26, 32, 33, 34, 36, 40, 41, 43, 44, 48, 51, 75, 76, 78, 79, 80},
};

static bool layout_of(const struct told *told, const uint64_t *offsets)
{
    uint16_t ascii = (uint16_t)offsets[told->string_ascii];
    python.interpreter.layout = (struct python_layout){
        .version = (uint16_t)told->version,
        .lines = PYTHON_LOCATIONS,
        .thread_frame = (uint16_t)offsets[told->current_frame],
        .frame_previous = (uint16_t)offsets[told->previous],
        .frame_code = (uint16_t)offsets[told->executable],
        .frame_instruction = (uint16_t)offsets[told->instruction],
        .frame_owner = (uint16_t)offsets[told->owner],
        .object_type = (uint16_t)offsets[told->object_type],
        .code_file = (uint16_t)offsets[told->file],
        .code_name = (uint16_t)offsets[told->name],
        .code_lines = (uint16_t)offsets[told->lines],
        .code_first_line = (uint16_t)offsets[told->first_line],
        .code_instructions = (uint16_t)offsets[told->instructions],
        .string_length = (uint16_t)offsets[told->string_length],
        .string_state = (uint16_t)offsets[told->string_state],
        .string_ascii = ascii,
        .string_compact = (uint16_t)(ascii + 16), /* and the text's UTF-8 with its length */
        .string_kind_bit = offsets[told->free_threaded] ? 8 : 2,
        .bytes_length = (uint16_t)offsets[told->bytes_length],
        .bytes_data = (uint16_t)offsets[told->bytes_data]};
    return true;
}

static bool layout_told(unsigned version)
{
    static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    const uint64_t *offsets = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (!offsets || memcmp(offsets, cookie, sizeof cookie) != 0 || offsets[1] >> 16 != version)
        return false;
    for (size_t i = 0; i < sizeof tolds / sizeof *tolds; i++)
        if (tolds[i].version == version)
            return layout_of(&tolds[i], offsets);
    return false;
}

/* ---- The interpreter ---- */

static int find_code(struct dl_phdr_info *object, size_t size, void *user)
{
    uintptr_t address = (uintptr_t)user;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || address - begin >= segment->p_memsz)
            continue;
        python.begin = begin;
        python.end = begin + segment->p_memsz;
        return 1;
    }
    return 0;
}

static void find(void)
{
    const char *(*version_text)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (!version_text)
        return;
    struct python_interpreter *found = &python.interpreter;
    dl_iterate_phdr(find_code, (void *)(uintptr_t)version_text);
    found->is_initialized = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    found->this_thread =
        (const void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    found->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
    found->string_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    found->bytes_type = dlsym(RTLD_DEFAULT, "PyBytes_Type");
    char *end;
    unsigned long major = strtoul(version_text(), &end, 10);
    unsigned version = (unsigned)(major << 8 | (*end == '.' ? strtoul(end + 1, NULL, 10) : 0));
    python.known = found->is_initialized && found->this_thread && found->code_type &&
                   found->string_type && found->bytes_type &&
                   (version < 0x030d ? layout_of_table(version) : layout_told(version));
}

const struct python_interpreter *python_interpreter(void)
{
    pthread_once(&python.once, find);
    return python.known ? &python.interpreter : NULL;
}

bool python_interpreter_has(const void *address)
{
    return (uintptr_t)address - python.begin < python.end - python.begin;
}
