/* txq and suq: what a texture or surface is (PTX ISA sections 9.7.10.5 and 9.7.11.4). */
#include "runtime/device/exec/texture/exec_texture.h"

enum query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_ARRAY_SIZE,
    QUERY_LEVELS,
    QUERY_SAMPLES,
    QUERY_NORMALIZED,
    QUERY_FILTER
};

struct query_site {
    uint32_t handle, result, level; /* slots */
    uint8_t query;                  /* enum query */
    bool surface, has_level;
};

static uint32_t layers_of(const struct exec_texture *texture)
{
    uint32_t slices = texture->levels[0].depth;
    if (!texture->layered)
        return 0;
    return texture->shape == EXEC_SHAPE_CUBE ? slices / 6 : slices;
}

static uint32_t answer(const struct exec_texture *texture, uint8_t query, uint32_t level)
{
    const struct exec_level *at =
        &texture->levels[level < texture->level_count ? level : texture->level_count - 1u];
    switch (query) {
    case QUERY_WIDTH:
        return at->width;
    case QUERY_HEIGHT:
        return at->height;
    case QUERY_DEPTH:
        return texture->shape == EXEC_SHAPE_3D ? at->depth : 1;
    case QUERY_ARRAY_SIZE:
        return layers_of(texture);
    case QUERY_LEVELS:
        return texture->level_count;
    case QUERY_NORMALIZED:
        return texture->normalized;
    case QUERY_FILTER:
        return texture->linear;
    default:
        return 1;
    }
}

static int query_one(struct warp *w, const struct micro *op, const struct exec_texture *texture)
{
    const struct query_site *site = op->pointer;
    uint32_t *to = slot(w, site->result);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t level = site->has_level ? ((const uint32_t *)slot(w, site->level))[l] : 0;
        to[l] = answer(texture, site->query, level);
    }
    return FLOW_NEXT;
}

static int query_lanes(struct warp *w, const struct micro *op)
{
    const struct query_site *site = op->pointer;
    const struct exec_memory *memory = &w->state->launch.memory;
    return texture_lanes(w, op, site->handle,
                         site->surface ? memory->find_surface : memory->find_texture, query_one);
}

static bool read_query(const struct ptx_instruction *i, struct query_site *site)
{
    static const char *const names[] = {
        [QUERY_WIDTH] = "width",
        [QUERY_HEIGHT] = "height",
        [QUERY_DEPTH] = "depth",
        [QUERY_ARRAY_SIZE] = "array_size",
        [QUERY_LEVELS] = "num_mipmap_levels",
        [QUERY_SAMPLES] = "num_samples",
        [QUERY_NORMALIZED] = "normalized_coords",
        [QUERY_FILTER] = "filter_mode",
    };
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (texture_says(i, names[k])) {
            site->query = (uint8_t)k;
            return true;
        }
    return false;
}

void decode_txq(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct query_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || !read_query(i, site) || i->operand_count < 2 || i->operand_count > 3 ||
        !texture_handle(decoder, &i->operands[1], &site->handle)) {
        decoder_fail(decoder);
        return;
    }
    site->surface = i->opcode == PTX_OP_SUQ;
    site->has_level = i->operand_count == 3;
    if (site->has_level)
        site->level = decoder_source(decoder, &i->operands[2], 32);
    site->result = decoder_destination(decoder, &i->operands[0], 32);
    decoder_emit(decoder, query_lanes)->pointer = site;
}
