/* A small device for the engine's tests: memory that the kernel's addresses reach only through the
 * alias, images from PTX text or from the .ptx files that nvcc made of tests/data/exec/NAME.cu. */
#ifndef TESTS_UNIT_DEVICE_EXEC_EXEC_HARNESS_H
#define TESTS_UNIT_DEVICE_EXEC_EXEC_HARNESS_H

#include "runtime/device/compile/compile.h"
#include "runtime/device/exec/exec.h"
#include "runtime/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { HARNESS_BYTES = 32 << 20, HARNESS_ALLOCATIONS = 64, HARNESS_TEXTURES = 4 };

struct harness {
    struct ptx_module *module;
    exec_image *image;
    uint8_t *view, *alias; /* the program's addresses; where this process touches them */
    uint64_t used;
    struct exec_region regions[HARNESS_ALLOCATIONS];
    uint32_t region_count;
    uint64_t window;
    struct exec_texture textures[HARNESS_TEXTURES]; /* of handles 1 to texture_count */
    uint32_t texture_count;
    /* of the next launches */
    uint64_t budget; /* of each exec_step; 0: harness_budget, or 1 << 20 */
    bool touches, cooperative;
    uint32_t cluster;
    /* of the last launch */
    struct exec_fault fault;
    char message[512];
    char printed[8192];
    size_t printed_bytes;
    struct device_trace_range *ranges;
    size_t range_count;
    bool touches_lost;
    uint64_t warp_instructions, thread_instructions, steps;
};

/* What tests run under: the engine's slices are no part of a kernel's meaning. */
static uint64_t harness_budget;

static bool harness_find(void *user, uint64_t address, struct exec_region *region)
{
    struct harness *h = user;
    for (uint32_t i = 0; i < h->region_count; i++) {
        if (address >= h->regions[i].base && address < h->regions[i].limit) {
            *region = h->regions[i];
            return true;
        }
    }
    return false;
}

/* Of textures and of surfaces. */
static const struct exec_texture *harness_find_texture(void *user, uint64_t handle)
{
    struct harness *h = user;
    return handle == 0 || handle > h->texture_count ? NULL : &h->textures[handle - 1];
}

static inline uint64_t harness_texture(struct harness *h, struct exec_texture texture)
{
    assert_true(h->texture_count < HARNESS_TEXTURES);
    h->textures[h->texture_count++] = texture;
    return h->texture_count;
}

static inline void *harness_host(struct harness *h, uint64_t address)
{
    return h->alias + (address - (uint64_t)(uintptr_t)h->view);
}

static inline uint64_t harness_allocate(struct harness *h, uint64_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)h->view + h->used;
    assert_true(h->region_count < HARNESS_ALLOCATIONS && h->used + bytes + 512 < HARNESS_BYTES);
    h->regions[h->region_count++] = (struct exec_region){
        .base = address, .limit = address + bytes, .delta = h->alias - h->view, .writable = true};
    h->used += (bytes + 511) / 256 * 256;
    memset(harness_host(h, address), 0, bytes);
    return address;
}

/* The heap of kernels: regions like others, which a free takes away. */
static uint64_t harness_heap_allocate(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)alignment;
    return harness_allocate(user, bytes);
}

static bool harness_heap_release(void *user, uint64_t address, uint64_t *bytes)
{
    struct harness *h = user;
    for (uint32_t i = 0; i < h->region_count; i++) {
        if (h->regions[i].base != address)
            continue;
        *bytes = h->regions[i].limit - address;
        h->regions[i] = h->regions[--h->region_count];
        return true;
    }
    return false;
}

static inline void harness_map(struct harness *h)
{
    int file = memfd_create("device", 0);
    assert_true(file >= 0 && ftruncate(file, HARNESS_BYTES) == 0);
    h->view = mmap(NULL, HARNESS_BYTES, PROT_NONE, MAP_SHARED, file, 0);
    h->alias = mmap(NULL, HARNESS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    uint8_t *reserved = mmap(NULL, 2 * EXEC_WINDOW_BYTES, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(h->view != MAP_FAILED && h->alias != MAP_FAILED && reserved != MAP_FAILED);
    uint64_t align = 16 << 20;
    h->window = ((uint64_t)(uintptr_t)reserved + align - 1) / align * align;
}

static inline void harness_open_text(struct harness *h, const char *text)
{
    struct ptx_error error = {0};
    compile_start(compile_mode_of(getenv("CSAN_DEVICE_COMPILE"), COMPILE_OFF));
    memset(h, 0, sizeof *h);
    harness_map(h);
    h->module = ptx_parse(text, strlen(text), &error);
    if (!h->module)
        fail_msg("line %u: %s", error.line, error.message);
    uint64_t global = harness_allocate(h, h->module->global_bytes + 1);
    uint64_t constant = harness_allocate(h, h->module->const_bytes + 1);
    h->image = exec_image_create(h->module, global, constant);
    assert_non_null(h->image);
    exec_image_initialise(h->image, harness_host(h, global), harness_host(h, constant));
}

static inline char *harness_read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)bytes + 1);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), bytes);
    fclose(file);
    return text;
}

/* NAME.cu of tests/data/exec, as nvcc compiled it */
static inline void harness_open(struct harness *h, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.ptx", EXEC_PTX, name);
    char *text = harness_read_file(path);
    harness_open_text(h, text);
    free(text);
}

static inline void harness_close(struct harness *h)
{
    exec_image_release(h->image);
    ptx_module_release(h->module);
    munmap(h->view, HARNESS_BYTES);
    munmap(h->alias, HARNESS_BYTES);
    munmap((void *)(uintptr_t)h->window, EXEC_WINDOW_BYTES);
    free(h->ranges);
}

static void harness_print(void *user, bool error, const char *text, size_t bytes)
{
    struct harness *h = user;
    (void)error;
    if (h->printed_bytes + bytes < sizeof h->printed) {
        memcpy(h->printed + h->printed_bytes, text, bytes);
        h->printed_bytes += bytes;
        h->printed[h->printed_bytes] = 0;
    }
}

/* A kernel whose name contains `name`: nvcc mangles them. */
static inline const struct ptx_function *harness_kernel(struct harness *h, const char *name)
{
    const struct ptx_function *exact = ptx_module_function(h->module, name);
    if (exact)
        return exact;
    char part[128];
    snprintf(part, sizeof part, "%zu%s", strlen(name), name);
    for (uint32_t i = 0; i < h->module->function_count; i++)
        if (h->module->functions[i]->is_entry && strstr(h->module->functions[i]->name, part))
            return h->module->functions[i];
    fail_msg("no kernel '%s'", name);
    return NULL;
}

static inline void harness_keep_touches(struct harness *h, exec_state *state)
{
    size_t count;
    const struct device_trace_range *ranges = exec_touches(state, &count);
    free(h->ranges);
    h->ranges = malloc((count + 1) * sizeof *ranges);
    if (count)
        memcpy(h->ranges, ranges, count * sizeof *ranges);
    h->range_count = count;
    h->touches_lost = exec_touches_lost(state);
}

static inline enum exec_status harness_steps(struct harness *h, exec_state *state)
{
    enum exec_status status;
    uint64_t idle = 0;
    h->steps = 0;
    do {
        uint64_t budget = h->budget ? h->budget : harness_budget;
        status = exec_step(state, budget ? budget : 1 << 20);
        h->steps++;
        idle = status == EXEC_SPINNING ? idle + 1 : 0;
        if (idle > 100000)
            fail_msg("nothing but spinning");
    } while (status == EXEC_RUNNING || status == EXEC_SPINNING);
    return status;
}

/* Arguments as cuLaunchKernel takes them: a pointer to each. Returns how it ended. */
static inline enum exec_status harness_launch(struct harness *h, const char *name, uint32_t grid,
                                              uint32_t block, uint64_t shared,
                                              void *const *arguments)
{
    const struct ptx_function *kernel = harness_kernel(h, name);
    uint8_t *params = calloc(1, kernel->param_bytes + 16);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        memcpy(params + kernel->params[i].offset, arguments[i], kernel->params[i].size);
    struct exec_launch launch = {.image = h->image,
                                 .kernel = kernel,
                                 .grid = {grid, 1, 1},
                                 .block = {block, 1, 1},
                                 .cluster = {h->cluster, 1, 1},
                                 .dynamic_shared = shared,
                                 .params = params,
                                 .cooperative = h->cooperative,
                                 .touches = h->touches,
                                 .memory = {harness_find, h, h->window, harness_find_texture,
                                            harness_find_texture, harness_heap_allocate,
                                            harness_heap_release},
                                 .print = harness_print,
                                 .print_user = h};
    if (h->cooperative)
        launch.grid_workspace = harness_allocate(h, EXEC_GRID_WORKSPACE_BYTES);
    h->printed_bytes = 0;
    h->printed[0] = 0;
    memset(&h->fault, 0, sizeof h->fault);
    exec_state *state = exec_begin(&launch, h->message, sizeof h->message);
    free(params);
    if (!state)
        return EXEC_FAULT;
    enum exec_status status = harness_steps(h, state);
    h->fault = *exec_fault(state);
    if (h->touches)
        harness_keep_touches(h, state);
    exec_counts(state, &h->warp_instructions, &h->thread_instructions);
    exec_end(state);
    return status;
}

/* The launch must succeed. */
static inline void harness_run(struct harness *h, const char *name, uint32_t grid, uint32_t block,
                               uint64_t shared, void *const *arguments)
{
    h->message[0] = 0;
    enum exec_status status = harness_launch(h, name, grid, block, shared, arguments);
    if (status != EXEC_DONE)
        fail_msg("%s: %s%s", name, h->message, h->fault.message);
}

/* All tests of the group, under slices of several sizes. */
#define harness_run_tests(tests)                                                                   \
    (cmocka_run_group_tests(tests, NULL, NULL) +                                                   \
     (harness_budget = 1, cmocka_run_group_tests(tests, NULL, NULL)) +                             \
     (harness_budget = 211, cmocka_run_group_tests(tests, NULL, NULL)))

#define ARGUMENTS(...) ((void *const[]){__VA_ARGS__, NULL})

#endif
