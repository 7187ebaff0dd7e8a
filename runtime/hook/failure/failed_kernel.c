/* See failed_kernel.h. */
#include "runtime/hook/failure/failed_kernel.h"
#include "runtime/hook/failure/failure.h"
#include "runtime/hook/session/session.h"
#include "runtime/ptx/unaligned.h"
#include "runtime/sass/assertion.h"
#include "runtime/sass/memory_access.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGISTERS = 256, UNIFORM_REGISTERS = 256, NAME_BYTES = 4096, PLACE_BYTES = 1024 };

static const char text_prefix[] = ".text.";

/* ---- The code ---- */

/* A section of code is named after its function. */
static const char *function_name(const struct elf_section *code)
{
    const size_t prefix = sizeof text_prefix - 1;
    return strncmp(code->name, text_prefix, prefix) == 0 ? code->name + prefix : code->name;
}

static bool instruction_at(const struct elf_section *code, uint64_t pc, struct instruction *found)
{
    const uint64_t offset = pc - code->address;
    if (code->bytes < INSTRUCTION_BYTES || offset > code->bytes - INSTRUCTION_BYTES)
        return false;
    found->low = read64(code->data + offset);
    found->high = read64(code->data + offset + 8);
    return true;
}

/* ---- The threads ---- */

/* What a lane's registers held, as memory_access.h wants them. */
struct lane_state {
    struct memory_lane lane;
    uint32_t registers[REGISTERS], uniform[UNIFORM_REGISTERS];
};

static uint32_t words_read(uint32_t *to, uint32_t most, const uint8_t *from, uint32_t count)
{
    if (!from)
        return 0;
    count = count < most ? count : most;
    for (uint32_t i = 0; i < count; i++)
        to[i] = read32(from + 4 * (size_t)i);
    return count;
}

static void lane_read(const struct coredump_fault *fault, uint32_t number, struct lane_state *state)
{
    const struct coredump_lane *from = &fault->lanes[number];
    struct memory_lane *lane = &state->lane;
    *lane = (struct memory_lane){
        .number = number, .registers = state->registers, .uniform = state->uniform};
    lane->register_count =
        words_read(state->registers, REGISTERS, from->registers, from->register_count);
    lane->uniform_count = words_read(state->uniform, UNIFORM_REGISTERS, fault->uniform_registers,
                                     fault->uniform_register_count);
    for (uint32_t i = 0; i < 8 && i < from->predicate_count; i++) {
        lane->predicates_known |= (uint8_t)(1u << i);
        if (read32(from->predicates + 4 * (size_t)i))
            lane->predicates |= (uint8_t)(1u << i);
    }
}

/* Of global memory, by whatever name. */
static bool is_of_device_memory(const struct coredump_fault *fault, const struct memory_part *part,
                                uint64_t address)
{
    enum { WINDOW_BITS = 24 }; /* generic addresses of shared and local memory: 16 MiB each */
    if (part->space == MEMORY_GLOBAL)
        return true;
    return part->space == MEMORY_GENERIC &&
           !(fault->shared_window &&
             address >> WINDOW_BITS == fault->shared_window >> WINDOW_BITS) &&
           !(fault->local_window && address >> WINDOW_BITS == fault->local_window >> WINDOW_BITS);
}

static bool is_misaligned(uint32_t exception)
{
    return exception == COREDUMP_MISALIGNED || exception == COREDUMP_LANE_MISALIGNED;
}

/* Bytes of shared memory that a multiprocessor has at most (sm_90, sm_100). How many of them are
 * the block's the dump does not say. */
enum { SHARED_MOST = 228 << 10 };

/* Could that access be what failed? */
static bool is_bad(const struct coredump_fault *fault, const struct memory_part *part,
                   uint64_t address)
{
    uint64_t base, bytes;
    if (is_misaligned(fault->exception))
        return part->bytes && address % part->bytes != 0;
    if (part->space == MEMORY_SHARED)
        return address + part->bytes > SHARED_MOST;
    if (!is_of_device_memory(fault, part, address))
        return false;
    return !csan_memory_find(session_context(), address, &base, &bytes, NULL) ||
           address - base + part->bytes > bytes;
}

static void describe_access(const struct memory_part *part, struct device_failure *failure)
{
    failure->bytes = part->bytes;
    failure->access = part->action == MEMORY_READS    ? DEVICE_FAILURE_READ
                      : part->action == MEMORY_WRITES ? DEVICE_FAILURE_WRITE
                                                      : DEVICE_FAILURE_ATOMIC;
}

/* The exception is flagged for all of a warp: the addresses show which threads caused it. */
static void find_thread(const struct coredump_fault *fault, const struct memory_access *access,
                        struct device_failure *failure)
{
    struct lane_state state;
    bool any = false, certain = false;
    uint64_t threads = 0;
    for (uint32_t i = 0; i < COREDUMP_LANES; i++) {
        if (!(fault->present >> i & 1))
            continue;
        lane_read(fault, i, &state);
        for (uint32_t k = 0; k < access->count; k++) {
            const struct memory_part *part = &access->parts[k];
            uint64_t address;
            bool accessed;
            if (!memory_part_is_accessed(access, part, &state.lane, &accessed) || !accessed ||
                !memory_address_find(&part->address, &state.lane, &address))
                continue;
            const bool bad = is_bad(fault, part, address);
            threads += bad;
            if (certain || (any && !bad))
                continue;
            any = true;
            certain = bad;
            failure->has_address = part->space <= MEMORY_LOCAL;
            failure->address = address;
            describe_access(part, failure);
            memcpy(failure->thread, fault->lanes[i].thread, sizeof failure->thread);
        }
    }
    failure->threads = threads;
}

/* Of those that met the exception, else of those that were at work. */
static uint32_t lanes_to_blame(const struct coredump_fault *fault)
{
    uint32_t met = 0;
    for (uint32_t i = 0; i < COREDUMP_LANES; i++)
        if (fault->present >> i & 1 && fault->lanes[i].exception != COREDUMP_NONE)
            met |= UINT32_C(1) << i;
    const uint32_t met_active = met & fault->active, active = fault->present & fault->active;
    if (met)
        return met_active ? met_active : met;
    return active ? active : fault->present;
}

static void first_thread(const struct coredump_fault *fault, struct device_failure *failure)
{
    const uint32_t lanes = lanes_to_blame(fault);
    if (lanes)
        memcpy(failure->thread, fault->lanes[__builtin_ctz(lanes)].thread, sizeof failure->thread);
}

/* The instruction that failed; of a trap the one that a thread is at, of an assertion the call that
 * the thread would return from. 0: not known. */
static uint64_t pc_of(const struct coredump_fault *fault)
{
    const uint32_t lanes = lanes_to_blame(fault);
    if (fault->has_pc)
        return fault->pc;
    if (!lanes || (fault->exception != COREDUMP_TRAP && fault->exception != COREDUMP_ASSERT))
        return 0;
    const uint64_t pc = fault->lanes[__builtin_ctz(lanes)].pc;
    return fault->exception == COREDUMP_TRAP || pc < INSTRUCTION_BYTES ? pc
                                                                       : pc - INSTRUCTION_BYTES;
}

/* ---- All of it ---- */

/* The symbolizer reads files: the image is one in memory, for as long as it is asked. */
static void find_line(const uint8_t *image, size_t bytes, uint64_t pc,
                      struct device_failure *failure, char *file, size_t file_bytes)
{
    const int memory = memfd_create("csan device code", MFD_CLOEXEC);
    char path[64];
    if (memory < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), memory);
    uint32_t line = 0;
    if (write(memory, image, bytes) == (ssize_t)bytes &&
        session_device_line(path, pc, file, file_bytes, &line)) {
        failure->file = file;
        failure->line = line;
    }
    close(memory);
}

static void find_assertion(const struct elf_file *image, const struct elf_section *code,
                           uint64_t pc, uint32_t architecture, struct device_failure *failure)
{
    struct assertion assertion;
    if (!assertion_find(&assertion, image, code, pc + INSTRUCTION_BYTES, architecture))
        return;
    failure->assertion = assertion.expression;
    if (!failure->file && assertion.file && assertion.line) {
        failure->file = assertion.file;
        failure->line = assertion.line;
    }
}

void failed_kernel_report(const struct coredump *dump, const struct coredump_fault *fault)
{
    char kernel[NAME_BYTES] = "", function[NAME_BYTES], file[PLACE_BYTES], message[128];
    struct device_failure failure = {
        .what = coredump_exception_words(coredump_is_astray(dump, fault) ? COREDUMP_INVALID_PC
                                                                         : fault->exception),
        .device = (int)fault->device,
        .has_thread = fault->has_warp};
    size_t bytes = 0;
    const uint8_t *data = fault->has_grid ? coredump_image(dump, fault->grid.module, &bytes) : NULL;
    struct elf_file image;
    struct elf_section code;
    struct instruction instruction;
    const uint64_t pc = pc_of(fault);
    const uint32_t architecture = fault->sm_major * 10 + fault->sm_minor;
    if (!data && pc)
        data = coredump_image_at(dump, pc, &bytes);
    memcpy(failure.grid, fault->grid.grid, sizeof failure.grid);
    memcpy(failure.block_size, fault->grid.block, sizeof failure.block_size);
    memcpy(failure.block, fault->block, sizeof failure.block);
    first_thread(fault, &failure);
    if (data && elf_file_open(&image, data, bytes, message, sizeof message)) {
        if (coredump_code_at(&image, fault->grid.entry, &code))
            snprintf(kernel, sizeof kernel, "%s", function_name(&code));
        if (pc && coredump_code_at(&image, pc, &code)) {
            snprintf(function, sizeof function, "%s", function_name(&code));
            if (!fault->has_grid) /* a kernel, unless the code was not inlined */
                snprintf(kernel, sizeof kernel, "%s", function);
            if (strcmp(function, kernel) != 0)
                failure.function = function;
            if (fault->has_pc && instruction_at(&code, pc, &instruction)) {
                const struct memory_access access = memory_access_of(instruction, architecture);
                find_thread(fault, &access, &failure);
                if (!failure.access && access.count)
                    describe_access(&access.parts[0], &failure);
            }
            find_line(data, bytes, pc, &failure, file, sizeof file);
            if (fault->exception == COREDUMP_ASSERT)
                find_assertion(&image, &code, pc, architecture, &failure);
        }
    }
    failure.kernel = kernel[0] ? kernel : NULL;
    failure_add(&failure, fault->grid.id);
}
