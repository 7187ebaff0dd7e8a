#include "program.h"

#include <string.h>

/* ---- Random numbers (xorshift64*; G. Marsaglia, "Xorshift RNGs", 2003) ---- */

struct generator {
    uint64_t state;
    struct program *program;
    unsigned streams;   /* in use, of STREAMS */
    unsigned threads;   /* in use */
    unsigned spread;    /* bytes of a buffer in use: few make races likely */
    unsigned strided;   /* of 8 ranges */
    unsigned order;     /* of 16 ops: how many make order */
    unsigned exotic;    /* of 16 ops: memory that comes and goes, pools, streams that end */
    unsigned functions; /* of 16 ops */
    unsigned guarded;   /* of 8 kernels */
    bool host_guarded;  /* see program_make */
    bool by_content;    /* likewise */
    bool used[STREAMS];
};

static unsigned pick(struct generator *self, unsigned below)
{
    self->state ^= self->state >> 12;
    self->state ^= self->state << 25;
    self->state ^= self->state >> 27;
    return (unsigned)(self->state * 2685821657736338717u >> 33) % below;
}

static bool chance(struct generator *self, unsigned of, unsigned in)
{
    return pick(self, in) < of;
}

/* ---- Ranges ---- */

/* Bytes of a buffer; aligned to `unit`. */
static struct rows pick_rows(struct generator *self, uint8_t buffer, unsigned unit)
{
    struct rows rows = {.buffer = buffer, .rows = 1};
    unsigned units = self->spread / unit ? self->spread / unit : 1;
    rows.width = (uint8_t)(unit * (1 + pick(self, 16 / unit < units ? 16 / unit : units)));
    rows.offset = (uint16_t)(unit * pick(self, units));
    if (self->spread > 16 && chance(self, self->strided, 8)) {
        rows.rows = (uint8_t)(2 + pick(self, 3));
        rows.width = (uint8_t)(unit * (1 + pick(self, 8 / unit)));
        rows.stride = (uint16_t)(rows.width + unit * pick(self, 3));
    }
    unsigned reach = rows.width + (rows.rows - 1u) * rows.stride;
    if (rows.offset + reach > BUFFER_BYTES)
        rows.offset = (uint16_t)((BUFFER_BYTES - reach) / unit * unit);
    return rows;
}

/* Weighted to the device's one buffer, where all accesses overlap. */
static uint8_t pick_buffer(struct generator *self, bool on_device)
{
    static const uint8_t device[] = {BUFFER_DEVICE, BUFFER_DEVICE,  BUFFER_DEVICE,
                                     BUFFER_PINNED, BUFFER_MANAGED, BUFFER_DYNAMIC};
    static const uint8_t any[] = {BUFFER_DEVICE, BUFFER_PINNED, BUFFER_PAGEABLE, BUFFER_MANAGED,
                                  BUFFER_DYNAMIC};
    uint8_t buffer = on_device ? device[pick(self, sizeof device)] : any[pick(self, sizeof any)];
    if (buffer == BUFFER_DYNAMIC)
        buffer = (uint8_t)(BUFFER_DYNAMIC + pick(self, 2));
    return buffer;
}

static struct rows pick_range(struct generator *self, bool on_device, unsigned unit)
{
    return pick_rows(self, pick_buffer(self, on_device), unit);
}

/* ---- Ops ---- */

static struct op *add_on(struct generator *self, enum op_kind kind, unsigned stream)
{
    struct program *program = self->program;
    static struct op scrap; /* what does not fit is not made */
    struct op *op = program->count < PROGRAM_OPS ? &program->ops[program->count++] : &scrap;
    *op = (struct op){.kind = (uint8_t)kind,
                      .thread = (uint8_t)pick(self, self->threads),
                      .stream = (uint8_t)stream,
                      .event = (uint8_t)pick(self, EVENTS),
                      .other = (uint8_t)pick(self, EVENTS)};
    if (chance(self, 1, 4))
        op->flags |= FLAG_THREAD;
    return op;
}

/* Its stream is made when it is first used, so that a short program has few. */
static struct op *add(struct generator *self, enum op_kind kind)
{
    unsigned stream = pick(self, self->streams);
    if (stream > 1 && !self->used[stream]) {
        struct op *op = add_on(self, OP_STREAM_CREATE, stream);
        self->used[stream] = true;
        op->flags |= stream % 2 ? FLAG_NON_BLOCKING : 0;
        op->flags |= chance(self, 1, 4) ? FLAG_PRIORITY : 0;
    }
    return add_on(self, kind, stream);
}

static void add_kernel(struct generator *self)
{
    struct op *op = add(self, OP_KERNEL);
    if (chance(self, self->guarded, 8))
        op->flags |= FLAG_GUARDED;
    unsigned form = 1 + pick(self, 7);
    for (unsigned i = 0; i < RANGES; i++)
        if (form >> i & 1)
            op->ranges[i] = pick_range(self, true, 1);
}

/* A guard takes up to 8 bytes that work updates in one piece for a word that the host polls. */
static void no_word(struct rows *rows)
{
    enum { WORD_BYTES = 8 };
    if (rows->width + (rows->rows - 1) * rows->stride > WORD_BYTES)
        return;
    rows->rows = 1;
    rows->width = 2 * WORD_BYTES;
    if (rows->offset > BUFFER_BYTES - rows->width)
        rows->offset = (uint16_t)(BUFFER_BYTES - rows->width);
}

static void add_atomic(struct generator *self)
{
    struct op *op = add(self, OP_ADD);
    bool wide = chance(self, 1, 4);
    op->flags |= wide ? FLAG_WIDE : chance(self, self->guarded, 8) ? FLAG_GUARDED : 0;
    op->ranges[0] = pick_range(self, true, wide ? 8 : 4);
    if (self->host_guarded)
        no_word(&op->ranges[0]);
}

static bool meet(const struct rows *a, const struct rows *b)
{
    unsigned a_end = a->offset + a->width + (a->rows - 1u) * a->stride;
    unsigned b_end = b->offset + b->width + (b->rows - 1u) * b->stride;
    return a->buffer == b->buffer && a->offset < b_end && b->offset < a_end;
}

/* Both sides have the same shape, but for the stride, and are apart: else the copy is undefined. */
static void add_copy(struct generator *self)
{
    struct op *op = add(self, OP_COPY);
    op->flags |= (chance(self, 1, 2) ? FLAG_ASYNC : 0) | (chance(self, 1, 4) ? FLAG_UNIFIED : 0);
    op->flags |= chance(self, 1, 4) ? FLAG_PLANES : 0;
    struct rows *from = &op->ranges[0], *to = &op->ranges[1];
    *from = pick_range(self, false, 1);
    do {
        *to = pick_range(self, false, 1);
        to->width = from->width;
        to->rows = from->rows;
        to->stride = from->rows > 1 ? (uint16_t)(from->width + pick(self, 3)) : 0;
        unsigned reach = to->width + (to->rows - 1u) * to->stride;
        if (to->offset + reach > BUFFER_BYTES)
            to->offset = (uint16_t)(BUFFER_BYTES - reach);
        if (meet(from, to))
            to->buffer = (uint8_t)((to->buffer + 1) % 4);
    } while (meet(from, to));
}

static void add_set(struct generator *self)
{
    struct op *op = add(self, OP_SET);
    op->flags |= chance(self, 1, 2) ? FLAG_ASYNC : 0;
    op->other = (uint8_t)(chance(self, 1, 2) ? 1 : chance(self, 1, 2) ? 2 : 4);
    op->ranges[0] = pick_range(self, true, op->other);
}

static void add_host(struct generator *self)
{
    static const uint8_t buffers[] = {BUFFER_PINNED, BUFFER_PAGEABLE, BUFFER_MANAGED};
    struct op *op = add(self, chance(self, 1, 2) ? OP_HOST_READ : OP_HOST_WRITE);
    op->ranges[0] = pick_rows(self, buffers[pick(self, 3)], 1);
    op->ranges[0].rows = 1;
}

static void add_function(struct generator *self)
{
    struct op *op = add(self, OP_HOST_FUNCTION);
    op->flags |= chance(self, 1, 2) ? FLAG_WIDE : 0;
    static const uint8_t buffers[] = {BUFFER_PINNED, BUFFER_PAGEABLE, BUFFER_MANAGED};
    op->ranges[0] = pick_rows(self, buffers[pick(self, 3)], 1);
    op->ranges[0].rows = 1;
}

static void add_work(struct generator *self)
{
    unsigned which = pick(self, 16);
    if (which < 6)
        add_kernel(self);
    else if (which < 8)
        add_atomic(self);
    else if (which < 11)
        add_copy(self);
    else if (which < 14)
        add_set(self);
    else
        add_host(self);
}

/* What one stream did is ordered before what another does. */
static void add_handoff(struct generator *self)
{
    struct op *record = add(self, OP_EVENT_RECORD);
    if (self->program->count > 1 && chance(self, 3, 4)) /* rather after what was just made */
        record->stream = self->program->ops[self->program->count - 2].stream;
    struct op *wait = add(self, OP_EVENT_WAIT);
    wait->event = record->event;
    if (chance(self, 1, 8)) /* somewhere in between */
        record->event = (uint8_t)pick(self, EVENTS);
}

static bool is_declared(uint8_t kind)
{
    return kind == OP_BEFORE || kind == OP_AFTER;
}

/* The device does not keep an order that is declared. Host functions that run against it prove it
 * false. And a write that is said to be over, and is not, changes a source whose content csan then
 * compares. */
static bool shows_false_order(const struct generator *self)
{
    return self->functions || self->by_content;
}

static void add_order(struct generator *self)
{
    static const uint8_t kinds[] = {OP_EVENT_RECORD,
                                    OP_EVENT_WAIT,
                                    OP_EVENT_SYNCHRONIZE,
                                    OP_EVENT_QUERY,
                                    OP_EVENT_RECORD,
                                    OP_STREAM_SYNCHRONIZE,
                                    OP_STREAM_SYNCHRONIZE,
                                    OP_STREAM_QUERY,
                                    OP_BEFORE,
                                    OP_AFTER,
                                    OP_EVENT_ELAPSED,
                                    OP_DEVICE_SYNCHRONIZE};
    unsigned which = pick(self, sizeof kinds + 8);
    if (which >= sizeof kinds)
        add_handoff(self);
    else if (is_declared(kinds[which]) && shows_false_order(self))
        add(self, OP_EVENT_QUERY);
    else
        add(self, (enum op_kind)kinds[which]);
}

static void add_exotic(struct generator *self)
{
    static const uint8_t kinds[] = {
        OP_ALLOCATE,      OP_FREE,      OP_ALLOCATE,      OP_FREE,           OP_POOL_ALLOCATE,
        OP_POOL_ALLOCATE, OP_POOL_FREE, OP_STREAM_CREATE, OP_STREAM_DESTROY, OP_EVENT_RENEW};
    struct op *op = add(self, (enum op_kind)kinds[pick(self, sizeof kinds)]);
    op->flags |= (chance(self, 3, 4) ? FLAG_ASYNC : 0) | (chance(self, 1, 4) ? FLAG_WIDE : 0);
    op->flags |= op->kind == OP_ALLOCATE && chance(self, 1, 4) ? FLAG_BARE : 0;
    op->ranges[0].buffer = (uint8_t)(BUFFER_DYNAMIC + pick(self, 2));
    /* Memory given out anew while a use of its former owner waits for a host function, which only a
     * program without order can get: csan gives the function up after a time. So with functions
     * there are blocks that wait for everything when freed, and others that are never freed. */
    if (self->functions && (op->kind == OP_ALLOCATE || op->kind == OP_FREE)) {
        bool lasting = op->kind == OP_ALLOCATE && op->flags & FLAG_ASYNC;
        op->ranges[0].buffer = BUFFER_DYNAMIC + lasting;
    }
    if (op->kind == OP_STREAM_CREATE || op->kind == OP_STREAM_DESTROY)
        op->flags &= (uint8_t) ~(FLAG_ASYNC | FLAG_WIDE);
    if (op->kind == OP_STREAM_CREATE && chance(self, 1, 2))
        op->flags |= FLAG_NON_BLOCKING;
    if (op->kind == OP_POOL_ALLOCATE || op->kind == OP_POOL_FREE) {
        op->ranges[0] = (struct rows){.buffer = BUFFER_DEVICE,
                                      .offset = (uint16_t)(16 * pick(self, 3)),
                                      .width = (uint8_t)(16 * (1 + pick(self, 2))),
                                      .rows = 1};
        if (chance(self, 1, 4)) /* in no allocation: no pattern may lie across its edge */
            op->ranges[0] =
                (struct rows){.buffer = BUFFER_PAGEABLE, .width = BUFFER_BYTES, .rows = 1};
    }
}

void program_make(struct program *program, uint64_t seed, bool host_threads, enum host_way way)
{
    struct generator self = {.state = (seed + 1) * 0x9e3779b97f4a7c15u, .program = program};
    for (int i = 0; i < 4; i++)
        pick(&self, 2);
    program->seed = seed;
    program->host_threads = host_threads;
    program->count = 0;
    /* Most are short: two streams and ten ops show nearly everything, and much faster. */
    bool large = chance(&self, 1, 8);
    self.streams = large ? 2 + pick(&self, STREAMS - 1) : 2 + pick(&self, 4);
    self.threads = chance(&self, 1, 8) ? 1 + pick(&self, THREADS) : 1;
    self.spread = 1u << (2 + pick(&self, 6));
    self.strided = chance(&self, 1, 2) ? pick(&self, 8) : 0;
    self.order = pick(&self, 13);
    self.exotic = chance(&self, 1, 3) ? 1 + pick(&self, 5) : 0;
    self.guarded = chance(&self, 1, 3) ? 1 + pick(&self, 6) : 0;
    self.functions = chance(&self, 1, 8) ? 1 + pick(&self, 3) : 0;
    if (host_threads) {
        self.threads = 2 + pick(&self, THREADS - 1);
        self.functions = 0;
        self.exotic = 2 + pick(&self, 5);
    }
    self.host_guarded = way == HOST_GUARDED;
    self.by_content = way == HOST_CONTENT;
    if (self.host_guarded)
        self.functions = 0;
    if (self.functions &&
        chance(&self, 1, 2)) /* work that is held back touches memory that changes hands */
        self.exotic = 2 + pick(&self, 5);
    size_t count = large ? 16 + pick(&self, PROGRAM_OPS - 16) : 4 + pick(&self, 14);
    while (program->count < count) {
        unsigned which = pick(&self, 16);
        if (self.exotic && chance(&self, self.exotic, 16))
            add_exotic(&self);
        else if (self.functions && chance(&self, self.functions, 16))
            add_function(&self);
        else if (way != HOST_DECLARED && chance(&self, 1, 5))
            add_host(&self);
        else if (which < self.order)
            add_order(&self);
        else
            add_work(&self);
    }
}

uint64_t program_allocation_bytes(const struct op *op)
{
    return op->flags & FLAG_WIDE ? 1024 + BUFFER_BYTES : BUFFER_BYTES;
}

unsigned program_stream(const struct op *op)
{
    bool chosen = (op->kind != OP_COPY && op->kind != OP_SET) || op->flags & FLAG_ASYNC;
    unsigned stream = chosen ? op->stream : 0;
    return stream == 0 && op->flags & FLAG_THREAD ? 1 : stream;
}

static bool is_host(uint8_t buffer)
{
    return buffer == BUFFER_PINNED || buffer == BUFFER_PAGEABLE;
}

bool program_copy_reads_at_call(const struct op *op)
{
    return op->kind == OP_COPY && op->ranges[0].buffer == BUFFER_PAGEABLE &&
           !is_host(op->ranges[1].buffer);
}

bool program_copy_is_staged(const struct op *op)
{
    return program_copy_reads_at_call(op) && !(op->flags & FLAG_ASYNC);
}

bool program_is_loose(const struct program *program)
{
    bool before = false;
    for (size_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        before |= op->kind == OP_BEFORE;
        if (op->kind == OP_HOST_FUNCTION)
            return true;
        if ((before && op->kind == OP_AFTER) || (op->kind == OP_ALLOCATE && op->flags & FLAG_BARE))
            return true;
    }
    return false;
}

bool program_has_functions(const struct program *program)
{
    for (size_t i = 0; i < program->count; i++)
        if (program->ops[i].kind == OP_HOST_FUNCTION)
            return true;
    return false;
}

/* ---- Printing ---- */

static const char *const buffer_names[BUFFERS] = {"d",        "pinned",   "pageable", "managed",
                                                  "block[0]", "block[1]", "block[2]", "block[3]"};

static void print_stream(FILE *file, const struct op *op)
{
    unsigned stream = program_stream(op);
    if (stream < 2)
        fputs(stream ? "CU_STREAM_PER_THREAD" : "NULL", file);
    else
        fprintf(file, "s[%u]", stream);
}

static void print_place(FILE *file, const struct rows *rows)
{
    fprintf(file, "%s + %d", buffer_names[rows->buffer], rows->offset);
}

static void print_shape(FILE *file, const struct rows *rows)
{
    fprintf(file, rows->rows > 1 ? "%d bytes, %d rows %d apart" : "%d bytes", rows->width,
            rows->rows, rows->stride);
}

static void print_annotation(FILE *file, const char *call, const struct rows *rows)
{
    for (unsigned row = 0; row < rows->rows; row++)
        fprintf(file, "    csan_launch_%s((void *)(%s + %d), %d);\n", call,
                buffer_names[rows->buffer], rows->offset + row * rows->stride, rows->width);
}

static void print_launch(FILE *file, const struct op *op)
{
    for (unsigned i = 0; op->kind == OP_KERNEL && i < RANGES; i++)
        print_annotation(file, i == 2 ? "writes" : "reads", &op->ranges[i]);
    if (op->kind == OP_ADD) {
        fprintf(file, "    /* atomics of %d bytes: ", op->flags & FLAG_WIDE ? 8 : 4);
        print_place(file, &op->ranges[0]);
        fputs(", ", file);
        print_shape(file, &op->ranges[0]);
        fputs(" */\n", file);
    }
    if (op->flags & FLAG_GUARDED)
        fputs("    /* behind a condition on memory: bounded */\n", file);
    fputs("    launch(", file);
    print_stream(file, op);
    fputs(");\n", file);
}

static void print_copy(FILE *file, const struct op *op)
{
    const struct rows *from = &op->ranges[0], *to = &op->ranges[1];
    fprintf(file, "    copy%s%s(",
            from->rows < 2            ? ""
            : op->flags & FLAG_PLANES ? "_3d"
                                      : "_2d",
            op->flags & FLAG_ASYNC ? "_async" : "");
    print_place(file, to);
    fputs(", ", file);
    print_place(file, from);
    fprintf(file, ", %d", from->width);
    if (from->rows > 1)
        fprintf(file, ", %d, %d, %d", from->rows, to->stride, from->stride);
    fputs(", ", file);
    print_stream(file, op);
    fprintf(file, ");%s\n", op->flags & FLAG_UNIFIED ? " /* unified */" : "");
}

static void print_set(FILE *file, const struct op *op)
{
    const struct rows *rows = &op->ranges[0];
    fprintf(file, "    cuMemset%sD%d%s(", rows->rows > 1 ? "D2" : "", 8 * op->other,
            op->flags & FLAG_ASYNC ? "Async" : "_v2");
    print_place(file, rows);
    if (rows->rows > 1)
        fprintf(file, ", %d, 1, %d, %d", rows->stride, rows->width / op->other, rows->rows);
    else
        fprintf(file, ", 1, %d", rows->width / op->other);
    if (op->flags & FLAG_ASYNC) {
        fputs(", ", file);
        print_stream(file, op);
    }
    fprintf(file, ");%s\n",
            !(op->flags & FLAG_ASYNC) && op->flags & FLAG_THREAD ? " /* _ptds */" : "");
}

static void print_block(FILE *file, const struct op *op)
{
    const char *name = buffer_names[op->ranges[0].buffer];
    bool async = op->flags & FLAG_ASYNC;
    int bytes = (int)program_allocation_bytes(op);
    if (op->kind == OP_FREE && !async)
        fprintf(file, "    cuMemFree_v2(%s", name);
    else if (op->kind == OP_FREE)
        fprintf(file, "    cuMemFreeAsync(%s, ", name);
    else if (!async)
        fprintf(file, "    cuMemAlloc_v2(&%s, %d", name, bytes);
    else
        fprintf(file, "    cuMemAllocAsync(&%s, %d, ", name, bytes);
    if (async)
        print_stream(file, op);
    fputs(");\n", file);
    if (op->kind == OP_FREE || op->flags & FLAG_BARE)
        return;
    fprintf(file, "    cuMemsetD8Async(%s, 1, %d, ", name, bytes);
    print_stream(file, op);
    fputs(");\n", file);
}

static void print_touch(FILE *file, const struct op *op)
{
    static const char *const calls[OP_KINDS] = {[OP_HOST_READ] = "csan_host_reads",
                                                [OP_HOST_WRITE] = "csan_host_writes",
                                                [OP_POOL_ALLOCATE] = "csan_pool_alloc",
                                                [OP_POOL_FREE] = "csan_pool_free"};
    const struct rows *rows = &op->ranges[0];
    fprintf(file, "    %s((void *)(", calls[op->kind]);
    print_place(file, rows);
    fputc(')', file);
    if (op->kind != OP_POOL_FREE)
        fprintf(file, ", %d", rows->width);
    if (op->kind == OP_POOL_FREE || op->kind == OP_POOL_ALLOCATE) {
        fputs(", ", file);
        print_stream(file, op);
    }
    fputs(");\n", file);
}

static void print_order(FILE *file, const struct op *op)
{
    switch (op->kind) {
    case OP_STREAM_CREATE:
        fprintf(file, "    s[%d] = %s();%s\n", op->stream,
                op->flags & FLAG_NON_BLOCKING ? "non_blocking" : "blocking",
                op->flags & FLAG_PRIORITY ? " /* with priority -1 */" : "");
        return;
    case OP_DEVICE_SYNCHRONIZE:
        fputs("    cuCtxSynchronize();\n", file);
        return;
    case OP_EVENT_SYNCHRONIZE:
        fprintf(file, "    cuEventSynchronize(e[%d]);\n", op->event);
        return;
    case OP_EVENT_QUERY:
        fprintf(file, "    cuEventQuery(e[%d]);\n", op->event);
        return;
    case OP_EVENT_RENEW:
        fprintf(file, "    cuEventDestroy_v2(e[%d]);\n    e[%d] = event();\n", op->event,
                op->event);
        return;
    case OP_EVENT_ELAPSED:
        fprintf(file, "    cuEventElapsedTime(&ms, e[%d], e[%d]);\n", op->event, op->other);
        return;
    case OP_EVENT_RECORD:
        fprintf(file, "    cuEventRecord(e[%d], ", op->event);
        print_stream(file, op);
        break;
    case OP_EVENT_WAIT:
        fputs("    cuStreamWaitEvent(", file);
        print_stream(file, op);
        fprintf(file, ", e[%d], 0", op->event);
        break;
    case OP_BEFORE:
    case OP_AFTER:
        fprintf(file, "    csan_host_happens_%s(&host_key[%d]);\n",
                op->kind == OP_BEFORE ? "before" : "after", op->event % KEYS);
        fprintf(file, "    csan_happens_%s(&key[%d], ", op->kind == OP_BEFORE ? "before" : "after",
                op->event % KEYS);
        print_stream(file, op);
        break;
    case OP_STREAM_DESTROY:
        fprintf(file, "    cuStreamDestroy_v2(s[%d]", op->stream);
        break;
    default:
        fprintf(file, "    cuStream%s(",
                op->kind == OP_STREAM_SYNCHRONIZE ? "Synchronize" : "Query");
        print_stream(file, op);
    }
    fputs(");\n", file);
}

static void print_function(FILE *file, const struct op *op)
{
    fprintf(file, "    host_function_%s(", op->flags & FLAG_WIDE ? "writes" : "reads");
    print_place(file, &op->ranges[0]);
    fprintf(file, ", %d, ", op->ranges[0].width);
    print_stream(file, op);
    fputs(");\n", file);
}

static void print_op(FILE *file, const struct op *op)
{
    switch (op->kind) {
    case OP_HOST_FUNCTION:
        print_function(file, op);
        return;
    case OP_KERNEL:
    case OP_ADD:
        print_launch(file, op);
        return;
    case OP_COPY:
        print_copy(file, op);
        return;
    case OP_SET:
        print_set(file, op);
        return;
    case OP_ALLOCATE:
    case OP_FREE:
        print_block(file, op);
        return;
    case OP_HOST_READ:
    case OP_HOST_WRITE:
    case OP_POOL_ALLOCATE:
    case OP_POOL_FREE:
        print_touch(file, op);
        return;
    default:
        print_order(file, op);
    }
}

void program_print(FILE *file, const struct program *program)
{
    unsigned thread = 0;
    fprintf(file, "static void oracle_%llu(void **state)\n{\n    (void)state;\n",
            (unsigned long long)program->seed);
    for (size_t i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        if (op->thread != thread)
            fprintf(file, "    /* thread %d: */\n", op->thread);
        thread = op->thread;
        print_op(file, op);
    }
    fputs("}\n", file);
}
