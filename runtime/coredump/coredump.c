/* See coredump.h. Rows are read by offsets and not through structs: a row of an older driver is
 * shorter, and what it lacks is 0. */
#include "runtime/coredump/coredump.h"

#include "runtime/ptx/unaligned.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Types of sections: CudbgSectionHeaderTypes of cudacoredump.h. */
enum section {
    SECTION_REGISTERS = 5,
    SECTION_IMAGE = 7,
    SECTION_DEVICES = 9,
    SECTION_CONTEXTS = 10,
    SECTION_SMS = 11,
    SECTION_GRIDS = 12,
    SECTION_BLOCKS = 13,
    SECTION_WARPS = 14,
    SECTION_LANES = 15,
    SECTION_MODULES = 16,
    SECTION_PREDICATES = 17,
    SECTION_PARAMETERS = 18,
    SECTION_UNIFORM_REGISTERS = 19
};

/* One row of a table, of which bytes may be missing at the end. */
struct row {
    const uint8_t *data;
    uint64_t bytes;
};

static uint32_t row32(struct row row, uint64_t at)
{
    return row.bytes >= at + 4 ? read32(row.data + at) : 0;
}

static uint64_t row64(struct row row, uint64_t at)
{
    return row.bytes >= at + 8 ? read64(row.data + at) : 0;
}

static void row_three(struct row row, uint64_t at, uint32_t to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] = row32(row, at + 4 * (uint64_t)i);
}

static bool is_section(const struct elf_section *section, enum section type)
{
    return section->type == SHT_LOUSER + (uint32_t)type;
}

static uint64_t row_count(const struct elf_section *table)
{
    return table->data && table->entry_bytes ? table->bytes / table->entry_bytes : 0;
}

/* Empty where there is no such row. */
static struct row table_row(const struct elf_section *table, uint64_t number)
{
    if (number >= row_count(table))
        return (struct row){.bytes = 0};
    return (struct row){table->data + number * table->entry_bytes, table->entry_bytes};
}

/* The row that `section` is below, and its table. */
static struct row parent_row(const struct coredump *dump, const struct elf_section *section,
                             enum section type, struct elf_section *table)
{
    if (!elf_file_section(&dump->file, section->link, table) || !is_section(table, type))
        *table = (struct elf_section){.name = ""};
    return table_row(table, section->info);
}

bool coredump_open(struct coredump *dump, const void *data, size_t bytes, char *message,
                   size_t message_bytes)
{
    if (!elf_file_open(&dump->file, data, bytes, message, message_bytes))
        return false;
    if (dump->file.type == ET_CORE && dump->file.machine == ELF_MACHINE_CUDA &&
        dump->file.section_count)
        return true;
    snprintf(message, message_bytes, "not a GPU core dump");
    return false;
}

/* ---- What failed ------------------------------------------------------------------------------
 */

/* Offsets in rows: cudacoredump.h. */
enum { SM_EXCEPTION = 8, SM_PC_VALID = 12, SM_PC = 16 };
enum { BLOCK_GRID = 0, BLOCK_INDEX = 8 };
enum { WARP_PC = 0, WARP_VALID = 12, WARP_ACTIVE = 16, WARP_BROKEN = 20, WARP_PC_VALID = 24 };
enum { LANE_PC = 0, LANE_NUMBER = 16, LANE_THREAD = 20, LANE_EXCEPTION = 32 };
enum { DEVICE_NUMBER = 24, DEVICE_SM_MAJOR = 56, DEVICE_SM_MINOR = 60 };
enum { CONTEXT_HANDLE = 0, CONTEXT_SHARED = 8, CONTEXT_LOCAL = 16 };

/* The failed launches found so far, and where in the dump the first failed warp of each is. */
struct faults {
    const struct coredump *dump;
    struct coredump_fault *items;
    size_t count;
    uint32_t device_index[COREDUMP_FAULTS_MOST]; /* row in the table of devices */
    uint32_t lanes[COREDUMP_FAULTS_MOST];        /* section: the warp's lanes */
    uint32_t warps[COREDUMP_FAULTS_MOST], warp[COREDUMP_FAULTS_MOST]; /* table and row */
};

/* A warp that failed, with the tables above it. */
struct warp_place {
    struct elf_section lanes, warps, blocks, sms, devices;
    struct row warp, block, sm, device;
    uint32_t exception, threads;
};

static uint32_t ones(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* Whether a thread of the warp raised an exception, or the warp stopped at a breakpoint. */
static bool warp_failed(struct warp_place *place)
{
    place->exception = place->threads = 0;
    for (uint64_t i = 0; i < row_count(&place->lanes); i++) {
        const uint32_t exception = row32(table_row(&place->lanes, i), LANE_EXCEPTION);
        place->threads += exception != COREDUMP_NONE;
        if (place->exception == COREDUMP_NONE)
            place->exception = exception;
    }
    if (place->exception != COREDUMP_NONE)
        return true;
    if (!row32(place->warp, WARP_BROKEN))
        return false;
    place->exception = COREDUMP_TRAP;
    place->threads = ones(row32(place->warp, WARP_VALID) & row32(place->warp, WARP_ACTIVE));
    return true;
}

/* By z, then y, then x, as blocks and threads are counted. */
static int compare_three(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 2; i >= 0; i--)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Where the launch is among the faults; else a new one is put where it belongs, or COUNT when there
 * is no room. */
static size_t fault_find(struct faults *faults, uint32_t device_index, uint64_t grid, bool *is_new)
{
    size_t at = 0;
    *is_new = false;
    while (at < faults->count &&
           (faults->device_index[at] < device_index ||
            (faults->device_index[at] == device_index && faults->items[at].grid.id < grid)))
        at++;
    if (at < faults->count && faults->device_index[at] == device_index &&
        faults->items[at].grid.id == grid)
        return at;
    *is_new = true;
    if (at == COREDUMP_FAULTS_MOST)
        return at;
    if (faults->count < COREDUMP_FAULTS_MOST)
        faults->count++;
    for (size_t i = faults->count - 1; i > at; i--) {
        faults->items[i] = faults->items[i - 1];
        faults->device_index[i] = faults->device_index[i - 1];
        faults->lanes[i] = faults->lanes[i - 1];
        faults->warps[i] = faults->warps[i - 1];
        faults->warp[i] = faults->warp[i - 1];
    }
    faults->items[at] = (struct coredump_fault){.grid = {.id = grid}};
    faults->device_index[at] = device_index;
    return at;
}

static void first_thread(const struct elf_section *lanes, uint32_t thread[3])
{
    row_three(table_row(lanes, 0), LANE_THREAD, thread);
}

/* Whether the warp comes before the one that stands for its launch so far. */
static bool is_earlier(const struct faults *faults, size_t at, const struct warp_place *place)
{
    const struct coredump_fault *fault = &faults->items[at];
    struct elf_section other;
    uint32_t block[3], thread[3], its_thread[3] = {0};
    row_three(place->block, BLOCK_INDEX, block);
    const int order = compare_three(block, fault->block);
    if (order)
        return order < 0;
    first_thread(&place->lanes, thread);
    if (elf_file_section(&faults->dump->file, faults->lanes[at], &other))
        first_thread(&other, its_thread);
    return compare_three(thread, its_thread) < 0;
}

static void device_read(struct coredump_fault *fault, struct row device)
{
    fault->device = row32(device, DEVICE_NUMBER);
    fault->sm_major = row32(device, DEVICE_SM_MAJOR);
    fault->sm_minor = row32(device, DEVICE_SM_MINOR);
}

static void warp_add(struct faults *faults, const struct warp_place *place)
{
    bool is_new;
    const size_t at = fault_find(faults, place->sms.info, row64(place->block, BLOCK_GRID), &is_new);
    if (at == COREDUMP_FAULTS_MOST)
        return;
    struct coredump_fault *fault = &faults->items[at];
    fault->warps++;
    fault->threads += place->threads;
    if (!is_new && !is_earlier(faults, at, place))
        return;
    device_read(fault, place->device);
    fault->exception = place->exception;
    fault->has_warp = true;
    row_three(place->block, BLOCK_INDEX, fault->block);
    fault->has_pc = row32(place->warp, WARP_PC_VALID) != 0;
    fault->pc = row64(place->warp, WARP_PC);
    fault->active = row32(place->warp, WARP_VALID) & row32(place->warp, WARP_ACTIVE);
    faults->lanes[at] = place->lanes.index;
    faults->warps[at] = place->warps.index;
    faults->warp[at] = place->lanes.info;
}

static void warps_find(struct faults *faults)
{
    struct warp_place place;
    const struct coredump *dump = faults->dump;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &place.lanes) ||
            !is_section(&place.lanes, SECTION_LANES))
            continue;
        place.warp = parent_row(dump, &place.lanes, SECTION_WARPS, &place.warps);
        if (!warp_failed(&place))
            continue;
        place.block = parent_row(dump, &place.warps, SECTION_BLOCKS, &place.blocks);
        place.sm = parent_row(dump, &place.blocks, SECTION_SMS, &place.sms);
        place.device = parent_row(dump, &place.sms, SECTION_DEVICES, &place.devices);
        warp_add(faults, &place);
    }
}

/* ---- Around a failed warp ---------------------------------------------------------------------
 */

static void grid_read(struct coredump_grid *grid, struct row row)
{
    grid->id = row64(row, 0);
    grid->context = row64(row, 8);
    grid->function = row64(row, 16);
    grid->entry = row64(row, 24);
    grid->module = row64(row, 32);
    row_three(row, 72, grid->grid);
    row_three(row, 84, grid->block);
    grid->host_thread = row32(row, 100);
}

static void parameters_find(const struct coredump *dump, struct coredump_grid *grid, uint32_t table,
                            uint32_t row)
{
    struct elf_section section;
    for (uint32_t i = table + 1; i < dump->file.section_count; i++)
        if (elf_file_section(&dump->file, i, &section) &&
            is_section(&section, SECTION_PARAMETERS) && section.link == table &&
            section.info == row && section.data) {
            grid->params = section.data;
            grid->param_bytes = section.bytes;
            return;
        }
}

/* The grid of that id; of NO_GRID: the only one there is. */
#define NO_GRID UINT64_MAX

static void grid_find(const struct coredump *dump, struct coredump_fault *fault,
                      uint32_t device_index, uint64_t id)
{
    struct elf_section table;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &table) || !is_section(&table, SECTION_GRIDS) ||
            table.info != device_index)
            continue;
        const uint64_t count = row_count(&table);
        for (uint64_t row = 0; row < count; row++) {
            if (id == NO_GRID ? count != 1 : row64(table_row(&table, row), 0) != id)
                continue;
            fault->has_grid = true;
            grid_read(&fault->grid, table_row(&table, row));
            parameters_find(dump, &fault->grid, i, (uint32_t)row);
            return;
        }
    }
}

static void windows_find(const struct coredump *dump, struct coredump_fault *fault,
                         uint32_t device_index)
{
    struct elf_section table;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &table) || !is_section(&table, SECTION_CONTEXTS) ||
            table.info != device_index)
            continue;
        for (uint64_t row = 0; row < row_count(&table); row++) {
            const struct row context = table_row(&table, row);
            if (row64(context, CONTEXT_HANDLE) != fault->grid.context)
                continue;
            fault->shared_window = row64(context, CONTEXT_SHARED);
            fault->local_window = row64(context, CONTEXT_LOCAL);
        }
    }
}

static void lanes_read(struct coredump_fault *fault, const struct elf_section *lanes)
{
    for (uint64_t i = 0; i < row_count(lanes); i++) {
        const struct row row = table_row(lanes, i);
        const uint32_t number = row32(row, LANE_NUMBER);
        if (number >= COREDUMP_LANES)
            continue;
        struct coredump_lane *lane = &fault->lanes[number];
        fault->present |= UINT32_C(1) << number;
        lane->exception = row32(row, LANE_EXCEPTION);
        lane->pc = row64(row, LANE_PC);
        row_three(row, LANE_THREAD, lane->thread);
    }
}

/* What hangs below the warp and its lanes. `lanes` has rows by their place and not by the lane's
 * number. */
static void registers_find(const struct coredump *dump, struct coredump_fault *fault,
                           const struct elf_section *lanes)
{
    struct elf_section section;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &section) || !section.data)
            continue;
        const uint64_t most = section.bytes / 4;
        const uint32_t count = most < 1024 ? (uint32_t)most : 1024;
        if (is_section(&section, SECTION_UNIFORM_REGISTERS) && section.link == lanes->link &&
            section.info == lanes->info) {
            fault->uniform_registers = section.data;
            fault->uniform_register_count = count;
        }
        if (section.link != lanes->index)
            continue;
        const uint32_t number = row32(table_row(lanes, section.info), LANE_NUMBER);
        if (number >= COREDUMP_LANES || section.info >= row_count(lanes))
            continue;
        struct coredump_lane *lane = &fault->lanes[number];
        if (is_section(&section, SECTION_REGISTERS)) {
            lane->registers = section.data;
            lane->register_count = count;
        } else if (is_section(&section, SECTION_PREDICATES)) {
            lane->predicates = section.data;
            lane->predicate_count = count;
        }
    }
}

/* Failed warps may be gone when the dump is written: their SM still has the exception. */
static void sms_find(struct faults *faults)
{
    const struct coredump *dump = faults->dump;
    struct elf_section table, devices;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &table) || !is_section(&table, SECTION_SMS))
            continue;
        bool is_known = false, is_new;
        for (size_t f = 0; f < faults->count; f++)
            is_known |= faults->device_index[f] == table.info;
        for (uint64_t row = 0; !is_known && row < row_count(&table); row++) {
            const struct row sm = table_row(&table, row);
            if (row32(sm, SM_EXCEPTION) == COREDUMP_NONE)
                continue;
            const size_t at = fault_find(faults, table.info, NO_GRID, &is_new);
            if (at == COREDUMP_FAULTS_MOST)
                return;
            struct coredump_fault *fault = &faults->items[at];
            fault->exception = row32(sm, SM_EXCEPTION);
            fault->has_pc = row32(sm, SM_PC_VALID) != 0;
            fault->pc = row64(sm, SM_PC);
            device_read(fault, parent_row(dump, &table, SECTION_DEVICES, &devices));
            is_known = true;
        }
    }
}

size_t coredump_faults(const struct coredump *dump,
                       struct coredump_fault items[COREDUMP_FAULTS_MOST])
{
    struct faults faults = {.dump = dump, .items = items};
    struct elf_section lanes;
    warps_find(&faults);
    sms_find(&faults);
    for (size_t i = 0; i < faults.count; i++) {
        grid_find(dump, &items[i], faults.device_index[i], items[i].grid.id);
        windows_find(dump, &items[i], faults.device_index[i]);
        if (!items[i].has_warp || !elf_file_section(&dump->file, faults.lanes[i], &lanes))
            continue;
        lanes_read(&items[i], &lanes);
        registers_find(dump, &items[i], &lanes);
    }
    return faults.count;
}

const uint8_t *coredump_image(const struct coredump *dump, uint64_t module, size_t *bytes)
{
    struct elf_section image, modules;
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &image) || !is_section(&image, SECTION_IMAGE) ||
            !image.data)
            continue;
        const struct row row = parent_row(dump, &image, SECTION_MODULES, &modules);
        if (row.bytes < 8 || row64(row, 0) != module)
            continue;
        *bytes = image.bytes;
        return image.data;
    }
    return NULL;
}

bool coredump_code_at(const struct elf_file *image, uint64_t pc, struct elf_section *code)
{
    for (uint32_t i = 0; i < image->section_count; i++)
        if (elf_file_section(image, i, code) && (code->flags & SHF_EXECINSTR) && code->data &&
            pc >= code->address && pc - code->address < code->bytes)
            return true;
    return false;
}

const uint8_t *coredump_image_at(const struct coredump *dump, uint64_t pc, size_t *bytes)
{
    struct elf_section section, code;
    struct elf_file image;
    char message[128];
    for (uint32_t i = 0; i < dump->file.section_count; i++) {
        if (!elf_file_section(&dump->file, i, &section) || !is_section(&section, SECTION_IMAGE) ||
            !section.data ||
            !elf_file_open(&image, section.data, section.bytes, message, sizeof message) ||
            !coredump_code_at(&image, pc, &code))
            continue;
        *bytes = section.bytes;
        return section.data;
    }
    return NULL;
}

bool coredump_is_astray(const struct coredump *dump, const struct coredump_fault *fault)
{
    size_t code;
    return fault->exception == COREDUMP_ILLEGAL_INSTRUCTION && fault->has_pc &&
           !coredump_image_at(dump, fault->pc, &code);
}

const char *coredump_exception_words(uint32_t exception)
{
    switch (exception) {
    case COREDUMP_LANE_ILLEGAL_ADDRESS:
    case COREDUMP_DEVICE_ILLEGAL_ADDRESS:
    case COREDUMP_ILLEGAL_ADDRESS:
    case COREDUMP_ADDRESS_SPACE:
        return "illegal memory access";
    case COREDUMP_STACK_OVERFLOW:
    case COREDUMP_DEVICE_STACK_OVERFLOW:
    case COREDUMP_HARDWARE_STACK_OVERFLOW:
        return "stack overflow";
    case COREDUMP_STACK_CANARY:
        return "stack overwritten";
    case COREDUMP_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case COREDUMP_OUT_OF_RANGE:
        return "shared or local memory access out of range";
    case COREDUMP_MISALIGNED:
    case COREDUMP_LANE_MISALIGNED:
        return "misaligned memory access";
    case COREDUMP_INVALID_PC:
        return "call or jump to an address without code";
    case COREDUMP_ASSERT:
        return "failed assert";
    case COREDUMP_SYSCALL:
        return "invalid free() in a kernel";
    case COREDUMP_ATOMIC_NOT_MIGRATABLE:
    case COREDUMP_ATOMIC_INVALID:
        return "system-wide atomic operation on memory that does not support it";
    case COREDUMP_CLUSTER_OUT_OF_RANGE:
        return "shared memory access out of range in another block of the cluster";
    case COREDUMP_CLUSTER_BLOCK_GONE:
        return "access to shared memory of a block that has ended";
    case COREDUMP_TENSOR_MEMORY_ACCESS:
        return "invalid access to tensor memory";
    case COREDUMP_TENSOR_MEMORY_LEAK:
        return "tensor memory not freed";
    case COREDUMP_NEWER_DRIVER_NEEDED:
        return "call that needs a newer driver";
    case COREDUMP_TRAP:
        return "trap";
    default:
        return "exception of the hardware";
    }
}
