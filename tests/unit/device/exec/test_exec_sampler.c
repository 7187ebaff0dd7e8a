/* Which texels a fetch reads, against the formulas of the CUDA C++ Programming Guide, "Texture
 * Fetching" and "Cubemap Textures", written down here once more with the rounding that GPUs were
 * seen to do: a sum over all texels of the texture, each with the weight that the formulas give it.
 */
#include "runtime/device/exec/texture/sampler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 20000, SIDE = 9, FACES = 6, BASE = 1 << 20 };

/* ---- Textures ---- */

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static double share(void)
{
    return (double)draw(1 << 20) / (1 << 20);
}

/* One channel of a byte: a texel's address says where it is. */
static struct exec_texture any_texture(uint8_t shape)
{
    struct exec_texture texture = {.level_count = 1,
                                   .shape = shape,
                                   .layered = shape != EXEC_SHAPE_3D && draw(2),
                                   .channels = 1,
                                   .channel_bytes = 1,
                                   .normalized = draw(2),
                                   .linear = draw(2),
                                   .seamless = draw(2)};
    struct exec_level *level = &texture.levels[0];
    level->width = 1 + (uint32_t)draw(SIDE - 1);
    level->height = shape == EXEC_SHAPE_1D ? 1 : 1 + (uint32_t)draw(SIDE - 1);
    level->depth = shape == EXEC_SHAPE_3D || texture.layered ? 1 + (uint32_t)draw(5) : 1;
    if (shape == EXEC_SHAPE_CUBE) {
        level->height = level->width;
        level->depth = FACES * (texture.layered ? 1 + (uint32_t)draw(3) : 1);
        texture.normalized = true;
    }
    level->base = BASE;
    level->pitch = 16;
    level->slice = 16 * SIDE;
    for (int i = 0; i < 3; i++)
        texture.modes[i] = (uint8_t)draw(4);
    return texture;
}

/* ---- The formulas ---- */

/* The two texels at coordinate x, in texels, of an axis of n texels; -1: the border. Returns what
 * the second weighs, of 256. */
static int pair_on_axis(const struct exec_texture *texture, int axis, double x, int n, int pair[2])
{
    const uint8_t mode = texture->modes[axis];
    const double fixed = texture->linear ? floor((x - 0.5) * 256 + 0.5) / 256 : floor(x);
    for (int k = 0; k < 2; k++) {
        long at = (long)floor(fixed) + k;
        if (mode == EXEC_ADDRESS_WRAP && texture->normalized)
            at = (at % n + n) % n;
        else if (mode == EXEC_ADDRESS_MIRROR && texture->normalized)
            at = (at % (2 * n) + 2 * n) % (2 * n) < n ? (at % n + n) % n : n - 1 - (at % n + n) % n;
        if (at < 0 || at >= n)
            at = mode == EXEC_ADDRESS_BORDER ? -1 : at < 0 ? 0 : n - 1;
        pair[k] = (int)at;
    }
    const bool clamps =
        mode == EXEC_ADDRESS_CLAMP || (mode != EXEC_ADDRESS_BORDER && !texture->normalized);
    if (clamps && (x < 0.5 - 1.0 / 512 || fixed >= n - 1)) /* a clamped point is a texel's center */
        return 0;
    return (int)((fixed - floor(fixed)) * 256);
}

static int rounded(int numerator)
{
    return (int)floor(numerator / 256.0 + 0.5);
}

/* What the corner of a square weighs of `all`: the right half is rounded half up, and so is its
 * lower part; of the left half the upper part is. */
static int corner_weight(int all, int x, int y, bool right, bool lower)
{
    const int at_right = rounded(all * x), at_left = all - at_right;
    const int lower_right = rounded(at_right * y), upper_left = rounded(at_left * (256 - y));
    if (right)
        return lower ? lower_right : at_right - lower_right;
    return lower ? at_left - upper_left : upper_left;
}

static double in_texels(const struct exec_texture *texture, double at, int n)
{
    return texture->normalized ? at * n : at;
}

/* ---- Comparing ---- */

/* Weights by slice, row and column, and of the border. */
struct weights {
    double of[64][SIDE][SIDE], border;
};

static void take_taps(struct weights *weights, const struct exec_texture *texture,
                      const struct sampler_point *point)
{
    struct sampler_tap taps[SAMPLER_TAPS];
    unsigned count = sampler_taps(texture, point, taps);
    assert_in_range(count, 1, SAMPLER_TAPS);
    memset(weights, 0, sizeof *weights);
    for (unsigned k = 0; k < count; k++) {
        uint64_t offset = taps[k].address - BASE;
        const double weight = taps[k].weight / 256.0;
        assert_true(taps[k].weight > 0);
        if (taps[k].outside) {
            weights->border += weight;
            continue;
        }
        assert_true(offset < 64 * 16 * SIDE && offset % 16 < texture->levels[0].width);
        weights->of[offset / (16 * SIDE)][offset / 16 % SIDE][offset % 16] += weight;
    }
}

static void assert_near(double got, double want, const struct exec_texture *texture, double x)
{
    if (fabs(got - want) > 1e-12)
        fail_msg("shape %d, linear %d, normalized %d, modes %d %d %d, x %.17g: %.17g, not %.17g",
                 texture->shape, texture->linear, texture->normalized, texture->modes[0],
                 texture->modes[1], texture->modes[2], x, got, want);
}

static int wanted_slice(const struct exec_texture *texture, int64_t layer, int unit)
{
    int layers = (int)texture->levels[0].depth / unit;
    return !texture->layered ? 0
                             : unit * (int)(layer < 0        ? 0
                                            : layer < layers ? layer
                                                             : layers - 1);
}

static void compare_box(const struct exec_texture *texture, const struct sampler_point *point)
{
    static struct weights got, want;
    const struct exec_level *level = &texture->levels[0];
    const int sizes[3] = {(int)level->width, (int)level->height, (int)level->depth};
    const int dimensions = (int)sampler_dimensions(texture->shape);
    int pairs[3][2] = {{0}}, parts[3] = {0};
    for (int d = 0; d < dimensions; d++)
        parts[d] = pair_on_axis(texture, d, in_texels(texture, point->at[d], sizes[d]), sizes[d],
                                pairs[d]);
    if (dimensions == 1 && texture->linear && !texture->layered) /* an image of one row, at y = 0 */
        parts[1] = pair_on_axis(texture, 1, 0, 1, pairs[1]);
    memset(&want, 0, sizeof want);
    const int slice = wanted_slice(texture, point->layer, 1);
    for (int k = 0; k < 8; k++) {
        const bool right = k & 1, lower = k & 2, deeper = k & 4;
        const int column = pairs[0][right ? 1 : 0], row = pairs[1][lower ? 1 : 0],
                  depth = pairs[2][deeper ? 1 : 0];
        const double weight =
            corner_weight(deeper ? parts[2] : 256 - parts[2], parts[0], parts[1], right, lower) /
            256.0;
        if (column < 0 || row < 0 || depth < 0)
            want.border += weight;
        else
            want.of[slice + depth][row][column] += weight;
    }
    take_taps(&got, texture, point);
    for (int i = 0; i < 64 * SIDE * SIDE; i++)
        assert_near((&got.of[0][0][0])[i], (&want.of[0][0][0])[i], texture, point->at[0]);
    assert_near(got.border, want.border, texture, point->at[0]);
}

static void follows_the_formulas(void **unused)
{
    (void)unused;
    const uint8_t shapes[3] = {EXEC_SHAPE_1D, EXEC_SHAPE_2D, EXEC_SHAPE_3D};
    for (int round = 0; round < ROUNDS; round++) {
        struct exec_texture texture = any_texture(shapes[round % 3]);
        struct sampler_point point = {.layer = (int64_t)draw(8)};
        for (int d = 0; d < 3; d++) {
            double reach = texture.normalized ? 1 : SIDE;
            point.at[d] = (double)(float)(reach * (6 * share() - 3));
            if (draw(4) == 0) /* on the edge of a texel */
                point.at[d] = (double)(float)((double)draw(60) / 4 - 7);
        }
        compare_box(&texture, &point);
    }
}

/* What a texture of floats gives: the texels by column, then row; `border` beyond. */
static double filtered(const struct exec_texture *texture, const struct sampler_point *point,
                       const double *texels, double border)
{
    static struct weights got;
    const int width = (int)texture->levels[0].width, height = (int)texture->levels[0].height;
    take_taps(&got, texture, point);
    double sum = got.border * border;
    for (int i = 0; i < width * height; i++)
        sum += got.of[0][i / width][i % width] * texels[i];
    return sum;
}

/* Measured on an H100: float texels, border mode on both axes, border color 5, x = -45/256. The
 * line is the lower row of two: 83 weighs 83/256 * 1/2, which 8 bits make 42/256. */
static void line_with_border_as_measured(void **unused)
{
    (void)unused;
    const double texels[8] = {83, 86, 77, 15, 93, 35, 86, 92};
    const struct sampler_point point = {.at = {-0.17578125}};
    struct exec_texture texture = {
        .levels[0] = {.base = BASE, .width = 8, .height = 1, .depth = 1, .pitch = 16},
        .level_count = 1,
        .shape = EXEC_SHAPE_1D,
        .channels = 1,
        .channel_bytes = 1,
        .linear = true,
        .modes = {EXEC_ADDRESS_BORDER, EXEC_ADDRESS_BORDER, EXEC_ADDRESS_BORDER}};
    assert_true(filtered(&texture, &point, texels, 5) == 17.796875);
    texture.modes[1] = EXEC_ADDRESS_CLAMP; /* both rows are the line */
    assert_true(filtered(&texture, &point, texels, 5) == (83 * 83 + 173 * 5) / 256.0);
}

/* Published measurements of a GPU's tex2D at y = 1/16 texel and x in steps of 1/32 texel, for a
 * square of the texels 38, 39, 118 and 13 ("Bilinear interpolation in C/C++ and CUDA", a question
 * on Stack Overflow): the fractions' product ends in a half at each odd step. */
static void square_as_measured(void **unused)
{
    (void)unused;
    const double texels[4] = {38, 39, 118, 13};
    const double measured[16] = {
        43,       42.6171875, 42.6484375, 42.265625, 42.296875, 41.9140625, 41.9453125, 41.5625,
        41.59375, 41.2109375, 41.2421875, 40.859375, 40.890625, 40.5078125, 40.5390625, 40.15625};
    const struct exec_texture texture = {
        .levels[0] = {.base = BASE, .width = 2, .height = 2, .depth = 1, .pitch = 16},
        .level_count = 1,
        .shape = EXEC_SHAPE_2D,
        .channels = 1,
        .channel_bytes = 1,
        .linear = true,
        .modes = {EXEC_ADDRESS_CLAMP, EXEC_ADDRESS_CLAMP}};
    for (int i = 0; i < 16; i++) {
        const struct sampler_point point = {.at = {0.5 + i / 32.0, 0.5625}};
        assert_near(filtered(&texture, &point, texels, 0), measured[i], &texture, point.at[0]);
    }
}

/* ---- Cubes ---- */

/* The direction of a point of a face, s and t from -1 to 1: the guide's table, read backwards. */
static void direction_of(int face, double s, double t, double *d)
{
    d[0] = face == 0 ? 1 : face == 1 ? -1 : face == 5 ? -s : s;
    d[1] = face == 2 ? 1 : face == 3 ? -1 : -t;
    d[2] = face == 0 ? -s : face == 1 ? s : face == 2 ? t : face == 3 ? -t : face == 4 ? 1 : -1;
}

static void points_at_faces(void **unused)
{
    (void)unused;
    static struct weights got;
    for (int round = 0; round < ROUNDS; round++) {
        struct exec_texture texture = any_texture(EXEC_SHAPE_CUBE);
        const int n = (int)texture.levels[0].width, face = (int)draw(FACES);
        const int column = (int)draw((uint64_t)n), row = (int)draw((uint64_t)n);
        struct sampler_point point = {.layer = (int64_t)draw(4)};
        texture.linear = false;
        double scale = 0.1 + 5 * share(); /* how long a direction is does not matter */
        direction_of(face, (2 * column + 0.2 + 1.6 * share()) / n - 1,
                     (2 * row + 0.2 + 1.6 * share()) / n - 1, point.at);
        for (int i = 0; i < 3; i++)
            point.at[i] *= scale;
        take_taps(&got, &texture, &point);
        int slice = wanted_slice(&texture, point.layer, FACES) + face;
        assert_near(got.of[slice][row][column], 1, &texture, point.at[0]);
    }
}

/* A filter on a seamless cube takes neighbours that lie beside each other in space: no texel is
 * farther from the direction than the diagonal of two texels; and weights add up to 1. */
static void seamless_neighbours_are_near(void **unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        struct exec_texture texture = any_texture(EXEC_SHAPE_CUBE);
        struct sampler_tap taps[SAMPLER_TAPS];
        struct sampler_point point = {0};
        const int n = (int)texture.levels[0].width;
        double sum = 0, at[3], length = 0;
        texture.linear = texture.seamless = true;
        direction_of((int)draw(FACES), 2 * share() - 1, 2 * share() - 1, point.at);
        unsigned count = sampler_taps(&texture, &point, taps);
        for (int i = 0; i < 3; i++)
            length += point.at[i] * point.at[i];
        for (unsigned k = 0; k < count; k++) {
            uint64_t offset = taps[k].address - BASE;
            double distance = 0;
            direction_of((int)(offset / (16 * SIDE)) % FACES,
                         (2 * (double)(offset % 16) + 1) / n - 1,
                         (2 * (double)(offset / 16 % SIDE) + 1) / n - 1, at);
            for (int i = 0; i < 3; i++)
                distance += (at[i] - point.at[i]) * (at[i] - point.at[i]);
            assert_true(sqrt(distance) < 4.0 / n);
            sum += taps[k].weight / 256.0;
        }
        assert_near(sum, 1, &texture, length);
    }
}

/* Measured on an H200, at corners of cubes of 16 texels a side: fractions of x and y, and what the
 * three texels weigh: beside in x, in y, and the one across from the fourth. */
static void corners_as_measured(void **unused)
{
    (void)unused;
    static const int corners[][5] = {{101, 5, 100, 4, 152},  {101, 14, 97, 10, 149},
                                     {43, 26, 40, 23, 193},  {39, 29, 36, 26, 194},
                                     {61, 117, 42, 98, 116}, {58, 108, 42, 92, 122}};
    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        const int *corner = corners[i];
        struct sampler_tap taps[SAMPLER_TAPS];
        struct exec_texture texture = any_texture(EXEC_SHAPE_CUBE);
        struct sampler_point point = {0};
        texture.linear = texture.seamless = true;
        texture.layered = false;
        texture.levels[0].width = texture.levels[0].height = SIDE - 1;
        direction_of(4, (15 + corner[0] / 128.0) / (SIDE - 1) - 1,
                     (15 + corner[1] / 128.0) / (SIDE - 1) - 1, point.at);
        assert_int_equal(sampler_taps(&texture, &point, taps), 3);
        assert_int_equal(taps[0].weight, corner[4]);
        assert_int_equal(taps[1].weight, corner[2]);
        assert_int_equal(taps[2].weight, corner[3]);
    }
}

/* ---- Gathering, levels, and numbers that are none ---- */

static void gathers_what_a_filter_reads(void **unused)
{
    (void)unused;
    static struct weights filtered;
    for (int round = 0; round < ROUNDS; round++) {
        struct exec_texture texture = any_texture(EXEC_SHAPE_2D);
        struct sampler_tap gathered[SAMPLER_GATHERED];
        struct sampler_point point = {.at = {SIDE * share(), SIDE * share()}};
        texture.layered = texture.normalized = false;
        texture.linear = true;
        texture.modes[0] = texture.modes[1] = EXEC_ADDRESS_CLAMP;
        take_taps(&filtered, &texture, &point);
        sampler_gather(&texture, &point, gathered);
        const int x = (int)floor((point.at[0] - 0.5) * 256 + 0.5) & 255;
        const int y = (int)floor((point.at[1] - 0.5) * 256 + 0.5) & 255;
        double sum = 0;
        const double weights[SAMPLER_GATHERED] = {
            corner_weight(256, x, y, false, true), corner_weight(256, x, y, true, true),
            corner_weight(256, x, y, true, false), corner_weight(256, x, y, false, false)};
        for (int k = 0; k < SAMPLER_GATHERED; k++) {
            uint64_t offset = gathered[k].address - BASE;
            filtered.of[0][offset / 16 % SIDE][offset % 16] -= weights[k] / 256;
        }
        for (int i = 0; i < SIDE * SIDE; i++)
            sum += fabs(filtered.of[0][i / SIDE][i % SIDE]);
        assert_near(sum, 0, &texture, point.at[0]);
    }
}

static void chooses_levels(void **unused)
{
    (void)unused;
    struct exec_texture texture = {.level_count = 4,
                                   .shape = EXEC_SHAPE_1D,
                                   .channels = 1,
                                   .channel_bytes = 1,
                                   .least = 0,
                                   .greatest = 10};
    struct sampler_tap taps[SAMPLER_TAPS];
    for (uint32_t i = 0; i < 4; i++)
        texture.levels[i] = (struct exec_level){BASE + i * 100, 8, 8, 8u >> i, 1, 1};
    for (int round = 0; round < ROUNDS; round++) {
        struct sampler_point point = {.level = 8 * share() - 2};
        texture.between_levels = draw(2);
        texture.bias = (float)draw(3) - 1;
        texture.least = (float)draw(2);
        double level = fmax(fmin(point.level + (double)texture.bias, 10), (double)texture.least);
        double mean = 0, sum = 0;
        level = fmax(0, fmin(level, 3));
        level = floor(level * 256) / 256;
        unsigned count = sampler_taps(&texture, &point, taps);
        for (unsigned k = 0; k < count; k++) {
            sum += taps[k].weight / 256.0;
            mean += taps[k].weight / 256.0 * (double)((taps[k].address - BASE) / 100);
        }
        assert_near(sum, 1, &texture, point.level);
        assert_near(mean, texture.between_levels ? level : floor(level + 0.5), &texture,
                    point.level);
    }
}

static void asks_for_levels_by_gradients(void **unused)
{
    (void)unused;
    struct exec_texture texture = {.level_count = 4, .shape = EXEC_SHAPE_2D, .normalized = true};
    const struct sampler_point point = {.at = {0.5, 0.5}};
    texture.levels[0] = (struct exec_level){BASE, 64, 64, 64, 32, 1};
    const double two[3] = {2.0 / 64}, four[3] = {0, 4.0 / 32}, none[3] = {0};
    assert_true(sampler_level(&texture, &point, two, none) == 1);
    assert_true(sampler_level(&texture, &point, two, four) == 2);
    assert_true(sampler_level(&texture, &point, none, none) == -INFINITY);
    /* measured on an H200: the bits behind the first one, and the step of 1/256 that they give */
    const int steps[][2] = {{0, 0}, {1, 2}, {2, 4}, {61, 79}, {111, 133}, {118, 140}, {255, 255}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const double d[3] = {(1 + (steps[i][0] + 0.75 * share()) / 256) / 16};
        assert_near(sampler_level(&texture, &point, d, none), 2 + steps[i][1] / 256.0, &texture,
                    d[0]);
    }
}

static void survives_any_number(void **unused)
{
    (void)unused;
    const double numbers[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0, -0.0, 1e-300};
    const uint64_t count = sizeof numbers / sizeof *numbers;
    static struct weights got;
    for (int round = 0; round < ROUNDS; round++) {
        struct exec_texture texture = any_texture((uint8_t)(EXEC_SHAPE_1D + draw(4)));
        struct sampler_point point = {.level = numbers[draw(count)],
                                      .layer = draw(2) ? UINT32_MAX : 0};
        for (int d = 0; d < 3; d++)
            point.at[d] = numbers[draw(count)];
        take_taps(&got, &texture, &point); /* checks that all texels are inside */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_formulas),
        cmocka_unit_test(line_with_border_as_measured),
        cmocka_unit_test(square_as_measured),
        cmocka_unit_test(points_at_faces),
        cmocka_unit_test(seamless_neighbours_are_near),
        cmocka_unit_test(corners_as_measured),
        cmocka_unit_test(gathers_what_a_filter_reads),
        cmocka_unit_test(chooses_levels),
        cmocka_unit_test(asks_for_levels_by_gradients),
        cmocka_unit_test(survives_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
