/* The functions of an address, asked of this program's own debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/function_index.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <fcntl.h>
#include <unistd.h>

enum { MOST = 8 };

struct debug {
    int file;
    Dwarf *dwarf;
    struct function_index *index;
    Dwarf_Die functions[MOST];
};

/* ---- what is asked for */

#if defined(__aarch64__)
#define HERE "adr %0, ."
#else
#define HERE "lea -1(%%rip), %0"
#endif

/* Where it is, in the function that it is inlined into. */
static inline __attribute__((always_inline)) const void *innermost(void)
{
    const void *here;
    __asm__ volatile(HERE : "=r"(here));
    return here;
}

static inline __attribute__((always_inline)) const void *middle(void)
{
    return innermost();
}

static __attribute__((noinline)) const void *outermost(void)
{
    return middle();
}

static __attribute__((noinline)) const void *plain(void)
{
    const void *here;
    __asm__ volatile(HERE : "=r"(here));
    return here;
}

/* A function of GNU C within another one lies in the debug information as a lambda's does, which is
 * in the function around it. */
static __attribute__((noinline)) const void *around(void)
{
    __attribute__((noinline)) const void *within(void)
    {
        return middle();
    }
    return within();
}

/* ---- tests */

static int set_up(void **state)
{
    static struct debug debug;
    debug = (struct debug){.file = open("/proc/self/exe", O_RDONLY)};
    debug.dwarf = dwarf_begin(debug.file, DWARF_C_READ);
    *state = &debug;
    return debug.dwarf ? 0 : -1;
}

static int tear_down(void **state)
{
    struct debug *debug = *state;
    function_index_free(debug->index);
    dwarf_end(debug->dwarf);
    close(debug->file);
    return 0;
}

static int find_in_unit(struct debug *debug, Dwarf_Addr address, int most)
{
    Dwarf_Die unit;
    assert_non_null(dwarf_addrdie(debug->dwarf, address, &unit));
    return function_index_find(&debug->index, &unit, address, debug->functions, most);
}

static Dwarf_Addr in_file(const void *address)
{
    Dl_info self;
    assert_int_not_equal(dladdr((void *)in_file, &self), 0);
    return (uintptr_t)address - (uintptr_t)self.dli_fbase;
}

static void inlined_functions_come_first(void **state)
{
    struct debug *debug = *state;
    assert_int_equal(find_in_unit(debug, in_file(outermost()), MOST), 3);
    assert_string_equal(dwarf_diename(&debug->functions[0]), "innermost");
    assert_string_equal(dwarf_diename(&debug->functions[1]), "middle");
    assert_string_equal(dwarf_diename(&debug->functions[2]), "outermost");
    assert_int_equal(dwarf_tag(&debug->functions[2]), DW_TAG_subprogram);
}

static void functions_within_functions(void **state)
{
    struct debug *debug = *state;
    assert_int_equal(find_in_unit(debug, in_file(around()), MOST), 3);
    assert_string_equal(dwarf_diename(&debug->functions[0]), "innermost");
    assert_string_equal(dwarf_diename(&debug->functions[2]), "within");
}

static void a_unit_is_read_once(void **state)
{
    struct debug *debug = *state;
    assert_int_equal(find_in_unit(debug, in_file(outermost()), MOST), 3);
    const struct function_index *read = debug->index;
    assert_int_equal(find_in_unit(debug, in_file(plain()), MOST), 1);
    assert_string_equal(dwarf_diename(&debug->functions[0]), "plain");
    assert_ptr_equal(debug->index, read);
}

/* No more than there is room for: then those that are around the others. */
static void room_is_kept(void **state)
{
    struct debug *debug = *state;
    assert_int_equal(find_in_unit(debug, in_file(outermost()), 1), 1);
    assert_string_equal(dwarf_diename(&debug->functions[0]), "outermost");
    assert_int_equal(find_in_unit(debug, in_file(outermost()), 0), 0);
}

static void an_address_of_no_function_has_none(void **state)
{
    struct debug *debug = *state;
    Dwarf_Die unit;
    assert_non_null(dwarf_addrdie(debug->dwarf, in_file(plain()), &unit));
    assert_int_equal(function_index_find(&debug->index, &unit, 1, debug->functions, MOST), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(inlined_functions_come_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(functions_within_functions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_unit_is_read_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(room_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_address_of_no_function_has_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
