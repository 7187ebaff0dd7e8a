/* Which texels a fetch reads, and with which weights: addressing, filtering, levels and cube faces
 * (CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA section 9.7.10, "Texture Instructions").
 * Fractions between texels and between levels have 8 bits, as the guide's 1.8 fixed-point numbers.
 * So have the weights that are products of fractions. The guide does not say how GPUs round them,
 * nor how they choose levels and cross the edges of cubes. What is done here was measured on an
 * H200: it gives the same bits for each sample of tests/gpu/texture_samples.cu.
 *
 * The functions are pure, and touch no texel. Tested against formulas of its own in
 * tests/unit/device/exec/test_exec_sampler.c. */
#ifndef RUNTIME_DEVICE_EXEC_SAMPLER_H
#define RUNTIME_DEVICE_EXEC_SAMPLER_H

#include "runtime/device/exec/exec.h"

enum { SAMPLER_TAPS = 16, SAMPLER_GATHERED = 4, SAMPLER_ONE = 256 };

/* Where to sample. */
struct sampler_point {
    double at[3];     /* coordinates, or the direction that points at a cube's texel */
    int64_t index[3]; /* instead, if `integer`: texels; no filter, no scale */
    int64_t layer;    /* of layered textures; those outside are clamped */
    double level;     /* before bias and limits */
    bool integer;
};

/* One texel that is read, or (outside) the border. */
struct sampler_tap {
    uint64_t address;
    unsigned weight; /* of SAMPLER_ONE: they add up to it */
    bool outside;
};

/* Writes the texels with a weight; returns how many. */
unsigned sampler_taps(const struct exec_texture *texture, const struct sampler_point *point,
                      struct sampler_tap taps[SAMPLER_TAPS]);

/* Writes the four neighbours that a linear filter would read, in the order of tld4's result:
 * counter-clockwise from the lower left. Of two-dimensional textures and cubes. */
void sampler_gather(const struct exec_texture *texture, const struct sampler_point *point,
                    struct sampler_tap taps[SAMPLER_GATHERED]);

/* The level that gradients ask for: `dx` and `dy` are the coordinates' differences from this pixel
 * to its two neighbours. A multiple of 1 / SAMPLER_ONE, or not finite. Without anisotropy. */
double sampler_level(const struct exec_texture *texture, const struct sampler_point *point,
                     const double dx[3], const double dy[3]);

/* Coordinates of a shape: 1, 2 or 3. */
unsigned sampler_dimensions(uint8_t shape);

#endif
