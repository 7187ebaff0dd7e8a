/* tex, tld4 and txq (PTX ISA section 9.7.10). sampler.c says which texels a lane reads; they are
 * then read as other memory is, and filter.c weighs them. */
#include "runtime/device/exec/texture/exec_texture.h"
#include "runtime/device/exec/texture/filter.h"
#include "runtime/device/exec/texture/texel.h"
#include "runtime/trace/object_address.h"

enum level_choice { LEVEL_BASE, LEVEL_GIVEN, LEVEL_GRADIENT };

struct texture_site {
    struct micro read; /* of a texel */
    struct texture_place place;
    uint32_t results[TEXEL_CHANNELS];
    uint32_t resident;        /* predicate slot, if has_resident: whether the texels are there */
    uint32_t level;           /* slot, by LEVEL_GIVEN */
    uint32_t gradients[2][3]; /* slots, by LEVEL_GRADIENT */
    uint8_t choice;           /* enum level_choice */
    uint8_t component;        /* tld4: which */
    bool integer;             /* coordinates */
    bool has_resident;
};

/* ---- Lanes that name the same object ---- */

/* A kernel that uses an object reads its description. */
static void record_use(struct exec_state *state, texture_finder *find, uint64_t handle)
{
    const uint64_t address = object_address(find == state->launch.memory.find_surface, handle);
    if (state->touch && address)
        touch_record(state->touch, DEVICE_TRACE_READ, address, 1);
}

int texture_lanes(struct warp *w, const struct micro *op, uint32_t handle, texture_finder *find,
                  texture_run *run)
{
    void *user = w->state->launch.memory.user;
    const uint64_t *handles = slot(w, handle);
    uint32_t mask = w->mask;
    int flow = FLOW_NEXT;
    for (uint32_t rest = mask; rest && flow == FLOW_NEXT; rest &= ~w->mask) {
        uint64_t first = handles[__builtin_ctz(rest)];
        w->mask = 0;
        for (uint32_t m = rest; m; m &= m - 1)
            if (handles[__builtin_ctz(m)] == first)
                w->mask |= m & -m;
        const struct exec_texture *texture = find ? find(user, first) : NULL;
        if (texture)
            record_use(w->state, find, first);
        flow = texture ? run(w, op, texture)
                       : fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, first);
    }
    w->mask = mask;
    return flow;
}

/* A kernel that takes a texture for one of another shape gets no texels that would mean anything.
 * Linear memory is fetched by tex1Dfetch, and nothing else is. */
static bool fits(const struct texture_site *site, const struct exec_texture *texture)
{
    const struct texture_place *place = &site->place;
    if (texture->shape == EXEC_SHAPE_LINEAR)
        return place->shape == EXEC_SHAPE_1D && !place->layered && site->integer;
    return place->shape == texture->shape && place->layered == texture->layered;
}

/* ---- Where a lane reads ---- */

static double coordinate(struct warp *w, uint32_t at, int lane)
{
    return (double)((const float *)slot(w, at))[lane];
}

static double level_of(struct warp *w, const struct texture_site *site,
                       const struct exec_texture *texture, const struct sampler_point *point,
                       int lane)
{
    double d[2][3] = {{0}};
    if (site->choice == LEVEL_GIVEN)
        return coordinate(w, site->level, lane);
    if (site->choice == LEVEL_BASE || texture->level_count == 1)
        return 0;
    for (int g = 0; g < 2; g++)
        for (unsigned i = 0; i < site->place.dimensions; i++)
            d[g][i] = coordinate(w, site->gradients[g][i], lane);
    return sampler_level(texture, point, d[0], d[1]);
}

static struct sampler_point point_of(struct warp *w, const struct texture_site *site,
                                     const struct exec_texture *texture, int lane)
{
    const struct texture_place *place = &site->place;
    struct sampler_point point = {.integer = site->integer};
    for (unsigned i = 0; i < place->dimensions; i++) {
        if (site->integer)
            point.index[i] = ((const int32_t *)slot(w, place->coordinates[i]))[lane];
        else
            point.at[i] = coordinate(w, place->coordinates[i], lane);
    }
    if (place->layered)
        point.layer = ((const uint32_t *)slot(w, place->layer))[lane];
    point.level = level_of(w, site, texture, &point, lane);
    return point;
}

/* ---- Reading ---- */

/* What the lanes of a warp read of one texture. */
struct fetch {
    struct sampler_tap taps[WARP_LANES][SAMPLER_TAPS];
    unsigned counts[WARP_LANES];
    const uint8_t *texels[WARP_LANES][SAMPLER_TAPS]; /* NULL: the border */
};

/* Resolves the k-th texel of all lanes that have one. */
static int resolve(struct warp *w, const struct micro *read, struct fetch *fetch, unsigned k)
{
    uint64_t addresses[WARP_LANES] = {0};
    uint8_t *pointers[WARP_LANES];
    uint32_t lanes = w->mask, inside = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        fetch->texels[l][k] = NULL;
        if (k >= fetch->counts[l] || fetch->taps[l][k].outside)
            continue;
        addresses[l] = fetch->taps[l][k].address;
        inside |= 1u << l;
    }
    w->mask = inside;
    int flow = inside ? space_resolve_at(w, read, addresses, pointers) : FLOW_NEXT;
    w->mask = lanes;
    for (uint32_t m = flow == FLOW_NEXT ? inside : 0; m; m &= m - 1)
        fetch->texels[__builtin_ctz(m)][k] = pointers[__builtin_ctz(m)];
    return flow;
}

static int resolve_all(struct warp *w, const struct texture_site *site,
                       const struct exec_texture *texture, struct fetch *fetch)
{
    struct micro read = site->read;
    unsigned most = 0;
    int flow = FLOW_NEXT;
    read.bytes = (uint8_t)texel_bytes(texture);
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (fetch->counts[__builtin_ctz(m)] > most)
            most = fetch->counts[__builtin_ctz(m)];
    for (unsigned k = 0; k < most && flow == FLOW_NEXT; k++)
        flow = resolve(w, &read, fetch, k);
    return flow;
}

/* Channels that the texels lack are zero: nothing says what they are. */
static uint32_t weighed(const struct exec_texture *texture, const struct fetch *fetch, int lane,
                        unsigned c)
{
    return c < texture->channels
               ? filter_sum(texture, fetch->taps[lane], fetch->texels[lane], fetch->counts[lane], c)
               : 0;
}

static int finish(struct warp *w, const struct texture_site *site)
{
    if (site->has_resident)
        slot_set_predicate(w, site->resident, ALL_LANES);
    return FLOW_NEXT;
}

static int fetch_one(struct warp *w, const struct micro *op, const struct exec_texture *texture)
{
    const struct texture_site *site = op->pointer;
    struct fetch fetch;
    if (!fits(site, texture))
        return fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, 0);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct sampler_point point = point_of(w, site, texture, l);
        fetch.counts[l] = sampler_taps(texture, &point, fetch.taps[l]);
    }
    int flow = resolve_all(w, site, texture, &fetch);
    if (flow != FLOW_NEXT)
        return flow;
    for (unsigned c = 0; c < TEXEL_CHANNELS; c++) {
        uint32_t *to = slot(w, site->results[c]);
        for (uint32_t m = w->mask; m; m &= m - 1)
            to[__builtin_ctz(m)] = weighed(texture, &fetch, __builtin_ctz(m), c);
    }
    return finish(w, site);
}

static int fetch_lanes(struct warp *w, const struct micro *op)
{
    const struct texture_site *site = op->pointer;
    return texture_lanes(w, op, site->place.handle, w->state->launch.memory.find_texture,
                         fetch_one);
}

static int gather_one(struct warp *w, const struct micro *op, const struct exec_texture *texture)
{
    const struct texture_site *site = op->pointer;
    struct fetch fetch;
    if (!fits(site, texture))
        return fault_raise(w, op, w->mask, EXEC_FAULT_ILLEGAL_INSTRUCTION, 0);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        struct sampler_point point = point_of(w, site, texture, l);
        sampler_gather(texture, &point, fetch.taps[l]);
        fetch.counts[l] = SAMPLER_GATHERED;
    }
    int flow = resolve_all(w, site, texture, &fetch);
    if (flow != FLOW_NEXT)
        return flow;
    for (unsigned k = 0; k < SAMPLER_GATHERED; k++) {
        uint32_t *to = slot(w, site->results[k]);
        for (uint32_t m = w->mask; m; m &= m - 1)
            to[__builtin_ctz(m)] =
                site->component < texture->channels
                    ? filter_gathered(texture, fetch.texels[__builtin_ctz(m)][k], site->component)
                    : 0;
    }
    return finish(w, site);
}

static int gather_lanes(struct warp *w, const struct micro *op)
{
    const struct texture_site *site = op->pointer;
    return texture_lanes(w, op, site->place.handle, w->state->launch.memory.find_texture,
                         gather_one);
}

/* ---- Decoding ---- */

bool texture_says(const struct ptx_instruction *instruction, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = instruction->mnemonic; (at = strchr(at, '.'));) {
        at++;
        if (strncmp(at, word, length) == 0 && (at[length] == '.' || at[length] == 0))
            return true;
    }
    return false;
}

static bool read_geometry(const struct ptx_instruction *i, bool cubes, struct texture_place *place)
{
    static const struct {
        const char *word;
        uint8_t shape;
        bool layered;
    } geometries[] = {
        {"1d", EXEC_SHAPE_1D, false},     {"2d", EXEC_SHAPE_2D, false},
        {"3d", EXEC_SHAPE_3D, false},     {"a1d", EXEC_SHAPE_1D, true},
        {"a2d", EXEC_SHAPE_2D, true},     {"cube", EXEC_SHAPE_CUBE, false},
        {"acube", EXEC_SHAPE_CUBE, true},
    };
    for (size_t k = 0; k < sizeof geometries / sizeof *geometries; k++) {
        if (!texture_says(i, geometries[k].word))
            continue;
        place->shape = geometries[k].shape;
        place->layered = geometries[k].layered;
        place->dimensions =
            place->shape == EXEC_SHAPE_CUBE ? 3 : (uint8_t)sampler_dimensions(place->shape);
        return cubes || place->shape != EXEC_SHAPE_CUBE;
    }
    return false;
}

bool texture_handle(struct decoder *decoder, const struct ptx_operand *address, uint32_t *handle)
{
    if (address->kind != PTX_OPERAND_ADDRESS || address->base != PTX_OPERAND_REGISTER ||
        address->imm != 0)
        return false;
    struct ptx_operand object = *address;
    object.kind = PTX_OPERAND_REGISTER;
    object.count = 0;
    *handle = decoder_source(decoder, &object, 64);
    return true;
}

/* Vectors of three have a fourth element, which is ignored. */
static bool element_count_is(const struct ptx_operand *vector, uint32_t count)
{
    return vector->kind == PTX_OPERAND_VECTOR
               ? vector->count == count || (count == 3 && vector->count == 4)
               : count == 1;
}

static const struct ptx_operand *element_of(const struct ptx_operand *vector, uint32_t k)
{
    return vector->kind == PTX_OPERAND_VECTOR ? &vector->elements[k] : vector;
}

bool texture_place(struct decoder *decoder, const struct ptx_instruction *i,
                   const struct ptx_operand *address, bool cubes, struct texture_place *place)
{
    if (!read_geometry(i, cubes, place) || address->count != 1 ||
        !texture_handle(decoder, address, &place->handle))
        return false;
    const struct ptx_operand *at = &address->elements[0];
    if (!element_count_is(at, place->dimensions + (place->layered ? 1u : 0u)))
        return false;
    if (place->layered)
        place->layer = decoder_source(decoder, element_of(at, 0), 32);
    for (uint32_t k = 0; k < place->dimensions; k++)
        place->coordinates[k] =
            decoder_source(decoder, element_of(at, k + (place->layered ? 1u : 0u)), 32);
    return true;
}

static bool is_result(uint8_t type)
{
    return type == PTX_F32 || type == PTX_S32 || type == PTX_U32 || type == PTX_B32;
}

static bool read_results(struct decoder *decoder, const struct ptx_instruction *i,
                         struct texture_site *site)
{
    const struct ptx_operand *to = &i->operands[0];
    if (to->kind != PTX_OPERAND_VECTOR || to->count != TEXEL_CHANNELS || !is_result(i->type2))
        return false;
    for (int c = 0; c < TEXEL_CHANNELS; c++)
        site->results[c] = decoder_destination(decoder, &to->elements[c], 32);
    site->has_resident = i->second.kind != PTX_OPERAND_NONE;
    if (site->has_resident)
        site->resident = decoder_destination(decoder, &i->second, 1);
    return true;
}

/* tex.level has the level behind the address, tex.grad two vectors. */
static bool read_level(struct decoder *decoder, const struct ptx_instruction *i,
                       struct texture_site *site)
{
    uint32_t operands = 2;
    if (texture_says(i, "level")) {
        site->choice = LEVEL_GIVEN;
        operands = 3;
        if (i->operand_count == operands)
            site->level = decoder_source(decoder, &i->operands[2], 32);
    } else if (texture_says(i, "grad")) {
        site->choice = LEVEL_GRADIENT;
        operands = 4;
        for (uint32_t g = 0; g < 2 && i->operand_count == operands; g++) {
            const struct ptx_operand *vector = &i->operands[2 + g];
            if (!element_count_is(vector, site->place.dimensions))
                return false;
            for (uint32_t k = 0; k < site->place.dimensions; k++)
                site->gradients[g][k] = decoder_source(decoder, element_of(vector, k), 32);
        }
    }
    return i->operand_count == operands;
}

static struct texture_site *site_create(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct texture_site *site = decoder_keep(decoder, sizeof *site);
    if (!site || i->operand_count < 2 ||
        !texture_place(decoder, i, &i->operands[1], true, &site->place) ||
        !read_results(decoder, i, site))
        return NULL;
    site->read.instruction = decoder->instruction_index;
    site->read.space = PTX_SPACE_GLOBAL;
    site->read.width = 8;
    site->read.count = 1;
    site->read.option = ACCESS_RECORDED;
    site->read.touch = 1u << DEVICE_TRACE_READ;
    return site;
}

void decode_tex(struct decoder *decoder, const struct ptx_instruction *i)
{
    struct texture_site *site = site_create(decoder, i);
    if (!site || (i->type != PTX_F32 && i->type != PTX_S32) || !read_level(decoder, i, site)) {
        decoder_fail(decoder);
        return;
    }
    site->integer = i->type == PTX_S32;
    if (site->integer && (site->choice != LEVEL_BASE || site->place.shape == EXEC_SHAPE_CUBE)) {
        decoder_fail(decoder);
        return;
    }
    decoder_emit(decoder, fetch_lanes)->pointer = site;
}

void decode_tld4(struct decoder *decoder, const struct ptx_instruction *i)
{
    static const char *const components[TEXEL_CHANNELS] = {"r", "g", "b", "a"};
    struct texture_site *site = site_create(decoder, i);
    if (!site || i->type != PTX_F32 || i->operand_count != 2 || site->place.dimensions < 2 ||
        site->place.shape == EXEC_SHAPE_3D) {
        decoder_fail(decoder);
        return;
    }
    while (site->component < TEXEL_CHANNELS && !texture_says(i, components[site->component]))
        site->component++;
    if (site->component == TEXEL_CHANNELS) {
        decoder_fail(decoder);
        return;
    }
    decoder_emit(decoder, gather_lanes)->pointer = site;
}
