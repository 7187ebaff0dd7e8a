/* The table that processes share with csan run. */
#include "runtime/hook/run/process_tree.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, COUNTS = 200000 };

static const struct process_tree *tree;
static uint64_t count; /* of ops so far; atomic */

static int start(void **state)
{
    char name[TREE_NAME_BYTES];
    (void)state;
    tree = process_tree_create(name);
    if (!tree || setenv("CSAN_TREE", name, 1) != 0)
        return -1;
    process_tree_attach();
    process_tree_enter();
    return process_tree_attached() ? 0 : -1;
}

static void *publish(void *unused)
{
    for (int i = 0; i < COUNTS; i++) {
        struct csan_stats stats = {.ops = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED)};
        stats.launches[CSAN_LEVEL_UNKNOWN] = stats.ops / 2;
        process_tree_counts("a device", &stats);
    }
    return unused;
}

/* Each publishes what it saw, some of it late. */
static void ops_that_several_threads_publish_count_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, publish, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(tree->slots[0].ops, THREADS * COUNTS);
    assert_int_equal(tree->slots[0].unknown, THREADS * COUNTS / 2);
    assert_string_equal(tree->slots[0].device, "a device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_that_several_threads_publish_count_once),
    };
    return cmocka_run_group_tests_name("process_tree", tests, start, NULL);
}
