/* Which parameters kernels read. See kernel_reads.h. */
#include "runtime/hook/observe/kernel_reads.h"
#include "csan/base/hash.h"
#include "csan/base/lock_order.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/architecture.h"
#include "runtime/learn/kept_reads.h"

static struct {
    pthread_mutex_t mutex;
    struct learn_program program;
    struct kept_reads *kept; /* NULL: nothing is kept */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void kernel_reads_keep(const struct learn_program *program)
{
    const struct learner_options *options = learning_options();
    lock_order_take(LOCK_KERNEL_READS, &table.mutex);
    if (!table.kept && options->cache && (table.kept = kept_reads_create())) {
        table.program = *program;
        kept_reads_read(table.kept, options, program);
    }
    lock_order_give(LOCK_KERNEL_READS, &table.mutex);
}

static struct kept_reads_kernel key_of(const struct kernel *kernel, uint32_t words)
{
    struct kept_reads_kernel key = {.parameter_words = words};
    int major, minor;
    architecture_current(&major, &minor);
    for (int i = 0; i < 2; i++)
        key.words[i] =
            hash_mix(kernel->identity[i], (uint64_t)(uint32_t)major << 32 | (uint32_t)minor);
    return key;
}

static bool kept_find(const struct kept_reads_kernel *key, struct reads **reads)
{
    lock_order_take(LOCK_KERNEL_READS, &table.mutex);
    const bool found = table.kept && kept_reads_find(table.kept, key, reads);
    lock_order_give(LOCK_KERNEL_READS, &table.mutex);
    return found;
}

static void kept_add(const struct kept_reads_kernel *key, const struct reads *reads)
{
    lock_order_take(LOCK_KERNEL_READS, &table.mutex);
    if (table.kept)
        kept_reads_add(table.kept, key, reads);
    lock_order_give(LOCK_KERNEL_READS, &table.mutex);
}

struct reads *kernel_reads_find(const struct kernel *kernel, CUfunction function, uint32_t words)
{
    const bool is_known = identity_is_known(kernel->image);
    const struct kept_reads_kernel key = key_of(kernel, words);
    struct reads *reads = NULL;
    if (is_known && kept_find(&key, &reads))
        return reads;
    reads = kernel_code_reads(function, kernel->symbol, words);
    if (is_known)
        kept_add(&key, reads);
    return reads;
}

void kernel_reads_finish(void)
{
    lock_order_take(LOCK_KERNEL_READS, &table.mutex);
    const bool written =
        !table.kept || kept_reads_write(table.kept, learning_options(), &table.program);
    lock_order_give(LOCK_KERNEL_READS, &table.mutex);
    if (!written && session_options()->verbosity > 0)
        session_note("what kernels read of their parameters could not be kept for the next run");
}
