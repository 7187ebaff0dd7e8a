/* The control-flow graph: known shapes, random ones against the definitions, huge ones for speed.
 */
#include "tests/unit/ptx/test_ptx_cfg.h"

#include <time.h>

static void diamond(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("@%p1 bra ELSE;\n mov.u32 %r1, 1;\n bra END;\n"
                                      "ELSE: mov.u32 %r1, 2;\n END: ret;");
    const struct ptx_function *f = m->functions[0];
    assert_int_equal(f->block_count, 4);
    assert_int_equal(f->blocks[0].successors[0], 2);
    assert_int_equal(f->blocks[0].successors[1], 1); /* the fall-through comes last */
    assert_int_equal(f->blocks[0].immediate_postdominator, 3);
    assert_int_equal(f->blocks[3].immediate_dominator, 0);
    assert_int_equal(f->blocks[3].immediate_postdominator, PTX_NO_BLOCK);
    assert_graph(f, true);
    ptx_module_release(m);
}

static void loop_with_early_return(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("TOP: add.s32 %r1, %r1, 1;\n @%p1 ret;\n mov.u32 %r2, 1;\n"
                                      "@%p2 bra TOP;\n ret;");
    const struct ptx_function *f = m->functions[0];
    assert_int_equal(f->block_count, 3);
    assert_int_equal(f->blocks[0].successor_count, 1); /* a guarded ret falls through */
    assert_int_equal(f->blocks[0].immediate_postdominator, PTX_NO_BLOCK);
    assert_int_equal(f->blocks[1].immediate_postdominator, PTX_NO_BLOCK);
    assert_graph(f, true);
    ptx_module_release(m);
}

static void endless_loop(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("@%p1 bra OUT;\n L: mov.u32 %r1, 1;\n bra M; M: bra L;\n"
                                      "OUT: ret;");
    const struct ptx_function *f = m->functions[0];
    assert_graph(f, true);
    assert_int_equal(f->blocks[1].immediate_postdominator, 2); /* L is followed by M */
    ptx_module_release(m);
}

static void unreachable_and_empty(void **state)
{
    (void)state;
    struct ptx_module *m = parse_body("bra END;\n DEAD: mov.u32 %r1, 1;\n bra DEAD;\n END: ret;");
    const struct ptx_function *f = m->functions[0];
    assert_false(f->blocks[1].reachable);
    assert_int_equal(f->blocks[1].immediate_dominator, PTX_NO_BLOCK);
    assert_graph(f, true);
    ptx_module_release(m);
    m = parse_body("");
    assert_int_equal(m->functions[0]->block_count, 0);
    ptx_module_release(m);
    m = parse_body("L: @%p1 bra L; bra END; END:");
    assert_graph(m->functions[0], true);
    ptx_module_release(m);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A body of `count` labelled instructions, each a branch, a return or neither at random. */
static char *random_body(uint32_t count, uint32_t seed)
{
    char *text = malloc(count * 64 + 64), *end = text;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = next_random(&seed) % 8, target = next_random(&seed) % (count + 1);
        end += sprintf(end, "L%u: ", i);
        if (kind < 4)
            end += sprintf(end, "@%%p1 bra L%u;\n", target);
        else if (kind < 5)
            end += sprintf(end, "bra L%u;\n", target);
        else if (kind < 6 && next_random(&seed) % 4 == 0)
            end += sprintf(end, "%sret;\n", target & 1 ? "@%p2 " : "");
        else
            end += sprintf(end, "add.s32 %%r1, %%r1, 1;\n");
    }
    sprintf(end, "L%u:", count);
    return text;
}

static void random_graphs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        char *body = random_body(3 + seed % 40, seed);
        struct ptx_module *m = parse_body(body);
        assert_graph(m->functions[0], true);
        ptx_module_release(m);
        free(body);
    }
}

/* 200,000 blocks: linear chains, ladders of back edges and random graphs take seconds only when the
 * algorithm is quadratic. */
static void huge_graphs_are_fast(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    char *random = random_body(COUNT, 7), *ladder = malloc(COUNT * 48 + 64), *end = ladder;
    for (int i = 0; i < COUNT; i++)
        end += sprintf(end, "L%d: @%%p1 bra L%d;\n", i, i / 2);
    const char *bodies[] = {random, ladder};
    for (int i = 0; i < 2; i++) {
        clock_t start = clock();
        struct ptx_module *m = parse_body(bodies[i]);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        assert_graph(m->functions[0], false);
        if (seconds > 10)
            fail_msg("graph %d took %.1f s", i, seconds);
        ptx_module_release(m);
    }
    free(random);
    free(ladder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diamond),       cmocka_unit_test(loop_with_early_return),
        cmocka_unit_test(endless_loop),  cmocka_unit_test(unreachable_and_empty),
        cmocka_unit_test(random_graphs), cmocka_unit_test(huge_graphs_are_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
