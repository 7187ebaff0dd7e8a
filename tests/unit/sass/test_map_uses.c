/* Which constants the analysis reports as tensor maps of copies, and when it cannot. Each piece of
 * code has one thing that compilers do with their addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/sass/step.h"
#include "runtime/sass/map_uses.h"
#include "tests/unit/sass/sm90_code.h"

#include <stdlib.h>
#include <time.h>

enum { BANK = BANK_ADDRESS_AT, PARAMETERS = PARAMETERS_ADDRESS_AT, FIRST = PARAMETERS_AT };

struct known {
    bool all;
    struct map_uses maps;
};

static struct known find(const struct instruction *code, size_t count)
{
    struct known known;
    known.all = map_uses_find(&known.maps, (const uint8_t *)code, count * sizeof *code);
    return known;
}

#define FIND(...)                                                                                  \
    find((const struct instruction[]){__VA_ARGS__},                                                \
         sizeof((const struct instruction[]){__VA_ARGS__}) / sizeof(struct instruction))

static void accesses_are(struct known known, size_t count, const struct map_use *expected)
{
    assert_true(known.all);
    assert_int_equal(known.maps.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(known.maps.uses[i].offset, expected[i].offset);
        assert_int_equal(known.maps.uses[i].copies, expected[i].copies);
        assert_int_equal(known.maps.uses[i].every, expected[i].every);
    }
}

#define EXPECT(known, ...)                                                                         \
    accesses_are(known, sizeof((const struct map_use[]){__VA_ARGS__}) / sizeof(struct map_use),    \
                 (const struct map_use[]){__VA_ARGS__})

#define EXPECT_UNKNOWN(known) assert_false((known).all)

/* ---- Known ---- */

static void straight_addresses(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), utmaldg(4), exits()), {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, BANK), uiadd3_64_number(6, 4, 0x440), utmaldg(6), utmastg(6), utmaredg(4),
                exits()),
           {0, MAP_REDUCES, 0}, {0x440, MAP_READS | MAP_STORES, 0});
    EXPECT(FIND(uldc(4, BANK), uldc(5, BANK + 4), umov(6, 4), umov(7, 5), utmastg(6), exits()),
           {0, MAP_STORES, 0});
}

static void no_copy_has_no_map(void **state)
{
    (void)state;
    const struct known known = FIND(uldc64(4, BANK), exits());
    assert_true(known.all);
    assert_int_equal(known.maps.count, 0);
}

static void halves_that_are_added_to(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), uiadd3_number(6, 0, 4, 0x80),
                uiadd3_x(7, UNIFORM_ZERO, 5, 0), utmaldg(6), exits()),
           {FIRST + 0x80, MAP_READS, 0});
    EXPECT(FIND(umov_number(9, 0xc0), uldc64(4, PARAMETERS), uiadd3(6, 1, 4, 9),
                uiadd3_x(7, 5, UNIFORM_ZERO, 1), uiadd3_number(6, 0, 6, (uint32_t)-0x40),
                uiadd3_x_number(7, 7, UINT32_MAX, 0), utmaldg(6), exits()),
           {FIRST + 0x80, MAP_READS, 0});
}

static void one_of_two(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), uiadd3_64_number(6, 4, 0x300), uiadd3_64_number(8, 4, 0x280),
                usel(10, 6, 8, 1), usel(11, 7, 9, 1), utmaldg(10), exits()),
           {0x280, MAP_READS, 0}, {0x300, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, BANK), umov_number(6, 0x300), usel_number(6, 6, 0x340, 0),
                uiadd3(4, 1, 4, 6), uiadd3_x(5, 5, UNIFORM_ZERO, 1), utmastg(4), exits()),
           {0x300, MAP_STORES, 0}, {0x340, MAP_STORES, 0});
}

static void addresses_in_registers_of_threads(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), mov(7, 2), mov(9, 3),
                umov_number(4, 0), umov_number(5, 0), r2ur(8, 7), r2ur(9, 9), utmaldg(8), exits()),
           {FIRST, MAP_READS, 0});
}

static void addresses_in_the_frame(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl(1, 2), stl64(4, 2),
                stl(2, 3), ldl(6, 1), ldl(7, 5), r2ur(8, 6), r2ur(9, 7), utmaldg(8), exits()),
           {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl64(4, 2),
                ldl64(10, 4), r2ur(8, 10), r2ur(9, 11), utmaldg(8), exits()),
           {FIRST, MAP_READS, 0});
}

static void a_loop_that_steps_there_and_back(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), /* 1: */ uiadd3_64_number(4, 4, 0x40), utmaldg(4),
                uiadd3_64_number(4, 4, (uint32_t)-0x40), utmastg(4), bra_if(5, 1, 0, 1), exits()),
           {0, MAP_STORES, 0}, {0x40, MAP_READS, 0});
}

static void halves_with_the_same_predicate(void **state)
{
    (void)state;
    /* USETMAXREG.TRY_ALLOC UP1 makes it another one */
    EXPECT(FIND(uldc64(6, BANK), uldc64(4, PARAMETERS), when(1, 1, umov(6, 4)),
                when(1, 1, umov(7, 5)), encoded(0x9c8, 0, 0, 0xe0, 0x8000600 | 1 << 17),
                when(1, 1, utmaldg(6)), exits()),
           {0, MAP_READS, 0}, {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, BANK), uldc64(6, PARAMETERS), when(1, 1, umov(4, 6)),
                when(1, 1, umov(5, 7)), utmaldg(4), exits()),
           {0, MAP_READS, 0}, {FIRST, MAP_READS, 0});
    /* Where the predicate holds, nothing else has been in them. */
    EXPECT(FIND(when(1, 0, uldc64(4, BANK)), when(1, 0, utmaldg(4)), exits()), {0, MAP_READS, 0});
}

/* It moves what it has to the uniform data path, whatever was there. */
static void one_thread_is_elected(void **state)
{
    (void)state;
#define MOVED_BY(...)                                                                              \
    FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), __VA_ARGS__,                 \
         when(1, 1, r2ur(8, 2)), when(1, 1, r2ur(9, 3)), utmaldg(8), exits())
    EXPECT(MOVED_BY(elect(1)), {FIRST, MAP_READS, 0});
    EXPECT(MOVED_BY(elect(1), mov(6, 2), isetp(2), uisetp(1)), {FIRST, MAP_READS, 0});
    EXPECT_UNKNOWN(MOVED_BY(nop()));
    EXPECT_UNKNOWN(MOVED_BY(elect(0)));
    EXPECT_UNKNOWN(MOVED_BY(when(0, 1, elect(1))));
    EXPECT_UNKNOWN(MOVED_BY(elect(1), isetp(1)));
    EXPECT_UNKNOWN(MOVED_BY(bra_if(3, 5, 0, 1), elect(1)));
    /* not where it is known to hold in none */
    EXPECT_UNKNOWN(MOVED_BY(elect(1), when(1, 1, bra(4, 8))));
    EXPECT_UNKNOWN(MOVED_BY(elect(1), bra_if(4, 8, 1, 1)));
    EXPECT_UNKNOWN(MOVED_BY(elect(1), when(1, 1, exits())));
    EXPECT_UNKNOWN(MOVED_BY(elect(1), when(1, 0, bra(4, 6)), exits()));
    EXPECT(MOVED_BY(elect(1), when(1, 0, bra(4, 8))), {FIRST, MAP_READS, 0});
    EXPECT(MOVED_BY(elect(1), when(1, 0, exits())), {FIRST, MAP_READS, 0});
    EXPECT(MOVED_BY(elect(1), when(1, 1, bra(4, 6)), exits()), {FIRST, MAP_READS, 0});
#undef MOVED_BY
    /* nor once around */
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), elect(1),
                        /* 4: */ when(1, 1, r2ur(8, 2)), when(1, 1, r2ur(9, 3)), utmaldg(8),
                        uldc64(8, FIRST), isetp(1), bra_if(9, 4, 0, 1), exits()));
    /* its own registers are others' no more */
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), elect(1), when(1, 1, mov_uniform(2, 4)),
                        when(1, 1, mov_uniform(3, 5)), r2ur(8, 2), r2ur(9, 3), utmaldg(8),
                        exits()));
}

static void threads_that_reconverge(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), bssy(0, 1, 6), bra_if(2, 5, 0, 1), uiadd3_64_number(4, 4, 0x80),
                bsync(0), bsync(0), /* 6: */ utmaldg(4), exits()),
           {0, MAP_READS, 0}, {0x80, MAP_READS, 0});
}

static void calls_that_return(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), call(1, 6), utmaldg(6), call(3, 6), utmastg(6), exits(),
                /* 6: */ uiadd3_64_number(6, 4, 0x80), bra_if(7, 9, 0, 1),
                uiadd3_64_number(6, 6, 0x80), /* 9: */ ret()),
           {0x80, MAP_READS | MAP_STORES, 0}, {0x100, MAP_READS | MAP_STORES, 0});
}

/* Each behind each of the calls. */
static void two_that_are_called(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), call(1, 5), utmaldg(6), call(3, 7), exits(),
                /* 5: */ uiadd3_64_number(6, 4, 0x80), ret(),
                /* 7: */ uiadd3_64_number(6, 4, 0x100), ret()),
           {0x80, MAP_READS, 0}, {0x100, MAP_READS, 0});
}

static void one_of_two_reconvergence_points(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), bra_if(1, 4, 0, 1), bssy(0, 2, 7), bra(3, 5),
                /* 4: */ bssy(0, 4, 9), /* 5: */ bsync(0), exits(), /* 7: */ utmaldg(4), exits(),
                /* 9: */ utmastg(4), exits()),
           {FIRST, MAP_READS | MAP_STORES, 0});
}

/* WARPSYNC.COLLECTIVE goes to another place, or on; and what moves a barrier only goes on. */
static void instructions_that_may_go_on(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), jump(0x948, 1, 3, 0x3800000), utmaldg(4), /* 3: */ exits()),
           {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, PARAMETERS), jump(0x948, 1, 4, 0x3800000), utmaldg(4), exits(),
                /* 4: */ utmastg(4), exits()),
           {FIRST, MAP_READS | MAP_STORES, 0});
    EXPECT(FIND(uldc64(4, PARAMETERS), utmaldg(4), bmov_from(4, 0), exits()),
           {FIRST, MAP_READS, 0});
}

/* What a call does not write is as it was. */
static void what_two_calls_leave(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), uiadd3_64_number(8, 4, 0x40), call(2, 8), utmaldg(8),
                uiadd3_64_number(8, 4, 0x80), call(5, 8), utmastg(8), exits(),
                /* 8: */ call(8, 10), ret(), /* 10: */ uiadd3_64_number(6, 4, 0x100), ret()),
           {0x40, MAP_READS, 0}, {0x80, MAP_STORES, 0});
    /* a predicate of an elected thread, of which another is elected, or not */
    for (int i = 0; i < 2; i++) {
        const struct known known =
            FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), elect(1), call(4, 9),
                 when(1, 1, r2ur(8, 2)), when(1, 1, r2ur(9, 3)), utmaldg(8), exits(),
                 /* 9: */ i ? isetp(1) : isetp(2), ret());
        assert_int_equal(known.all, !i);
    }
    /* who waits for the others may go on in what called it, and return from there */
    EXPECT(FIND(uldc64(4, BANK), bssy(0, 1, 6), call(2, 5), utmaldg(4), exits(),
                /* 5: */ bsync(0), /* 6: */ uiadd3_64_number(4, 4, 0x80), ret()),
           {0x80, MAP_READS, 0});
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), elect(1),
                        call(4, 9), when(1, 1, r2ur(8, 2)), when(1, 1, r2ur(9, 3)), utmaldg(8),
                        exits(), /* 9: */ encoded(0xbff, 0, 0, 0, 0), ret()));
    /* an instruction that is not known may write it, and a frame may be another one */
    EXPECT_UNKNOWN(FIND(uldc64(4, BANK), call(1, 4), utmaldg(4), exits(),
                        /* 4: */ encoded(0xbff, 0, 0, 0, 0), ret()));
    EXPECT_UNKNOWN(FIND(uldc64(4, BANK), mov_uniform(2, 4), mov_uniform(3, 5), stl64(4, 2),
                        call(4, 10), ldl64(6, 4), r2ur(8, 6), r2ur(9, 7), utmaldg(8), exits(),
                        /* 10: */ viadd_number(1, 1, 8), ret()));
}

/* A reconvergence point that a call may have set. */
static void what_is_called_moves_a_reconvergence_point(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), bssy(0, 1, 6), call(2, 4), bsync(0),
                /* 4: */ bssy(0, 4, 7), ret(), /* 6: */ exits(), /* 7: */ utmaldg(4), exits()),
           {0, MAP_READS, 0});
}

static void elements_of_arrays(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4), utmaldg(8),
                uiadd3_64_number(8, 8, 0x80), utmastg(8), exits()),
           {FIRST, MAP_READS, 64}, {FIRST + 0x80, MAP_STORES, 64});
    /* an offset first; two indices; nothing but the index */
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), umov_number(8, 0x40), umov_number(9, 0),
                uimad_wide_number(8, 6, 128, 8), uiadd3_64(10, 8, 4), utmaldg(10), exits()),
           {0x40, MAP_READS, 128});
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), uimad_wide_number(8, 6, 256, 4),
                uimad_wide_number(8, 7, 384, 8), utmaldg(8), exits()),
           {0, MAP_READS, 128});
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), uimad_wide_number(8, 6, 64, UNIFORM_ZERO),
                uiadd3_64(8, 8, 4), utmaldg(8), utmaldg(4), exits()),
           {0, MAP_READS, 0}, {0, MAP_READS, 64});
}

static void a_loop_over_an_array(void **state)
{
    (void)state;
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4),
                uiadd3_64_number(8, 8, 0x80), /* 4: */ utmaldg(8), bra_if(5, 7, 0, 1), exits(),
                /* 7: */ uiadd3_64_number(8, 8, (uint32_t)-0x40), utmaldg(8), exits()),
           {0x40, MAP_READS, 64}, {0x80, MAP_READS, 64});
    /* one before joins it */
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4),
                uiadd3_64_number(10, 8, 0x40), usel(8, 10, 8, 0), usel(9, 11, 9, 0),
                bra_if(6, 9, 0, 1), mov(1, 1), nop(), /* 9: */ utmaldg(8), exits()),
           {0, MAP_READS, 64});
    EXPECT(FIND(uldc64(4, BANK), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4),
                /* 3: */ utmaldg(8), uiadd3_64_number(8, 8, 0x40), bra_if(5, 3, 0, 1), exits()),
           {0, MAP_READS, 64});
}

static void as_many_as_there_is_room_for(void **state)
{
    (void)state;
    struct instruction code[2 * (MAP_USES_MOST + 1) + 2] = {uldc64(4, BANK)};
    size_t count = 1;
    struct known known;
    for (uint32_t i = 0; i <= MAP_USES_MOST; i++) {
        code[count++] = uiadd3_64_number(6, 4, 64 * i);
        code[count++] = utmaldg(6);
        code[count] = exits();
        known = find(code, count + 1);
        assert_int_equal(known.all, i < MAP_USES_MOST);
    }
}

/* ---- Not known ---- */

static void an_index_is_added(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4),
                        utmaldg(8), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uimad_wide_number(8, 6, 0, 4),
                        utmaldg(8), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST),
                        uimad_wide_number(8, 6, (uint32_t)-64, 4), utmaldg(8), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uimad_wide_number(8, 6, 64, 4),
                        umov(8, 4), utmaldg(8), uiadd3_64(8, 8, 4), utmaldg(8), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uimad_number(4, 6, 128, 4),
                        utmaldg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uimad_number(4, 6, 1, 4), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uldc(6, FIRST), uiadd3(4, 0, 4, 6),
                        uiadd3_x(5, 5, UNIFORM_ZERO, 0), utmaldg(4), exits()));
}

static void a_pointer_is_loaded(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), uiadd3_64_number(4, 4, 0x40), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), uldc64(6, PARAMETERS), usel(4, 4, 6, 0), usel(5, 5, 7, 0),
                        utmaldg(4), exits()));
}

/* Whatever it is that was never written. */
static void nothing_is_known_at_first(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), ldl(2, 0), r2ur(4, 2), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(when(0, 1, uldc64(4, PARAMETERS)), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(UNIFORM_ZERO), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), utmaldg(5), exits())); /* no pair */
}

static void an_unknown_instruction_is_between(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), encoded(0xbff, 0, 0, 0, 0), utmaldg(4), exits()));
    EXPECT(FIND(uldc64(4, PARAMETERS), utmaldg(4), encoded(0xbff, 0, 0, 0, 0), exits()),
           {FIRST, MAP_READS, 0});
}

static void code_ends_too_early(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4)));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bra_if(2, 0, 0, 1)));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), when(0, 1, exits())));
}

static void control_leaves_the_code(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bra(2, 4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bra_if(2, 50, 0, 1), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bra(2, (uint32_t)-4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), call(2, 4), exits()));
    const struct instruction on = bra(2, 3), between = {on.low | 1 << 16, on.high};
    EXPECT(FIND(uldc64(4, PARAMETERS), utmaldg(4), on, exits()), {FIRST, MAP_READS, 0});
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), between, exits()));
}

/* What is there only such a jump may reach. */
static void control_follows_a_register(void **state)
{
    (void)state;
    static const uint32_t opcodes[] = {0x949 /* BRX */, 0x94a /* JMP */, 0x94c /* JMX */,
                                       0x344 /* CALL.REL, of a register */};
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), encoded(opcodes[i], 0, 2, 0, 0x3800000), exits(),
                            utmaldg(4), exits()));
}

/* Threads that wait at a barrier go on where another one's would: it may have been moved. */
static void barriers_are_moved(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), bra_if(1, 7, 0, 1), bssy(0, 2, 7), bmov_from(4, 0),
                        bmov_to(1, 4), uldc64(4, FIRST), bsync(1), /* 7: */ utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bmov_to(1, 4), bsync(1), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), bsync(1), exits()));
    EXPECT(FIND(uldc64(4, PARAMETERS), utmaldg(4), bssy(0, 2, 6), bmov_to(1, 4), bsync(1), exits(),
                /* 6: */ exits()),
           {FIRST, MAP_READS, 0});
}

/* Of two reconvergence points, one is set if a guard holds. */
static void a_reconvergence_point_may_not_be_set(void **state)
{
    (void)state;
    const struct instruction set = bssy(0, 2, 8), other = {set.low, set.high ^ 7 << 23};
    const struct instruction sets[] = {when(1, 1, set), other};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        EXPECT(FIND(uldc64(4, PARAMETERS), bssy(0, 1, 6), sets[i], bsync(0), exits(), exits(),
                    /* 6: */ utmaldg(4), exits(), /* 8: */ utmastg(4), exits()),
               {FIRST, MAP_READS | MAP_STORES, 0});
}

/* What is behind it then. */
static void control_may_go_on(void **state)
{
    (void)state;
    const uint64_t own = UINT64_C(7) << 23; /* no other than P0 */
    const struct instruction exit = exits(), wait = bsync(0), back = ret();
    EXPECT(FIND(uldc64(4, PARAMETERS), (struct instruction){exit.low, exit.high ^ own}, utmaldg(4),
                exits()),
           {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, PARAMETERS), bssy(0, 1, 5),
                (struct instruction){wait.low, wait.high ^ own}, utmaldg(4), exits(),
                /* 5: */ exits()),
           {FIRST, MAP_READS, 0});
    EXPECT(FIND(uldc64(4, PARAMETERS), call(1, 3), exits(),
                (struct instruction){back.low, back.high ^ own}, utmaldg(4), exits()),
           {FIRST, MAP_READS, 0});
}

static void nothing_was_called(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), utmaldg(4), ret()));
}

/* Behind what is looked at nothing is read, but of so much code none is. */
static void there_is_too_much_code(void **state)
{
    (void)state;
    enum { MOST = (4 << 20) / INSTRUCTION_BYTES };
    struct instruction *code = calloc(MOST + 1, sizeof *code);
    assert_non_null(code);
    code[0] = uldc64(4, PARAMETERS);
    code[1] = utmaldg(4);
    code[2] = exits();
    assert_true(find(code, MOST).all);
    assert_false(find(code, MOST + 1).all);
    /* or if there is too much to do */
    for (uint32_t end = 8; end <= 32768; end += 32760) {
        for (uint32_t at = 2; at < end; at++)
            code[at] = bra_if(at, at + 1, 0, 1);
        code[end] = exits();
        assert_int_equal(find(code, end + 1).all, end == 8);
    }
    free(code);
}

/* Each return goes behind each of the calls, and each wait to each reconvergence point. */
static void many_ways_take_no_long_time(void **state)
{
    (void)state;
    enum { MANY = 40000, SECONDS_MOST = 2 };
    struct instruction *code = calloc(MANY, sizeof *code);
    assert_non_null(code);
    for (int reconverge = 0; reconverge < 2; reconverge++) {
        uint32_t count = 0;
        code[count++] = uldc64(4, PARAMETERS);
        code[count++] = utmaldg(4);
        for (; count < MANY / 2; count++)
            code[count] = when(0, 1, reconverge ? bssy(0, count, MANY / 2) : call(count, MANY / 2));
        for (; count < MANY - 1; count++)
            code[count] = when(0, 1, reconverge ? bsync(0) : ret());
        code[count] = exits();
        const clock_t start = clock();
        find(code, MANY);
        assert_true(clock() - start < SECONDS_MOST * CLOCKS_PER_SEC);
    }
    free(code);
}

/* BRA.DIV UR4 has no predicate, and goes on where threads have not parted. */
static void a_branch_has_another_condition(void **state)
{
    (void)state;
    const struct instruction plain = bra(1, 3);
    const struct instruction divides = {plain.low | 4 << 24, plain.high | 1 << 27};
    EXPECT(FIND(uldc64(4, PARAMETERS), divides, utmaldg(4), /* 3: */ exits()),
           {FIRST, MAP_READS, 0});
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), divides, utmaldg(4), /* 3: */ exits()));
    /* BRA goes past the copy, which nothing else comes to. */
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), plain, utmaldg(4), /* 3: */ exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), plain, utmaldg(4), /* 3: */ exits()));
}

/* Half a word of it, of another word and of one that is kept; and an instruction that writes a
 * predicate alone, and has zeros where others name a register. */
static void little_of_the_frame_is_written(void **state)
{
    (void)state;
    const struct instruction other = encoded(0x387, 0, 1, 4 << 8 | 8, 0x100600),
                             same = encoded(0x387, 0, 1, 18 << 8 | 8, 0x100600),
                             syncs = {UINT64_C(0x02300087ff0075a7), 0x8000168};
    const struct instruction between[] = {other, syncs};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        EXPECT(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl64(4, 2),
                    between[i], ldl64(10, 4), r2ur(8, 10), r2ur(9, 11), utmaldg(8), exits()),
               {FIRST, MAP_READS, 0});
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl64(4, 2),
                        same, ldl64(10, 4), r2ur(8, 10), r2ur(9, 11), utmaldg(8), exits()));
    /* Half of what a register holds, or of what the frame does. */
    const struct instruction stl16 = encoded(0x387, 0, 1, 16 << 8 | 2, 0x100600),
                             ldl16 = encoded(0x983, 10, 1, 16 << 8, 0x100600);
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl16,
                        stl(5, 3), ldl64(10, 4), r2ur(8, 10), r2ur(9, 11), utmaldg(8), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(11, 5), stl(4, 2),
                        ldl16, r2ur(8, 10), r2ur(9, 11), utmaldg(8), exits()));
}

/* Behind what is followed of it. */
static void no_register_is_behind_the_last(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 2 * (REGISTERS - REGISTER_STACK); word++) {
        const struct instruction stl128 = encoded(0x387, 0, 1, word * 4 << 8 | 8, 0x100c00);
        const struct step step = step_of(stl128, 0, 90);
        assert_true(step.to + step.count <= REGISTERS);
    }
}

/* Through a pointer, or at an index. */
static void something_in_the_frame_is_written(void **state)
{
    (void)state;
    const struct instruction st = encoded(0x385, 0, 10, 8, 0x100900),
                             stl_indexed = encoded(0x387, 0, 10, 8, 0x100800);
    const struct instruction between[] = {st, stl_indexed};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5),
                            stl64(0, 2), between[i], ldl64(6, 0), r2ur(8, 6), r2ur(9, 7),
                            utmaldg(8), exits()));
}

/* The frame is another one then. */
static void the_stack_pointer_is_written(void **state)
{
    (void)state;
    static const uint32_t loads[] = {0x980 /* LD R1 */, 0x981 /* LDG */};
    for (uint32_t to = 0; to < 2; to++)
        for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
            EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5),
                                stl64(0, 2), encoded(loads[i], to, 8, 0, to ? 0x800 : 0xa00),
                                ldl64(6, 0), r2ur(8, 6), r2ur(9, 7), utmaldg(8), exits()));
}

/* P1 and UP1 are two. */
static void predicates_of_two_kinds(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), uldc64(6, FIRST),
                        when(1, 1, r2ur(6, 2)), when(1, 1, umov(7, 5)), utmaldg(6), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(6, FIRST), uldc64(4, PARAMETERS), mov_uniform(2, 4),
                        mov_uniform(3, 5), when(1, 1, r2ur(6, 2)), when(1, 1, r2ur(7, 3)),
                        when(1, 1, utmaldg(6)), exits()));
}

/* VOTEU asks P1, S2UR asks UP1: what is written where the other one holds does not undo it. */
static void guards_are_of_the_kind_that_they_are(void **state)
{
    (void)state;
    const struct instruction voteu = encoded(0x886, 4, 0, 0, 0x3800100),
                             s2ur = encoded(0x9c3, 4, 0, 0x2100, 0);
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), when(1, 1, voteu), when(1, 1, uldc64(4, PARAMETERS)),
                        utmaldg(4), exits()));
    EXPECT(FIND(uldc64(4, PARAMETERS), when(1, 1, s2ur), when(1, 1, uldc64(4, PARAMETERS)),
                utmaldg(4), exits()),
           {FIRST, MAP_READS, 0});
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(8, 4), when(1, 1, s2ur),
                        when(1, 1, r2ur(4, 8)), utmaldg(4), exits()));
}

/* What is written if it holds is there, or not, where control goes then. */
static void a_guard_before_a_branch(void **state)
{
    (void)state;
    const struct instruction load = when(1, 1, uldc64(4, FIRST));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), bssy(0, 1, 5), load, bsync(0), exits(),
                        /* 5: */ utmaldg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(uldc64(4, PARAMETERS), load, bra(2, 4), exits(), /* 4: */ utmaldg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(uldc64(4, PARAMETERS), call(1, 4), utmaldg(4), exits(), /* 4: */ load, ret()));
}

static void a_predicate_that_is_another_one_meanwhile(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(6, FIRST), uldc64(4, PARAMETERS), when(1, 1, umov(6, 4)),
                        when(1, 1, umov(7, 5)), uisetp(1), when(1, 1, utmaldg(6)), exits()));
    const struct instruction second = {uisetp(7).low, uisetp(7).high ^ 6 << 20}; /* UP7, UP1 */
    EXPECT_UNKNOWN(FIND(uldc64(6, FIRST), uldc64(4, PARAMETERS), when(1, 1, umov(6, 4)),
                        when(1, 1, umov(7, 5)), second, when(1, 1, utmaldg(6)), exits()));
    EXPECT(FIND(uldc64(6, FIRST), uldc64(4, PARAMETERS), when(1, 1, umov(6, 4)),
                when(1, 1, umov(7, 5)), uisetp(2), when(1, 1, utmaldg(6)), exits()),
           {FIRST, MAP_READS, 0});
}

/* Of pairs that are no map's address, none is thought to be on a way that is not taken. */
static void what_is_no_map_may_be_an_address(void **state)
{
    (void)state;
    static const uint32_t xors = 0x292;
    const uint64_t all = 0xf8e3c3f; /* URZ, 0x3c, !UPT */
    const struct instruction known[] = {uldc64(6, PARAMETERS), utmaldg(6)};
    EXPECT_UNKNOWN(FIND(known[0], known[1], uldc(5, FIRST), uldc(4, FIRST + 4),
                        encoded(xors, 5, 5, 4, all), encoded(xors, 4, 5, 4, all),
                        encoded(xors, 5, 5, 4, all), utmastg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(known[0], known[1], uldc(4, FIRST), uldc(5, FIRST + 8), utmastg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(known[0], known[1], umov_number(4, 0x80), umov_number(5, 0x7f), utmastg(4), exits()));
    EXPECT_UNKNOWN(FIND(known[0], known[1], umov(4, 6), umov(5, 6), utmastg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(known[0], known[1], umov(5, 7), uimad_number(4, 6, 2, 6), utmastg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), uldc64(6, PARAMETERS), bra_if(2, 5, 0, 1), umov(4, 6),
                        umov(5, 7), /* 5: */ utmaldg(4), exits()));
}

/* More than is kept of what an address may be. */
static void there_are_too_many(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, BANK), umov_number(6, 0), usel_number(6, 6, 0x40, 0),
                        usel_number(6, 6, 0x80, 1), umov_number(8, 0), usel_number(8, 8, 0x400, 0),
                        usel_number(8, 8, 0x800, 1), uiadd3(4, 1, 4, 6),
                        uiadd3_x(5, 5, UNIFORM_ZERO, 1), uiadd3(4, 1, 4, 8),
                        uiadd3_x(5, 5, UNIFORM_ZERO, 1), utmaldg(4), exits()));
    /* Where numbers are lost, the other half is not. */
    EXPECT(FIND(uldc(4, BANK), umov_number(5, 0), /* 2: */ uiadd3_number(5, 0, 5, 1),
                bra_if(3, 2, 0, 1), uldc(5, BANK + 4), utmaldg(4), exits()),
           {0, MAP_READS, 0});
}

/* A carry makes another lower half, and what is added to an upper one comes with one. */
static void carries_are_added(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(
        FIND(uldc64(4, PARAMETERS), uiadd3_x(4, 4, UNIFORM_ZERO, 1), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), umov_number(6, 0x40),
                        uiadd3_x(6, 6, UNIFORM_ZERO, 1), uiadd3(4, 0, 4, 6),
                        uiadd3_x(5, 5, UNIFORM_ZERO, 0), utmaldg(4), exits()));
    EXPECT_UNKNOWN(
        FIND(uldc64(4, PARAMETERS), uiadd3_number(5, 7, 5, UINT32_MAX), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), uiadd3_x_number(5, 5, 1, 0), utmaldg(4), exits()));
}

/* A register that may be written or may keep another value is not known. */
static struct known with_between(struct instruction instruction)
{
    return FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), mov_uniform(3, 5), stl64(2, 2),
                instruction, ldl64(10, 2), r2ur(4, 2), r2ur(5, 3), r2ur(6, 10), r2ur(7, 11),
                utmaldg(4), utmaldg(6), exits());
}

static void bits_that_are_not_known(void **state)
{
    (void)state;
    const struct instruction nothing = encoded(0x918, 0, 0, 0, 0),
                             moves = encoded(0x202, 2, 0, 2, 0xf00),
                             adds = encoded(0x836, 2, 2, 0, 0),
                             lea = encoded(0x411, 2, 10, 0x280c, 5 << 11 | 14 | 0xf0000),
                             atomg = encoded(0x9a8, 2, 8, 12, 0x100100),
                             hmma = encoded(0x23c, 0, 8, 12, 0x1810),
                             hgmma = encoded(0x9f0, 0, 8, 0, 0),
                             bank = encoded(0xa02, 2, 0, 0, 0xf00), keeps = stl64(2, 2),
                             restores = ldl64(2, 2);
    const struct instruction all[] = {
        nothing,
        moves,
        adds,
        keeps,
        restores,
        encoded(0x224, 2, 255, 3, 0x78e0202), /* RZ * R3 + R2 */
        encoded(0x224, 2, 3, 255, 0x78e0202), /* R3 * RZ + R2 */
    };
    const struct instruction not_all[] = {
        lea,
        atomg,
        hmma, /* to R0 and those behind it, as: */
        hgmma,
        bank,
        {moves.low, 0x100},                     /* MOV of some lanes */
        {moves.low | UINT64_C(1) << 63, 0xf00}, /* a sign */
        {adds.low, 1 << 9},                     /* VIADD.16x2 */
        {keeps.low, keeps.high | 1 << 27},      /* [R1+UR2+8] */
        {restores.low, restores.high | 1 << 27},
        encoded(0x210, 2, 2, UINT64_C(1) << 31 | 255, 0x7f1e0ff), /* R2 - RZ */
        encoded(0x210, 2, 255, 255, 0x7f1e802),                   /* - R2 */
        encoded(0x824, 2, 2, 1, 0x78e0aff),                       /* R2 * 1 - RZ */
        encoded(0x224, 2, 2, 3, 0x78e02ff),                       /* R2 * R3 */
        encoded(0x224, 2, 255, 255, 0x7e0602),                    /* R2, and a carry */
        encoded(0x211, 2, 2, 3, 0x78e00ff)};                      /* LEA */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        EXPECT(with_between(all[i]), {FIRST, MAP_READS, 0});
    for (size_t i = 0; i < sizeof not_all / sizeof *not_all; i++)
        EXPECT_UNKNOWN(with_between(not_all[i]));
    /* MOV R2, c[0x0][0x0] has nothing of R0 */
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(0, 4), mov_uniform(3, 5), bank,
                        r2ur(4, 2), r2ur(5, 3), utmaldg(4), exits()));
    const struct instruction copies = utmaldg(4);
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), copies,
                        (struct instruction){copies.low, copies.high ^ 1 << 27}, exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, PARAMETERS), mov_uniform(2, 4), uldc64(6, PARAMETERS),
                        encoded(0x2ca, 4, 2, 0, 0x1e0000) /* R2UR.OR */, utmaldg(4), exits()));
}

/* Rounded down, an address may come through any register. */
static void a_lower_half_in_an_odd_register(void **state)
{
    (void)state;
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), uand(9, 4, 0xffffff80), umov(4, 9), utmaldg(4), exits()));
    EXPECT_UNKNOWN(FIND(uldc64(4, FIRST), mov_uniform(2, 4), lop3_and(3, 2, 0xffffff80), r2ur(4, 3),
                        utmaldg(4), exits()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_addresses),
        cmocka_unit_test(no_copy_has_no_map),
        cmocka_unit_test(halves_that_are_added_to),
        cmocka_unit_test(one_of_two),
        cmocka_unit_test(addresses_in_registers_of_threads),
        cmocka_unit_test(addresses_in_the_frame),
        cmocka_unit_test(a_loop_that_steps_there_and_back),
        cmocka_unit_test(halves_with_the_same_predicate),
        cmocka_unit_test(one_thread_is_elected),
        cmocka_unit_test(threads_that_reconverge),
        cmocka_unit_test(calls_that_return),
        cmocka_unit_test(two_that_are_called),
        cmocka_unit_test(what_two_calls_leave),
        cmocka_unit_test(what_is_called_moves_a_reconvergence_point),
        cmocka_unit_test(elements_of_arrays),
        cmocka_unit_test(a_loop_over_an_array),
        cmocka_unit_test(one_of_two_reconvergence_points),
        cmocka_unit_test(instructions_that_may_go_on),
        cmocka_unit_test(as_many_as_there_is_room_for),
        cmocka_unit_test(an_index_is_added),
        cmocka_unit_test(a_pointer_is_loaded),
        cmocka_unit_test(nothing_is_known_at_first),
        cmocka_unit_test(an_unknown_instruction_is_between),
        cmocka_unit_test(code_ends_too_early),
        cmocka_unit_test(control_leaves_the_code),
        cmocka_unit_test(control_follows_a_register),
        cmocka_unit_test(there_is_too_much_code),
        cmocka_unit_test(many_ways_take_no_long_time),
        cmocka_unit_test(nothing_was_called),
        cmocka_unit_test(control_may_go_on),
        cmocka_unit_test(a_reconvergence_point_may_not_be_set),
        cmocka_unit_test(barriers_are_moved),
        cmocka_unit_test(a_branch_has_another_condition),
        cmocka_unit_test(little_of_the_frame_is_written),
        cmocka_unit_test(no_register_is_behind_the_last),
        cmocka_unit_test(something_in_the_frame_is_written),
        cmocka_unit_test(the_stack_pointer_is_written),
        cmocka_unit_test(predicates_of_two_kinds),
        cmocka_unit_test(guards_are_of_the_kind_that_they_are),
        cmocka_unit_test(a_guard_before_a_branch),
        cmocka_unit_test(a_predicate_that_is_another_one_meanwhile),
        cmocka_unit_test(what_is_no_map_may_be_an_address),
        cmocka_unit_test(there_are_too_many),
        cmocka_unit_test(carries_are_added),
        cmocka_unit_test(bits_that_are_not_known),
        cmocka_unit_test(a_lower_half_in_an_odd_register),
    };
    return cmocka_run_group_tests_name("map_uses", tests, NULL, NULL);
}
