/* Images among constants: which are, and whether their object is still there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook/kernel/image_place.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] = ".version 8.0\n";
static char writable[] = ".version 8.0\n";

static void constants_stay(void **state)
{
    (void)state;
    struct image_place place;
    assert_true(image_place_find(&place, text, NULL));
    assert_ptr_equal(image_place_image(&place), text);
    assert_false(image_place_find(&place, writable, NULL));
    char *heap = strdup(text);
    assert_false(image_place_find(&place, heap, NULL));
    free(heap);
}

static void a_wrapper_is_copied(void **state)
{
    (void)state;
    struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, text, NULL};
    struct image_place place;
    assert_true(image_place_find(&place, &wrapper, NULL));
    wrapper.data = writable;
    const struct fatbin_wrapper *found = image_place_image(&place);
    assert_non_null(found);
    assert_ptr_equal(found->data, text);
    assert_false(image_place_find(&place, &wrapper, NULL));
}

/* Its own first bytes, which are an ELF file's. */
static const void *begin_of(void *object)
{
    struct link_map *map;
    assert_non_null(object);
    assert_int_equal(dlinfo(object, RTLD_DI_LINKMAP, &map), 0);
    return (const void *)map->l_addr;
}

/* As a rule the loader puts it where the first one was. */
static void another_object_is_another_place(void **state)
{
    (void)state;
    char copy[] = "/tmp/csan-place-XXXXXX", command[600];
    struct image_place place;
    const int file = mkstemp(copy);
    assert_true(file >= 0);
    close(file);
    snprintf(command, sizeof command, "cp '%s' '%s'", EMPTY, copy);
    assert_int_equal(system(command), 0);
    void *object = dlopen(EMPTY, RTLD_NOW);
    const void *begin = begin_of(object);
    assert_true(image_place_find(&place, begin, NULL));
    assert_ptr_equal(image_place_image(&place), begin);
    dlclose(object);
    assert_null(image_place_image(&place));
    object = dlopen(copy, RTLD_NOW);
    if (begin_of(object) != begin)
        print_message("the other object lies elsewhere\n");
    assert_null(image_place_image(&place));
    dlclose(object);
    unlink(copy);
}

static void the_file_of_code_is_named(void **state)
{
    (void)state;
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    const struct fatbin_wrapper wrapper = {.magic = FATBIN_WRAPPER_MAGIC, .data = text};
    struct image_place place;
    char *heap = strdup(text), *of_text, *of_wrapper, *of_writable, *of_heap;
    assert_true(image_place_find(&place, text, &of_text));
    assert_true(image_place_find(&place, &wrapper, &of_wrapper));
    assert_false(image_place_find(&place, writable, &of_writable));
    assert_false(image_place_find(&place, heap, &of_heap));
    assert_string_equal(of_text, self);
    assert_string_equal(of_wrapper, self);
    assert_string_equal(of_writable, self);
    assert_null(of_heap);
    free(heap);
    free(of_text);
    free(of_wrapper);
    free(of_writable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_stay),
        cmocka_unit_test(the_file_of_code_is_named),
        cmocka_unit_test(a_wrapper_is_copied),
        cmocka_unit_test(another_object_is_another_place),
    };
    return cmocka_run_group_tests_name("image_place", tests, NULL, NULL);
}
