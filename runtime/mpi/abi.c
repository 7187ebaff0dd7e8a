/* See abi.h. The numbers are those of the installed mpi.h of each family. */
#include "runtime/mpi/abi.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct abi abi_open_mpi = {
    .name = "MPI (Open MPI)",
    .in_place = (void *)1,
    .proc_null = -2,
    .any_source = -1,
    .any_tag = -1,
    .root = -4,
    .undefined = -32766,
    .order_c = 0,
    .distribute_block = 0,
    .distribute_cyclic = 1,
    .distribute_default = -1,
    .topology_cart = 1,
    .topology_graph = 2,
    .topology_dist_graph = 3,
    .status_source = 0,
    .status_tag = 1,
    .status_low = 4,
    .status_high = 5,
    .status_size = 24,
    .no_precede = 2,
    .no_check = 1,
    .lock_shared = 2,
    .combiners = {[COMBINER_NAMED] = 0,
                  [COMBINER_DUP] = 1,
                  [COMBINER_CONTIGUOUS] = 2,
                  [COMBINER_VECTOR] = 3,
                  [COMBINER_HVECTOR] = 5,
                  [COMBINER_INDEXED] = 6,
                  [COMBINER_HINDEXED] = 8,
                  [COMBINER_INDEXED_BLOCK] = 9,
                  [COMBINER_HINDEXED_BLOCK] = 18,
                  [COMBINER_STRUCT] = 11,
                  [COMBINER_SUBARRAY] = 12,
                  [COMBINER_DARRAY] = 13,
                  [COMBINER_RESIZED] = 17},
};

const struct abi abi_mpich = {
    .name = "MPI (MPICH)",
    .handles_are_ints = true,
    .in_place = (void *)-1,
    .status_ignore = (void *)1,
    .statuses_ignore = (void *)1,
    .proc_null = -1,
    .any_source = -2,
    .any_tag = -1,
    .root = -3,
    .undefined = -32766,
    .order_c = 56,
    .distribute_block = 121,
    .distribute_cyclic = 122,
    .distribute_default = -49767,
    .topology_graph = 1,
    .topology_cart = 2,
    .topology_dist_graph = 3,
    .status_source = 2,
    .status_tag = 3,
    .status_low = 0,
    .status_high = 1,
    .status_size = 20,
    .no_precede = 8192,
    .no_check = 1024,
    .lock_shared = 235,
    .comm_world = 0x44000000,
    .comm_self = 0x44000001,
    .comm_null = 0x04000000,
    .combiners = {[COMBINER_NAMED] = 1,
                  [COMBINER_DUP] = 2,
                  [COMBINER_CONTIGUOUS] = 3,
                  [COMBINER_VECTOR] = 4,
                  [COMBINER_HVECTOR] = 6,
                  [COMBINER_INDEXED] = 7,
                  [COMBINER_HINDEXED] = 9,
                  [COMBINER_INDEXED_BLOCK] = 10,
                  [COMBINER_HINDEXED_BLOCK] = 19,
                  [COMBINER_STRUCT] = 12,
                  [COMBINER_SUBARRAY] = 13,
                  [COMBINER_DARRAY] = 14,
                  [COMBINER_RESIZED] = 18},
};

/* Its statuses have five words of the MPI's own. */
const struct abi abi_standard = {
    .name = "MPI (standard ABI)",
    .in_place = (void *)1,
    .proc_null = -3,
    .any_source = -1,
    .any_tag = -2,
    .root = -4,
    .undefined = -32766,
    .order_c = 12,
    .distribute_block = 17,
    .distribute_cyclic = 18,
    .distribute_default = 19,
    .topology_cart = 211,
    .topology_graph = 212,
    .topology_dist_graph = 213,
    .status_source = 0,
    .status_tag = 1,
    .status_size = 32,
    .no_precede = 2048,
    .no_check = 1024,
    .lock_shared = 302,
    .comm_world = 0x101,
    .comm_self = 0x102,
    .comm_null = 0x100,
    .combiners = {[COMBINER_NAMED] = 101,
                  [COMBINER_DUP] = 102,
                  [COMBINER_CONTIGUOUS] = 103,
                  [COMBINER_VECTOR] = 104,
                  [COMBINER_HVECTOR] = 105,
                  [COMBINER_INDEXED] = 106,
                  [COMBINER_HINDEXED] = 107,
                  [COMBINER_INDEXED_BLOCK] = 108,
                  [COMBINER_HINDEXED_BLOCK] = 109,
                  [COMBINER_STRUCT] = 110,
                  [COMBINER_SUBARRAY] = 111,
                  [COMBINER_DARRAY] = 112,
                  [COMBINER_RESIZED] = 116},
};

struct abi abi;

static struct {
    pthread_once_t once;
    void *library; /* of the MPI; NULL: there is none */
    bool standard; /* it has the standard's ABI */
} process = {.once = PTHREAD_ONCE_INIT};

/* A library of the process's by its name; it may have been opened in a scope of its own, as by
 * Python. What its functions come from is among those that it needs. libmpi_abi may need another
 * one of the MPI's, whose functions have the MPI's own ABI. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *user)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    (void)bytes, (void)user;
    if (strncmp(name, "libmpi", 6) != 0)
        return 0;
    const bool standard = strncmp(name, "libmpi_abi", 10) == 0;
    void *library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    if (library && dlsym(library, "PMPI_Send") && (standard || !process.library)) {
        process.library = library;
        process.standard = standard;
    }
    return process.standard;
}

/* Open MPI's handles are addresses of its objects. A program that is linked with it may have them
 * itself, by copy relocations; then all use those. */
static mpi_handle object(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    return (mpi_handle)(uintptr_t)(found ? found : dlsym(process.library, name));
}

static void find(void)
{
    dl_iterate_phdr(look_at, NULL);
    if (!process.library)
        return;
    const mpi_handle world = process.standard ? 0 : object("ompi_mpi_comm_world");
    abi = process.standard ? abi_standard : world ? abi_open_mpi : abi_mpich;
    if (!world)
        return;
    abi.comm_world = world;
    abi.comm_self = object("ompi_mpi_comm_self");
    abi.comm_null = object("ompi_mpi_comm_null");
}

bool abi_find(void)
{
    pthread_once(&process.once, find);
    return process.library != NULL;
}

void *abi_function_maybe(const char *name)
{
    return abi_find() ? dlsym(process.library, name) : NULL;
}

void *abi_function(void **slot, const char *name)
{
    void *function = abi_function_maybe(name);
    if (!function) {
        fprintf(stderr,
                "csan: libcsan_mpi stands in front of %s, but this process's MPI has none\n", name);
        abort();
    }
    __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    return function;
}
