/* See layout.h. */
#include "runtime/mpi/layout.h"
#include "csan/base/array.h"
#include "runtime/mpi/functions.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MAX = 4096, DEPTH_MAX = 32 };

/* A part of an element: LMAD over an offset. */
struct piece {
    int64_t offset;
    uint64_t bytes;
    uint8_t dim_count;
    struct csan_dim dims[CSAN_MAX_DIMS];
};

struct pieces {
    struct piece *items;
    size_t count, capacity;
    bool failed; /* too many, memory is short, or a form that is not known */
};

/* ---- Lists ---- */

static struct piece *piece_room(struct pieces *pieces)
{
    if (!array_room(&pieces->items, pieces->count, &pieces->capacity, 8, PIECES_MAX,
                    sizeof *pieces->items)) {
        pieces->failed = true;
        return NULL;
    }
    return &pieces->items[pieces->count++];
}

/* One that follows the last without a gap is a part of it; one that is like the last two, at the
 * same distance, is another turn of theirs. */
static bool joins_last(struct pieces *pieces, const struct piece *piece)
{
    struct piece *last = pieces->count ? &pieces->items[pieces->count - 1] : NULL;
    if (!last || piece->dim_count)
        return false;
    if (!last->dim_count && last->offset + (int64_t)last->bytes == piece->offset) {
        last->bytes += piece->bytes;
        return true;
    }
    if (last->dim_count == 1 && last->bytes == piece->bytes &&
        last->offset + last->dims[0].stride * (int64_t)last->dims[0].count == piece->offset) {
        last->dims[0].count++;
        return true;
    }
    return false;
}

static void fold_last(struct pieces *pieces)
{
    if (pieces->count < 2)
        return;
    struct piece *one = &pieces->items[pieces->count - 2], *other = one + 1;
    if (one->dim_count || other->dim_count || one->bytes != other->bytes ||
        other->offset <= one->offset)
        return;
    one->dims[0] = (struct csan_dim){other->offset - one->offset, 2};
    one->dim_count = 1;
    pieces->count--;
}

static void piece_add(struct pieces *pieces, const struct piece *piece)
{
    if (!piece->bytes || joins_last(pieces, piece))
        return;
    struct piece *room = piece_room(pieces);
    if (!room)
        return;
    *room = *piece;
    fold_last(pieces);
}

/* ---- Turns ---- */

/* The piece `count` times, `stride` apart. */
static void piece_repeat(struct pieces *pieces, struct piece piece, int64_t count, int64_t stride)
{
    if (count <= 0)
        return;
    if (count > 1 && !piece.dim_count && stride == (int64_t)piece.bytes) {
        piece.bytes *= (uint64_t)count;
    } else if (count > 1) {
        if (piece.dim_count == CSAN_MAX_DIMS) {
            pieces->failed = true;
            return;
        }
        piece.dims[piece.dim_count++] = (struct csan_dim){stride, (uint64_t)count};
    }
    piece_add(pieces, &piece);
}

/* All of `from`, `count` times, `stride` apart, from `offset` on. */
static void pieces_repeat(struct pieces *to, const struct pieces *from, int64_t offset,
                          int64_t count, int64_t stride)
{
    to->failed |= from->failed;
    for (size_t i = 0; i < from->count && !to->failed; i++) {
        struct piece piece = from->items[i];
        piece.offset += offset;
        piece_repeat(to, piece, count, stride);
    }
}

/* ---- Datatypes ---- */

static void type_pieces(struct pieces *pieces, mpi_handle type, int depth);

mpi_aint layout_extent(mpi_handle type)
{
    mpi_aint low = 0, extent = 0;
    PMPI(Type_get_extent)(type, &low, &extent);
    return extent;
}

int64_t layout_size(mpi_handle type)
{
    int bytes = 0;
    PMPI(Type_size)(type, &bytes);
    return bytes > 0 ? bytes : 0;
}

/* What a datatype was made of. */
struct contents {
    enum combiner combiner;
    int *ints;
    mpi_aint *addresses;
    uint64_t *types; /* an array of handles */
    int type_count;
};

static enum combiner combiner_of(int number)
{
    int i = 0;
    while (i < COMBINER_OTHER && abi.combiners[i] != number)
        i++;
    return (enum combiner)i;
}

static bool is_named(mpi_handle type)
{
    int ints, addresses, types, combiner;
    return PMPI(Type_get_envelope)(type, &ints, &addresses, &types, &combiner) == MPI_OK &&
           combiner_of(combiner) == COMBINER_NAMED;
}

static void contents_free(struct contents *contents)
{
    static void *slot;
    int (*type_free)(void *) =
        (int (*)(void *))(slot ? slot : abi_function(&slot, "PMPI_Type_free"));
    for (int i = 0; contents->types && i < contents->type_count; i++) {
        mpi_handle type = handle_at(contents->types, (size_t)i);
        if (!is_named(type))
            type_free(&type);
    }
    free(contents->ints);
    free(contents->addresses);
    free(contents->types);
}

static bool contents_get(struct contents *contents, mpi_handle type)
{
    int ints, addresses, types, combiner;
    *contents = (struct contents){.combiner = COMBINER_OTHER};
    if (PMPI(Type_get_envelope)(type, &ints, &addresses, &types, &combiner) != MPI_OK)
        return false;
    contents->combiner = combiner_of(combiner);
    if (contents->combiner == COMBINER_NAMED || contents->combiner == COMBINER_OTHER)
        return true;
    contents->ints = calloc((size_t)ints + 1, sizeof *contents->ints);
    contents->addresses = calloc((size_t)addresses + 1, sizeof *contents->addresses);
    contents->types = calloc((size_t)types + 1, sizeof *contents->types);
    if (contents->ints && contents->addresses && contents->types &&
        PMPI(Type_get_contents)(type, ints, addresses, types, contents->ints, contents->addresses,
                                contents->types) == MPI_OK) {
        contents->type_count = types;
        return true;
    }
    contents_free(contents);
    return false;
}

/* Blocks of elements of the inner datatype, at places in extents or in bytes. */
struct blocks {
    int count, length; /* elements of each, if `lengths` is NULL */
    const int *lengths;
    const int *places;
    const mpi_aint *addresses; /* in place of `places` */
};

static void blocks_add(struct pieces *pieces, const struct pieces *inner, mpi_aint extent,
                       const struct blocks *blocks)
{
    for (int i = 0; i < blocks->count && !pieces->failed; i++)
        pieces_repeat(pieces, inner,
                      blocks->addresses ? blocks->addresses[i]
                                        : blocks->places[i] * (int64_t)extent,
                      blocks->lengths ? blocks->lengths[i] : blocks->length, extent);
}

/* MPI 3.1, 4.1.3: ints are n, sizes, subsizes, starts, order. The fastest dimension is the last in
 * C's order, the first in Fortran's. */
static void subarray(struct pieces *pieces, const struct pieces *inner, mpi_aint extent,
                     const int *ints)
{
    const int n = ints[0], *sizes = ints + 1, *subsizes = sizes + n, *starts = subsizes + n;
    const bool c_order = starts[n] == abi.order_c;
    struct pieces now = {0}, next = {0};
    int64_t stride = extent, offset = 0;
    pieces_repeat(&now, inner, 0, 1, 0);
    for (int i = 0; i < n; i++) {
        const int k = c_order ? n - 1 - i : i;
        pieces_repeat(&next, &now, 0, subsizes[k], stride);
        free(now.items);
        now = next;
        next = (struct pieces){0};
        offset += starts[k] * stride;
        stride *= sizes[k];
    }
    pieces_repeat(pieces, &now, offset, 1, 0);
    free(now.items);
}

/* Blocks of a dimension of `size` elements go round by turns; a process has those of its
 * coordinate. The last may be shorter. */
struct share {
    int64_t size, block, processes, coordinate;
};

static void share_add(struct pieces *to, const struct pieces *from, const struct share *share,
                      int64_t stride)
{
    const int64_t round = share->block * share->processes;
    const int64_t first = share->block * share->coordinate, room = share->size - first;
    const int64_t whole = room >= share->block ? (room - share->block) / round + 1 : 0;
    const int64_t last = first + whole * round, rest = share->size - last;
    struct pieces block = {0};
    pieces_repeat(&block, from, 0, share->block, stride);
    pieces_repeat(to, &block, first * stride, whole, round * stride);
    pieces_repeat(to, from, last * stride, rest < share->block ? rest : share->block, stride);
    free(block.items);
}

/* MPI 3.1, 4.1.4. A dimension that is not distributed has one process. */
static struct share share_of(int size, int distribution, int argument, int processes)
{
    const bool usual = argument == abi.distribute_default;
    struct share share = {.size = size, .block = size, .processes = processes};
    if (distribution == abi.distribute_block)
        share.block = usual ? ((int64_t)size + processes - 1) / processes : argument;
    else if (distribution == abi.distribute_cyclic)
        share.block = usual ? 1 : argument;
    return share;
}

/* MPI 3.1, 4.1.13: ints are the number of processes, the rank, n, then n sizes, distributions,
 * arguments and processes, and the order. Processes have the order of C in any case. */
static void distributed_array(struct pieces *pieces, const struct pieces *inner, mpi_aint extent,
                              const int *ints)
{
    const int n = ints[2], *sizes = ints + 3, *distributions = sizes + n,
              *arguments = distributions + n, *processes = arguments + n;
    const bool c_order = processes[n] == abi.order_c;
    struct pieces now = {0}, next = {0};
    int64_t stride = extent;
    pieces_repeat(&now, inner, 0, 1, 0);
    for (int i = 0; i < n; i++) {
        const int k = c_order ? n - 1 - i : i;
        struct share share = share_of(sizes[k], distributions[k], arguments[k], processes[k]);
        int64_t behind = 1; /* processes of one step in this dimension */
        for (int other = k + 1; other < n; other++)
            behind *= processes[other];
        share.coordinate = ints[1] / behind % processes[k];
        share_add(&next, &now, &share, stride);
        free(now.items);
        now = next;
        next = (struct pieces){0};
        stride *= sizes[k];
    }
    pieces_repeat(pieces, &now, 0, 1, 0);
    free(now.items);
}

static void structure(struct pieces *pieces, const struct contents *contents, int depth)
{
    for (int i = 0; i < contents->ints[0] && !pieces->failed; i++) {
        const mpi_handle type = handle_at(contents->types, (size_t)i);
        struct pieces inner = {0};
        type_pieces(&inner, type, depth + 1);
        pieces_repeat(pieces, &inner, contents->addresses[i], contents->ints[1 + i],
                      layout_extent(type));
        free(inner.items);
    }
}

/* MPI 3.1, 4.1.13, lists what the contents are for each combiner. */
static void derived_pieces(struct pieces *pieces, const struct contents *contents, int depth)
{
    const int *ints = contents->ints;
    const mpi_aint *addresses = contents->addresses;
    struct pieces inner = {0};
    if (contents->combiner == COMBINER_STRUCT) {
        structure(pieces, contents, depth);
        return;
    }
    const mpi_handle type = handle_at(contents->types, 0);
    const mpi_aint extent = layout_extent(type);
    type_pieces(&inner, type, depth + 1);
    switch (contents->combiner) {
    case COMBINER_DUP:
    case COMBINER_RESIZED:
        pieces_repeat(pieces, &inner, 0, 1, 0);
        break;
    case COMBINER_CONTIGUOUS:
        pieces_repeat(pieces, &inner, 0, ints[0], extent);
        break;
    case COMBINER_VECTOR:
    case COMBINER_HVECTOR: {
        struct pieces block = {0};
        pieces_repeat(&block, &inner, 0, ints[1], extent);
        pieces_repeat(pieces, &block, 0, ints[0],
                      contents->combiner == COMBINER_VECTOR ? ints[2] * (int64_t)extent
                                                            : addresses[0]);
        free(block.items);
        break;
    }
    case COMBINER_INDEXED:
        blocks_add(
            pieces, &inner, extent,
            &(struct blocks){.count = ints[0], .lengths = ints + 1, .places = ints + 1 + ints[0]});
        break;
    case COMBINER_HINDEXED:
        blocks_add(pieces, &inner, extent,
                   &(struct blocks){.count = ints[0], .lengths = ints + 1, .addresses = addresses});
        break;
    case COMBINER_INDEXED_BLOCK:
        blocks_add(pieces, &inner, extent,
                   &(struct blocks){.count = ints[0], .length = ints[1], .places = ints + 2});
        break;
    case COMBINER_HINDEXED_BLOCK:
        blocks_add(pieces, &inner, extent,
                   &(struct blocks){.count = ints[0], .length = ints[1], .addresses = addresses});
        break;
    case COMBINER_SUBARRAY:
        subarray(pieces, &inner, extent, ints);
        break;
    case COMBINER_DARRAY:
        distributed_array(pieces, &inner, extent, ints);
        break;
    default:
        pieces->failed = true;
    }
    free(inner.items);
}

static void type_pieces(struct pieces *pieces, mpi_handle type, int depth)
{
    struct contents contents;
    if (depth > DEPTH_MAX || !contents_get(&contents, type)) {
        pieces->failed = true;
        return;
    }
    if (contents.combiner == COMBINER_NAMED)
        piece_add(pieces, &(struct piece){.bytes = (uint64_t)layout_size(type)});
    else if (contents.combiner == COMBINER_OTHER)
        pieces->failed = true;
    else
        derived_pieces(pieces, &contents, depth);
    contents_free(&contents);
}

/* ---- Accesses ---- */

static bool list_room(struct access_list *list)
{
    size_t items = list->capacity;
    return array_room(&list->items, list->count, &items, 8, SIZE_MAX, sizeof *list->items) &&
           array_room(&list->dims, list->count, &list->capacity, 8, SIZE_MAX, sizeof *list->dims);
}

static bool access_add(struct access_list *list, const void *address, const struct piece *piece,
                       int kind, int bound, uint16_t argument)
{
    if (!piece->bytes || !list_room(list))
        return !piece->bytes;
    memcpy(list->dims[list->count], piece->dims, sizeof piece->dims);
    list->items[list->count++] =
        (struct csan_access){.base = (uint64_t)(uintptr_t)address + (uint64_t)piece->offset,
                             .bytes = piece->bytes,
                             .dim_count = piece->dim_count,
                             .kind = (uint8_t)kind,
                             .bound = (uint8_t)bound,
                             .argument = argument};
    return true;
}

/* A range around all elements. */
static bool add_around(struct access_list *list, const void *address, int64_t count,
                       mpi_handle type, int kind, uint16_t argument)
{
    mpi_aint low = 0, extent = 0;
    PMPI(Type_get_extent)(type, &low, &extent);
    const struct piece whole = {.offset = low,
                                .bytes = extent > 0 ? (uint64_t)extent * (uint64_t)count : 0};
    return access_add(list, address, &whole, kind, CSAN_BOUND_SHAPE, argument);
}

bool layout_add(struct access_list *list, const void *address, int64_t count, mpi_handle type,
                int kind, uint16_t argument)
{
    struct pieces one = {0}, all = {0};
    const size_t before = list->count;
    bool room = true;
    if (count <= 0)
        return true;
    type_pieces(&one, type, 0);
    pieces_repeat(&all, &one, 0, count, layout_extent(type));
    for (size_t i = 0; i < all.count && !all.failed && room; i++)
        room = access_add(list, address, &all.items[i], kind, CSAN_EXACT, argument);
    if (all.failed) {
        list->count = before;
        room = add_around(list, address, count, type, kind, argument);
    }
    free(one.items);
    free(all.items);
    return room;
}

void access_list_finish(struct access_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i].dims = list->items[i].dim_count ? list->dims[i] : NULL;
}

void access_list_free(struct access_list *list)
{
    free(list->items);
    free(list->dims);
    *list = (struct access_list){0};
}
