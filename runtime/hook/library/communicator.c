/* NCCL: what a call's communicator, root and data type say about its buffers. The numbers are those
 * of nccl.h, which a build of csan need not have; tests/data/libraries/headers.cu compares them. */
#include "runtime/hook/library/touch.h"

struct touch_type touch_nccl(const struct touch *call, int64_t nccl_data_type)
{
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    (void)call;
    bool known = nccl_data_type >= 0 && (size_t)nccl_data_type < sizeof bytes;
    uint32_t size = known ? bytes[nccl_data_type] : 0;
    return (struct touch_type){size, size, false};
}

static int64_t answer(const struct touch *call, enum library_question question,
                      uint64_t communicator, int64_t otherwise)
{
    int number = 0;
    int (*ask)(void *communicator, int *number) =
        (int (*)(void *, int *))library_ask(call->home, question);
    return ask && ask((void *)(uintptr_t)communicator, &number) == 0 ? number : otherwise;
}

static int64_t rank(const struct touch *call, uint64_t communicator)
{
    return answer(call, LIBRARY_RANK, communicator, -1);
}

int64_t touch_ranks(const struct touch *call, uint64_t communicator)
{
    return answer(call, LIBRARY_RANKS, communicator, 0);
}

enum touch_when touch_is_root(const struct touch *call, uint64_t communicator, int64_t root)
{
    return rank(call, communicator) == root ? TOUCH_ALWAYS : TOUCH_NEVER;
}

enum touch_when touch_is_not_root(const struct touch *call, uint64_t communicator, int64_t root)
{
    return rank(call, communicator) != root ? TOUCH_ALWAYS : TOUCH_NEVER;
}

/* The root has its own data already where both buffers are one. */
enum touch_when touch_receives_broadcast(const struct touch *call, uint64_t communicator,
                                         int64_t root, uint64_t source, uint64_t target)
{
    return source != target ? TOUCH_ALWAYS : touch_is_not_root(call, communicator, root);
}

void touch_gathered(struct touch *call, uint64_t target, uint64_t source, int64_t n,
                    uint64_t communicator)
{
    int64_t ranks = touch_ranks(call, communicator), own = rank(call, communicator);
    uint64_t part = n > 0 ? (uint64_t)n * call->type.bytes : 0;
    if (own < 0 || source != target + (uint64_t)own * part) {
        touch_buffer(call, target, n * ranks);
        return;
    }
    touch_buffer(call, target, n * own);
    touch_buffer(call, source + part, n * (ranks - own - 1));
}

void touch_scattered(struct touch *call, uint64_t target, uint64_t source, int64_t n,
                     uint64_t communicator)
{
    int64_t own = rank(call, communicator);
    if (own < 0 || n <= 0 || target != source + (uint64_t)(own * n) * call->type.bytes)
        touch_buffer(call, target, n);
}
