/* A launch of which memory was too short to note all that it touched says so. */
#include "tests/unit/device/exec/exec_harness.h"

#include "tests/unit/short_memory.h"

static struct harness h;

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<2>;\n"
                           "ld.param.u64 %x0, [p]; st.global.u32 [%x0], 1;\nret;\n}\n";

enum { PAGES_BYTES = 8 + 256 * 24 /* touch.c: pages made at once */ };

static void what_has_no_room_is_lost(void **unused)
{
    (void)unused;
#ifdef MEMORY_IS_NEVER_SHORT
    skip();
#endif
    harness_open_text(&h, text);
    uint64_t memory = harness_allocate(&h, 64);
    h.touches = true;
    harness_run(&h, "k", 1, 1, 0, ARGUMENTS(&memory));
    assert_int_equal(h.range_count, 1);
    assert_false(h.touches_lost);
    short_of = PAGES_BYTES;
    harness_run(&h, "k", 1, 1, 0, ARGUMENTS(&memory));
    short_of = 0;
    assert_int_equal(h.range_count, 0);
    assert_true(h.touches_lost);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_has_no_room_is_lost)};
    return harness_run_tests(tests);
}
