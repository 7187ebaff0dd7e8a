/* The fixed point: sweeps over all reachable instructions until a sweep changes nothing. Programs
 * are nearly in order of definition, so few sweeps are needed. */
#include "runtime/access/provenance.h"
#include "csan/base/hash.h"

#include <string.h>

enum { MAX_CELLS = 128, MAX_CELL_BYTES = 16, POINTER_BYTES = 8 };

/* What part of a variable holds; a frame's are sorted by offset. */
struct cell {
    int64_t offset;
    uint32_t bytes;
    source_set set;
};

/* A .local or .param variable; `anywhere` is what was stored at computed offsets. */
struct frame {
    const void *object;
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct lump anywhere;
    bool collapsed;
    const struct ptx_param *param; /* the kernel's own parameter that this is, or NULL */
    source_set indexed;            /* of a parameter: all its 8-byte parts, once read by index */
};

static void grow_set(struct provenance *p, source_set *set, source_set more)
{
    source_set larger = source_set_union(p->sources, *set, more);
    if (larger != *set) {
        *set = larger;
        p->changed = true;
    }
}

static source_set set_of(struct provenance *p, enum source_kind kind, const void *object,
                         int64_t offset)
{
    return source_set_of(p->sources, (struct source){kind, object, offset});
}

static source_set loaded(struct provenance *p)
{
    return set_of(p, SOURCE_LOADED, NULL, 0);
}

/* A value of fewer than 8 bytes holds no pointer, but perhaps a part of one. */
static source_set sized(struct provenance *p, source_set set, uint32_t bytes)
{
    return bytes >= POINTER_BYTES ? set : source_set_pieces(p->sources, set);
}

/* What was stored in `stored` bytes, read again in `bytes`: parts read together are a value. */
static source_set reread(struct provenance *p, source_set set, uint32_t stored, uint32_t bytes)
{
    return stored < POINTER_BYTES && bytes >= POINTER_BYTES ? source_set_whole(p->sources, set)
                                                            : set;
}

static void lump_store(struct provenance *p, struct lump *lump, uint32_t bytes, source_set set)
{
    grow_set(p, bytes >= POINTER_BYTES ? &lump->wide : &lump->narrow, set);
}

static source_set lump_load(struct provenance *p, const struct lump *lump, uint32_t bytes)
{
    return source_set_union(p->sources, lump->wide, reread(p, lump->narrow, 1, bytes));
}

/* ---- frames ---- */

static size_t frame_hash(const struct provenance *p, const void *object)
{
    return hash_spread((uintptr_t)object >> 4) >> 20 & (p->frame_slot_count - 1);
}

static void grow_frame_slots(struct provenance *p)
{
    p->frame_slot_count = p->frame_slot_count ? p->frame_slot_count * 4 : 64;
    p->frame_slots = ptx_arena_array(p->arena, p->frame_slot_count, sizeof *p->frame_slots);
    for (size_t i = 0; i < p->frame_count; i++) {
        size_t at = frame_hash(p, p->frames[i].object);
        while (p->frame_slots[at])
            at = (at + 1) & (p->frame_slot_count - 1);
        p->frame_slots[at] = (uint32_t)i + 1;
    }
}

/* The kernel's parameter that the variable is, or NULL. */
static const struct ptx_param *kernel_param(const struct provenance *p, const void *object)
{
    for (uint32_t i = 0; i < p->kernel->param_count; i++)
        if (p->kernel->params[i].variable == object)
            return &p->kernel->params[i];
    return NULL;
}

/* The index of an object's frame: an index, because the array moves when it grows. */
static size_t find_frame(struct provenance *p, const void *object)
{
    if (p->frame_count * 2 >= p->frame_slot_count)
        grow_frame_slots(p);
    size_t at = frame_hash(p, object);
    for (; p->frame_slots[at]; at = (at + 1) & (p->frame_slot_count - 1))
        if (p->frames[p->frame_slots[at] - 1].object == object)
            return p->frame_slots[at] - 1;
    p->frames =
        ptx_arena_grow(p->arena, p->frames, p->frame_count, &p->frame_capacity, sizeof *p->frames);
    p->frames[p->frame_count] = (struct frame){.object = object, .param = kernel_param(p, object)};
    p->frame_slots[at] = (uint32_t)p->frame_count + 1;
    return p->frame_count++;
}

/* Valid until the next frame is made. */
static struct frame *frame_of(struct provenance *p, const void *object)
{
    size_t index = find_frame(p, object);
    return &p->frames[index];
}

static void collapse(struct provenance *p, struct frame *frame)
{
    for (size_t i = 0; i < frame->cell_count; i++)
        lump_store(p, &frame->anywhere, frame->cells[i].bytes, frame->cells[i].set);
    frame->collapsed = true; /* cells would only fill up again */
    frame->cell_count = 0;
    frame->cell_capacity = 0;
    frame->cells = NULL;
    p->changed = true;
}

/* The first cell at `offset` or behind it. */
static size_t first_cell(const struct frame *frame, int64_t offset)
{
    size_t low = 0, high = frame->cell_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (frame->cells[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void frame_store(struct provenance *p, const void *object, int64_t offset, uint32_t bytes,
                        source_set set)
{
    if (set == 0)
        return;
    struct frame *frame = frame_of(p, object);
    if (frame->cell_count == MAX_CELLS)
        collapse(p, frame);
    if (offset == SOURCE_ANYWHERE || frame->collapsed || bytes > MAX_CELL_BYTES) {
        lump_store(p, &frame->anywhere, bytes, set);
        return;
    }
    size_t i = first_cell(frame, offset);
    for (; i < frame->cell_count && frame->cells[i].offset == offset; i++) {
        if (frame->cells[i].bytes == bytes) {
            grow_set(p, &frame->cells[i].set, set);
            return;
        }
    }
    frame->cells = ptx_arena_grow(p->arena, frame->cells, frame->cell_count, &frame->cell_capacity,
                                  sizeof *frame->cells);
    memmove(&frame->cells[i + 1], &frame->cells[i], (frame->cell_count - i) * sizeof *frame->cells);
    frame->cells[i] = (struct cell){offset, bytes, set};
    frame->cell_count++;
    p->changed = true;
}

/* What the kernel's caller put there: the aligned 8 bytes around each byte read. */
static source_set parameter_load(struct provenance *p, const struct ptx_param *param,
                                 int64_t offset, uint32_t bytes)
{
    source_set set = 0;
    if (offset != SOURCE_ANYWHERE) {
        int64_t first = param->offset + offset, end = first + bytes;
        if (bytes < POINTER_BYTES)
            first -= first % POINTER_BYTES;
        for (int64_t at = first; at < end; at += POINTER_BYTES)
            if (at >= param->offset && at + POINTER_BYTES <= (int64_t)param->offset + param->size)
                set = source_set_union(p->sources, set, set_of(p, SOURCE_PARAM, NULL, at));
        return set;
    }
    struct frame *frame = frame_of(p, param->variable);
    if (!frame->indexed)
        frame->indexed =
            source_set_of_row(p->sources, (struct source){SOURCE_INDEXED, NULL, param->offset},
                              param->size / POINTER_BYTES, POINTER_BYTES);
    return frame->indexed;
}

static source_set frame_load(struct provenance *p, const void *object, int64_t offset,
                             uint32_t bytes)
{
    const struct frame *frame = frame_of(p, object);
    if (frame->param)
        return parameter_load(p, frame->param, offset, bytes);
    source_set set = lump_load(p, &frame->anywhere, bytes);
    bool anywhere = offset == SOURCE_ANYWHERE;
    for (size_t i = anywhere ? 0 : first_cell(frame, offset - MAX_CELL_BYTES + 1);
         i < frame->cell_count && (anywhere || frame->cells[i].offset < offset + bytes); i++) {
        const struct cell *cell = &frame->cells[i];
        if (anywhere || offset < cell->offset + cell->bytes)
            set = source_set_union(p->sources, set, reread(p, cell->set, cell->bytes, bytes));
    }
    return anywhere ? source_set_indexed(p->sources, set) : set;
}

/* All of one variable into another, as a call does with its arguments. */
static void frame_copy(struct provenance *p, const struct ptx_variable *to,
                       const struct ptx_variable *from)
{
    if (!to || !from || to->size == 0)
        return;
    size_t source = find_frame(p, from);
    if (p->frames[source].param) {
        p->visits += from->size / POINTER_BYTES;
        for (uint64_t at = 0; at + POINTER_BYTES <= from->size; at += POINTER_BYTES)
            frame_store(p, to, (int64_t)at, POINTER_BYTES,
                        frame_load(p, from, (int64_t)at, POINTER_BYTES));
        return;
    }
    frame_store(p, to, SOURCE_ANYWHERE, POINTER_BYTES, p->frames[source].anywhere.wide);
    frame_store(p, to, SOURCE_ANYWHERE, 1, p->frames[source].anywhere.narrow);
    for (size_t i = 0; i < p->frames[source].cell_count; i++) {
        struct cell cell = p->frames[source].cells[i];
        frame_store(p, to, cell.offset, cell.bytes, cell.set);
    }
}

/* ---- operands ---- */

static source_set variable_address(struct provenance *p, const struct ptx_variable *variable,
                                   int64_t offset)
{
    switch (variable->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return set_of(p, SOURCE_VARIABLE, variable, 0);
    case PTX_SPACE_SHARED:
        return set_of(p, SOURCE_SHARED, NULL, 0);
    default:
        return set_of(p, SOURCE_FRAME, variable, offset);
    }
}

/* Cooperative launches pass the address of the driver's own grid barrier in %envreg1 and %envreg2.
 */
static source_set special_value(struct provenance *p, uint8_t special)
{
    bool is_envreg = special >= PTX_SREG_ENVREG_0 && special <= PTX_SREG_ENVREG_31;
    return is_envreg ? set_of(p, SOURCE_HIDDEN, NULL, 0) : 0;
}

static source_set read_operand(struct provenance *p, const source_set *registers,
                               const struct ptx_operand *operand)
{
    source_set set = 0;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return registers[operand->reg];
    case PTX_OPERAND_SYMBOL:
        return variable_address(p, operand->variable, operand->imm);
    case PTX_OPERAND_FUNCTION:
        return set_of(p, SOURCE_FUNCTION, operand->function, 0);
    case PTX_OPERAND_SPECIAL:
        return special_value(p, operand->special);
    case PTX_OPERAND_VECTOR:
        for (uint32_t i = 0; i < operand->count; i++)
            set = source_set_union(p->sources, set,
                                   read_operand(p, registers, &operand->elements[i]));
        return set;
    default:
        return 0;
    }
}

source_set provenance_address(struct provenance *p, const struct provenance_function *in,
                              const struct ptx_operand *address)
{
    if (address->kind != PTX_OPERAND_ADDRESS)
        return read_operand(p, in->registers, address);
    if (address->base == PTX_OPERAND_REGISTER)
        return source_set_move(p->sources, in->registers[address->reg], address->imm);
    if (address->base == PTX_OPERAND_SYMBOL)
        return variable_address(p, address->variable, address->imm);
    return 0;
}

/* Puts a set into a destination: a register, each of a vector's, nothing for the sink. A register
 * of fewer than 8 bytes keeps a piece at most. */
static void write_operand(struct provenance *p, const struct provenance_function *in,
                          const struct ptx_operand *operand, source_set set)
{
    if (operand->kind == PTX_OPERAND_REGISTER) {
        uint32_t bits = ptx_type_bits(in->function->registers[operand->reg].type);
        if (bits < POINTER_BYTES * 8)
            set = source_set_pieces(p->sources, set);
        grow_set(p, &in->registers[operand->reg], set);
    } else if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < operand->count; i++)
            write_operand(p, in, &operand->elements[i], set);
    }
}

/* ---- memory ---- */

/* What a load of `bytes` through this address may give. Nothing while the address has no sources:
 * they may come in a later sweep, and if none does the access itself is found to be of unknown
 * origin. */
static source_set load_through(struct provenance *p, source_set address, uint8_t space,
                               int64_t displacement, uint32_t bytes)
{
    source_set set = 0;
    if (space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER)
        return lump_load(p, &p->shared, bytes);
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST)
        return loaded(p);
    uint32_t count = source_set_count(p->sources, address);
    for (uint32_t i = 0; i < count; i++) {
        struct source_item item = source_set_item(p->sources, address, i);
        struct source source = *source_get(p->sources, item.source);
        if (source.kind == SOURCE_SHARED) {
            set = source_set_union(p->sources, set, lump_load(p, &p->shared, bytes));
        } else if (source.kind == SOURCE_HEAP) {
            set = source_set_union(p->sources, set, lump_load(p, &p->heap, bytes));
        } else if (source.kind == SOURCE_FRAME && item.mode != MODE_PIECE) {
            int64_t at =
                source.offset == SOURCE_ANYWHERE ? SOURCE_ANYWHERE : source.offset + displacement;
            set = source_set_union(p->sources, set, frame_load(p, source.object, at, bytes));
        } else if (space == PTX_SPACE_GENERIC && item.mode != MODE_PIECE) {
            set = source_set_union(p->sources, set, loaded(p));
        }
    }
    return set;
}

static void store_through(struct provenance *p, source_set address, uint8_t space,
                          int64_t displacement, uint32_t bytes, source_set value)
{
    if (space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER) {
        lump_store(p, &p->shared, bytes, value);
        return;
    }
    uint32_t count = source_set_count(p->sources, address);
    for (uint32_t i = 0; i < count; i++) {
        struct source_item item = source_set_item(p->sources, address, i);
        struct source source = *source_get(p->sources, item.source);
        if (source.kind == SOURCE_SHARED) {
            lump_store(p, &p->shared, bytes, value);
        } else if (source.kind == SOURCE_HEAP) {
            lump_store(p, &p->heap, bytes, value);
        } else if (source.kind == SOURCE_FRAME && item.mode != MODE_PIECE) {
            int64_t at =
                source.offset == SOURCE_ANYWHERE ? SOURCE_ANYWHERE : source.offset + displacement;
            frame_store(p, source.object, at, bytes, value);
        }
    }
}

static uint32_t element_bytes(const struct ptx_instruction *instruction)
{
    uint32_t bits = ptx_type_bits(instruction->type);
    return bits ? (bits + 7) / 8 : 16; /* a type nobody knows: as wide as any */
}

static void visit_load(struct provenance *p, const struct provenance_function *in,
                       const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0];
    source_set address = provenance_address(p, in, &instruction->operands[1]);
    uint32_t bytes = element_bytes(instruction);
    uint32_t count = to->kind == PTX_OPERAND_VECTOR ? to->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *element = to->kind == PTX_OPERAND_VECTOR ? &to->elements[i] : to;
        source_set value = load_through(p, address, instruction->space, (int64_t)i * bytes, bytes);
        write_operand(p, in, element, sized(p, value, bytes));
    }
}

static void visit_store(struct provenance *p, const struct provenance_function *in,
                        const struct ptx_instruction *instruction)
{
    const struct ptx_operand *from = &instruction->operands[1];
    source_set address = provenance_address(p, in, &instruction->operands[0]);
    uint32_t bytes = element_bytes(instruction);
    uint32_t count = from->kind == PTX_OPERAND_VECTOR ? from->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *element =
            from->kind == PTX_OPERAND_VECTOR ? &from->elements[i] : from;
        source_set value = sized(p, read_operand(p, in->registers, element), bytes);
        store_through(p, address, instruction->space, (int64_t)i * bytes, bytes, value);
    }
}

/* atom: gives what was there, and puts its operands there */
static void visit_atomic(struct provenance *p, const struct provenance_function *in,
                         const struct ptx_instruction *instruction, uint32_t address_operand)
{
    source_set address = provenance_address(p, in, &instruction->operands[address_operand]);
    uint32_t bytes = element_bytes(instruction);
    for (uint32_t i = address_operand + 1; i < instruction->operand_count; i++)
        store_through(p, address, instruction->space, 0, bytes,
                      read_operand(p, in->registers, &instruction->operands[i]));
    if (address_operand == 1)
        write_operand(p, in, &instruction->operands[0],
                      sized(p, load_through(p, address, instruction->space, 0, bytes), bytes));
}

/* ---- arithmetic ---- */

/* One of the operands, whichever. */
static source_set any_of(struct provenance *p, const struct provenance_function *in,
                         const struct ptx_instruction *instruction)
{
    source_set set = 0;
    for (uint32_t i = 1; i < instruction->operand_count; i++)
        set = source_set_union(p->sources, set,
                               read_operand(p, in->registers, &instruction->operands[i]));
    return set;
}

/* A constant moves frame addresses exactly, anything else blurs them. */
static source_set add(struct provenance *p, const struct provenance_function *in,
                      const struct ptx_operand *a, const struct ptx_operand *b)
{
    source_set left = read_operand(p, in->registers, a);
    source_set right = read_operand(p, in->registers, b);
    if (b->kind == PTX_OPERAND_IMMEDIATE)
        return source_set_move(p->sources, left, b->imm);
    if (a->kind == PTX_OPERAND_IMMEDIATE)
        return source_set_move(p->sources, right, a->imm);
    return source_set_sum(p->sources, source_set_blur(p->sources, left),
                          source_set_blur(p->sources, right));
}

/* As add; a difference of two values that may be pointers is marked as one. */
static source_set subtract(struct provenance *p, size_t index,
                           const struct ptx_instruction *instruction)
{
    const source_set *registers = p->functions[index].registers;
    const struct ptx_operand *b = &instruction->operands[2];
    source_set left = read_operand(p, registers, &instruction->operands[1]);
    if (b->kind == PTX_OPERAND_IMMEDIATE)
        return source_set_move(p->sources, left, (int64_t)(0 - (uint64_t)b->imm));
    source_set right = read_operand(p, registers, b);
    source_set sum = source_set_sum(p->sources, source_set_blur(p->sources, left),
                                    source_set_blur(p->sources, right));
    if (!source_set_has_whole(p->sources, left) || !source_set_has_whole(p->sources, right))
        return sum;
    source_set mark = set_of(p, SOURCE_DIFFERENCE, instruction, (int64_t)index);
    return source_set_union(p->sources, sum, source_set_pieces(p->sources, mark));
}

/* and, or, xor: a pointer with bits masked out or set; or and bfi put a value together of pieces */
static source_set combine(struct provenance *p, const struct provenance_function *in,
                          const struct ptx_instruction *instruction)
{
    source_set left = read_operand(p, in->registers, &instruction->operands[1]);
    source_set right = read_operand(p, in->registers, &instruction->operands[2]);
    if (instruction->opcode != PTX_OP_AND && left && right &&
        !source_set_has_whole(p->sources, left) && !source_set_has_whole(p->sources, right))
        return source_set_whole(p->sources, source_set_union(p->sources, left, right));
    return source_set_sum(p->sources, source_set_blur(p->sources, left),
                          source_set_blur(p->sources, right));
}

/* Scaled, shifted or picked bits: no pointer any more, but parts of one. */
static source_set scramble(struct provenance *p, const struct provenance_function *in,
                           const struct ptx_instruction *instruction, uint32_t first, uint32_t end)
{
    source_set set = 0;
    for (uint32_t i = first; i < end && i < instruction->operand_count; i++)
        set = source_set_union(p->sources, set,
                               read_operand(p, in->registers, &instruction->operands[i]));
    return source_set_pieces(p->sources, source_set_blur(p->sources, set));
}

/* a * b + c: an index scaled, and most often c is the base */
static source_set multiply_add(struct provenance *p, const struct provenance_function *in,
                               const struct ptx_instruction *instruction)
{
    source_set base = read_operand(p, in->registers, &instruction->operands[3]);
    return source_set_union(p->sources, source_set_blur(p->sources, base),
                            scramble(p, in, instruction, 1, 3));
}

/* mov between a register and a vector packs or unpacks; else it copies */
static void visit_move(struct provenance *p, const struct provenance_function *in,
                       const struct ptx_instruction *instruction)
{
    const struct ptx_operand *to = &instruction->operands[0], *from = &instruction->operands[1];
    source_set set = read_operand(p, in->registers, from);
    if (from->kind == PTX_OPERAND_VECTOR)
        set = source_set_whole(p->sources, source_set_blur(p->sources, set));
    else if (to->kind == PTX_OPERAND_VECTOR)
        set = source_set_blur(p->sources, set);
    write_operand(p, in, to, set);
}

/* cvta: to the generic space and back. The space written says what the address is. */
static void visit_convert_address(struct provenance *p, const struct provenance_function *in,
                                  const struct ptx_instruction *instruction)
{
    source_set set = read_operand(p, in->registers, &instruction->operands[1]);
    if (instruction->space == PTX_SPACE_SHARED || instruction->space == PTX_SPACE_SHARED_CLUSTER)
        set = set_of(p, SOURCE_SHARED, NULL, 0);
    write_operand(p, in, &instruction->operands[0], set);
}

static void visit_unknown(struct provenance *p, const struct provenance_function *in,
                          const struct ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        write_operand(p, in, &instruction->operands[i], loaded(p));
    write_operand(p, in, &instruction->second, loaded(p));
}

/* ---- calls ---- */

static struct provenance_function *enter_function(struct provenance *p,
                                                  const struct ptx_function *function)
{
    for (size_t i = 0; i < p->function_count; i++)
        if (p->functions[i].function == function)
            return &p->functions[i];
    p->functions = ptx_arena_grow(p->arena, p->functions, p->function_count, &p->function_capacity,
                                  sizeof *p->functions);
    struct provenance_function *entered = &p->functions[p->function_count++];
    entered->function = function;
    entered->registers =
        ptx_arena_array(p->arena, function->register_count, sizeof *entered->registers);
    p->changed = true;
    return entered;
}

static void pass_argument(struct provenance *p, const source_set *caller,
                          const struct ptx_operand *argument,
                          const struct provenance_function *callee, const struct ptx_param *param)
{
    if (argument->kind == PTX_OPERAND_SYMBOL && param->variable) {
        frame_copy(p, param->variable, argument->variable);
        return;
    }
    source_set value = read_operand(p, caller, argument);
    if (param->variable)
        frame_store(p, param->variable, 0, param->size, value);
    else if (param->reg != PTX_NO_REGISTER)
        grow_set(p, &callee->registers[param->reg], value);
}

static void take_return(struct provenance *p, source_set *caller, const struct ptx_operand *result,
                        const struct provenance_function *callee, const struct ptx_param *returned)
{
    if (result->kind == PTX_OPERAND_SYMBOL && returned->variable) {
        frame_copy(p, result->variable, returned->variable);
        return;
    }
    source_set value = returned->variable ? frame_load(p, returned->variable, 0, returned->size)
                       : returned->reg != PTX_NO_REGISTER ? callee->registers[returned->reg]
                                                          : 0;
    if (result->kind == PTX_OPERAND_REGISTER)
        grow_set(p, &caller[result->reg], value);
    else if (result->kind == PTX_OPERAND_SYMBOL)
        frame_store(p, result->variable, 0, returned->size, value);
}

/* What a function without a body gives back. */
static void take_unknown_return(struct provenance *p, source_set *caller,
                                const struct ptx_call *call, source_set value)
{
    for (uint32_t i = 0; i < call->return_count; i++) {
        const struct ptx_operand *result = &call->returns[i];
        if (result->kind == PTX_OPERAND_SYMBOL)
            frame_store(p, result->variable, SOURCE_ANYWHERE, POINTER_BYTES, value);
        else if (result->kind == PTX_OPERAND_REGISTER)
            grow_set(p, &caller[result->reg], value);
    }
}

static void call_function(struct provenance *p, size_t caller_index, const struct ptx_call *call,
                          const struct ptx_function *function)
{
    p->visits += p->function_count / 16; /* what finding it costs */
    struct provenance_function *callee = enter_function(p, function);
    source_set *caller = p->functions[caller_index].registers; /* entering may have moved them */
    for (uint32_t i = 0; i < call->argument_count && i < function->param_count; i++)
        pass_argument(p, caller, &call->arguments[i], callee, &function->params[i]);
    for (uint32_t i = 0; i < call->return_count && i < function->return_count; i++)
        take_return(p, caller, &call->returns[i], callee, &function->returns[i]);
}

/* Functions of the CUDA runtime on the device whose accesses are known: of the program's memory
 * they touch only the device heap (CUDA C++ Programming Guide, "Formatted output", "Assertion",
 * "Dynamic global memory allocation"). */
static bool call_known_extern(struct provenance *p, size_t caller_index,
                              const struct ptx_call *call, const char *name)
{
    static const char *const harmless[] = {"vprintf",
                                           "free",
                                           "__assertfail",
                                           "malloc",
                                           "__nv_aligned_device_malloc",
                                           "cudaGraphSetConditional"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (strcmp(name, harmless[i]) != 0)
            continue;
        source_set value = strstr(name, "malloc") ? set_of(p, SOURCE_HEAP, NULL, 0) : 0;
        take_unknown_return(p, p->functions[caller_index].registers, call, value);
        return true;
    }
    return false;
}

static void call_direct(struct provenance *p, size_t caller_index,
                        const struct ptx_instruction *instruction,
                        const struct ptx_function *function)
{
    if (!function->is_prototype) {
        call_function(p, caller_index, instruction->call, function);
    } else if (!call_known_extern(p, caller_index, instruction->call, function->name)) {
        take_unknown_return(p, p->functions[caller_index].registers, instruction->call, loaded(p));
        if (!p->unresolved_call) {
            p->unresolved = function;
            p->unresolved_call = instruction;
            p->unresolved_in = p->functions[caller_index].function;
        }
    }
}

static bool same_signature(const struct ptx_function *a, const struct ptx_function *b)
{
    if (a->param_count != b->param_count || a->return_count != b->return_count)
        return false;
    for (uint32_t i = 0; i < a->param_count; i++)
        if (a->params[i].size != b->params[i].size)
            return false;
    for (uint32_t i = 0; i < a->return_count; i++)
        if (a->returns[i].size != b->returns[i].size)
            return false;
    return true;
}

static void take_address(struct provenance *p, const struct ptx_function *function)
{
    for (size_t i = 0; i < p->taken_count; i++)
        if (p->taken[i] == function)
            return;
    p->taken =
        ptx_arena_grow(p->arena, p->taken, p->taken_count, &p->taken_capacity, sizeof *p->taken);
    p->taken[p->taken_count++] = function;
}

/* Every function whose address the module stores or moves. */
static void find_taken(struct provenance *p, const struct ptx_module *module)
{
    p->taken_known = true;
    for (uint32_t i = 0; i < module->variable_count; i++)
        for (uint32_t k = 0; k < module->variables[i]->relocation_count; k++)
            if (module->variables[i]->relocations[k].function)
                take_address(p, module->variables[i]->relocations[k].function);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *function = module->functions[f];
        p->visits += function->instruction_count;
        for (uint32_t k = 0; k < function->instruction_count; k++)
            for (uint32_t o = 0; o < function->instructions[k].operand_count; o++)
                if (function->instructions[k].operands[o].kind == PTX_OPERAND_FUNCTION)
                    take_address(p, function->instructions[k].operands[o].function);
    }
}

/* A pointer of unknown value can only be the address of a function that the module takes somewhere:
 * there is no other way to make one. */
static bool call_taken(struct provenance *p, size_t caller_index,
                       const struct ptx_instruction *instruction)
{
    bool any = false;
    if (!p->taken_known)
        find_taken(p, p->kernel->module);
    p->visits += p->taken_count;
    for (size_t i = 0; i < p->taken_count; i++) {
        const struct ptx_function *candidate = p->taken[i];
        if (instruction->call->prototype &&
            !same_signature(candidate, instruction->call->prototype))
            continue;
        call_direct(p, caller_index, instruction, candidate);
        any = true;
    }
    return any;
}

static void visit_indirect_call(struct provenance *p, size_t caller_index,
                                const struct ptx_instruction *instruction)
{
    const struct ptx_call *call = instruction->call;
    bool any = false, all_known = true;
    for (uint32_t i = 0; i < call->candidate_count; i++)
        call_direct(p, caller_index, instruction, call->candidates[i]);
    if (call->candidate_count)
        return;
    source_set set = read_operand(p, p->functions[caller_index].registers, &call->callee);
    for (uint32_t i = 0; i < source_set_count(p->sources, set); i++) {
        struct source source = *source_get(p->sources, source_set_item(p->sources, set, i).source);
        if (source.kind == SOURCE_FUNCTION) {
            call_direct(p, caller_index, instruction, source.object);
            any = true;
        } else {
            all_known = false;
        }
    }
    if (any && all_known)
        return;
    /* while the fixed point grows, the set may be empty still */
    if (set != 0 && !call_taken(p, caller_index, instruction) && !p->unresolved_call) {
        p->unresolved_call = instruction;
        p->unresolved_in = p->functions[caller_index].function;
    }
}

/* ---- sweeps ---- */

/* The sources of what an instruction computes from its operands; false: it computes none, or does
 * more than compute a result. */
static bool find_result(struct provenance *p, size_t index, const struct ptx_instruction *i,
                        source_set *result)
{
    const struct provenance_function *in = &p->functions[index];
    switch (i->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_ADDC:
        *result = add(p, in, &i->operands[1], &i->operands[2]);
        return true;
    case PTX_OP_SUB:
    case PTX_OP_SUBC:
        *result = subtract(p, index, i);
        return true;
    case PTX_OP_MAD:
    case PTX_OP_MADC:
        *result = multiply_add(p, in, i);
        return true;
    case PTX_OP_BFI:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
        *result = combine(p, in, i);
        return true;
    case PTX_OP_SELP:
    case PTX_OP_SLCT:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_CVT:
        *result = any_of(p, in, i);
        return true;
    case PTX_OP_SHFL:
        *result = read_operand(p, in->registers, &i->operands[1]);
        return true;
    case PTX_OP_MUL:
    case PTX_OP_DIV:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SHF:
    case PTX_OP_PRMT:
    case PTX_OP_BFE:
    case PTX_OP_LOP3:
    case PTX_OP_NEG:
    case PTX_OP_NOT:
        *result = scramble(p, in, i, 1, i->operand_count);
        return true;
    case PTX_OP_ALLOCA:
        *result = set_of(p, SOURCE_FRAME, i, SOURCE_ANYWHERE);
        return true;
    case PTX_OP_MAPA:
        *result = set_of(p, SOURCE_SHARED, NULL, 0);
        return true;
    default:
        return false; /* comparisons, counts, floating point: no pointer comes out */
    }
}

static void visit(struct provenance *p, size_t index, const struct ptx_instruction *i)
{
    const struct provenance_function *in = &p->functions[index];
    source_set result;
    switch (i->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        visit_load(p, in, i);
        break;
    case PTX_OP_ST:
        visit_store(p, in, i);
        break;
    case PTX_OP_ATOM:
        visit_atomic(p, in, i, 1);
        break;
    case PTX_OP_RED:
        visit_atomic(p, in, i, 0);
        break;
    case PTX_OP_MOV:
        visit_move(p, in, i);
        break;
    case PTX_OP_CVTA:
        visit_convert_address(p, in, i);
        break;
    case PTX_OP_CP: /* whatever arrives in shared memory comes from other memory */
        if (i->operand_count >= 2)
            lump_store(p, &p->shared, POINTER_BYTES, loaded(p));
        break;
    case PTX_OP_CALL:
        if (i->call->callee.kind == PTX_OPERAND_FUNCTION)
            call_direct(p, index, i, i->call->callee.function);
        else
            visit_indirect_call(p, index, i);
        break;
    case PTX_OP_UNKNOWN:
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD:
    case PTX_OP_MULTIMEM:
        visit_unknown(p, in, i);
        break;
    default:
        if (find_result(p, index, i, &result))
            write_operand(p, in, &i->operands[0], result);
    }
}

bool provenance_find(struct provenance *p, const struct ptx_function *kernel, uint64_t budget,
                     struct arena *arena)
{
    *p = (struct provenance){.arena = arena, .kernel = kernel, .budget = budget};
    p->sources = source_table_create(arena);
    enter_function(p, kernel);
    do {
        p->changed = false;
        for (size_t f = 0; f < p->function_count; f++) {
            const struct ptx_function *function = p->functions[f].function;
            p->visits += function->instruction_count;
            if (p->visits > p->budget || source_table_full(p->sources))
                return false;
            for (uint32_t i = 0; i < function->instruction_count; i++)
                visit(p, f, &function->instructions[i]);
        }
    } while (p->changed);
    return true;
}
