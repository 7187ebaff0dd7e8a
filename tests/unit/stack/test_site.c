/* Sites and the stack depot: equal contents, equal numbers; under many threads too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/stack/site.h"
#include "csan/stack/stack.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void equal_contents_are_one_site(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    struct site_table *table = site_table_create(depot);
    const void *here[] = {&depot, &table}, *there[] = {&table, &depot};
    const char *xy[] = {"x", "y"}, *joined[] = {"x y"};
    csan_site first = site_table_intern(table, "kernel", xy, 2, here, 2);
    assert_int_not_equal(first, 0);
    char copy[] = "kernel";
    assert_int_equal(site_table_intern(table, copy, xy, 2, here, 2), first);
    assert_int_not_equal(site_table_intern(table, "kernel2", xy, 2, here, 2), first);
    assert_int_not_equal(site_table_intern(table, "kernel", xy, 1, here, 2), first);
    assert_int_not_equal(site_table_intern(table, "kernel", joined, 1, here, 2), first);
    assert_int_not_equal(site_table_intern(table, "kernel", xy, 2, there, 2), first);
    assert_int_not_equal(site_table_intern(table, "kernel", xy, 2, NULL, 0), first);
    const struct site *site = site_table_get(table, first);
    assert_string_equal(site->name, "kernel");
    assert_int_equal(site->argument_count, 2);
    assert_string_equal(site->arguments[1], "y");
    const void *const *frames;
    size_t count;
    stack_depot_get(depot, site->stack, &frames, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(frames[1], here[1]);
    assert_null(site_table_get(table, 0));
    assert_null(site_table_get(table, 12345));
    assert_null(site_table_get(table, UINT32_MAX));
    site_table_destroy(table);
    stack_depot_destroy(depot);
}

/* Kernels of template libraries have names of many kilobytes. */
static void long_names_and_many_arguments(void **state)
{
    (void)state;
    enum { LONG = 20000, MANY = 300 };
    static char name[LONG + 1];
    const char *arguments[MANY];
    struct stack_depot *depot = stack_depot_create();
    struct site_table *table = site_table_create(depot);
    memset(name, 'k', LONG);
    for (int i = 0; i < MANY; i++)
        arguments[i] = i % 2 ? "odd" : "";
    csan_site first = site_table_intern(table, name, arguments, MANY, NULL, 0);
    assert_int_equal(site_table_intern(table, name, arguments, MANY, NULL, 0), first);
    name[LONG - 1] = 'j';
    assert_int_not_equal(site_table_intern(table, name, arguments, MANY, NULL, 0), first);
    const struct site *site = site_table_get(table, first);
    assert_int_equal(strlen(site->name), LONG);
    assert_int_equal(site->name[LONG - 1], 'k');
    assert_int_equal(site->argument_count, MANY);
    assert_string_equal(site->arguments[MANY - 1], "odd");
    assert_string_equal(site->arguments[MANY - 2], "");
    /* lengths around where the key no longer fits on the stack */
    for (size_t length = 490; length < 520; length++) {
        memset(name, 'x', length);
        name[length] = '\0';
        csan_site number = site_table_intern(table, name, NULL, 0, NULL, 0);
        assert_int_equal(site_table_intern(table, name, NULL, 0, NULL, 0), number);
        assert_string_equal(site_table_get(table, number)->name, name);
    }
    site_table_destroy(table);
    stack_depot_destroy(depot);
}

enum { THREADS = 8, STACKS = 3000 };
static struct stack_depot *shared_depot;
static struct site_table *shared_table;

static void *put_many(void *ids)
{
    for (uintptr_t i = 0; i < STACKS; i++) {
        const void *frames[3] = {(void *)i, (void *)(i * 7), (void *)(i % 5)};
        char name[16];
        snprintf(name, sizeof(name), "k%lu", (unsigned long)i % 100);
        ((uint32_t *)ids)[i] = stack_depot_put(shared_depot, frames, 1 + i % 3);
        csan_site site = site_table_intern(shared_table, name, NULL, 0, NULL, 0);
        if (strcmp(site_table_get(shared_table, site)->name, name) != 0)
            return "wrong site";
    }
    return NULL;
}

static void threads_agree(void **state)
{
    (void)state;
    static uint32_t ids[THREADS][STACKS];
    pthread_t threads[THREADS];
    shared_depot = stack_depot_create();
    shared_table = site_table_create(shared_depot);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, put_many, ids[i]);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    for (int i = 1; i < THREADS; i++)
        assert_memory_equal(ids[0], ids[i], sizeof(ids[0]));
    for (uintptr_t i = 0; i < STACKS; i++) {
        const void *const *frames;
        size_t count;
        stack_depot_get(shared_depot, ids[0][i], &frames, &count);
        assert_int_equal(count, 1 + i % 3);
        assert_ptr_equal(frames[0], (void *)i);
    }
    site_table_destroy(shared_table);
    stack_depot_destroy(shared_depot);
}

static void a_kernel_is_defined_in_one_place(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    struct site_table *table = site_table_create(depot);
    assert_null(site_table_definition(table, "sum"));
    assert_true(site_table_define(table, "sum", "/src/app.cu:9"));
    assert_false(site_table_define(table, "sum", "/src/app.cu:9"));
    assert_true(site_table_define(table, "part", "/src/app.cu:3"));
    assert_string_equal(site_table_definition(table, "sum"), "/src/app.cu:9");
    assert_true(site_table_define(table, "sum", "/src/other.cu:9")); /* another of the same name */
    assert_false(site_table_define(table, "sum", "/src/third.cu:9"));
    assert_null(site_table_definition(table, "sum"));
    assert_string_equal(site_table_definition(table, "part"), "/src/app.cu:3");
    site_table_destroy(table);
    stack_depot_destroy(depot);
}

static void a_variables_birth_is_known_by_its_form(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    struct site_table *table = site_table_create(depot);
    const char *module[] = {"/bin/app"};
    const void *here[] = {&depot};
    const csan_site variable = site_table_intern(table, "__device__ sums", module, 1, NULL, 0),
                    call = site_table_intern(table, "cuMemAlloc", NULL, 0, NULL, 0),
                    kernel = site_table_intern(table, "__device__ sums", module, 1, here, 1);
    assert_true(site_is_variable(site_table_get(table, variable)));
    assert_false(site_is_variable(site_table_get(table, call)));
    assert_false(site_is_variable(site_table_get(table, kernel)));
    site_table_destroy(table);
    stack_depot_destroy(depot);
}

static void an_objects_birth_says_what_it_is(void **state)
{
    (void)state;
    struct stack_depot *depot = stack_depot_create();
    struct site_table *table = site_table_create(depot);
    const char *texture[] = {"texture object"}, *other[] = {"texture"};
    const void *here[] = {&depot};
    const csan_site made = site_table_intern(table, "cuTexObjectCreate", texture, 1, here, 1),
                    kernel = site_table_intern(table, "fetch", other, 1, here, 1),
                    call = site_table_intern(table, "cuMemAlloc", NULL, 0, here, 1);
    assert_string_equal(site_object(site_table_get(table, made)), "texture object");
    assert_null(site_object(site_table_get(table, kernel)));
    assert_null(site_object(site_table_get(table, call)));
    site_table_destroy(table);
    stack_depot_destroy(depot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_defined_in_one_place),
        cmocka_unit_test(a_variables_birth_is_known_by_its_form),
        cmocka_unit_test(an_objects_birth_says_what_it_is),
        cmocka_unit_test(equal_contents_are_one_site),
        cmocka_unit_test(long_names_and_many_arguments),
        cmocka_unit_test(threads_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
