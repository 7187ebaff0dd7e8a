/* Runs folded into ranges. See fold.h. */
#include "runtime/trace/fold.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

/* ---- bounds -------------------------------------------------------------------------------- */

/* How many bounds are at or below the address. */
static size_t bounds_below(const struct bounds *bounds, uint64_t address)
{
    size_t low = 0, high = bounds->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bounds->addresses[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void bounds_put(struct bounds *bounds, uint64_t address)
{
    size_t place = bounds_below(bounds, address);
    if (place && bounds->addresses[place - 1] == address)
        return;
    if (!array_room(&bounds->addresses, bounds->count, &bounds->capacity, 16, SIZE_MAX,
                    sizeof *bounds->addresses)) {
        bounds->failed = true;
        return;
    }
    memmove(bounds->addresses + place + 1, bounds->addresses + place,
            (bounds->count - place) * sizeof *bounds->addresses);
    bounds->addresses[place] = address;
    bounds->count++;
}

void bounds_add(struct bounds *bounds, uint64_t base, uint64_t limit)
{
    bounds_put(bounds, base);
    bounds_put(bounds, limit);
}

void bounds_join(struct bounds *bounds, const struct bounds *other)
{
    bounds->failed |= other->failed;
    for (size_t i = 0; i < other->count; i++)
        bounds_put(bounds, other->addresses[i]);
}

void bounds_clear(struct bounds *bounds)
{
    free(bounds->addresses);
    *bounds = (struct bounds){0};
}

/* ---- folding ------------------------------------------------------------------------------- */

static void emit(struct folding *f, struct device_trace_range range)
{
    if (!array_room(&f->ranges, f->count, &f->capacity, 16, SIZE_MAX, sizeof *f->ranges)) {
        f->failed = true;
        return;
    }
    if (range.dims == 2 && range.count[0] == 1) { /* a plane of one row is that row */
        range.stride[0] = range.stride[1];
        range.count[0] = range.count[1];
        range.dims = 1;
    }
    if (range.dims == 1 && range.count[0] == 1)
        range.dims = 0;
    for (uint32_t k = range.dims; k < 2; k++)
        range.stride[k] = range.count[k] = 0;
    f->ranges[f->count++] = range;
}

/* Two things seen, and a third does not continue them: the second belongs to whichever is nearer.
 */
static bool belongs_to_next(uint64_t stride, uint64_t count, uint64_t gap)
{
    return count == 2 && gap < stride;
}

/* A row as the first of a plane: stride[0] and count[0] are the plane's, [1] the row's. */
static struct device_trace_range plane_of(const struct device_trace_range *row)
{
    struct device_trace_range plane = *row;
    plane.dims = 2;
    plane.stride[1] = row->stride[0];
    plane.count[1] = row->count[0];
    plane.stride[0] = 0;
    plane.count[0] = 1;
    return plane;
}

static bool alike(const struct device_trace_range *plane, const struct device_trace_range *row)
{
    return plane->bytes == row->bytes && plane->count[1] == row->count[0] && row->count[0] > 1 &&
           plane->stride[1] == row->stride[0];
}

static void fold_row(struct folding *f, const struct device_trace_range *row)
{
    struct device_trace_range *plane = &f->plane;
    if (plane->bytes && alike(plane, row)) {
        uint64_t last = plane->address + (plane->count[0] - 1) * plane->stride[0];
        uint64_t gap = row->address - last;
        if (plane->count[0] == 1 || gap == plane->stride[0]) {
            plane->stride[0] = gap;
            plane->count[0]++;
            return;
        }
        if (belongs_to_next(plane->stride[0], plane->count[0], gap)) {
            struct device_trace_range first = *plane;
            first.count[0] = 1;
            emit(f, first);
            plane->address = last;
            plane->stride[0] = gap;
            return;
        }
    }
    if (plane->bytes)
        emit(f, *plane);
    *plane = plane_of(row);
}

static void fold_piece(struct folding *f, uint64_t address, uint64_t bytes)
{
    struct device_trace_range *row = &f->row;
    if (row->bytes == bytes) {
        uint64_t last = row->address + (row->count[0] - 1) * row->stride[0];
        uint64_t gap = address - last;
        if (row->count[0] == 1 || gap == row->stride[0]) {
            row->stride[0] = gap;
            row->count[0]++;
            return;
        }
        if (belongs_to_next(row->stride[0], row->count[0], gap)) {
            struct device_trace_range first = *row;
            first.count[0] = 1;
            first.stride[0] = 0;
            fold_row(f, &first);
            row->address = last;
            row->stride[0] = gap;
            return;
        }
    }
    if (row->bytes)
        fold_row(f, row);
    *row = (struct device_trace_range){
        .address = address, .bytes = bytes, .kind = f->kind, .dims = 1, .count = {1, 0}};
}

/* What comes next belongs to neither. */
static void close_all(struct folding *f)
{
    if (f->row.bytes)
        fold_row(f, &f->row);
    if (f->plane.bytes)
        emit(f, f->plane);
    f->row.bytes = f->plane.bytes = 0;
}

/* The run that is open, cut at the bounds. */
static void close_run(struct folding *f)
{
    uint64_t address = f->address, bytes = f->bytes;
    while (bytes) {
        if (address >= f->limit) {
            close_all(f);
            size_t next = f->bounds ? bounds_below(f->bounds, address) : 0;
            f->limit =
                f->bounds && next < f->bounds->count ? f->bounds->addresses[next] : UINT64_MAX;
        }
        uint64_t room = f->limit == UINT64_MAX ? bytes : f->limit - address;
        uint64_t part = bytes < room ? bytes : room;
        fold_piece(f, address, part);
        address += part;
        bytes -= part;
    }
    f->bytes = 0;
}

void fold_begin(struct folding *folding, const struct bounds *bounds)
{
    *folding = (struct folding){.bounds = bounds};
}

void fold_run_slow(struct folding *f, uint32_t kind, uint64_t address, uint64_t bytes)
{
    close_run(f);
    if (kind != f->kind) {
        close_all(f);
        f->kind = kind;
        f->limit = 0;
    }
    f->address = address;
    f->bytes = bytes;
}

struct device_trace_range *fold_end(struct folding *f, size_t *count)
{
    close_run(f);
    close_all(f);
    *count = f->failed ? 0 : f->count;
    if (!f->failed)
        return f->ranges;
    free(f->ranges);
    return NULL;
}

/* Of ranges that were folded, all runs of one come before those of the next. */
struct device_trace_range *fold_bounded(const struct device_trace_range *ranges, size_t range_count,
                                        const struct bounds *bounds, size_t *count)
{
    struct folding folding;
    fold_begin(&folding, bounds);
    for (size_t i = 0; i < range_count; i++) {
        const struct device_trace_range *range = &ranges[i];
        uint64_t rows = range->dims > 0 ? range->count[0] : 1;
        uint64_t runs = range->dims > 1 ? range->count[1] : 1;
        for (uint64_t row = 0; row < rows; row++)
            for (uint64_t run = 0; run < runs; run++)
                fold_run(&folding, range->kind,
                         range->address + row * range->stride[0] + run * range->stride[1],
                         range->bytes);
    }
    return fold_end(&folding, count);
}
