/* The device memory for generated kernels: buffers of PLAYGROUND_BYTES each, at addresses that
 * change from launch to launch, some across a multiple of 4 GiB, and the module's variables. A
 * buffer is backed by one eighth of its size, mapped again and again, so that wrong writes cost no
 * memory. Runs launches on the embedded device's engine with touches recorded. */
#ifndef TESTS_FUZZ_KERNELS_PLAYGROUND_H
#define TESTS_FUZZ_KERNELS_PLAYGROUND_H

#include "random.h"
#include "runtime/access/access_set.h"
#include "runtime/access/verify.h"
#include "runtime/device/exec/exec.h"

enum {
    PLAYGROUND_BUFFERS = 6, /* what pointers point into */
    PLAYGROUND_TABLES = 3,  /* holds tables of pointers: kernels only read it */
    PLAYGROUND_REGIONS = PLAYGROUND_BUFFERS + PLAYGROUND_TABLES + 2,
    PLAYGROUND_BYTES = 8 << 20
};

struct playground {
    const struct ptx_module *module;
    exec_image *image;
    uint64_t window;
    uint8_t *backing[PLAYGROUND_REGIONS];
    struct exec_region regions[PLAYGROUND_REGIONS]; /* the last two: .global and .const variables */
    uint64_t global_address, const_address;
};

/* Ends the process with a message when memory is short. */
void playground_open(struct playground *playground, const struct ptx_module *module);
void playground_close(struct playground *playground);

/* Gives everything new contents, from that seed. */
void playground_fill(struct playground *playground, uint64_t seed);

/* New addresses for the buffers. */
void playground_move(struct playground *playground, struct random *random);

/* The bytes at a device address, where this process can touch them; NULL when they are nowhere. */
uint8_t *playground_at(const struct playground *playground, uint64_t address, uint64_t bytes);

/* The address that a base of a set has in a launch with these parameters. */
struct verify_base playground_base(const struct playground *playground,
                                   const struct access_base *base, const uint8_t *parameters);

enum played { PLAYED, PLAYED_IN_PART, PLAYED_NOT };

/* Runs a launch, to its end, a fault or the limit of instructions. *touches is malloc'd. `message`
 * says why it was not played, or only in part. */
enum played playground_play(struct playground *playground, const struct ptx_function *kernel,
                            const struct access_launch *launch, const uint8_t *parameters,
                            struct verify_touch **touches, size_t *touch_count, char *message,
                            size_t message_bytes);

#endif
