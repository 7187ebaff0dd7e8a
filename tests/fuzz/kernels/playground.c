/* Buffers, and launches on the engine. See playground.h. */
#include "playground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BACKING_BYTES = PLAYGROUND_BYTES / 8,
    TABLES_FIRST = PLAYGROUND_BUFFERS,
    GLOBALS = PLAYGROUND_BUFFERS + PLAYGROUND_TABLES,
    CONSTANTS = GLOBALS + 1,
    SLICE = 1 << 17,
    SLICES = 3 /* more takes too long, and may be an endless loop */
};

static void *checked(void *memory)
{
    if (memory == MAP_FAILED || !memory) {
        perror("fuzz_kernels: memory");
        exit(2);
    }
    return memory;
}

static uint8_t *map_backing(void)
{
    int file = memfd_create("buffer", 0);
    if (file < 0 || ftruncate(file, BACKING_BYTES)) {
        perror("fuzz_kernels: memfd");
        exit(2);
    }
    uint8_t *at =
        checked(mmap(NULL, PLAYGROUND_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t offset = 0; offset < PLAYGROUND_BYTES; offset += BACKING_BYTES)
        checked(mmap(at + offset, BACKING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     file, 0));
    close(file);
    return at;
}

static uint64_t reserve_window(void)
{
    uint64_t align = 16 << 20;
    void *reserved = checked(mmap(NULL, 2 * EXEC_WINDOW_BYTES, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    return ((uint64_t)(uintptr_t)reserved + align - 1) / align * align;
}

static void place(struct playground *playground, uint32_t region, uint64_t base)
{
    playground->regions[region] = (struct exec_region){
        .base = base,
        .limit = base + PLAYGROUND_BYTES,
        .delta = (int64_t)((uint64_t)(uintptr_t)playground->backing[region] - base),
        .writable = true};
}

void playground_open(struct playground *playground, const struct ptx_module *module)
{
    *playground = (struct playground){.module = module, .window = reserve_window()};
    for (uint32_t i = 0; i < PLAYGROUND_REGIONS; i++)
        playground->backing[i] = map_backing();
    struct random random = {0};
    playground_move(playground, &random);
    playground->global_address = 0x600000000000;
    playground->const_address = 0x600100000000;
    place(playground, GLOBALS, playground->global_address);
    place(playground, CONSTANTS, playground->const_address);
    playground->image =
        checked(exec_image_create(module, playground->global_address, playground->const_address));
}

void playground_close(struct playground *playground)
{
    exec_image_release(playground->image);
    for (uint32_t i = 0; i < PLAYGROUND_REGIONS; i++)
        munmap(playground->backing[i], PLAYGROUND_BYTES);
    munmap((void *)(uintptr_t)playground->window, EXEC_WINDOW_BYTES);
}

void playground_fill(struct playground *playground, uint64_t seed)
{
    struct random random = {seed};
    for (uint32_t i = 0; i < GLOBALS; i++)
        for (size_t at = 0; at < BACKING_BYTES; at += 8) {
            uint64_t value = random_next(&random) & 0x000fffff000fffff;
            memcpy(playground->backing[i] + at, &value, sizeof value);
        }
    exec_image_initialise(playground->image, playground->backing[GLOBALS],
                          playground->backing[CONSTANTS]);
}

/* Every fourth buffer lies across a multiple of 4 GiB. They are so far apart that no 32-bit index
 * leads from one to another; no analysis could know of that. */
void playground_move(struct playground *playground, struct random *random)
{
    for (uint32_t i = 0; i < GLOBALS; i++) {
        uint64_t base = 0x700000000000 + ((uint64_t)i << 38);
        if (random_one_in(random, 4))
            base += 0x200000000 - 256 * (1 + random_below(random, PLAYGROUND_BYTES / 256));
        else
            base += random_below(random, 1 << 24) * 256;
        place(playground, i, base);
    }
}

static const struct exec_region *find(const struct playground *playground, uint64_t address)
{
    for (uint32_t i = 0; i < PLAYGROUND_REGIONS; i++)
        if (address >= playground->regions[i].base && address < playground->regions[i].limit)
            return &playground->regions[i];
    return NULL;
}

static bool find_region(void *user, uint64_t address, struct exec_region *region)
{
    const struct exec_region *found = find(user, address);
    if (found)
        *region = *found;
    return found != NULL;
}

uint8_t *playground_at(const struct playground *playground, uint64_t address, uint64_t bytes)
{
    const struct exec_region *region = find(playground, address);
    if (!region || region->limit - address < bytes)
        return NULL;
    return (uint8_t *)(uintptr_t)(address + (uint64_t)region->delta);
}

struct verify_base playground_base(const struct playground *playground,
                                   const struct access_base *base, const uint8_t *parameters)
{
    struct verify_base found = {.address = base->address};
    if (base->kind == ACCESS_BASE_PARAM)
        memcpy(&found.address, parameters + base->param_offset, sizeof found.address);
    if (base->kind == ACCESS_BASE_VARIABLE) {
        found.unwatched = base->variable->space == PTX_SPACE_CONST;
        found.address = base->variable->offset +
                        (found.unwatched ? playground->const_address : playground->global_address);
    }
    const struct exec_region *region = find(playground, found.address);
    if (region) {
        found.allocation = region->base;
        found.bytes = region->limit - region->base;
    }
    found.absent = base->guessed && !region;
    return found;
}

static void discard(void *user, bool error, const char *text, size_t bytes)
{
    (void)user, (void)error, (void)text, (void)bytes;
}

static void take_touches(exec_state *state, struct verify_touch **touches, size_t *count)
{
    const struct device_trace_range *ranges = exec_touches(state, count);
    *touches = checked(malloc((*count + 1) * sizeof **touches));
    for (size_t i = 0; i < *count; i++) {
        const struct device_trace_range *r = &ranges[i];
        (*touches)[i] = (struct verify_touch){.address = r->address,
                                              .bytes = r->bytes,
                                              .kind = r->kind - DEVICE_TRACE_READ + ACCESS_READ,
                                              .dims = r->dims};
        memcpy((*touches)[i].stride, r->stride, sizeof r->stride);
        memcpy((*touches)[i].count, r->count, sizeof r->count);
    }
}

static enum played run(exec_state *state, char *message, size_t message_bytes)
{
    enum exec_status status = EXEC_RUNNING;
    for (int i = 0; i < SLICES && (status == EXEC_RUNNING || status == EXEC_SPINNING); i++)
        status = exec_step(state, SLICE);
    if (status == EXEC_DONE)
        return PLAYED;
    snprintf(message, message_bytes, "%s",
             status == EXEC_FAULT ? exec_fault(state)->message : "takes too long");
    return status == EXEC_FAULT && exec_fault(state)->kind == EXEC_FAULT_UNSUPPORTED
               ? PLAYED_NOT
               : PLAYED_IN_PART;
}

enum played playground_play(struct playground *playground, const struct ptx_function *kernel,
                            const struct access_launch *launch, const uint8_t *parameters,
                            struct verify_touch **touches, size_t *touch_count, char *message,
                            size_t message_bytes)
{
    struct exec_launch wanted = {.image = playground->image,
                                 .kernel = kernel,
                                 .dynamic_shared = launch->dynamic_shared,
                                 .params = parameters,
                                 .touches = true,
                                 .memory = {find_region, playground, playground->window},
                                 .print = discard};
    memcpy(wanted.grid, launch->grid, sizeof wanted.grid);
    memcpy(wanted.block, launch->block, sizeof wanted.block);
    message[0] = 0;
    *touches = NULL;
    *touch_count = 0;
    exec_state *state = exec_begin(&wanted, message, message_bytes);
    if (!state)
        return PLAYED_NOT;
    enum played played = run(state, message, message_bytes);
    take_touches(state, touches, touch_count);
    exec_end(state);
    return played;
}
