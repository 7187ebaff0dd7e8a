/* The elements of random datatypes as layout.c reads them back, against those that this MPI packs.
 * Ends with 0 if they are the same. */
#include "runtime/mpi/layout.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 3000, WORDS = 1 << 14, DEPTH = 3, BLOCKS = 5 };

static uint64_t seed = 1;

static int below(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static MPI_Datatype any_type(int depth);

static MPI_Datatype of_array(MPI_Datatype inner)
{
    const int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, n = 1 + below(3);
    int sizes[3], parts[3], starts[3], how[3], arguments[3], processes[3], all = 1;
    MPI_Datatype made;
    for (int i = 0; i < n; i++) {
        sizes[i] = 1 + below(7);
        parts[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - parts[i] + 1);
        how[i] = below(3) == 0   ? MPI_DISTRIBUTE_NONE
                 : below(2) == 0 ? MPI_DISTRIBUTE_BLOCK
                                 : MPI_DISTRIBUTE_CYCLIC;
        processes[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        /* Blocks that are given must be enough for the whole dimension. */
        const int least =
            how[i] == MPI_DISTRIBUTE_BLOCK ? (sizes[i] + processes[i] - 1) / processes[i] : 1;
        arguments[i] =
            how[i] == MPI_DISTRIBUTE_NONE || below(2) ? MPI_DISTRIBUTE_DFLT_DARG : least + below(3);
        all *= processes[i];
    }
    if (below(2))
        MPI_Type_create_subarray(n, sizes, parts, starts, order, inner, &made);
    else
        MPI_Type_create_darray(all, below(all), n, sizes, how, arguments, processes, order, inner,
                               &made);
    return made;
}

static MPI_Datatype of_blocks(MPI_Datatype inner, MPI_Aint extent)
{
    const int count = 1 + below(BLOCKS), kind = below(5);
    int lengths[BLOCKS], places[BLOCKS];
    MPI_Aint addresses[BLOCKS];
    MPI_Datatype types[BLOCKS], made;
    for (int i = 0, at = 0; i < count; i++) { /* none meets another */
        lengths[i] = 1 + below(3);
        places[i] = at + below(3);
        addresses[i] = places[i] * extent;
        types[i] = inner;
        at = places[i] + 3;
    }
    if (kind == 0)
        MPI_Type_indexed(count, lengths, places, inner, &made);
    else if (kind == 1)
        MPI_Type_create_hindexed(count, lengths, addresses, inner, &made);
    else if (kind == 2)
        MPI_Type_create_indexed_block(count, 2, places, inner, &made);
    else if (kind == 3)
        MPI_Type_create_hindexed_block(count, 3, addresses, inner, &made);
    else
        MPI_Type_create_struct(count, lengths, addresses, types, &made);
    return made;
}

static MPI_Datatype of_turns(MPI_Datatype inner, MPI_Aint extent)
{
    const int count = 1 + below(4), length = 1 + below(3), kind = below(5);
    MPI_Datatype made;
    if (kind == 0)
        MPI_Type_contiguous(count, inner, &made);
    else if (kind == 1)
        MPI_Type_vector(count, length, length + below(3), inner, &made);
    else if (kind == 2)
        MPI_Type_create_hvector(count, length, (length + below(3)) * extent, inner, &made);
    else if (kind == 3)
        MPI_Type_dup(inner, &made);
    else
        MPI_Type_create_resized(inner, 0, extent + 4 * below(4), &made);
    return made;
}

static MPI_Datatype any_type(int depth)
{
    MPI_Datatype inner = depth && below(4) ? any_type(depth - 1) : MPI_INT, made;
    MPI_Aint low, extent;
    MPI_Type_get_extent(inner, &low, &extent);
    const int kind = below(3);
    made = kind == 0   ? of_array(inner)
           : kind == 1 ? of_blocks(inner, extent)
                       : of_turns(inner, extent);
    if (inner != MPI_INT)
        MPI_Type_free(&inner);
    return made;
}

/* Each word of the strided set. */
static void mark(unsigned char *marks, uint64_t offset, const struct csan_access *access, int dim)
{
    if (dim < access->dim_count) {
        for (uint64_t i = 0; i < access->dims[dim].count; i++)
            mark(marks, offset + i * (uint64_t)access->dims[dim].stride, access, dim + 1);
        return;
    }
    for (uint64_t i = 0; i < access->bytes; i += sizeof(int))
        marks[(offset + i) / sizeof(int)]++;
}

/* 1: as MPI packs them; 0: not; -1: what the type has is not read back. */
static int compare(MPI_Datatype type, int count)
{
    static int words[WORDS], packed[WORDS];
    static unsigned char marks[WORDS];
    struct access_list list = {0};
    int at = 0, same = 1;
    memset(marks, 0, sizeof marks);
    for (int i = 0; i < WORDS; i++)
        words[i] = i;
    MPI_Type_commit(&type);
    MPI_Pack(words, count, type, packed, sizeof packed, &at, MPI_COMM_SELF);
    layout_add(&list, words, count, (mpi_handle)type, CSAN_READ, 0);
    access_list_finish(&list);
    for (size_t i = 0; i < list.count && same == 1; i++) {
        if (list.items[i].bound != CSAN_EXACT)
            same = -1;
        else
            mark(marks, list.items[i].base - (uint64_t)(uintptr_t)words, &list.items[i], 0);
    }
    for (int i = 0; i < at / (int)sizeof(int) && same == 1; i++)
        same = marks[packed[i]]-- == 1;
    for (int i = 0; i < WORDS && same == 1; i++)
        same = !marks[i];
    access_list_free(&list);
    return same;
}

int main(int argc, char **argv)
{
    int right = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    if (!abi_find())
        return 2;
    while (right + wrong < TYPES) {
        MPI_Datatype type = any_type(below(DEPTH));
        MPI_Aint low, extent;
        int size;
        const uint64_t before = seed;
        MPI_Type_get_extent(type, &low, &extent);
        MPI_Type_size(type, &size);
        const int count = 1 + below(3);
        if (low >= 0 && size > 0 && extent * count <= WORDS * (int)sizeof(int) / 2) {
            const int same = compare(type, count);
            right += same == 1;
            wrong += same == 0;
            if (same == 0)
                printf("wrong: seed %llu\n", (unsigned long long)before);
        }
        MPI_Type_free(&type);
    }
    printf("%d right, %d wrong\n", right, wrong);
    MPI_Finalize();
    return wrong != 0;
}
