/* GPU core dumps: what the driver writes when a kernel fails and a dump was asked for. Which launch
 * failed, in which of its threads, at which instruction, with which registers.
 *
 * A dump is an ELF file of tables, one below the other: devices, grids, SMs, blocks, warps,
 * threads. Each table's rows have the size that its section names, for newer drivers add fields at
 * the end (CUDA Toolkit, extras/Debugger/include/cudacoredump.h). A dump may be cut off or damaged:
 * whatever lies outside of the bytes is missing, nothing else is read, and no alignment is assumed.
 *
 * Nothing is copied: all pointers are into the dump. Thread-safe. */
#ifndef RUNTIME_COREDUMP_H
#define RUNTIME_COREDUMP_H

#include "runtime/ptx/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exception of a thread: CUDBGException_t of cudadebugger.h, "CUDA Debugger API", Exceptions.
 */
enum coredump_exception {
    COREDUMP_NONE = 0,
    COREDUMP_LANE_ILLEGAL_ADDRESS = 1,
    COREDUMP_STACK_OVERFLOW = 2,
    COREDUMP_DEVICE_STACK_OVERFLOW = 3,
    COREDUMP_ILLEGAL_INSTRUCTION = 4,
    COREDUMP_OUT_OF_RANGE = 5, /* of shared or local memory */
    COREDUMP_MISALIGNED = 6,
    COREDUMP_ADDRESS_SPACE = 7, /* an address that no space has, as beyond all that is mapped */
    COREDUMP_INVALID_PC = 8,
    COREDUMP_HARDWARE_STACK_OVERFLOW = 9,
    COREDUMP_DEVICE_ILLEGAL_ADDRESS = 10,
    COREDUMP_LANE_MISALIGNED = 11,
    COREDUMP_ASSERT = 12,
    COREDUMP_SYSCALL = 13, /* a free() in the kernel of what is none of its memory */
    COREDUMP_ILLEGAL_ADDRESS = 14,
    COREDUMP_ATOMIC_NOT_MIGRATABLE = 15,
    COREDUMP_ATOMIC_INVALID = 16,
    COREDUMP_CLUSTER_OUT_OF_RANGE = 17,
    COREDUMP_CLUSTER_BLOCK_GONE = 18,
    COREDUMP_STACK_CANARY = 19,
    COREDUMP_TENSOR_MEMORY_ACCESS = 20,
    COREDUMP_TENSOR_MEMORY_LEAK = 21,
    COREDUMP_NEWER_DRIVER_NEEDED = 22,
    /* Not of the header: a thread stopped at a breakpoint nobody set, which is what __trap() does.
     */
    COREDUMP_TRAP = 0x1000
};

enum { COREDUMP_LANES = 32 };

/* A launch that ran when the dump was written. */
struct coredump_grid {
    uint64_t id;       /* counts the launches of a context */
    uint64_t context;  /* CUcontext */
    uint64_t function; /* the driver's own */
    uint64_t entry;    /* where the kernel's code begins */
    uint64_t module;   /* of coredump_image */
    uint32_t grid[3], block[3];
    uint32_t host_thread; /* that launched it: gettid() */
    const uint8_t *params;
    uint64_t param_bytes; /* 0: they are not there */
};

struct coredump_lane {
    uint32_t exception; /* enum coredump_exception */
    uint32_t thread[3];
    uint64_t pc;               /* of what it would have done next */
    const uint8_t *registers;  /* R0 up, four bytes each, little-endian */
    uint32_t register_count;   /* 0: they are not there */
    const uint8_t *predicates; /* P0 up, four bytes each: 0 or not */
    uint32_t predicate_count;
};

/* A failed launch, by the first of its warps that failed: first by block, then by thread. */
struct coredump_fault {
    uint32_t exception; /* enum coredump_exception */
    uint32_t device;    /* CUDA's number among those that the process sees */
    uint32_t sm_major, sm_minor;
    bool has_pc; /* of the instruction that failed: */
    uint64_t pc;
    bool has_grid;
    struct coredump_grid grid;
    bool has_warp; /* else the warps were gone when the dump was written */
    uint32_t block[3];
    uint32_t present; /* a bit for each lane that `lanes` has */
    uint32_t active;  /* and for each that took part in what the warp did last */
    struct coredump_lane lanes[COREDUMP_LANES];
    const uint8_t *uniform_registers; /* UR0 up */
    uint32_t uniform_register_count;
    uint64_t warps, threads;              /* of the launch that the dump shows failed */
    uint64_t shared_window, local_window; /* where generic addresses of these spaces begin; 0: not
                                             known */
};

struct coredump {
    struct elf_file file;
};

/* Looks at the dump in those bytes, which stay the caller's. False with `message` (of
 * `message_bytes`) saying why: it is none, or the end of it is missing. */
bool coredump_open(struct coredump *dump, const void *data, size_t bytes, char *message,
                   size_t message_bytes);

enum { COREDUMP_FAULTS_MOST = 8 };

/* The launches that failed, first by device and then by grid id: the first COREDUMP_FAULTS_MOST of
 * them. Returns how many were written. */
size_t coredump_faults(const struct coredump *dump,
                       struct coredump_fault faults[COREDUMP_FAULTS_MOST]);

/* The machine code of the module as it is loaded: an ELF file whose sections have the addresses
 * that pcs are of. NULL: it is not there. */
const uint8_t *coredump_image(const struct coredump *dump, uint64_t module, size_t *bytes);

/* The same of whichever module has code at that address. */
const uint8_t *coredump_image_at(const struct coredump *dump, uint64_t pc, size_t *bytes);
/* The section of code of such a file that has the address. False: there is none. */
bool coredump_code_at(const struct elf_file *image, uint64_t pc, struct elf_section *code);

/* A jump to where no code is: the GPU calls it an illegal instruction. */
bool coredump_is_astray(const struct coredump *dump, const struct coredump_fault *fault);

/* "illegal memory access": what a person calls it. */
const char *coredump_exception_words(uint32_t exception);

#endif
