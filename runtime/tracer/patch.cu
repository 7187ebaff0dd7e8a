// What a patched kernel calls at each access to memory: sets the bits of the granules that it
// touches in the launch's record. userdata is the record, NULL for launches that are not traced.
// Compiled by nvcc for NVIDIA's Sanitizer API (Sanitizer API Reference Manual, Patching API);
// module.c hands it over.
#include "runtime/tracer/record.h"

#include <sanitizer_patching.h>

enum { READ, WRITE, ATOMIC };

#ifdef __CUDACC__ // not where tests compile it for the host (tests/unit/hook/tracer/host_patch.h)
static __device__ uint32_t lane_id()
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
#endif

// A launch's record, as its userdata describes it.
struct place {
    uint8_t *base;
    uint32_t shift, size;
    __device__ explicit place(void *userdata)
        : base((uint8_t *)((uint64_t)userdata & ~(uint64_t)(RECORD_ALIGNMENT - 1))),
          shift((uint32_t)(uint64_t)userdata & RECORD_GRANULE_MASK),
          size((uint32_t)(uint64_t)userdata % RECORD_ALIGNMENT >> RECORD_SIZE_SHIFT)
    {
    }
    __device__ struct record *head() const
    {
        return (struct record *)base;
    }
    __device__ unsigned long long *keys() const
    {
        return (unsigned long long *)(base + RECORD_KEYS_AT);
    }
    __device__ struct record_use *uses() const
    {
        return (struct record_use *)(base + record_uses_at(size));
    }
    __device__ struct record_chunk *chunks() const
    {
        return (struct record_chunk *)(base + record_chunks_at(size));
    }
};

// The chunk of that key, which takes a slot if need be; NULL: no room.
static __device__ struct record_chunk *chunk_find(const place &record, uint64_t key)
{
    const unsigned long long held = key + 1;
    const uint32_t slot_shift = record_slot_shift(record.size);
    uint32_t slot = (uint32_t)(held * 0x9e3779b97f4a7c15ull >> (64 - slot_shift));
    for (int probe = 0; probe < RECORD_PROBES; probe++) {
        unsigned long long *at = &record.keys()[slot];
        unsigned long long found = *(volatile unsigned long long *)at;
        if (found == 0) {
            found = atomicCAS(at, 0ull, held);
            if (found == 0) {
                struct record_use *use = &record.uses()[atomicAdd(&record.head()->use_count, 1)];
                use->key = key;
                use->slot = slot;
                found = held;
            }
        }
        if (found == held)
            return &record.chunks()[slot];
        slot = (slot + 1) & ((1u << slot_shift) - 1);
    }
    atomicOr(&record.head()->flags, RECORD_FULL);
    return NULL;
}

static __device__ void set_bits(const place &record, uint64_t word, uint32_t bits, unsigned kind)
{
    struct record_chunk *chunk = chunk_find(record, record_key(word / RECORD_CHUNK_WORDS, kind));
    if (!chunk)
        return;
    uint32_t *place = &chunk->bits[word % RECORD_CHUNK_WORDS];
    if (bits & ~*(volatile uint32_t *)place)
        atomicOr(place, bits);
}

// The bits of granules [first, last] that are in this word, which has one of them at least.
static __device__ uint32_t bits_of(uint64_t word, uint64_t first, uint64_t last)
{
    uint32_t bits = ~0u;
    if (word == first / 32)
        bits &= ~0u << first % 32;
    if (word == last / 32)
        bits &= ~0u >> (31 - last % 32);
    return bits;
}

// Lanes that set bits of one word send one of them.
static __device__ void set_together(const place &record, uint64_t word, uint32_t bits,
                                    unsigned kind)
{
#if __CUDA_ARCH__ >= 700
    const uint32_t same = __match_any_sync(__activemask(), word);
    uint32_t all = 0;
    for (uint32_t rest = same; rest; rest &= rest - 1)
        all |= __shfl_sync(same, bits, __ffs(rest) - 1);
    bits = all;
    if (lane_id() != __ffs(same) - 1)
        return;
#endif
    set_bits(record, word, bits, kind);
}

static __device__ void note_narrow(const place &record, uint64_t address, uint64_t bytes)
{
    const uint64_t rest = (1ull << record.shift) - 1;
    volatile uint32_t *flags = &record.head()->flags;
    if ((address | bytes) & rest && !(*flags & RECORD_NARROW))
        atomicOr((uint32_t *)flags, RECORD_NARROW);
}

// Each lane has an access of its own.
static __device__ void touch(void *userdata, uint64_t address, uint32_t bytes, unsigned kind)
{
    const place record(userdata);
    if (!userdata || bytes == 0 || !__isGlobal((void *)address))
        return;
    const uint64_t first = address >> record.shift;
    const uint64_t last = (address + bytes - 1) >> record.shift;
    note_narrow(record, address, bytes);
    for (uint64_t word = first / 32; word <= last / 32; word++)
        set_together(record, word, bits_of(word, first, last), kind);
}

// All active lanes have the same one, of up to a megabyte.
static __device__ void touch_block(void *userdata, uint64_t address, uint64_t bytes, unsigned kind)
{
    const place record(userdata);
    const uint32_t active = __activemask();
    if (!userdata || bytes == 0 || lane_id() != __ffs(active) - 1)
        return;
    const uint64_t first = address >> record.shift;
    const uint64_t last = (address + bytes - 1) >> record.shift;
    note_narrow(record, address, bytes);
    for (uint64_t word = first / 32; word <= last / 32; word++)
        set_bits(record, word, bits_of(word, first, last), kind);
}

// A write has its value, an atomic operation has none (SanitizerCallbackMemoryAccess).
extern "C" __device__ __noinline__ SanitizerPatchResult csan_patch_access(
    void *userdata, uint64_t pc, void *ptr, uint32_t accessSize, uint32_t flags, const void *pData)
{
    const bool reads = flags & SANITIZER_MEMORY_DEVICE_FLAG_READ;
    const bool writes = flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    if (flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH)
        return SANITIZER_PATCH_SUCCESS;
    const bool atomic =
        flags & SANITIZER_MEMORY_DEVICE_FLAG_ATOMSYS || (reads && writes) || (writes && !pData);
    touch(userdata, (uint64_t)ptr, accessSize, atomic ? ATOMIC : writes ? WRITE : READ);
    return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult csan_patch_copy(void *userdata, uint64_t pc,
                                                                        void *src, uint32_t dst,
                                                                        uint32_t accessSize)
{
    if (src)
        touch(userdata, (uint64_t)src, accessSize, READ);
    return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult
csan_patch_bulk_read(void *userdata, uint64_t pc, uint64_t src, uint32_t dst, uint32_t barrier,
                     uint32_t data, uint32_t isMulticast)
{
    touch_block(userdata, src, 16ull * (data & 0xffff), READ);
    return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult
csan_patch_bulk_write(void *userdata, uint64_t pc, uint64_t dst, uint32_t src, uint32_t numBlocks)
{
    touch_block(userdata, dst, 16ull * numBlocks, WRITE);
    return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult
csan_patch_bulk_reduce(void *userdata, uint64_t pc, uint64_t dst, uint32_t src, uint32_t numBlocks)
{
    touch_block(userdata, dst, 16ull * numBlocks, ATOMIC);
    return SANITIZER_PATCH_SUCCESS;
}
