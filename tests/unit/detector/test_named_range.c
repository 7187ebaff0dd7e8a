/* Named ranges: what is open, as a path; and in which ranges an op was made. */
#include "csan/detector/named_range.h"
#include "csan/detector/range_history.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *now(void)
{
    const struct range_path *path = named_range_now();
    return path ? path->text : "";
}

static void nested_ranges_are_a_path(void **state)
{
    (void)state;
    assert_string_equal(now(), "");
    named_range_push(NULL, "forward");
    assert_string_equal(now(), "'forward'");
    named_range_push(NULL, "layer 3");
    assert_string_equal(now(), "'forward' > 'layer 3'");
    assert_ptr_equal(named_range_now(), named_range_now());
    named_range_pop(NULL);
    named_range_push(NULL, "layer 4");
    assert_string_equal(now(), "'forward' > 'layer 4'");
    named_range_pop(NULL);
    named_range_pop(NULL);
    assert_string_equal(now(), "");
    named_range_pop(NULL); /* one too many is none */
    assert_string_equal(now(), "");
}

static void domains_pop_their_own(void **state)
{
    int a = 0, b = 0;
    (void)state;
    named_range_push(&a, "a");
    named_range_push(&b, "b");
    named_range_push(&a, "inner a");
    named_range_pop(&b);
    assert_string_equal(now(), "'a' > 'inner a'");
    named_range_pop(&b);
    assert_string_equal(now(), "'a' > 'inner a'");
    named_range_pop(&a);
    named_range_pop(&a);
    assert_string_equal(now(), "");
}

static void names_are_parts_of_one_line(void **state)
{
    char name[3 * RANGE_NAME_MAX];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    named_range_push(NULL, name);
    assert_int_equal(strlen(now()), RANGE_NAME_MAX - 1 + 2);
    named_range_push(NULL, "two\nlines");
    assert_non_null(strstr(now(), "> 'two lines'"));
    named_range_push(NULL, NULL); /* without a name */
    assert_non_null(strstr(now(), "> 'two lines'"));
    for (int i = 0; i < 3; i++)
        named_range_pop(NULL);
}

static void the_innermost_are_shown(void **state)
{
    char name[16];
    (void)state;
    for (int i = 0; i < RANGES_DEEP + 10; i++) {
        snprintf(name, sizeof name, "%d", i);
        named_range_push(NULL, name);
        if (i == 4)
            assert_string_equal(now(), "... > '1' > '2' > '3' > '4'");
    }
    for (int i = 0; i < RANGES_DEEP + 5; i++)
        named_range_pop(NULL);
    assert_string_equal(now(), "... > '1' > '2' > '3' > '4'");
    for (int i = 0; i < 5; i++)
        named_range_pop(NULL);
    assert_string_equal(now(), "");
}

static void *other_thread(void *path)
{
    assert_string_equal(now(), "");
    named_range_push(NULL, "own");
    const struct range_actor before =
        named_range_act((struct range_actor){.acts = true, .path = path});
    assert_false(before.acts);
    assert_string_equal(now(), "'program'");
    named_range_act((struct range_actor){.acts = true});
    assert_string_equal(now(), "");
    named_range_act(before);
    assert_string_equal(now(), "'own'");
    return NULL; /* with a range that stays open */
}

static void a_thread_acts_for_another(void **state)
{
    pthread_t thread;
    (void)state;
    named_range_push(NULL, "program");
    struct range_path *path = range_path_share(named_range_now());
    named_range_pop(NULL);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, path), 0);
    pthread_join(thread, NULL);
    range_path_release(path);
}

static void history_knows_the_newest_changes(void **state)
{
    struct range_history history = {0};
    struct range_path *a = range_path_create("'a'"), *b = range_path_create("'b'");
    (void)state;
    assert_string_equal(range_history_find(&history, 1), "");
    assert_false(range_history_note(&history, 1, NULL));
    assert_true(range_history_note(&history, 5, a));
    assert_false(range_history_note(&history, 6, a));
    assert_true(range_history_note(&history, 9, NULL));
    assert_true(range_history_note(&history, 12, b));
    range_path_release(a); /* the history keeps it */
    assert_string_equal(range_history_find(&history, 4), "");
    assert_string_equal(range_history_find(&history, 5), "'a'");
    assert_string_equal(range_history_find(&history, 8), "'a'");
    assert_string_equal(range_history_find(&history, 11), "");
    assert_string_equal(range_history_find(&history, 100), "'b'");
    for (uint64_t i = 0; i < 2 * RANGE_CHANGES; i++)
        range_history_note(&history, 1000 + i, i % 2 ? b : NULL);
    assert_string_equal(range_history_find(&history, 5), "");
    assert_string_equal(range_history_find(&history, 999), "");
    assert_string_equal(range_history_find(&history, 1000 + 2 * RANGE_CHANGES - 1), "'b'");
    assert_string_equal(range_history_find(&history, 1000 + 2 * RANGE_CHANGES - 2), "");
    assert_string_equal(range_history_find(&history, 1000 + RANGE_CHANGES + 1), "'b'");
    range_history_clear(&history);
    range_path_release(b);
}

static void empty_paths_are_none(void **state)
{
    (void)state;
    assert_null(range_path_create(""));
    assert_null(range_path_share(NULL));
    range_path_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_ranges_are_a_path),
        cmocka_unit_test(domains_pop_their_own),
        cmocka_unit_test(names_are_parts_of_one_line),
        cmocka_unit_test(the_innermost_are_shown),
        cmocka_unit_test(a_thread_acts_for_another),
        cmocka_unit_test(history_knows_the_newest_changes),
        cmocka_unit_test(empty_paths_are_none),
    };
    return cmocka_run_group_tests_name("named_range", tests, NULL, NULL);
}
