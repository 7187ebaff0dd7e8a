/* What AArch64's instructions access: encodings of each kind, by an assembler. scripts/
 * compare-aarch64-access compares random ones with objdump. */
#include "runtime/hook/host/aarch64_instruction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { X1 = 0x200000, X2 = 0x300000, SP = 0x2000000, PC = 0x40000000, ZEROED = 64 };

/* Each register holds 0x100000 times its number plus one. */
static struct aarch64_registers registers(void)
{
    struct aarch64_registers all = {.pc = PC, .zeroed = ZEROED};
    for (uint64_t i = 0; i < 32; i++)
        all.general[i] = 0x100000 * (i + 1);
    return all;
}

static struct instruction_access found;

static bool find(uint32_t code, uint64_t fault)
{
    const struct aarch64_registers all = registers();
    return aarch64_access_find(code, &all, (struct instruction_fault){fault, false}, &found);
}

/* The whole operand, whichever of its bytes faulted. */
static void accesses(uint32_t code, enum aarch64_direction direction, uint64_t address,
                     uint64_t bytes)
{
    assert_int_equal(aarch64_instruction_direction(code), direction);
    for (int last = 0; last < 2; last++)
        if (!find(code, last ? address + bytes - 1 : address) || found.address != address ||
            found.bytes != bytes)
            fail_msg("%08x: %llx %llu", code, (unsigned long long)found.address,
                     (unsigned long long)found.bytes);
}
static void loads(uint32_t code, uint64_t address, uint64_t bytes)
{
    accesses(code, AARCH64_LOAD, address, bytes);
}
static void stores(uint32_t code, uint64_t address, uint64_t bytes)
{
    accesses(code, AARCH64_STORE, address, bytes);
}

static void one_register(void **state)
{
    (void)state;
    loads(0x39401420, X1 + 5, 1);         /* ldrb w0, [x1, #5] */
    loads(0x39800020, X1, 1);             /* ldrsb x0, [x1] */
    loads(0x79400c20, X1 + 6, 2);         /* ldrh w0, [x1, #6] */
    loads(0x78dfd020, X1 - 3, 2);         /* ldursh w0, [x1, #-3] */
    loads(0xb94ffc20, X1 + 4092, 4);      /* ldr w0, [x1, #4092] */
    loads(0xb8808420, X1, 4);             /* ldrsw x0, [x1], #8 */
    loads(0xf8410c20, X1 + 16, 8);        /* ldr x0, [x1, #16]! */
    loads(0x3dc00820, X1 + 32, 16);       /* ldr q0, [x1, #32] */
    loads(0x3d400420, X1 + 1, 1);         /* ldr b0, [x1, #1] */
    loads(0xf94007e0, SP + 8, 8);         /* ldr x0, [sp, #8] */
    loads(0xf8408820, X1 + 8, 8);         /* ldtr x0, [x1, #8] */
    loads(0xf87ff420, X1 - 8, 8);         /* ldraa x0, [x1, #-8] */
    stores(0x7d000020, X1, 2);            /* str h0, [x1] */
    stores(0x38226820, X1 + X2, 1);       /* strb w0, [x1, x2] */
    stores(0xb822d820, X1 + 4LL * X2, 4); /* str w0, [x1, w2, sxtw #2] */
    stores(0xf81f0c20, X1 - 16, 8);       /* str x0, [x1, #-16]! */
    stores(0x3c810420, X1, 16);           /* str q0, [x1], #16 */
    stores(0xf81f7020, X1 - 9, 8);        /* stur x0, [x1, #-9] */
    stores(0xd50b7421, X1, ZEROED);       /* dc zva, x1 */
    assert_false(find(0xf9800020, X1));   /* prfm pldl1keep, [x1] */
    assert_false(find(0x8b020020, X1));   /* add x0, x1, x2 */
    assert_int_equal(aarch64_instruction_direction(0x8b020020), AARCH64_NONE);
}

static void pairs(void **state)
{
    (void)state;
    loads(0xa9430820, X1 + 48, 16);  /* ldp x0, x2, [x1, #48] */
    loads(0x28c10820, X1, 8);        /* ldp w0, w2, [x1], #8 */
    loads(0x69ff0820, X1 - 8, 8);    /* ldpsw x0, x2, [x1, #-8]! */
    loads(0x6c408420, X1 + 8, 16);   /* ldnp d0, d1, [x1, #8] */
    stores(0xa9be0820, X1 - 32, 16); /* stp x0, x2, [x1, #-32]! */
    stores(0xad010420, X1 + 32, 32); /* stp q0, q1, [x1, #32] */
    stores(0xa8000820, X1, 16);      /* stnp x0, x2, [x1] */
}

static void ordered(void **state)
{
    (void)state;
    loads(0xc8dffc20, X1, 8);     /* ldar x0, [x1] */
    loads(0xf8bfc020, X1, 8);     /* ldapr x0, [x1] */
    loads(0x995fc020, X1 - 4, 4); /* ldapur w0, [x1, #-4] */
    stores(0x889ffc20, X1, 4);    /* stlr w0, [x1] */
    assert_false(found.locked);
    assert_false(found.no_step);
}

static void vectors(void **state)
{
    (void)state;
    loads(0x4c407020, X1, 16);  /* ld1 {v0.16b}, [x1] */
    loads(0x4cdf2820, X1, 64);  /* ld1 {v0.4s-v3.4s}, [x1], #64 */
    loads(0x4c408420, X1, 32);  /* ld2 {v0.8h, v1.8h}, [x1] */
    loads(0x4d408020, X1, 4);   /* ld1 {v0.s}[2], [x1] */
    loads(0x0d60e420, X1, 8);   /* ld4r {v0.4h-v3.4h}, [x1] */
    stores(0x0c004020, X1, 24); /* st3 {v0.8b-v2.8b}, [x1] */
    stores(0x4c820020, X1, 64); /* st4 {v0.16b-v3.16b}, [x1], x2 */
    stores(0x4d208420, X1, 16); /* st2 {v0.d, v1.d}[1], [x1] */
}

/* Under a predicate it is the element at the fault. */
static void scalable_vectors(void **state)
{
    static const struct {
        uint32_t code;
        enum aarch64_direction direction;
        uint64_t bytes;
    } cases[] = {
        {0xa400a020, AARCH64_LOAD, 1},  /* ld1b {z0.b}, p0/z, [x1] */
        {0xa4824020, AARCH64_LOAD, 4},  /* ld1sw {z0.d}, p0/z, [x1, x2, lsl #2] */
        {0xe5428020, AARCH64_STORE, 4}, /* st1w {z0.s}, p0, [x1, z2.s, uxtw] */
        {0x85804020, AARCH64_LOAD, 1},  /* ldr z0, [x1] */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(find(cases[i].code, 0x123456));
        assert_int_equal(found.address, 0x123456);
        assert_int_equal(found.bytes, cases[i].bytes);
        assert_int_equal(aarch64_instruction_direction(cases[i].code), cases[i].direction);
        assert_false(found.no_step);
    }
}

static void atomics(void **state)
{
    static const struct {
        uint32_t code;
        uint64_t bytes;
    } cases[] = {
        {0xf8200022, 8},  /* ldadd x0, x2, [x1] */
        {0x38208022, 1},  /* swpb w0, w2, [x1] */
        {0xc8a07c22, 8},  /* cas x0, x2, [x1] */
        {0x48207c22, 16}, /* casp x0, x1, x2, x3, [x1] */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        accesses(cases[i].code, AARCH64_BOTH, X1, cases[i].bytes);
        assert_true(found.locked);
        assert_false(found.no_step);
    }
}

/* An exclusive store fails behind any exception since its load. What is addressed by the program
 * counter is elsewhere in a copy. */
static void no_steps(void **state)
{
    (void)state;
    loads(0xc85f7c20, X1, 8); /* ldxr x0, [x1] */
    assert_true(found.locked && found.no_step);
    loads(0xc87f8820, X1, 16); /* ldaxp x0, x2, [x1] */
    assert_true(found.locked && found.no_step);
    stores(0xc8027c20, X1, 8); /* stxr w2, x0, [x1] */
    assert_true(found.locked && found.no_step);
    loads(0x58000040, PC + 8, 8); /* ldr x0, #8 */
    assert_true(!found.locked && found.no_step);
    assert_false(find(0x19c20420, X1)); /* setp [x0]!, x1!, x2: goes on by itself */
    assert_true(found.no_step);
}

/* A pointer's highest byte is no part of the address. */
static void tagged(void **state)
{
    struct aarch64_registers all = registers();
    (void)state;
    all.general[1] |= UINT64_C(0xab) << 56;
    assert_true(aarch64_access_find(0xf8410c20, &all, (struct instruction_fault){X1 + 20, false},
                                    &found)); /* ldr x0, [x1, #16]! */
    assert_int_equal(found.address, X1 + 16);
    assert_int_equal(found.bytes, 8);
}

/* Another address than the registers give: the byte at the fault. */
static void elsewhere(void **state)
{
    (void)state;
    assert_true(find(0xf9400020, 0x777777)); /* ldr x0, [x1] */
    assert_int_equal(found.address, 0x777777);
    assert_int_equal(found.bytes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_register),     cmocka_unit_test(pairs),
        cmocka_unit_test(ordered),          cmocka_unit_test(vectors),
        cmocka_unit_test(scalable_vectors), cmocka_unit_test(atomics),
        cmocka_unit_test(no_steps),         cmocka_unit_test(tagged),
        cmocka_unit_test(elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
