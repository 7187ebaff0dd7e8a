/* Which object an address lies in, by both ways to find it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/loaded_object.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static int variable = 1;

/* Whether it is the program, linked for larger pages than it runs with: the kernel maps its
 * segments one by one, and the pages between them are not its. */
static bool has_gap(const struct loaded_object *object)
{
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    const uintptr_t page = getauxval(AT_PAGESZ);
    uintptr_t end = 0;
    bool gap = false;
    for (size_t i = 0; i < getauxval(AT_PHNUM); i++, segment++) {
        if (segment->p_type != PT_LOAD)
            continue;
        gap |= end && segment->p_vaddr / page * page > end;
        end = (segment->p_vaddr + segment->p_memsz + page - 1) / page * page;
    }
    return gap && !object->map->l_name[0];
}

static void same_by_both(const void *address)
{
    struct loaded_object one, other;
    assert_true(loaded_object_at(address, &one));
    assert_true(loaded_object_by_lock(address, &other));
    assert_ptr_equal(one.map, other.map);
    assert_true((uintptr_t)other.start <= (uintptr_t)address);
    assert_true((uintptr_t)other.end > (uintptr_t)address);
    /* glibc's own has the segment alone where a program's segments have a gap between them. */
    if (has_gap(&other)) {
        assert_true((uintptr_t)one.start <= (uintptr_t)address && one.start >= other.start);
        assert_true((uintptr_t)one.end > (uintptr_t)address && one.end <= other.end);
        return;
    }
    /* It begins and ends with the code's and data's pages. */
    assert_true((uintptr_t)one.start / 4096 == (uintptr_t)other.start / 4096);
    assert_true(((uintptr_t)one.end + 4095) / 4096 == ((uintptr_t)other.end + 4095) / 4096);
}

static void the_program(void **state)
{
    (void)state;
    struct loaded_object object;
    same_by_both((const void *)(uintptr_t)the_program);
    same_by_both(&variable);
    assert_true(loaded_object_by_lock(&variable, &object));
    assert_string_equal(object.map->l_name, "");
}

static void a_library(void **state)
{
    (void)state;
    struct loaded_object object;
    void *library = dlopen("libm.so.6", RTLD_NOW);
    const void *function = dlsym(library, "cosh");
    same_by_both(function);
    assert_true(loaded_object_by_lock(function, &object));
    assert_non_null(strstr(object.map->l_name, "libm.so.6"));
    dlclose(library);
}

static void no_object(void **state)
{
    (void)state;
    int local = 0;
    void *memory = malloc(100);
    const void *const outside[] = {NULL, &local, memory, (const void *)UINTPTR_MAX};
    struct loaded_object object;
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_false(loaded_object_at(outside[i], &object));
        assert_false(loaded_object_by_lock(outside[i], &object));
    }
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program),
        cmocka_unit_test(a_library),
        cmocka_unit_test(no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
