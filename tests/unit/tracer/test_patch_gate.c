/* Launches and changes keep out of each other's way. */
#include "runtime/tracer/patch_gate.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct {
    int launching, changing; /* atomic */
    int met;                 /* atomic: launches and changes that saw each other */
    int changes;             /* atomic */
    bool over;               /* atomic */
} seen;

static void *launch(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        patch_gate_enter();
        __atomic_add_fetch(&seen.launching, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&seen.changing, __ATOMIC_SEQ_CST))
            __atomic_add_fetch(&seen.met, 1, __ATOMIC_SEQ_CST);
        __atomic_sub_fetch(&seen.launching, 1, __ATOMIC_SEQ_CST);
        patch_gate_leave();
    }
    return unused;
}

static void *change(void *unused)
{
    while (!__atomic_load_n(&seen.over, __ATOMIC_SEQ_CST)) {
        if (!patch_gate_close())
            continue;
        __atomic_add_fetch(&seen.changing, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&seen.launching, __ATOMIC_SEQ_CST))
            __atomic_add_fetch(&seen.met, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&seen.changes, 1, __ATOMIC_SEQ_CST);
        __atomic_sub_fetch(&seen.changing, 1, __ATOMIC_SEQ_CST);
        patch_gate_open();
    }
    return unused;
}

static void launches_and_changes_do_not_overlap(void **state)
{
    (void)state;
    pthread_t threads[THREADS], changer;
    assert_int_equal(pthread_create(&changer, NULL, change, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (!__atomic_load_n(&seen.changes, __ATOMIC_SEQ_CST))
        continue;
    __atomic_store_n(&seen.over, true, __ATOMIC_SEQ_CST);
    pthread_join(changer, NULL);
    assert_int_equal(seen.met, 0);
}

static void it_is_closed_once_and_not_while_anybody_is_within(void **state)
{
    (void)state;
    patch_gate_enter();
    assert_false(patch_gate_close());
    patch_gate_enter(); /* another thread's */
    patch_gate_leave();
    assert_false(patch_gate_close());
    patch_gate_leave();
    assert_true(patch_gate_close());
    assert_false(patch_gate_close());
    patch_gate_open();
    assert_true(patch_gate_close());
    patch_gate_open();
}

/* A thread that has waited too long enters; the gate counts it and reports it. */
static void nobody_waits_for_ever(void **state)
{
    (void)state;
    assert_true(patch_gate_close());
    patch_gate_enter();
    assert_false(patch_gate_open());
    assert_false(patch_gate_close());
    patch_gate_leave();
    assert_true(patch_gate_close());
    assert_true(patch_gate_open());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_closed_once_and_not_while_anybody_is_within),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(launches_and_changes_do_not_overlap),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
