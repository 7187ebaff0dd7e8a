/* Programs of machine code that make tensor maps' addresses and copy through them, for
 * test_map_uses_random.c: what an op does stands beside its kind; map_uses_machine.h does it. */
#ifndef TESTS_UNIT_SASS_MAP_USES_PROGRAM_H
#define TESTS_UNIT_SASS_MAP_USES_PROGRAM_H

#include "tests/unit/sass/sm90_code.h"

#include <stdbool.h>

enum op_kind {
    NOTHING,
    LOAD,       /* UR[to] = c[at] */
    LOAD64,     /* and the next */
    NUMBER,     /* UR[to] = number */
    MOVE,       /* UR[to] = UR[a] */
    ADD,        /* UR[to] = UR[a] + UR[b], the carry to UP[predicate] */
    ADD_NUMBER, /* UR[a] + number */
    ADD_X,      /* with a carry from UP[predicate] */
    ADD_X_NUMBER,
    ADD64,
    ADD64_NUMBER,
    SELECT,        /* UR[a] if UP[predicate], or UR[b] */
    SELECT_NUMBER, /* or a number */
    AND,           /* UR[to] = UR[a] & number */
    XOR,           /* UR[a] ^ UR[b] */
    SHIFT,         /* UR[a] << number % 32 */
    PERMUTE,       /* UR[a], or UR[b] if number is odd, by their bytes */
    SHIFT_ADD,     /* (UR[a] << number % 32) + UR[b] */
    PRODUCT_ADD,   /* UR[a] * number + UR[b] */
    ELEMENT,       /* both UR[to] = UR[a] * number + both UR[b] */
    SET_UNIFORM,   /* UP[predicate], at random */
    COPY_READS,    /* map at UR[a] */
    COPY_STORES,
    COPY_REDUCES,
    FIRST_OF_THREADS,             /* from here on guarded by P */
    MOVE_DOWN = FIRST_OF_THREADS, /* R[to] = UR[a] */
    MOVE_UP,                      /* UR[to] = R[a] */
    MOVE_ACROSS,                  /* R[to] = R[a] */
    AND_DOWN,                     /* R[to] = R[a] & number */
    XOR_DOWN,                     /* as above, of R */
    PERMUTE_DOWN,
    SHIFT_ADD_DOWN,
    PRODUCT_ADD_DOWN,
    ADD_DOWN,
    ADD_NUMBER_DOWN,
    SELECT_DOWN,
    STORE, /* frame[to] = R[a] */
    STORE64,
    RESTORE, /* R[to] = frame[a] */
    RESTORE64,
    STORE_INDEXED,   /* at any word */
    RESTORE_INDEXED, /* two at any even one */
    SET,             /* P[predicate], at random */
    ELECT,           /* P[predicate], of the thread that is run */
    BRANCH,
    BRANCH_IF, /* P[predicate] is as `holds`, too */
    CALL,
    RETURN,
    RECONVERGE, /* at `target`, by barrier a */
    WAIT,
    EXIT,
    KINDS
};

enum { OPS_MOST = 40, UNIFORMS = 12, THREADS = 8, WORDS = 6, PREDICATES = 2, BARRIERS = 2 };
enum { FIRST_REGISTER = 2 /* R1 is the stack's */, LAST = OPS_MOST - 1 };

struct op {
    uint8_t kind, to, a, b, predicate, holds;
    uint8_t guard, guard_holds; /* NO_PREDICATE: always */
    uint32_t number, target;
};

struct program {
    uint32_t count;
    struct op ops[OPS_MOST];
};

static uint64_t seed;

static uint32_t below(uint32_t end)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed * 0x9e3779b97f4a7c15u) >> 40) % end;
}

static struct instruction plain_instruction(const struct op *op, uint32_t at)
{
    switch ((enum op_kind)op->kind) {
    case LOAD:
        return uldc(op->to, op->number);
    case LOAD64:
        return uldc64(op->to, op->number);
    case NUMBER:
        return umov_number(op->to, op->number);
    case MOVE:
        return umov(op->to, op->a);
    case ADD:
        return uiadd3(op->to, op->predicate, op->a, op->b);
    case ADD_NUMBER:
        return uiadd3_number(op->to, op->predicate, op->a, op->number);
    case ADD_X:
        return uiadd3_x(op->to, op->a, op->b, op->predicate);
    case ADD_X_NUMBER:
        return uiadd3_x_number(op->to, op->a, op->number, op->predicate);
    case ADD64:
        return uiadd3_64(op->to, op->a, op->b);
    case ADD64_NUMBER:
        return uiadd3_64_number(op->to, op->a, op->number);
    case SELECT:
        return usel(op->to, op->a, op->b, op->predicate);
    case SELECT_NUMBER:
        return usel_number(op->to, op->a, op->number, op->predicate);
    case AND:
        return uand(op->to, op->a, op->number);
    case XOR:
        return ulop3(op->to, op->a, op->b, 0x3c);
    case SHIFT:
        return ushf_left(op->to, op->a, op->number % 32);
    case PERMUTE:
        return uprmt(op->to, op->a, op->b, op->number % 2 ? 0x7654 : 0x3210);
    case SHIFT_ADD:
        return ulea(op->to, op->a, op->b, op->number % 32);
    case PRODUCT_ADD:
        return uimad_number(op->to, op->a, op->number, op->b);
    case ELEMENT:
        return uimad_wide_number(op->to, op->a, op->number, op->b);
    case SET_UNIFORM:
        return uisetp(op->predicate);
    case COPY_READS:
        return utmaldg(op->a);
    case COPY_STORES:
        return utmastg(op->a);
    case COPY_REDUCES:
        return utmaredg(op->a);
    case MOVE_DOWN:
        return mov_uniform(op->to, op->a);
    case MOVE_UP:
        return r2ur(op->to, op->a);
    case MOVE_ACROSS:
        return mov(op->to, op->a);
    case AND_DOWN:
        return lop3_and(op->to, op->a, op->number);
    case XOR_DOWN:
        return lop3(op->to, op->a, op->b, 0x3c);
    case PERMUTE_DOWN:
        return prmt(op->to, op->a, op->b, op->number % 2 ? 0x7654 : 0x3210);
    case SHIFT_ADD_DOWN:
        return lea(op->to, op->a, op->b, op->number % 32);
    case PRODUCT_ADD_DOWN:
        return imad_number(op->to, op->a, op->number, op->b);
    case ADD_DOWN:
        return iadd3(op->to, op->a, op->b);
    case ADD_NUMBER_DOWN:
        return viadd_number(op->to, op->a, op->number);
    case SELECT_DOWN:
        return sel(op->to, op->a, op->b, op->predicate);
    case STORE:
        return stl(op->to, op->a);
    case STORE64:
        return stl64(op->to, op->a);
    case RESTORE:
        return ldl(op->to, op->a);
    case RESTORE64:
        return ldl64(op->to, op->a);
    case STORE_INDEXED:
        return indexed(stl(op->to, op->a));
    case RESTORE_INDEXED:
        return indexed(ldl64(op->to, op->a));
    case ELECT:
        return elect(op->predicate);
    case SET:
        return isetp(op->predicate);
    case BRANCH:
        return bra(at, op->target);
    case BRANCH_IF:
        return bra_if(at, op->target, op->predicate, op->holds);
    case CALL:
        return call(at, op->target);
    case RETURN:
        return ret();
    case RECONVERGE:
        return bssy(op->a, at, op->target);
    case WAIT:
        return bsync(op->a);
    case EXIT:
        return exits();
    case NOTHING:
    case KINDS:
        break;
    }
    return encoded(0x918, 0, 0, 0, 0); /* NOP */
}

/* Where the bank has two pointers. */
enum { POINTER_AT = 0x240, OTHER_POINTER_AT = 0x260 };

#endif
