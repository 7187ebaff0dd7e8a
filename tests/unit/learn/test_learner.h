/* What the tests of the learner share: one of its own for each test, a kernel, two blocks, and the
 * launch that is asked for. */
#ifndef TESTS_UNIT_LEARN_TEST_LEARNER_H
#define TESTS_UNIT_LEARN_TEST_LEARNER_H

#include "tests/unit/learn/learn_world.h"
#include "runtime/learn/learner.h"

enum { A = 0x10000000, B = 0x20000000, C = 0x30000000, SIZE = 4096, VALUES = 4 };

static struct world world;
static struct learner *learner;
static struct learned_kernel *kernel;
static struct learn_reply reply;
static struct launch_key key;

static inline int begin(void **state)
{
    (void)state;
    learner = learner_create(&(struct learner_options){.launches = 2, .values = VALUES});
    kernel = learner_kernel(learner, (struct learn_image){{1, 2}}, "kernel");
    assert_non_null(kernel);
    world.block_count = 0;
    world_block(&world, A, SIZE);
    world_block(&world, B, SIZE);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    learned_set_release(reply.set);
    reply.set = NULL;
    learner_destroy(learner);
    return 0;
}

static inline void ask(void)
{
    learned_set_release(reply.set);
    assert_true(launch_key_make(&key, &world.launch));
    learner_ask(learner, kernel, &key, &world.launch, world_find, &world, &reply);
}

static inline void take_trace(void)
{
    struct learned_set *set = world_set(&world);
    learner_take_trace(learner, kernel, &key, &world.launch, set);
    learned_set_release(set);
    launch_key_release(&key);
}

static inline bool is_settled(void)
{
    struct learner_left left;
    learner_left(learner, &left);
    return learner_is_settled(&left);
}

#endif
