/* See sampler.h. */
#include "runtime/device/exec/texture/sampler.h"

#include <math.h>

enum { ONE = SAMPLER_ONE, FACES = 6 };

/* What a filter reads along one axis: `first` with the weight ONE - fraction, and `second`. */
struct axis {
    int64_t first, second;
    unsigned fraction; /* of ONE */
};

/* A face of a cube, and where on it, from 0 to 1. */
struct face_point {
    unsigned face;
    double at[2];
};

unsigned sampler_dimensions(uint8_t shape)
{
    switch (shape) {
    case EXEC_SHAPE_LINEAR:
    case EXEC_SHAPE_1D:
        return 1;
    case EXEC_SHAPE_3D:
        return 3;
    default:
        return 2;
    }
}

/* ---- One axis ------------------------------------------------------------------------------- */

static double clamped(double value, double least, double greatest)
{
    return value > least ? (value < greatest ? value : greatest) : least; /* NaN: the least */
}

/* Wrapping and mirroring need normalized coordinates; without, they clamp. Beyond the ends of
 * linear memory are zeros, which its border holds. */
static uint8_t mode_of(const struct exec_texture *texture, unsigned axis)
{
    if (texture->shape == EXEC_SHAPE_LINEAR)
        return EXEC_ADDRESS_BORDER;
    const uint8_t mode =
        texture->shape == EXEC_SHAPE_CUBE ? EXEC_ADDRESS_CLAMP : texture->modes[axis];
    return texture->normalized || mode == EXEC_ADDRESS_BORDER ? mode : EXEC_ADDRESS_CLAMP;
}

/* A coordinate in texels. It stays near the range, so that integers hold it: a period from 0 if it
 * wraps, two if it is mirrored. The fraction between texels is then taken of what is not mirrored
 * yet, as a GPU does. */
static double in_texels(double at, uint32_t count, uint8_t mode, bool normalized)
{
    if (mode == EXEC_ADDRESS_WRAP)
        at -= floor(at);
    else if (mode == EXEC_ADDRESS_MIRROR)
        at -= 2 * floor(at / 2);
    if (at != at)
        return mode == EXEC_ADDRESS_BORDER ? -2 : 0;
    at = normalized ? at * count : at;
    return mode == EXEC_ADDRESS_MIRROR ? at : clamped(at, -2, (double)count + 2);
}

/* -1: the border. */
static int64_t index_of(int64_t index, uint32_t count, uint8_t mode)
{
    const int64_t n = count, period = mode == EXEC_ADDRESS_MIRROR ? 2 * n : n;
    if (index >= 0 && index < n)
        return index;
    if (mode == EXEC_ADDRESS_BORDER)
        return -1;
    if (mode == EXEC_ADDRESS_CLAMP)
        return index < 0 ? 0 : n - 1;
    index = (index % period + period) % period;
    return index < n ? index : 2 * n - 1 - index;
}

static struct axis nearest(double at, uint32_t count, uint8_t mode)
{
    return (struct axis){.first = index_of((int64_t)floor(at), count, mode)};
}

/* Neighbours before the address mode is applied. */
static struct axis neighbours(double at)
{
    int64_t fixed = (int64_t)floor((at - 0.5) * ONE + 0.5);
    int64_t first = fixed >= 0 ? fixed / ONE : -((ONE - 1 - fixed) / ONE);
    return (struct axis){first, first + 1, (unsigned)(fixed - first * ONE)};
}

/* A clamped coordinate has no fraction beyond the centers of the outer texels. */
static struct axis between(double at, uint32_t count, uint8_t mode)
{
    struct axis axis = neighbours(at);
    if (mode == EXEC_ADDRESS_CLAMP && (axis.first < 0 || axis.second >= count))
        axis.fraction = 0;
    axis.first = index_of(axis.first, count, mode);
    axis.second = index_of(axis.second, count, mode);
    return axis;
}

static struct axis whole(int64_t index, uint32_t count, uint8_t mode)
{
    return (struct axis){.first = index >= 0 && index < count ? index
                                  : mode == EXEC_ADDRESS_BORDER
                                      ? -1
                                      : (index < 0 ? 0 : (int64_t)count - 1)};
}

/* ---- Cubes ---------------------------------------------------------------------------------- */

/* "Cubemap Textures": the coordinate of largest magnitude chooses the face. The others are divided
 * by it in single precision, as products with its reciprocal. */
static struct face_point face_of(const double at[3])
{
    const double x = at[0], y = at[1], z = at[2];
    const double wide = fabs(x), high = fabs(y), deep = fabs(z);
    double m, s, t;
    unsigned face;
    if (deep >= wide && deep >= high) {
        face = z < 0 ? 5 : 4;
        m = deep, s = z < 0 ? -x : x, t = -y;
    } else if (high >= wide) {
        face = y < 0 ? 3 : 2;
        m = high, s = x, t = y < 0 ? -z : z;
    } else {
        face = x < 0 ? 1 : 0;
        m = wide, s = x < 0 ? z : -z, t = -y;
    }
    if (!(m > 0))
        return (struct face_point){face, {0.5, 0.5}};
    const float reciprocal = 1 / (float)m;
    s = (double)((float)s * reciprocal);
    t = (double)((float)t * reciprocal);
    return (struct face_point){face, {(s + 1) / 2, (t + 1) / 2}};
}

/* The direction of a point of a face; s and t go from -1 to 1. */
static void direction_of(unsigned face, double s, double t, double to[3])
{
    const double directions[FACES][3] = {
        {1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1},
    };
    for (int i = 0; i < 3; i++)
        to[i] = directions[face][i];
}

/* The texel of another face that adjoins texel (column, row) beyond the edge of this one. */
static void across_edge(unsigned *face, int64_t *column, int64_t *row, uint32_t width)
{
    double direction[3];
    direction_of(*face, (2 * (double)*column + 1) / width - 1, (2 * (double)*row + 1) / width - 1,
                 direction);
    struct face_point there = face_of(direction);
    *face = there.face;
    *column = (int64_t)clamped(floor(there.at[0] * width), 0, width - 1);
    *row = (int64_t)clamped(floor(there.at[1] * width), 0, width - 1);
}

/* ---- One level ------------------------------------------------------------------------------ */

static uint32_t clamped_layer(int64_t layer, uint32_t count)
{
    return layer < 0 ? 0 : layer < count ? (uint32_t)layer : count - 1;
}

/* The first slice of the layer. */
static uint32_t slice_of(const struct exec_texture *texture, const struct exec_level *level,
                         int64_t layer)
{
    if (!texture->layered)
        return 0;
    return texture->shape == EXEC_SHAPE_CUBE ? clamped_layer(layer, level->depth / FACES) * FACES
                                             : clamped_layer(layer, level->depth);
}

static struct sampler_tap tap_at(const struct exec_texture *texture, const struct exec_level *level,
                                 int64_t column, int64_t row, int64_t slice, unsigned weight)
{
    struct sampler_tap tap = {.weight = weight, .outside = column < 0 || row < 0 || slice < 0};
    if (!tap.outside)
        tap.address = level->base + (uint64_t)slice * level->slice + (uint64_t)row * level->pitch +
                      (uint64_t)column * texture->channels * texture->channel_bytes;
    return tap;
}

/* A share of a weight, rounded half up. */
static unsigned share_of(unsigned weight, unsigned fraction)
{
    return (weight * fraction + ONE / 2) / ONE;
}

/* Splits a weight among four neighbours, along x and then along y. k = 1 is beside k = 0, and
 * k = 2 is below it. Along y the column of k = 1 is rounded half up, and that of k = 0 half down.
 */
static void split(unsigned weight, unsigned column, unsigned row, unsigned weights[4])
{
    const unsigned right = share_of(weight, column), left = weight - right;
    weights[3] = share_of(right, row);
    weights[1] = right - weights[3];
    weights[0] = share_of(left, ONE - row);
    weights[2] = left - weights[0];
}

/* All combinations of the axes' texels share `weight`, by z, then x, then y. A texel without
 * weight is not read. */
static unsigned box_taps(const struct exec_texture *texture, const struct exec_level *level,
                         const struct axis axes[3], uint32_t slice, unsigned weight,
                         struct sampler_tap *taps)
{
    const unsigned deeper = share_of(weight, axes[2].fraction);
    unsigned count = 0, weights[8];
    split(weight - deeper, axes[0].fraction, axes[1].fraction, weights);
    split(deeper, axes[0].fraction, axes[1].fraction, weights + 4);
    for (int k = 0; k < 8; k++) {
        if (weights[k] == 0)
            continue;
        int64_t depth = k >> 2 ? axes[2].second : axes[2].first;
        taps[count++] = tap_at(texture, level, k & 1 ? axes[0].second : axes[0].first,
                               k >> 1 & 1 ? axes[1].second : axes[1].first,
                               depth < 0 ? -1 : depth + slice, weights[k]);
    }
    return count;
}

/* At a corner three faces meet. What the fourth texel would weigh is shared by the three: a third,
 * rounded, for each of its neighbours, and the rest for the one across. */
static void share_corner(unsigned weights[4], int corner)
{
    const unsigned third = (2 * weights[corner] + 3) / 6;
    weights[corner ^ 1] += third;
    weights[corner ^ 2] += third;
    weights[corner ^ 3] += weights[corner] - 2 * third;
    weights[corner] = 0;
}

/* As box_taps on a face, whose neighbours lie on other faces. */
static unsigned seamless_taps(const struct exec_texture *texture, const struct exec_level *level,
                              const struct axis axes[2], unsigned face, uint32_t slice,
                              unsigned weight, struct sampler_tap *taps)
{
    const int64_t n = level->width;
    unsigned count = 0, weights[4];
    split(weight, axes[0].fraction, axes[1].fraction, weights);
    for (int k = 0; k < 4; k++) {
        int64_t column = axes[0].first + (k & 1), row = axes[1].first + (k >> 1);
        if ((column < 0 || column >= n) && (row < 0 || row >= n))
            share_corner(weights, k);
    }
    for (int k = 0; k < 4; k++) {
        int64_t column = axes[0].first + (k & 1), row = axes[1].first + (k >> 1);
        unsigned there = face;
        if (weights[k] == 0)
            continue;
        if (column < 0 || column >= n || row < 0 || row >= n)
            across_edge(&there, &column, &row, level->width);
        taps[count++] = tap_at(texture, level, column, row, slice + there, weights[k]);
    }
    return count;
}

static unsigned cube_taps(const struct exec_texture *texture, const struct exec_level *level,
                          const struct sampler_point *point, unsigned weight,
                          struct sampler_tap *taps)
{
    struct face_point where = face_of(point->at);
    struct axis axes[3] = {{0}};
    uint32_t slice = slice_of(texture, level, point->layer);
    for (int i = 0; i < 2; i++) {
        double at = clamped(where.at[i] * level->width, 0, level->width);
        axes[i] = !texture->linear    ? nearest(at, level->width, EXEC_ADDRESS_CLAMP)
                  : texture->seamless ? neighbours(at)
                                      : between(at, level->width, EXEC_ADDRESS_CLAMP);
    }
    if (texture->linear && texture->seamless)
        return seamless_taps(texture, level, axes, where.face, slice, weight, taps);
    return box_taps(texture, level, axes, slice + where.face, weight, taps);
}

static uint32_t extent_of(const struct exec_level *level, unsigned axis)
{
    return axis == 0 ? level->width : axis == 1 ? level->height : level->depth;
}

/* A GPU filters a line as an image of one row, at its upper edge: half of the weight belongs to the
 * row above. That is the same row, unless the mode of y, which the line inherits, is the border.
 * Lines in layers have no row above. */
static struct axis row_of_line(const struct exec_texture *texture)
{
    if (!texture->linear || texture->shape != EXEC_SHAPE_1D || texture->layered ||
        mode_of(texture, 1) != EXEC_ADDRESS_BORDER)
        return (struct axis){0};
    return between(0, 1, EXEC_ADDRESS_BORDER);
}

static unsigned level_taps(const struct exec_texture *texture, const struct exec_level *level,
                           const struct sampler_point *point, unsigned weight,
                           struct sampler_tap *taps)
{
    struct axis axes[3] = {{0}};
    if (texture->shape == EXEC_SHAPE_CUBE)
        return cube_taps(texture, level, point, weight, taps);
    if (!point->integer)
        axes[1] = row_of_line(texture);
    for (unsigned i = 0; i < sampler_dimensions(texture->shape); i++) {
        uint32_t count = extent_of(level, i);
        uint8_t mode = mode_of(texture, i);
        double at = in_texels(point->at[i], count, mode, texture->normalized);
        axes[i] = point->integer    ? whole(point->index[i], count, mode)
                  : texture->linear ? between(at, count, mode)
                                    : nearest(at, count, mode);
    }
    return box_taps(texture, level, axes, slice_of(texture, level, point->layer), weight, taps);
}

/* ---- Levels --------------------------------------------------------------------------------- */

/* In units of 1 / ONE: what is less is dropped, also before the nearest level is chosen. */
static unsigned level_of(const struct exec_texture *texture, double level)
{
    level =
        clamped(level + (double)texture->bias, (double)texture->least, (double)texture->greatest);
    level = clamped(level, 0, texture->level_count - 1);
    return (unsigned)floor(level * ONE);
}

unsigned sampler_taps(const struct exec_texture *texture, const struct sampler_point *point,
                      struct sampler_tap taps[SAMPLER_TAPS])
{
    unsigned level = texture->level_count > 1 ? level_of(texture, point->level) : 0;
    if (!texture->between_levels)
        level = (level + ONE / 2) / ONE * ONE;
    unsigned fraction = level % ONE;
    const struct exec_level *near = &texture->levels[level / ONE];
    unsigned count = level_taps(texture, near, point, ONE - fraction, taps);
    if (fraction)
        count += level_taps(texture, near + 1, point, fraction, taps + count);
    return count;
}

void sampler_gather(const struct exec_texture *texture, const struct sampler_point *point,
                    struct sampler_tap taps[SAMPLER_GATHERED])
{
    static const uint8_t order[SAMPLER_GATHERED][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const struct exec_level *level = &texture->levels[0];
    struct face_point where = {.at = {point->at[0], point->at[1]}};
    const bool cube = texture->shape == EXEC_SHAPE_CUBE;
    struct axis axes[2];
    if (cube)
        where = face_of(point->at);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t count = extent_of(level, i);
        uint8_t mode = mode_of(texture, i);
        axes[i] =
            between(in_texels(where.at[i], count, mode, cube || texture->normalized), count, mode);
    }
    for (int k = 0; k < SAMPLER_GATHERED; k++)
        taps[k] = tap_at(texture, level, order[k][0] ? axes[0].second : axes[0].first,
                         order[k][1] ? axes[1].second : axes[1].first,
                         slice_of(texture, level, point->layer) + where.face, ONE);
}

/* How many texels of level 0 a difference crosses. */
static double length_of(const struct exec_texture *texture, const double d[3])
{
    const struct exec_level *level = &texture->levels[0];
    double sum = 0;
    for (unsigned i = 0; i < sampler_dimensions(texture->shape); i++) {
        double texels = texture->normalized ? d[i] * extent_of(level, i) : d[i];
        sum += texels * texels;
    }
    return sqrt(sum);
}

/* What a difference of directions is on the face, as a share of it. */
static void on_face(const struct sampler_point *point, const double d[3], double to[3])
{
    const double next[3] = {point->at[0] + d[0], point->at[1] + d[1], point->at[2] + d[2]};
    struct face_point here = face_of(point->at), there = face_of(next);
    for (int i = 0; i < 2; i++)
        to[i] = here.face == there.face ? there.at[i] - here.at[i] : 0;
}

/* The logarithm of a length, in steps of 1 / ONE. The 8 bits behind the first one choose the step:
 * that of the middle of the numbers with these bits, rounded up from 17/32. Powers of two are
 * exact. */
static double logarithm(double length)
{
    int exponent;
    if (!(length > 0) || !isfinite(length))
        return log2(length);
    const double bits = floor((2 * frexp(length, &exponent) - 1) * ONE);
    const double step =
        bits > 0 ? fmin(floor(ONE * log2(1 + (bits + 0.5) / ONE) + 15.0 / 32), ONE - 1) : 0;
    return exponent - 1 + step / ONE;
}

double sampler_level(const struct exec_texture *texture, const struct sampler_point *point,
                     const double dx[3], const double dy[3])
{
    double x[3] = {dx[0], dx[1], dx[2]}, y[3] = {dy[0], dy[1], dy[2]};
    if (texture->shape == EXEC_SHAPE_CUBE) {
        on_face(point, dx, x);
        on_face(point, dy, y);
    }
    return logarithm(fmax(length_of(texture, x), length_of(texture, y)));
}
