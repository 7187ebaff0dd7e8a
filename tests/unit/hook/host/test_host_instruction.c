/* What the host's instructions access: encodings of each kind, by hand. scripts/
 * compare-instruction-access compares whole libraries with objdump. */
#include "runtime/hook/host/host_instruction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Each register holds 0x100000 times its number plus one. */
static struct instruction_registers registers(void)
{
    struct instruction_registers all = {.backwards = false};
    for (uint64_t i = 0; i < 16; i++)
        all.general[i] = 0x100000 * (i + 1);
    return all;
}

static struct instruction_access found;
static bool writes;

static bool find(const char *code, uint64_t fault)
{
    const struct instruction_registers all = registers();
    uint8_t bytes[16];
    size_t count = 0;
    for (const char *at = code; *at; at += strcspn(at, " "), at += strspn(at, " "))
        bytes[count++] = (uint8_t)strtoul(at, NULL, 16);
    return instruction_access_find(bytes, count, &all, (struct instruction_fault){fault, writes},
                                   &found);
}

/* The instruction's whole operand, which begins at `address`. */
static void accesses(const char *code, uint64_t address, uint64_t bytes)
{
    if (!find(code, address) || found.address != address || found.bytes != bytes)
        fail_msg("%s: %llx %llu", code, (unsigned long long)found.address,
                 (unsigned long long)found.bytes);
    assert_true(find(code, address + bytes - 1)); /* the second page faulted */
    assert_int_equal(found.address, address);
}

static void integers(void **state)
{
    (void)state;
    accesses("8b 07", 0x800000, 4);                     /* mov eax, [rdi] */
    accesses("48 8b 07", 0x800000, 8);                  /* mov rax, [rdi] */
    accesses("66 8b 07", 0x800000, 2);                  /* mov ax, [rdi] */
    accesses("8a 07", 0x800000, 1);                     /* mov al, [rdi] */
    accesses("41 88 44 24 10", 0xd00010, 1);            /* mov [r12+16], al */
    accesses("49 89 45 f8", 0xe00000 - 8, 8);           /* mov [r13-8], rax */
    accesses("89 04 8f", 0x800000 + 4 * 0x200000, 4);   /* mov [rdi+rcx*4], eax */
    accesses("43 0f b6 04 1a", 0xb00000 + 0xc00000, 1); /* movzx eax, byte [r10+r11] */
    accesses("48 63 07", 0x800000, 4);                  /* movsxd rax, [rdi] */
    accesses("0f bf 07", 0x800000, 2);                  /* movsx eax, word [rdi] */
    accesses("83 07 01", 0x800000, 4);                  /* add dword [rdi], 1 */
    accesses("f0 48 0f b1 0f", 0x800000, 8);            /* lock cmpxchg [rdi], rcx */
    accesses("48 0f c7 0f", 0x800000, 16);              /* cmpxchg16b [rdi] */
    accesses("8b 04 25 78 56 34 12", 0x12345678, 4);    /* mov eax, [0x12345678] */
    accesses("c7 07 01 00 00 00", 0x800000, 4);         /* mov dword [rdi], 1 */
}

static void locks(void **state)
{
    static const struct {
        const char *code;
        bool locked;
    } cases[] = {
        {"f0 48 0f b1 0f", true}, /* lock cmpxchg [rdi], rcx */
        {"f0 83 07 01", true},    /* lock add dword [rdi], 1 */
        {"87 07", true},          /* xchg [rdi], eax */
        {"48 87 07", true},       /* xchg [rdi], rax */
        {"86 07", true},          /* xchg [rdi], al */
        {"89 07", false},         /* mov [rdi], eax */
        {"0f 87 07", false},      /* ja, whose opcode is another map's */
        {"83 07 01", false},      /* add dword [rdi], 1 */
        {"f3 a4", false},         /* rep movsb */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        find(cases[i].code, 0x800000);
        if (found.locked != cases[i].locked)
            fail_msg("%s: locked is %d", cases[i].code, found.locked);
    }
}

static void vectors(void **state)
{
    (void)state;
    accesses("0f 10 07", 0x800000, 16);             /* movups */
    accesses("f3 0f 10 07", 0x800000, 4);           /* movss */
    accesses("f2 0f 58 07", 0x800000, 8);           /* addsd */
    accesses("66 0f 6f 07", 0x800000, 16);          /* movdqa */
    accesses("0f 6f 07", 0x800000, 8);              /* movq mm0 */
    accesses("c5 fc 10 07", 0x800000, 32);          /* vmovups ymm0 */
    accesses("c4 c1 7e 6f 45 20", 0xe00020, 32);    /* vmovdqu ymm0, [r13+32] */
    accesses("c4 e2 7d 18 07", 0x800000, 4);        /* vbroadcastss ymm0 */
    accesses("62 f1 fe 48 6f 47 01", 0x800040, 64); /* vmovdqu64 zmm0, [rdi+64] */
    accesses("c4 e2 f9 99 07", 0x800000, 8);        /* vfmadd132sd */
    accesses("66 0f 3a 16 07 01", 0x800000, 4);     /* pextrd */
    accesses("dd 07", 0x800000, 8);                 /* fld qword */
    accesses("db 2f", 0x800000, 10);                /* fld tbyte */
}

static void strings(void **state)
{
    (void)state;
    /* rep movsb: rcx bytes from rsi to rdi; the side that faulted. */
    writes = true;
    assert_true(find("f3 a4", 0x800010));
    assert_int_equal(found.address, 0x800000);
    assert_int_equal(found.bytes, 0x200000);
    writes = false;
    assert_true(find("f3 a4", 0x800010));
    assert_int_equal(found.address, 0x700000);
    accesses("aa", 0x800000, 1);    /* stosb */
    accesses("48 ab", 0x800000, 8); /* stosq */
    accesses("48 ad", 0x700000, 8); /* lodsq */
    assert_true(find("f3 48 ab", 0x900000));
    assert_int_equal(found.address, 0x800000);
    assert_int_equal(found.bytes, 8 * 0x200000);
}

/* Of what masks and gathers touch only the element that faulted is known. */
static void elements(void **state)
{
    (void)state;
    assert_true(find("c4 e2 7d 2c 07", 0x800008)); /* vmaskmovps ymm0, ymm0, [rdi] */
    assert_int_equal(found.address, 0x800008);
    assert_int_equal(found.bytes, 4);
    assert_true(find("c4 e2 f5 90 04 17", 0x123450)); /* vpgatherdq */
    assert_int_equal(found.bytes, 8);
    assert_true(find("62 f1 7e 49 6f 07", 0x800010)); /* vmovdqu32 zmm0 {k1} */
    assert_int_equal(found.address, 0x800010);
    assert_int_equal(found.bytes, 4);
}

/* Relative to the instruction, or to a thread's segment: the fault's address is all there is. */
static void addresses_that_registers_do_not_give(void **state)
{
    (void)state;
    assert_true(find("8b 05 10 00 00 00", 0x4242));
    assert_int_equal(found.address, 0x4242);
    assert_int_equal(found.bytes, 4);
    assert_true(find("64 48 8b 04 25 00 00 00 00", 0x4242));
    assert_int_equal(found.address, 0x4242);
    assert_int_equal(found.bytes, 8);
}

static void what_is_unknown_is_a_byte(void **state)
{
    (void)state;
    assert_false(find("0f 05", 0x4242)); /* syscall */
    assert_int_equal(found.address, 0x4242);
    assert_int_equal(found.bytes, 1);
    assert_false(find("8b", 0x4242)); /* cut off */
    assert_false(find("66 66 66 66", 0x4242));
    assert_false(find("8f e8 e0 a3 07 60", 0x4242)); /* XOP */
}

/* Whatever the bytes, nothing beyond them is read, and the access holds the fault. */
static void any_bytes(void **state)
{
    (void)state;
    const struct instruction_registers all = registers();
    uint64_t seed = 1;
    for (int i = 0; i < 2000000; i++) {
        uint8_t bytes[16];
        for (size_t k = 0; k < sizeof bytes; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[k] = (uint8_t)(seed >> 56);
        }
        const size_t count = seed >> 20 & 15;
        instruction_access_find(bytes + 16 - count, count, &all,
                                (struct instruction_fault){0x800004, false}, &found);
        assert_true(found.bytes > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(locks),
        cmocka_unit_test(vectors),
        cmocka_unit_test(strings),
        cmocka_unit_test(elements),
        cmocka_unit_test(addresses_that_registers_do_not_give),
        cmocka_unit_test(what_is_unknown_is_a_byte),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests_name("host_instruction", tests, NULL, NULL);
}
