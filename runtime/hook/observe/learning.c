/* Launches that csan learns from, and launches that use learned sets. See learning.h. */
#include "runtime/hook/observe/learning.h"
#include "csan/base/array.h"
#include "csan/base/hash.h"
#include "csan/detector/context.h"
#include "csan/base/range_map.h"
#include "csan/base/text.h"
#include "runtime/hook/state/architecture.h"
#include "runtime/hook/kernel/launch_prefetch.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/kernel/identity.h"
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/hook/observe/kernel_reads.h"
#include "runtime/hook/observe/learning_case.h"
#include "runtime/hook/observe/learning_maps.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/observe/learning_program.h"
#include "runtime/hook/observe/learning_wait.h"
#include "runtime/hook/state/object_table.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/learn/cache.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/learn/learned_file.h"
#include "runtime/sass/reads_memo.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Kernel Parameters": up to 32,764 bytes. */
enum { LEARNING_BYTES_MAX = 32768, CALM_FIRST = 4 };

static struct {
    pthread_once_t once;
    struct learner_options options;
    struct learner *learner; /* NULL: memory was short */
    uint64_t nameless;       /* images without an identity so far */
    uint64_t news;           /* traces that were reported; atomic */
    unsigned time;           /* as trace_time said last; atomic */
} table = {.once = PTHREAD_ONCE_INIT, .time = TRACE_TO_LEARN | TRACE_TO_CONFIRM};

/* ---- The learner ---- */

struct learner *learning_learner(void)
{
    return table.learner;
}

static void say(const char *text)
{
    session_note("%s", text);
}

/* Where it is kept; false: nowhere. Why it is not is said once. */
static bool cache_find(char *directory, size_t bytes)
{
    static bool said;
    if (!session_options()->learn_cache_mb || !learned_directory(directory, bytes))
        return false;
    const char *refusal = cache_refusal(directory);
    if (refusal && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        session_note("the cache %s, or the directory it lies in, %s: nothing is read from it or "
                     "kept; set CSAN_CACHE to a directory of your own",
                     directory, refusal);
    return !refusal;
}

bool learning_was_kept(void)
{
    char path[PATH_MAX];
    bool any = false;
    DIR *directory = cache_find(path, sizeof path) ? opendir(path) : NULL;
    for (struct dirent *entry; directory && !any && (entry = readdir(directory));) {
        const char *suffix = strrchr(entry->d_name, '.');
        any = suffix && strcmp(suffix, ".learned") == 0;
    }
    if (directory)
        closedir(directory);
    return any;
}

static void options_make(void)
{
    static char directory[PATH_MAX];
    const struct session_options *options = session_options();
    table.options = (struct learner_options){
        .launches = (uint32_t)options->learn_launches,
        .values = (uint32_t)options->learn_values,
        .cache = cache_find(directory, sizeof directory) ? directory : NULL,
        .cache_bytes = (uint64_t)options->learn_cache_mb << 20,
        .note = say};
}

const struct learner_options *learning_options(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, options_make);
    return &table.options;
}

static void learner_start(void)
{
    table.learner = learner_create(learning_options());
}

struct learn_block learning_find_block(void *user, uint64_t address)
{
    uint64_t base = 0, bytes = 0;
    (void)user;
    if (csan_memory_owner(session_context(), address, &base, &bytes))
        return (struct learn_block){base, base + bytes};
    return (struct learn_block){.start = launch_pointer_address_generation()};
}

_Static_assert(sizeof(struct learn_block) == sizeof(struct range) &&
                   offsetof(struct learn_block, end) == offsetof(struct range, end),
               "blocks are ranges");

void learning_find_blocks(void *user, const uint64_t *addresses, uint32_t count,
                          struct learn_block *blocks)
{
    (void)user;
    context_pointees(session_context(), addresses, count, (struct range *)blocks);
}

/* ---- Kernels ---- */

static struct learn_image image_of(const struct kernel *kernel)
{
    int major, minor;
    architecture_current(&major, &minor);
    if (!identity_is_known(kernel->image)) /* nobody's but this handle's, in this process */
        return (struct learn_image){{0, __atomic_add_fetch(&table.nameless, 1, __ATOMIC_RELAXED)}};
    return identity_on_device(kernel->image, trace_source_name(), major, minor);
}

static void variable_add(struct learning_kernel *own, const struct ptx_variable *variable)
{
    bool lies_in_memory =
        variable && !variable->unsized &&
        (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST);
    for (uint32_t i = 0; i < own->variable_count; i++)
        lies_in_memory = lies_in_memory && own->variables[i] != variable;
    if (lies_in_memory && own->variable_count < LEARNING_VARIABLES)
        own->variables[own->variable_count++] = variable;
}

/* Others (of functions it calls, of machine code) are memory that nobody points to. */
static void find_variables(struct learning_kernel *own, const struct ptx_function *ptx)
{
    for (uint32_t i = 0; ptx && i < ptx->instruction_count; i++)
        for (uint32_t k = 0; k < ptx->instructions[i].operand_count; k++)
            variable_add(own, ptx->instructions[i].operands[k].variable);
}

static uint32_t words_of(const struct layout *layout)
{
    return (layout->bytes + 3) / 4;
}

/* Nothing is said where devices are of several architectures: a CUkernel is launched on any. */
static void uses_find(struct parameter_uses *uses, struct learned_kernel *learned,
                      const struct kernel *kernel, CUfunction function, uint32_t words)
{
    if (!architecture_is_one())
        return;
    uses->reads = trace_reads(function, kernel->symbol, words);
    uses->map_count = trace_maps(function, kernel->symbol, uses->maps);
    learner_uses(table.learner, learned, words, uses);
}

/* Summaries of operators go by parameters also where nobody learns of kernels, and no tracer says
 * which of them are read. However few there are, one may be a structure without members, as
 * PyTorch's functors are: it has a byte that nobody sets. */
static bool reads_wanted_of_code(uint32_t words)
{
    const struct options *options = session_all_options();
    return words > 0 && (options->operator_summaries || options->verify_operators) &&
           !trace_knows_reads() && architecture_is_one();
}

static size_t reads_room(const struct reads *reads)
{
    return reads_bytes(reads) + reads_memo_room(reads) * sizeof(uint32_t);
}

/* One piece of memory, so that whoever owns the kernel can free it. */
static struct learning_kernel *kernel_create(const struct kernel *kernel, CUfunction function)
{
    struct layout layout;
    struct parameter_uses uses = {0};
    struct learned_kernel *learned =
        learner_kernel(table.learner, image_of(kernel), kernel->symbol);
    const bool unheard =
        trace_is_sourceless() && !(learned && learner_knows(table.learner, learned));
    layout_symbols_find();
    bool readable = layout_find(&layout, function, kernel->ptx);
    if (readable && learned && !unheard && layout.bytes <= LEARNING_BYTES_MAX)
        uses_find(&uses, learned, kernel, function, words_of(&layout));
    if (readable && !uses.reads && layout.bytes <= LEARNING_BYTES_MAX &&
        reads_wanted_of_code(words_of(&layout)))
        uses.reads = kernel_reads_find(kernel, function, words_of(&layout));
    const struct reads *reads = uses.reads;
    uint32_t arguments = (layout.bytes / 8 + 2) & ~1u; /* what is behind them is aligned */
    size_t before = layout.count * sizeof(struct layout_parameter) + arguments * sizeof(uint16_t);
    struct learning_kernel *own = calloc(1, sizeof *own + before + (reads ? reads_room(reads) : 0));
    if (own) {
        own->readable = readable;
        own->layout = layout;
        own->layout.parameters = own->room;
        own->arguments = (uint16_t *)(own->room + layout.count);
        if (layout.count)
            memcpy(own->room, layout.parameters, layout.count * sizeof *own->room);
        if (reads) {
            own->reads = memcpy((char *)own->room + before, reads, reads_bytes(reads));
            reads_memo_open(&own->memo, own->reads,
                            (uint32_t *)((char *)own->reads + reads_bytes(reads)));
        }
        own->map_count = uses.map_count;
        memcpy(own->maps, uses.maps, sizeof own->maps);
        find_variables(own, kernel->ptx);
        own->learned = learned;
        own->unheard = unheard;
    }
    parameter_uses_clear(&uses);
    layout_release(&layout);
    return own;
}

static struct learning_kernel *kernel_find(struct kernel *kernel, CUfunction function)
{
    struct learning_kernel *own = __atomic_load_n(&kernel->learning, __ATOMIC_ACQUIRE);
    if (own)
        return own;
    pthread_once(&table.once, learner_start);
    struct learning_kernel *fresh = table.learner ? kernel_create(kernel, function) : NULL;
    if (!fresh)
        return NULL;
    if (__atomic_compare_exchange_n(&kernel->learning, &own, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    free(fresh); /* another thread was faster */
    return own;
}

const struct layout *learning_layout(const struct kernel *kernel)
{
    const struct learning_kernel *own = __atomic_load_n(&kernel->learning, __ATOMIC_ACQUIRE);
    return own && own->readable ? &own->layout : NULL;
}

/* ---- A launch ---- */

static bool room_find(struct learning *learning, uint32_t parameter_bytes)
{
    const uint32_t most = parameter_bytes / 8 + 1 + LEARNING_VARIABLES;
    const uint32_t capacity = most < LEARN_MAX_ANCHORS ? most : LEARN_MAX_ANCHORS;
    learning->anchor_room = capacity;
    if (capacity <= LEARNING_ANCHORS && parameter_bytes <= LEARNING_PARAMETERS) {
        learning->anchors = learning->own_anchors;
        learning->arguments = learning->own_arguments;
        learning->parameters = learning->own_parameters;
        return true;
    }
    learning->anchors = malloc(capacity * sizeof *learning->anchors +
                               capacity * sizeof *learning->arguments + parameter_bytes);
    if (!learning->anchors)
        return false;
    learning->arguments = (struct learning_argument *)(learning->anchors + capacity);
    learning->parameters = (uint8_t *)(learning->arguments + capacity);
    return true;
}

static uint32_t place_variables(struct kernel *kernel, struct learn_anchor *anchors)
{
    const struct learning_kernel *own = kernel->learning;
    uint32_t count = 0;
    for (uint32_t i = 0; i < own->variable_count; i++) {
        uint64_t address, bytes;
        if (!kernel_description_variable(kernel, own->variables[i], &address, &bytes))
            continue;
        const char *name = own->variables[i]->name;
        anchors[count++] = (struct learn_anchor){.kind = LEARN_VARIABLE,
                                                 .offset = i,
                                                 .identity = hash_mix_bytes(0, name, strlen(name)),
                                                 .address = address,
                                                 .block = {address, address + bytes}};
    }
    return count;
}

/* Parameters as they were passed. A buffer is the parameters whether or not the driver knows their
 * layout (CUDA Driver API, cuLaunchKernel). */
struct passed {
    const uint8_t *buffer; /* NULL: where the layout says */
    size_t bytes;
};

/* False: how many bytes there are is not known, or they are too many. */
static bool passed_find(const struct learning_kernel *own,
                        const struct launch_accesses_launch *what, struct passed *passed)
{
    *passed = (struct passed){NULL, own->layout.bytes};
    if (!own->readable && !what->parameters)
        passed->buffer = layout_extra(what->extra, &passed->bytes);
    return (own->readable || passed->buffer) && passed->bytes <= LEARNING_BYTES_MAX;
}

static bool passed_copy(const struct learning_kernel *own,
                        const struct launch_accesses_launch *what, const struct passed *passed,
                        uint8_t *to)
{
    if (!passed->buffer)
        return layout_copy(&own->layout, what->parameters, what->extra, to);
    memcpy(to, passed->buffer, passed->bytes);
    return true;
}

static bool parameters_fill(struct learning *learning, struct learning_kernel *own,
                            const struct launch_accesses_launch *what)
{
    struct passed passed;
    learning->obstacle = LEARNING_LAYOUT_UNKNOWN;
    if (!passed_find(own, what, &passed))
        return false;
    const size_t bytes = passed.bytes;
    learning->obstacle = LEARNING_PARAMETERS_UNKNOWN;
    if (!room_find(learning, (uint32_t)bytes))
        return false;
    learning->launch = (struct learn_launch){.shared = what->shared,
                                             .parameters = learning->parameters,
                                             .parameter_bytes = (uint32_t)bytes,
                                             .anchors = learning->anchors};
    memcpy(learning->launch.grid, what->grid, sizeof what->grid);
    memcpy(learning->launch.block, what->block, sizeof what->block);
    memcpy(learning->launch.cluster, what->cluster, sizeof what->cluster);
    if (!passed_copy(own, what, &passed, learning->parameters))
        return false;
    /* Bytes that it does not read do not affect what it touches, and may be anything. */
    if (own->reads) {
        uint32_t read[READS_WORDS_MOST / 32];
        struct reads_launch launch = {learning->parameters, (uint32_t)bytes, {0}};
        memcpy(launch.grid, what->grid, sizeof launch.grid);
        reads_memo_find(&own->memo, &launch, read);
        reads_clear_others(own->reads, &launch, read, learning->parameters);
    }
    return true;
}

/* Where it points, and its key. */
static bool pointers_fill(struct learning *learning, struct kernel *kernel)
{
    const uint32_t bytes = learning->launch.parameter_bytes, capacity = learning->anchor_room;
    uint32_t count = place_variables(kernel, learning->anchors);
    const struct learning_kernel *own = kernel->learning;
    if (own->map_count) {
        learning->obstacle = LEARNING_MAPS_UNKNOWN;
        if (!learning_maps_place(learning, own->maps, own->map_count, capacity, &count))
            return false;
        learning->maps_are_known = true;
    } else if (object_has_tensor_maps())
        count += learning_maps_find(learning->parameters, bytes, learning->anchors + count,
                                    capacity - count);
    const struct range span = context_span(session_context());
    count =
        learn_find_pointers(learning->parameters, bytes, (struct learn_block){span.start, span.end},
                            learning_find_blocks, NULL, learning->anchors, count, capacity);
    for (uint32_t i = 0; i < count; i++)
        learning->arguments[i] = (struct learning_argument){.index = CSAN_NO_ARGUMENT};
    learning->launch.anchor_count = count;
    learning->obstacle = LEARNING_NO_OBSTACLE;
    return launch_key_make(&learning->key, &learning->launch);
}

static bool launch_fill(struct learning *learning, struct kernel *kernel,
                        const struct launch_accesses_launch *what)
{
    return parameters_fill(learning, kernel->learning, what) && pointers_fill(learning, kernel);
}

/* ---- What comes near ---- */

void learning_prefetch(void)
{
    __builtin_prefetch(&table);
}

/* What the detector will read of what the launch touches may come while the driver is busy. */
static void touched_prefetch(const struct learning *learning)
{
    enum { MOST = 16 };
    const struct learned_set *set = learning->reply.set;
    uint64_t addresses[MOST];
    uint32_t count = set->count < MOST ? set->count : MOST;
    for (uint32_t i = 0; i < count; i++)
        addresses[i] = learned_range_address(&set->ranges[i], &learning->launch);
    context_prefetch(session_context(), addresses, count);
}

static void prefetch_take(const struct learning *learning, const struct learning_kernel *own,
                          CUfunction function, const struct launch_accesses_launch *what)
{
    struct learn_piece pieces[LEARN_PIECES];
    struct access_piece all[LEARN_PIECES + 2];
    if (launch_prefetch_is_noted(function, what, learning->reply.set))
        return;
    size_t count =
        learner_pieces(table.learner, own->learned, &learning->key, &learning->launch, pieces);
    const char *end = own->reads ? (const char *)reads_lessers(own->reads)
                                 : (const char *)(own->arguments + own->layout.bytes / 8 + 1);
    size_t own_count = 0;
    all[own_count++] = (struct access_piece){own, (size_t)(end - (const char *)own)};
    if (own->reads)
        all[own_count++] = (struct access_piece){own->memo.room, reads_memo_each(&own->memo)};
    for (size_t i = 0; i < count; i++)
        all[own_count + i] = (struct access_piece){pieces[i].start, pieces[i].bytes};
    launch_prefetch_note(function, what, learning->reply.set, all, own_count + count);
}

/* Assumed until PTX was inexact for a launch of it. A stored set may serve the first launch, too; a
 * traced one serves later launches. */
static bool is_known_by_ptx(const struct kernel *kernel)
{
    if (session_options()->access.insists || !kernel->ptx)
        return false;
    const uint8_t known = __atomic_load_n(&kernel->ptx_exactness, __ATOMIC_RELAXED);
    return known == KERNEL_PTX_EXACT || (known == KERNEL_PTX_UNSEEN && !trace_is_sourceless());
}

/* For what launches may be traced now. */
static void time_look(void)
{
    const unsigned time = trace_time();
    if (__atomic_load_n(&table.time, __ATOMIC_RELAXED) != time)
        __atomic_store_n(&table.time, time, __ATOMIC_RELAXED);
    learner_confirm(table.learner, time & TRACE_TO_CONFIRM);
}

static void calm_count(struct learning_kernel *own, bool traced)
{
    const uint32_t calm = __atomic_load_n(&own->calm, __ATOMIC_RELAXED);
    if (traced || calm < CALM_MOST)
        __atomic_store_n(&own->calm, traced ? 0 : calm + 1, __ATOMIC_RELAXED);
}

bool learning_is_calm(const struct kernel *kernel)
{
    const struct learning_kernel *own = __atomic_load_n(&kernel->learning, __ATOMIC_ACQUIRE);
    if (trace_is_sourceless() || is_known_by_ptx(kernel))
        return true;
    if (!own)
        return false;
    const uint8_t missed = __atomic_load_n(&own->missed, __ATOMIC_RELAXED);
    const unsigned time = __atomic_load_n(&table.time, __ATOMIC_RELAXED);
    if (missed &&
        !(time & (missed == LEARNING_MISSED_TO_LEARN ? TRACE_TO_LEARN : TRACE_TO_CONFIRM)))
        return true; /* it would not be traced now */
    return __atomic_load_n(&own->calm, __ATOMIC_RELAXED) >= (missed ? CALM_MOST : CALM_FIRST);
}

void learning_missed(const struct kernel *kernel, enum learning_miss missed)
{
    __atomic_store_n(&kernel->learning->missed, (uint8_t)missed, __ATOMIC_RELAXED);
}

/* The source may take its code out of a module none of whose kernels is learned of. */
static void settle(struct learning_kernel *own, CUfunction function,
                   const struct learn_reply *reply)
{
    if (reply->trace)
        __atomic_store_n(&own->settled, false, __ATOMIC_RELAXED);
    else if (reply->answer != LEARN_OPEN && reply->due &&
             !__atomic_load_n(&own->settled, __ATOMIC_RELAXED) && trace_settle(function, true))
        __atomic_store_n(&own->settled, true, __ATOMIC_RELAXED);
}

void learning_without(struct learning *learning, enum learning_obstacle obstacle)
{
    learning->learned = NULL;
    learning->reply = (struct learn_reply){.answer = LEARN_UNKNOWN};
    learning->anchors = NULL;
    learning->key.words = NULL;
    learning->launch.anchor_count = 0;
    learning->obstacle = (uint8_t)obstacle;
    learning->applied = learning->bounded = learning->captured = learning->taken = false;
    learning->maps_are_known = false;
    learning->mapped_count = learning->constants.count = 0;
}

/* The launch's accesses are unknown. This excludes launches that would not be learned: the first of
 * a kernel, which shows whether PTX is exact, and, because many are unknown, those in a graph. */
static void launch_missed(const struct kernel *kernel, bool captured)
{
    if (learning_program_rests() && !captured &&
        (session_options()->access.learned_first || !kernel->ptx ||
         __atomic_load_n(&kernel->ptx_exactness, __ATOMIC_RELAXED) == KERNEL_PTX_INEXACT))
        learning_program_missed();
}

bool learning_begin(struct learning *learning, struct kernel *kernel, CUfunction function,
                    const struct launch_accesses_launch *what, bool captured)
{
    learning_without(learning, LEARNING_NO_OBSTACLE);
    if (is_known_by_ptx(kernel))
        return false;
    struct learning_kernel *own = kernel_find(kernel, function);
    if (own && own->unheard) {
        learning->obstacle = captured ? LEARNING_CAPTURED : LEARNING_UNHEARD;
        launch_missed(kernel, captured);
        return false;
    }
    if (!own || !own->learned || !launch_fill(learning, kernel, what)) {
        learning_end(learning);
        learning_without(learning, learning->obstacle ? learning->obstacle : LEARNING_MEMORY_SHORT);
        return false;
    }
    learning->learned = own->learned;
    learning->captured = captured;
    if (captured || trace_is_sourceless()) {
        learner_look(table.learner, own->learned, &learning->key, &learning->launch,
                     learning_find_block, NULL, &learning->reply);
        if (captured)
            learning->obstacle = LEARNING_CAPTURED;
        else if (learning->reply.answer == LEARN_OPEN)
            learning->obstacle = LEARNING_UNLIKE;
        if (learning->reply.answer == LEARN_OPEN)
            launch_missed(kernel, captured);
    } else {
        time_look();
        learner_ask(table.learner, own->learned, &learning->key, &learning->launch,
                    learning_find_block, NULL, &learning->reply);
        calm_count(own, learning->reply.trace);
        settle(own, function, &learning->reply);
    }
    if (learning->reply.set && !captured) {
        prefetch_take(learning, own, function, what);
        touched_prefetch(learning);
    }
    return true;
}

bool learning_find_passed(struct kernel *kernel, CUfunction function,
                          const struct launch_accesses_launch *what, struct learning_passed *passed)
{
    const struct learning_kernel *own = kernel_find(kernel, function);
    struct passed found;
    if (!own || !passed_find(own, what, &found))
        return false;
    size_t bytes = found.bytes;
    const uint8_t *buffer = found.buffer;
    if (!buffer && !what->parameters)
        buffer = layout_extra(what->extra, &bytes);
    *passed = (struct learning_passed){own->readable ? &own->layout : NULL, what->parameters,
                                       buffer, (uint32_t)found.bytes};
    return what->parameters || (buffer && bytes >= found.bytes);
}

bool learning_copy_passed(const struct learning_passed *passed, uint8_t *to)
{
    if (!passed->buffer)
        return layout_copy(passed->layout, passed->parameters, NULL, to);
    memcpy(to, passed->buffer, passed->bytes);
    return true;
}

void learning_mark_read(struct kernel *kernel, const struct learning_passed *passed,
                        const uint32_t *grid, uint8_t *marks)
{
    struct learning_kernel *own = kernel->learning;
    struct reads_launch launch = {passed->buffer, passed->bytes, {0}};
    memcpy(launch.grid, grid, sizeof launch.grid);
    if (own->reads)
        reads_memo_mark(&own->memo, &launch, marks);
    else
        memset(marks, 0xff, passed->bytes);
}

bool learning_word_decides(const struct kernel *kernel, uint32_t word)
{
    const struct learning_kernel *own = kernel->learning;
    return own->reads && reads_memo_decides(&own->memo, word);
}

bool learning_describe_passed(struct learning *learning, struct kernel *kernel, CUfunction function,
                              const struct launch_accesses_launch *what)
{
    learning_without(learning, LEARNING_NO_OBSTACLE);
    return kernel_find(kernel, function) && parameters_fill(learning, kernel->learning, what);
}

bool learning_describe_pointers(struct learning *learning, struct kernel *kernel)
{
    return pointers_fill(learning, kernel);
}

bool learning_points_by_parameters(const struct kernel *kernel)
{
    const struct learning_kernel *own = kernel->learning;
    return !own->variable_count;
}

bool learning_is_known(const struct learning *learning)
{
    return learning->learned &&
           (learning->reply.answer == LEARN_KNOWN || learning->reply.answer == LEARN_BOUNDED);
}

/* No record has what is copied through tensor maps. */
static bool reaches(const struct learn_anchor *anchor, uint64_t start)
{
    return anchor->kind != LEARN_TENSOR_MAP && anchor->block.start == start;
}

uint64_t learning_reach(const struct learning *learning)
{
    uint64_t bytes = 0;
    const struct learn_anchor *anchors = learning->launch.anchors;
    for (uint32_t i = 0; i < learning->launch.anchor_count; i++) {
        const struct learn_block *block = &anchors[i].block;
        uint32_t first = 0;
        while (first < i && !reaches(&anchors[first], block->start))
            first++;
        if (first == i && reaches(&anchors[i], block->start))
            bytes += block->end - block->start;
    }
    return bytes;
}

void learning_refused(struct learning *learning)
{
    if (!learning->learned || !learning->reply.trace || learning->taken)
        return;
    learning->reply.trace = false;
    learning->obstacle = LEARNING_REFUSED;
    learner_refused(table.learner, learning->learned, &learning->key);
    learning_wait_decide(learning->learned);
}

void learning_end(struct learning *learning)
{
    learned_set_release(learning->reply.set);
    learning->reply.set = NULL;
    if (learning->key.words)
        launch_key_release(&learning->key);
    if (learning->anchors != learning->own_anchors)
        free(learning->anchors);
    learning->anchors = NULL;
    learning->learned = NULL;
}

bool learning_waits(const struct learning *learning)
{
    return learning->learned && !learning->captured && !learning->reply.trace &&
           learning->reply.answer == LEARN_OPEN && !learning->reply.due;
}

/* ---- Traces ---- */

struct learning_case *learning_take(struct learning *learning)
{
    if (!learning->learned || !learning->reply.trace)
        return NULL;
    struct learning_case *taken = learning_case_create(learning, (struct kernel_atomics){0});
    if (!taken)
        learning_refused(learning);
    learning->taken = taken != NULL;
    return taken;
}

void learning_take_trace(struct learning_case *taken, const struct device_trace_launch *trace)
{
    if (!taken)
        return;
    struct learned_set *set = NULL;
    if (!trace->lost && !trace->failed)
        set = learned_set_create(trace, &taken->launch, learning_find_block, NULL);
    /* The node may be the reason; or the maps were stored by a process that knew them from its
     * code. */
    const bool nothing = trace->unseen ? taken->maps_are_known : !set && taken->of_node;
    if (nothing)
        learner_refused(table.learner, taken->learned, &taken->key);
    else if (trace->unseen)
        learner_unseen(table.learner, taken->learned, &taken->key);
    else
        learner_take_trace(table.learner, taken->learned, &taken->key, &taken->launch, set);
    learned_set_release(set);
    learning_wait_decide(taken->learned);
    if (!nothing)
        __atomic_fetch_add(&table.news, 1, __ATOMIC_RELAXED);
    learning_case_free(taken);
}

uint64_t learning_news(void)
{
    return __atomic_load_n(&table.news, __ATOMIC_RELAXED);
}

void learning_drop(struct learning_case *taken)
{
    if (!taken)
        return;
    learner_refused(table.learner, taken->learned, &taken->key);
    learning_wait_decide(taken->learned);
    learning_case_free(taken);
}

/* ---- The end ---- */

void learning_finish(void)
{
    const bool saved = !table.learner || learner_save(table.learner);
    if (!saved && session_options()->verbosity > 0)
        session_note("what was learned of kernels could not be kept for the next run");
    const bool rests = learning_program_rests();
    if (saved && (rests || !trace_is_sourceless()) &&
        !learning_program_end(learning_options(), table.learner, learning_has_untaught()) &&
        session_options()->verbosity > 0)
        session_note("what is known of the program could not be noted for the next run");
}
