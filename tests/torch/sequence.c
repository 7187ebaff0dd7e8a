#include "sequence.h"
#include <csan/csan.h>

/* What a sequence draws from. Weights are how often a call comes among the others. */
struct maker {
    struct sequence *sequence;
    uint64_t random; /* splitmix64 */
    uint32_t streams, events, tensors, spacing;
    uint32_t write_percent;
    uint32_t weights[CALL_KINDS + 1], total;
};

/* A record and a wait for it at once: what programs mostly do with events. */
enum { HAND_OVER = CALL_KINDS };

static uint64_t draw(struct maker *maker)
{
    uint64_t z = maker->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(struct maker *maker, uint32_t limit)
{
    return (uint32_t)((draw(maker) >> 32) * limit >> 32);
}

uint64_t sequence_stream(unsigned index)
{
    return index ? 1000 + index : 0;
}

static uint64_t any_stream(struct maker *maker)
{
    return sequence_stream(below(maker, maker->streams));
}

static uint64_t any_event(struct maker *maker)
{
    return 2000 + below(maker, maker->events);
}

/* Half of the sequences have their tensors side by side, half well apart. */
static uint64_t any_tensor(struct maker *maker)
{
    return 0x7f0000000000u + (uint64_t)below(maker, maker->tensors) * maker->spacing;
}

static struct call *add(struct maker *maker, enum call_kind kind)
{
    struct call *call = &maker->sequence->calls[maker->sequence->count++];
    *call = (struct call){.kind = kind,
                          .stream = any_stream(maker),
                          .event = any_event(maker),
                          .data_ptr = any_tensor(maker)};
    return call;
}

/* A tensor comes once among the reads and once among the writes. */
static void touch(struct call *call, struct touch *touches, uint64_t data_ptr, uint32_t kind)
{
    uint32_t place = call->touch_count;
    for (uint32_t i = 0; i < call->touch_count; i++) {
        if (touches[i].data_ptr == data_ptr && touches[i].kind == kind)
            return;
        if (i < place && touches[i].kind > kind)
            place = i;
    }
    for (uint32_t i = call->touch_count; i > place; i--)
        touches[i] = touches[i - 1];
    touches[place] = (struct touch){data_ptr, kind};
    call->touch_count++;
}

static void launch(struct maker *maker)
{
    struct touch *touches = maker->sequence->touches[maker->sequence->count];
    struct call *call = add(maker, CALL_KERNEL_LAUNCH);
    uint32_t count = below(maker, 40) ? 1 + below(maker, 3) : 0;
    call->touches = touches;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t data_ptr = any_tensor(maker);
        bool write = below(maker, 100) < maker->write_percent;
        touch(call, touches, data_ptr, write ? CSAN_WRITE : CSAN_READ);
        if (!below(maker, 40) && i == 0) /* both read and written */
            touch(call, touches, data_ptr, write ? CSAN_READ : CSAN_WRITE);
    }
}

static void add_any(struct maker *maker)
{
    uint32_t choice = below(maker, maker->total), kind = 0;
    while (choice >= maker->weights[kind])
        choice -= maker->weights[kind++];
    if (kind == CALL_KERNEL_LAUNCH) {
        launch(maker);
    } else if (kind == HAND_OVER && maker->sequence->count + 2 <= SEQUENCE_CALLS) {
        uint64_t event = add(maker, CALL_EVENT_RECORD)->event;
        add(maker, CALL_EVENT_WAIT)->event = event;
    } else if (kind != HAND_OVER) {
        add(maker, (enum call_kind)kind);
    }
}

void sequence_make(struct sequence *sequence, uint64_t number)
{
    static const uint8_t highest[CALL_KINDS + 1] = {
        [CALL_EVENT_CREATION] = 2,
        [CALL_EVENT_DELETION] = 2,
        [CALL_EVENT_RECORD] = 6,
        [CALL_EVENT_WAIT] = 6,
        [CALL_MEMORY_ALLOCATION] = 3,
        [CALL_MEMORY_DEALLOCATION] = 3,
        [CALL_STREAM_CREATION] = 2,
        [CALL_DEVICE_SYNCHRONIZATION] = 1,
        [CALL_STREAM_SYNCHRONIZATION] = 2,
        [CALL_EVENT_SYNCHRONIZATION] = 2,
        [HAND_OVER] = 40,
    };
    struct maker maker = {.sequence = sequence, .random = number};
    maker.streams = 2 + below(&maker, 2 + below(&maker, SEQUENCE_STREAMS - 3));
    maker.events = 1 + below(&maker, 6);
    maker.tensors = 1 + below(&maker, 7);
    maker.spacing = below(&maker, 2) ? 1 : 512;
    maker.write_percent = 10 + below(&maker, 45);
    maker.weights[CALL_KERNEL_LAUNCH] = 8 + below(&maker, 16);
    for (uint32_t kind = 1; kind <= CALL_KINDS; kind++)
        maker.weights[kind] = below(&maker, highest[kind] + 1u);
    for (uint32_t kind = 0; kind <= CALL_KINDS; kind++)
        maker.total += maker.weights[kind];
    uint32_t length = 8 + below(&maker, SEQUENCE_CALLS - 7);
    sequence->count = 0;
    while (sequence->count < length)
        add_any(&maker);
}
