/* Values of nodes. See evaluate.h. */
#include "runtime/access/evaluate.h"

#include <string.h>

/* ---- Values ---- */

struct maker maker_start(void)
{
    struct maker maker;
    maker.count = 0;
    maker.hull = (struct interval){AFFINE_INFINITE, -AFFINE_INFINITE};
    maker.base = BASE_NONE;
    maker.bound = ACCESS_EXACT;
    maker.any = maker.overflow = false;
    return maker;
}

/* The only value that a form of the interval's numbers can have; false: there are several. */
static bool single_value(const struct affine_form *form, struct interval interval, int64_t *value)
{
    int64_t step = affine_divisor(form);
    if (!interval_is_finite(interval) || step <= 0)
        return false;
    int64_t beyond = (form->constant - interval.low) % step;
    *value = interval.low + (beyond < 0 ? beyond + step : beyond);
    return *value <= interval.high && interval.high - *value < step;
}

/* Whether it holds where one of the two does: they differ in a constraint and its opposite.
 * *common is what is left. */
static bool complementary(struct evaluation *e, const struct conjunction *a,
                          const struct conjunction *b, const struct conjunction **common)
{
    const struct affine_form *own = NULL, *other = NULL;
    struct affine_form sum;
    if (!a || !b || a->count != b->count)
        return false;
    struct conjunction *rest = conjunction_new(e->pool, NULL);
    for (uint32_t i = 0; i < a->count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < b->count && !there; k++)
            there = affine_equal(a->constraints[i], b->constraints[k]);
        if (there)
            rest->constraints[rest->count++] = a->constraints[i];
        else if (own)
            return false;
        else
            own = a->constraints[i];
    }
    for (uint32_t k = 0; k < b->count && own; k++) {
        bool there = false;
        for (uint32_t i = 0; i < rest->count && !there; i++)
            there = affine_equal(rest->constraints[i], b->constraints[k]);
        if (!there)
            other = b->constraints[k];
    }
    if (!other || !affine_add(&sum, own, other, 1) || !affine_is_constant(&sum) ||
        sum.constant != -1)
        return false;
    *common = rest->count ? rest : NULL;
    return true;
}

/* Whether a piece of the maker's has the new one's values too. */
static bool maker_has(struct evaluation *e, struct maker *maker, const struct piece *piece)
{
    for (uint32_t i = 0; i < maker->count; i++) {
        struct piece *old = &maker->pieces[i];
        if (old->base != piece->base || old->bound != piece->bound ||
            !affine_equal(old->form, piece->form))
            continue;
        if (!old->when || complementary(e, old->when, piece->when, &old->when))
            return true;
    }
    return false;
}

void maker_put(struct evaluation *e, struct maker *maker, const struct conjunction *when,
               const struct affine_form *form, uint32_t base, uint8_t bound)
{
    struct piece piece = {when, form, base, bound};
    struct interval interval = piece_interval(e, &piece);
    struct affine_form constant = affine_constant(0);
    if (when && !affine_is_constant(form) && !form_bound(e, form) &&
        single_value(form, interval, &constant.constant))
        piece.form = form = &constant;
    if (maker_has(e, maker, &piece))
        return;
    if (interval.low < maker->hull.low)
        maker->hull.low = interval.low;
    if (interval.high > maker->hull.high)
        maker->hull.high = interval.high;
    maker->bound = bound_worst(maker->bound, bound_worst(bound, form_bound(e, form)));
    maker->base = maker->any && maker->base != base ? (uint32_t)BASE_UNKNOWN : base;
    maker->any = true;
    if (maker->count == VALUE_PIECES) {
        maker->overflow = true;
        return;
    }
    piece.form = affine_keep(e->pool, form);
    maker->pieces[maker->count++] = piece;
}

static struct value *value_new(struct evaluation *e, const struct piece *pieces, uint32_t count)
{
    struct value *value = pool_allocate(e->pool, sizeof *value + count * sizeof *pieces);
    value->count = count;
    memcpy(value->pieces, pieces, count * sizeof *pieces);
    return value;
}

/* The same with another base. */
static const struct value *value_based(struct evaluation *e, const struct value *value,
                                       uint32_t base)
{
    struct value *based = value_new(e, value->pieces, value->count);
    based->pieces[0].base = base;
    return based;
}

const struct value *maker_finish(struct evaluation *e, struct maker *maker)
{
    if (!maker->overflow)
        return value_new(e, maker->pieces, maker->count);
    const struct value *between = value_between(e, maker->hull.low, maker->hull.high,
                                                maker->bound ? maker->bound : ACCESS_BOUND_SHAPE);
    return value_based(e, between, maker->base);
}

const struct value *value_form(struct evaluation *e, const struct affine_form *form)
{
    const struct piece piece = {NULL, affine_keep(e->pool, form), BASE_NONE, ACCESS_EXACT};
    return value_new(e, &piece, 1);
}

const struct value *value_constant(struct evaluation *e, int64_t constant)
{
    struct affine_form form = affine_constant(constant);
    return value_form(e, &form);
}

const struct value *value_between(struct evaluation *e, int64_t low, int64_t high, uint8_t bound)
{
    if (low == high)
        return value_constant(e, low);
    uint32_t index = index_add(&e->indices, low, high);
    if (index == UINT32_MAX)
        longjmp(*e->pool->exhausted, 1);
    e->indices.ranges[index].bound = bound;
    e->indices.ranges[index].line = e->line;
    e->indices.ranges[index].loop = e->loop;
    struct affine_form form = affine_index(index, 1);
    return value_form(e, &form);
}

const struct value *value_any(struct evaluation *e, uint32_t width, uint8_t bound)
{
    if (width >= 64)
        return value_between(e, -AFFINE_INFINITE, AFFINE_INFINITE, bound);
    return value_between(e, 0, (int64_t)((UINT64_C(1) << width) - 1), bound);
}

bool value_is_constant(const struct value *value, int64_t *constant)
{
    const struct piece *piece = &value->pieces[0];
    if (value->count != 1)
        return false;
    *constant = piece->form->constant;
    return !piece->when && !piece->bound && piece->base == BASE_NONE &&
           affine_is_constant(piece->form);
}

/* ---- Conjunctions of pieces ---- */

bool when_both(struct evaluation *e, const struct conjunction *a, const struct conjunction *b,
               const struct conjunction **both, bool *exact)
{
    *both = a ? a : b;
    if (!a || !b || a == b)
        return true;
    struct conjunction *joined = conjunction_new(e->pool, a);
    *both = joined;
    return conjunction_add_all(joined, b, &e->indices, e->pool, exact);
}

bool when_also(struct evaluation *e, const struct conjunction *a,
               const struct affine_form *constraint, const struct conjunction **both, bool *exact)
{
    struct interval interval = affine_interval(constraint, &e->indices);
    *both = a;
    if (interval.low >= 0)
        return true;
    if (interval.high < 0)
        return false;
    struct conjunction *joined = conjunction_new(e->pool, a);
    *both = joined;
    return conjunction_add(joined, constraint, &e->indices, e->pool, exact);
}

/* A bound on the form that a constraint on the same terms gives. */
static void tighten(struct interval *interval, const struct affine_form *form,
                    const struct affine_form *constraint)
{
    struct affine_form sum;
    int64_t bound;
    if (affine_same_terms(form, constraint)) {
        if (!__builtin_sub_overflow(form->constant, constraint->constant, &bound) &&
            bound > interval->low)
            interval->low = bound;
    } else if (form->count == constraint->count && affine_add(&sum, form, constraint, 1) &&
               affine_is_constant(&sum)) {
        if (!__builtin_add_overflow(form->constant, constraint->constant, &bound) &&
            bound < interval->high)
            interval->high = bound;
    }
}

struct interval piece_interval(const struct evaluation *e, const struct piece *piece)
{
    struct interval interval = affine_interval(piece->form, &e->indices);
    for (uint32_t i = 0; piece->when && i < piece->when->count; i++)
        tighten(&interval, piece->form, piece->when->constraints[i]);
    return interval;
}

uint8_t form_bound(const struct evaluation *e, const struct affine_form *form)
{
    uint8_t bound = ACCESS_EXACT;
    for (uint32_t i = 0; i < form->count; i++)
        bound = bound_worst(bound, e->indices.ranges[form->terms[i].index].bound);
    return bound;
}

/* ---- Parameters ---- */

bool read_parameters(struct evaluation *e, int64_t offset, uint32_t bytes, uint64_t *value)
{
    const struct ptx_function *kernel = e->graph->kernel;
    for (uint32_t i = 0; i < kernel->param_count && bytes <= sizeof *value; i++) {
        const struct ptx_param *param = &kernel->params[i];
        if (offset < param->offset || offset + bytes > (int64_t)param->offset + param->size)
            continue;
        if (!e->launch->parameters || !e->launch->parameters[i])
            return false;
        *value = 0;
        memcpy(value, (const char *)e->launch->parameters[i] + (offset - param->offset), bytes);
        memset(e->consumed + offset, 1, bytes);
        return true;
    }
    return false;
}

static uint32_t base_number(struct evaluation *e, struct access_base base)
{
    for (uint32_t i = 0; i < e->base_count; i++) {
        const struct access_base *other = &e->bases[i];
        if (other->kind == base.kind && other->param_index == base.param_index &&
            other->param_offset == base.param_offset && other->variable == base.variable &&
            other->address == base.address)
            return BASE_MEMORY + i;
    }
    if (e->base_count == sizeof e->bases / sizeof e->bases[0])
        return BASE_UNKNOWN;
    e->bases[e->base_count] = base;
    return BASE_MEMORY + e->base_count++;
}

static uint32_t parameter_index(const struct ptx_function *kernel, int64_t offset)
{
    for (uint32_t i = 0; i < kernel->param_count; i++)
        if (offset >= kernel->params[i].offset &&
            offset < (int64_t)kernel->params[i].offset + kernel->params[i].size)
            return i;
    return 0;
}

static uint32_t base_of_parameter(struct evaluation *e, int64_t offset)
{
    return base_number(
        e, (struct access_base){.kind = ACCESS_BASE_PARAM,
                                .param_index = parameter_index(e->graph->kernel, offset),
                                .param_offset = (uint32_t)offset});
}

bool piece_concrete(struct evaluation *e, struct piece *piece)
{
    uint64_t address;
    struct affine_form form;
    if (piece->base == BASE_NONE)
        return true;
    if (piece->base < BASE_MEMORY)
        return false;
    const struct access_base *base = &e->bases[piece->base - BASE_MEMORY];
    if (base->kind == ACCESS_BASE_ADDRESS)
        address = base->address;
    else if (base->kind != ACCESS_BASE_PARAM ||
             !read_parameters(e, base->param_offset, 8, &address))
        return false;
    affine_scale(&form, piece->form, 1, (int64_t)address);
    piece->form = affine_keep(e->pool, &form);
    piece->base = BASE_NONE;
    e->mixed = true;
    return true;
}

static void put_parameter(struct evaluation *e, struct maker *maker, const struct conjunction *when,
                          int64_t offset, uint32_t width, bool is_pointer)
{
    struct affine_form form = affine_constant(0);
    uint64_t bits;
    if (is_pointer && width == 64) {
        maker_put(e, maker, when, &form, base_of_parameter(e, offset), ACCESS_EXACT);
    } else if (read_parameters(e, offset, width / 8, &bits)) {
        form.constant = (int64_t)bits;
        maker_put(e, maker, when, &form, BASE_NONE, ACCESS_EXACT);
    } else {
        const struct value *any = value_any(e, width, ACCESS_BOUND_DATA);
        maker_put(e, maker, when, any->pieces[0].form, BASE_NONE, ACCESS_EXACT);
    }
}

static const struct value *evaluate_parameter(struct evaluation *e, const struct node *node)
{
    struct maker maker = maker_start();
    put_parameter(e, &maker, NULL, node->value, node->width,
                  node->value >= 0 && node->value < e->graph->kernel->param_bytes &&
                      e->graph->is_pointer[node->value]);
    return maker_finish(e, &maker);
}

/* ---- One of few ---- */

/* The piece for each value its form takes, if those are few: returns how many, 0 when too many. */
static uint32_t enumerate(struct evaluation *e, const struct piece *piece,
                          struct piece cases[VALUE_PIECES])
{
    uint32_t count = 1, total = 1;
    cases[0] = *piece;
    for (uint32_t t = 0; t < piece->form->count; t++) {
        const struct index_range *range = &e->indices.ranges[piece->form->terms[t].index];
        if (range->high - range->low >= VALUE_PIECES)
            return 0;
        total *= (uint32_t)(range->high - range->low + 1);
        if (total > VALUE_PIECES)
            return 0;
    }
    while (count && cases[0].form->count) {
        struct piece fewer[VALUE_PIECES];
        uint32_t made = 0, index = cases[0].form->terms[0].index;
        const struct index_range *range = &e->indices.ranges[index];
        for (uint32_t i = 0; i < count; i++)
            for (int64_t v = range->low; v <= range->high; v++) {
                struct affine_form is = affine_constant(v), low = affine_index(index, 1), high;
                bool exact = true;
                struct piece one = cases[i];
                struct affine_form form = *one.form;
                low.constant = -v;
                affine_scale(&high, &low, -1, 0);
                if (!when_also(e, one.when, &low, &one.when, &exact) ||
                    !when_also(e, one.when, &high, &one.when, &exact) ||
                    !affine_substitute(&form, index, &is))
                    continue;
                one.form = affine_keep(e->pool, &form);
                one.bound = exact ? one.bound : ACCESS_BOUND_SHAPE;
                fewer[made++] = one;
            }
        memcpy(cases, fewer, made * sizeof *cases);
        count = made;
    }
    return count;
}

/* 8 bytes or fewer of the parameters at a computed place: a pointer out of an array of them. */
static const struct value *evaluate_parameter_at(struct evaluation *e, const struct node *node)
{
    const struct value *place = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < place->count; i++) {
        struct piece cases[VALUE_PIECES];
        uint32_t count =
            place->pieces[i].base == BASE_PARAMETERS ? enumerate(e, &place->pieces[i], cases) : 0;
        if (!count)
            return value_any(e, node->width, ACCESS_BOUND_SHAPE);
        for (uint32_t k = 0; k < count; k++)
            put_parameter(e, &maker, cases[k].when, cases[k].form->constant + node->value,
                          node->width, node->is_pointer);
    }
    return maker_finish(e, &maker);
}

static const struct value *value_loaded(struct evaluation *e, const struct node *node)
{
    const struct value *any = value_any(e, node->width, ACCESS_BOUND_DATA);
    if (!node->is_pointer)
        return any;
    return value_based(e, any, BASE_UNKNOWN);
}

/* What memory holds where the caller knows it: tables of pointers or offsets. */
static const struct value *evaluate_load(struct evaluation *e, const struct node *node)
{
    const struct value *place = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < place->count; i++) {
        struct piece cases[VALUE_PIECES];
        const struct piece *from = &place->pieces[i];
        uint32_t count = from->base >= BASE_MEMORY && !from->bound ? enumerate(e, from, cases) : 0;
        if (!count)
            return value_loaded(e, node);
        for (uint32_t k = 0; k < count; k++) {
            uint64_t bits = 0;
            const struct access_base *base = &e->bases[from->base - BASE_MEMORY];
            uint64_t unused;
            if (base->kind == ACCESS_BASE_PARAM)
                read_parameters(e, base->param_offset, 8, &unused); /* where the table lies */
            e->reads_memory = true; /* also if nobody can, this time */
            if (!e->launch->read ||
                !e->launch->read(e->launch->user, base, e->launch->parameters,
                                 cases[k].form->constant + node->value, node->width / 8, &bits))
                return value_loaded(e, node);
            struct affine_form form = affine_constant(node->is_pointer ? 0 : (int64_t)bits);
            uint32_t number =
                node->is_pointer
                    ? base_number(e, (struct access_base){.kind = ACCESS_BASE_ADDRESS,
                                                          .param_index = base->param_index,
                                                          .param_offset = base->param_offset,
                                                          .variable = base->variable,
                                                          .address = bits})
                    : BASE_NONE;
            maker_put(e, &maker, cases[k].when, &form, number, cases[k].bound);
        }
    }
    return maker_finish(e, &maker);
}

/* Where an address is looked up, a parameter that is held there is one. */
static const struct value *evaluate_held(struct evaluation *e, const struct node *lookup,
                                         uint32_t operand)
{
    const struct node *held = &e->graph->nodes[operand];
    struct maker maker = maker_start();
    if (!lookup->is_pointer || held->kind != NODE_PARAM)
        return evaluate_node(e, operand);
    put_parameter(e, &maker, NULL, held->value, held->width, true);
    return maker_finish(e, &maker);
}

static const struct value *evaluate_look_up(struct evaluation *e, const struct node *node)
{
    const struct value *place = evaluate_node(e, node->a);
    struct maker maker = maker_start();
    for (uint32_t i = 0; i < place->count; i++) {
        const struct piece *from = &place->pieces[i];
        if (from->base != BASE_LOCAL)
            return value_any(e, node->width, ACCESS_BOUND_DATA);
        for (uint32_t k = 0; k < node->operand_count; k++) {
            struct affine_form low, high;
            const struct conjunction *when;
            bool exact = true;
            affine_scale(&low, from->form, 1, -node->offsets[k]);
            affine_scale(&high, &low, -1, 0);
            if (!when_also(e, from->when, &low, &when, &exact) ||
                !when_also(e, when, &high, &when, &exact))
                continue;
            const struct value *held = evaluate_held(e, node, node->operands[k]);
            for (uint32_t p = 0; p < held->count; p++) {
                const struct conjunction *both;
                if (when_both(e, when, held->pieces[p].when, &both, &exact))
                    maker_put(e, &maker, both, held->pieces[p].form, held->pieces[p].base,
                              bound_worst(held->pieces[p].bound,
                                          exact ? from->bound : ACCESS_BOUND_SHAPE));
            }
        }
    }
    if (!maker.any)
        return value_any(e, node->width, ACCESS_BOUND_DATA);
    return maker_finish(e, &maker);
}

/* ---- Coordinates ---- */

static const struct value *coordinate(struct evaluation *e, uint32_t reg, uint32_t count)
{
    if (count <= 1)
        return value_constant(e, 0);
    if (!e->specials[reg]) {
        uint32_t index = index_add(&e->indices, 0, (int64_t)count - 1);
        if (index == UINT32_MAX)
            longjmp(*e->pool->exhausted, 1);
        e->specials[reg] = index + 1;
    }
    struct affine_form form = affine_index(e->specials[reg] - 1, 1);
    return value_form(e, &form);
}

static const uint32_t *cluster_of(const struct evaluation *e)
{
    static const uint32_t none[3] = {1, 1, 1};
    if (e->launch->cluster[0])
        return e->launch->cluster;
    return e->graph->kernel->required_cluster[0] ? e->graph->kernel->required_cluster : none;
}

/* The thread's number in its block. */
static struct affine_form thread_number(struct evaluation *e)
{
    struct affine_form sum = affine_constant(0);
    int64_t scale = 1;
    for (uint32_t d = 0; d < 3; d++) {
        const struct value *own = coordinate(e, PTX_SREG_TID_X + d, e->launch->block[d]);
        affine_add(&sum, &sum, own->pieces[0].form, scale);
        scale *= e->launch->block[d];
    }
    return sum;
}

static const struct value *part_of(struct evaluation *e, const struct affine_form *form,
                                   int64_t divisor, bool remainder)
{
    struct maker maker = maker_start();
    struct piece piece = {NULL, form, BASE_NONE, ACCESS_EXACT};
    divide_piece(e, &maker, &piece, divisor, remainder);
    return maker_finish(e, &maker);
}

/* Whether the register is one of three from `first` on: which. */
static bool is_one_of(uint32_t reg, uint32_t first, uint32_t *dimension)
{
    *dimension = reg - first;
    return reg >= first && *dimension < 3;
}

static const struct value *evaluate_special(struct evaluation *e, uint32_t reg)
{
    const struct access_launch *launch = e->launch;
    const uint32_t *cluster = cluster_of(e);
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2], d;
    if (is_one_of(reg, PTX_SREG_TID_X, &d))
        return coordinate(e, reg, launch->block[d]);
    if (is_one_of(reg, PTX_SREG_NTID_X, &d))
        return value_constant(e, launch->block[d]);
    if (is_one_of(reg, PTX_SREG_CTAID_X, &d))
        return coordinate(e, reg, launch->grid[d]);
    if (is_one_of(reg, PTX_SREG_NCTAID_X, &d))
        return value_constant(e, launch->grid[d]);
    if (is_one_of(reg, PTX_SREG_CLUSTER_NCTAID_X, &d))
        return value_constant(e, cluster[d]);
    bool in_cluster = is_one_of(reg, PTX_SREG_CLUSTER_CTAID_X, &d);
    if (in_cluster || is_one_of(reg, PTX_SREG_CLUSTERID_X, &d)) {
        const struct value *block = coordinate(e, PTX_SREG_CTAID_X + d, launch->grid[d]);
        return part_of(e, block->pieces[0].form, cluster[d] ? cluster[d] : 1, in_cluster);
    }
    struct affine_form number;
    switch (reg) {
    case PTX_SREG_LANEID:
        number = thread_number(e);
        return part_of(e, &number, 32, true);
    case PTX_SREG_WARPID:
        number = thread_number(e);
        return part_of(e, &number, 32, false);
    case PTX_SREG_NWARPID:
        return value_constant(e, (threads + 31) / 32);
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return value_constant(e, launch->dynamic_shared);
    case PTX_SREG_CLUSTER_NCTARANK:
        return value_constant(e, (int64_t)cluster[0] * cluster[1] * cluster[2]);
    default:
        return value_any(e, 32, ACCESS_BOUND_DATA);
    }
}

/* ---- Joins ---- */

/* What a conjunction demands beyond another; false: it does not demand all of the other. */
static bool demand_beyond(const struct conjunction *when, const struct conjunction *known,
                          struct conjunction *rest)
{
    uint32_t found = 0;
    rest->count = 0;
    for (uint32_t i = 0; i < when->count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < known->count && !there; k++)
            there = affine_equal(known->constraints[k], when->constraints[i]);
        found += there;
        if (!there)
            rest->constraints[rest->count++] = when->constraints[i];
    }
    return found == known->count;
}

static bool same_demands(const struct conjunction *a, const struct conjunction *b)
{
    for (uint32_t i = 0; i < a->count; i++) {
        bool there = false;
        for (uint32_t k = 0; k < b->count && !there; k++)
            there = affine_equal(a->constraints[i], b->constraints[k]);
        if (!there)
            return false;
    }
    return a->count == b->count;
}

/* The way's item beyond one of the basis; NULL: it does not demand all of that. */
static const struct conjunction *beyond(struct evaluation *e, const struct conjunction *item,
                                        const struct conjunction *known)
{
    struct conjunction *rest = conjunction_new(e->pool, NULL);
    return demand_beyond(item, known, rest) ? rest : NULL;
}

/* Whether the way demands the same beyond every item of the basis: then that is all it demands
 * where the block runs. */
static bool demands_of_all(struct evaluation *e, const struct disjunction *way,
                           const struct disjunction *basis, const struct conjunction *rest)
{
    for (uint32_t k = 0; k < basis->count; k++) {
        bool there = false;
        for (uint32_t w = 0; w < way->count && !there; w++) {
            const struct conjunction *own = beyond(e, way->items[w], basis->items[k]);
            there = own && same_demands(own, rest);
        }
        if (!there)
            return false;
    }
    return true;
}

/* Without what the block all ways start from demands anyway. */
static struct disjunction strip(struct evaluation *e, const struct disjunction *way,
                                const struct disjunction *basis)
{
    struct disjunction stripped = disjunction_never();
    bool exact = true; /* and stays so: there is room for as many as there were */
    for (uint32_t w = 0; w < way->count; w++) {
        struct disjunction one = disjunction_never();
        one.items[one.count++] = way->items[w];
        for (uint32_t k = 0; k < basis->count; k++) {
            const struct conjunction *rest = beyond(e, way->items[w], basis->items[k]);
            if (rest && demands_of_all(e, way, basis, rest)) {
                one.items[0] = rest;
                break;
            }
        }
        stripped = disjunction_or(&stripped, &one, &e->indices, e->pool, &exact);
    }
    return stripped;
}

static void join_way(struct evaluation *e, struct maker *maker, const struct conjunction *when,
                     const struct value *value, uint8_t bound)
{
    for (uint32_t p = 0; p < value->count; p++) {
        const struct piece *piece = &value->pieces[p];
        const struct conjunction *both;
        bool exact = true;
        if (when_both(e, when, piece->when, &both, &exact))
            maker_put(e, maker, both, piece->form, piece->base,
                      bound_worst(bound_worst(piece->bound, bound),
                                  exact ? ACCESS_EXACT : ACCESS_BOUND_SHAPE));
    }
}

static const struct value *evaluate_join(struct evaluation *e, const struct node *node)
{
    struct maker maker = maker_start();
    const struct condition *basis = evaluate_block(e, (uint32_t)node->value);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        struct condition way = evaluate_way(e, &node->ways[i], node->loop);
        if (way.when.count == 0)
            continue;
        const struct value *value = evaluate_node(e, node->operands[i]);
        struct disjunction when = strip(e, &way.when, &basis->when);
        for (uint32_t w = 0; w < when.count; w++)
            join_way(e, &maker, when.items[w]->count ? when.items[w] : NULL, value, way.bound);
    }
    return maker_finish(e, &maker);
}

/* ---- All nodes ---- */

static const struct value *evaluate_symbol(struct evaluation *e, const struct node *node)
{
    struct maker maker = maker_start();
    struct affine_form form = affine_constant(node->value);
    uint32_t base = BASE_UNKNOWN;
    switch (node->variable->space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        base = BASE_SHARED;
        break;
    case PTX_SPACE_LOCAL:
        base = BASE_LOCAL;
        break;
    case PTX_SPACE_PARAM:
        base = BASE_LOCAL;
        for (uint32_t i = 0; i < e->graph->kernel->param_count; i++)
            if (e->graph->kernel->params[i].variable == node->variable) {
                base = BASE_PARAMETERS;
                form.constant += e->graph->kernel->params[i].offset;
            }
        break;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        base = base_number(
            e, (struct access_base){.kind = ACCESS_BASE_VARIABLE, .variable = node->variable});
        break;
    default:
        break;
    }
    maker_put(e, &maker, NULL, &form, base, ACCESS_EXACT);
    return maker_finish(e, &maker);
}

static const struct value *evaluate_new(struct evaluation *e, uint32_t number)
{
    const struct node *node = &e->graph->nodes[number];
    if (evaluate_is_deep(e))
        return value_any(e, node->width, ACCESS_BOUND_BUDGET);
    switch (node->kind) {
    case NODE_CONSTANT:
        return value_constant(e, node->value);
    case NODE_PARAM:
        return evaluate_parameter(e, node);
    case NODE_PARAM_AT:
        return evaluate_parameter_at(e, node);
    case NODE_SPECIAL:
        return evaluate_special(e, (uint32_t)node->value);
    case NODE_SYMBOL:
        return evaluate_symbol(e, node);
    case NODE_OPERATION:
        return operate(e, node);
    case NODE_JOIN:
        return evaluate_join(e, node);
    case NODE_LOOP:
        return evaluate_loop_node(e, number);
    case NODE_EXIT:
        return evaluate_exit(e, node);
    case NODE_LOAD:
        return evaluate_load(e, node);
    case NODE_LOOKUP:
        return evaluate_look_up(e, node);
    default:
        if (node->value == INT64_MIN)
            return value_any(e, 64, node->reason);
        return value_between(e, node->value, node->high, node->reason);
    }
}

const struct value value_busy;

/* The largest quotient where the known constraints hold: one of them is rest - form >= 0 with the
 * form that was divided, or it is what it can be at all. */
static int64_t largest_quotient(const struct evaluation *e, const struct division *division,
                                const struct conjunction *known)
{
    int64_t high = e->indices.ranges[division->quotient].high;
    for (uint32_t i = 0; i < known->count; i++) {
        struct affine_form rest;
        if (affine_add(&rest, known->constraints[i], &division->form, 1) &&
            affine_is_constant(&rest) && rest.constant >= 0 &&
            rest.constant / division->modulus < high)
            high = rest.constant / division->modulus;
    }
    return high;
}

/* Whether the quotients that the known constraints leave allow a case. */
static bool quotients_allow(struct evaluation *e, const struct conjunction *known,
                            const struct conjunction *when)
{
    struct index_table *indices = &e->indices;
    int64_t highs[sizeof indices->divisions / sizeof indices->divisions[0]];
    bool allowed = true;
    for (uint32_t d = 0; d < indices->division_count; d++) {
        int64_t *high = &indices->ranges[indices->divisions[d].quotient].high;
        highs[d] = *high;
        *high = largest_quotient(e, &indices->divisions[d], known);
    }
    for (uint32_t i = 0; i < when->count && allowed; i++)
        allowed = affine_interval(when->constraints[i], indices).high >= 0;
    for (uint32_t d = indices->division_count; d-- > 0;)
        indices->ranges[indices->divisions[d].quotient].high = highs[d];
    return allowed;
}

/* Whether some thread is in the piece's case in some round of the loop. */
static bool happens_in(struct evaluation *e, const struct loop_state *loop,
                       const struct piece *piece)
{
    for (uint32_t c = 0; c < loop->header.when.count; c++) {
        const struct conjunction *known = loop->header.when.items[c];
        struct conjunction *both = conjunction_new(e->pool, known);
        bool exact = true;
        if (conjunction_add_all(both, piece->when, &e->indices, e->pool, &exact) &&
            quotients_allow(e, known, piece->when))
            return true;
    }
    return false;
}

/* Without the cases that no round of the node's loop has: dividing by what is 0 beyond the last
 * round would make everything of the result unknown. */
static const struct value *value_in_loop(struct evaluation *e, const struct value *value,
                                         uint32_t loop)
{
    const struct loop_state *state = loop ? e->loops[loop] : NULL;
    struct piece kept[VALUE_PIECES];
    uint32_t count = 0;
    if (!state || state->busy || value->count < 2)
        return value;
    for (uint32_t i = 0; i < value->count; i++)
        if (!value->pieces[i].when || happens_in(e, state, &value->pieces[i]))
            kept[count++] = value->pieces[i];
    return count < value->count ? value_new(e, kept, count) : value;
}

const struct value *evaluate_node(struct evaluation *e, uint32_t node)
{
    const struct value *value = e->values[node];
    if (value == &value_busy) { /* as of any round of any loop */
        value = value_any(e, e->graph->nodes[node].width, ACCESS_BOUND_SHAPE);
        e->indices.ranges[e->indices.count - 1].loop = e->graph->nodes[node].loop;
        return value;
    }
    if (value)
        return value;
    uint32_t outer = e->loop;
    e->loop = e->graph->nodes[node].loop;
    e->values[node] = &value_busy;
    value = value_in_loop(e, evaluate_new(e, node), e->loop);
    e->loop = outer;
    e->values[node] = value;
    return value;
}

/* What the program's threads can spare. Frames are several times as large with ASan. */
#ifdef __SANITIZE_ADDRESS__
enum { STACK_MAX = 800 << 10 };
#else
enum { STACK_MAX = 100 << 10 };
#endif

bool evaluate_is_deep(const struct evaluation *e)
{
    return (size_t)(e->stack - (const char *)__builtin_frame_address(0)) > STACK_MAX;
}

uint8_t *node_set_new(struct evaluation *e)
{
    size_t bytes = e->graph->node_count / 8 + 1;
    return memset(pool_allocate(e->pool, bytes), 0, bytes);
}
