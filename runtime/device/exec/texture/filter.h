/* What a channel of a fetch is: the weighed sum of its texels' channels, in the precision of the
 * texels' format. The CUDA documentation does not give it. What is done here was measured on an
 * H200: it gives the same bits for each sample of tests/gpu/texture_samples.cu.
 *
 * The functions are pure. Tested in tests/unit/device/exec/test_exec_filter.c. */
#ifndef RUNTIME_DEVICE_EXEC_FILTER_H
#define RUNTIME_DEVICE_EXEC_FILTER_H

#include "runtime/device/exec/texture/sampler.h"

/* The register of channel `c` < texture->channels of the sum of `count` texels, which `taps` weigh.
 * A texel that is NULL is the border. */
uint32_t filter_sum(const struct exec_texture *texture, const struct sampler_tap *taps,
                    const uint8_t *const *texels, unsigned count, unsigned c);

/* The same of a single texel that is gathered. */
uint32_t filter_gathered(const struct exec_texture *texture, const uint8_t *texel, unsigned c);

#endif
