#include "report.h"
#include "options.h"
#include "symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_sink {
    pthread_mutex_t lock;
    struct options options;
    int file;
    bool owns_file, color, trouble_told;
    uint64_t printed, withheld;
    struct symbolizer *symbolizer; /* NULL only when memory was short */
    bool owns_symbolizer;
};

/* ---- text that grows */

struct text {
    char *data;
    size_t length, capacity;
};

static void text_grow(struct text *text, size_t more)
{
    if (text->length + more + 1 <= text->capacity)
        return;
    size_t capacity = (text->length + more + 1) * 2;
    char *data = realloc(text->data, capacity);
    if (data) {
        text->data = data;
        text->capacity = capacity;
    }
}

static void text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void text_add(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text_grow(text, (size_t)length);
    if (text->length + (size_t)length + 1 <= text->capacity) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

/* ---- where it goes */

static void complain(struct report_sink *report, const char *path, int error)
{
    char line[PATH_MAX + 128];
    if (report->trouble_told)
        return;
    report->trouble_told = true;
    int length = snprintf(line, sizeof(line),
                          "csan: cannot write to '%s': %s; reports go to standard error instead "
                          "(see log_path)\n",
                          path, strerror(error));
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* nowhere left to say it */
}

static bool write_all(int file, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(file, data, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        length -= (size_t)written;
    }
    return true;
}

static void put(struct report_sink *report, const struct text *text)
{
    if (!text->data || write_all(report->file, text->data, text->length) ||
        report->file == STDERR_FILENO)
        return;
    complain(report, report->options.log_path, errno);
    if (report->owns_file)
        close(report->file);
    report->owns_file = false;
    report->file = STDERR_FILENO;
    write_all(report->file, text->data, text->length);
}

/* %p is the process id; without one it is appended. */
static void expand_path(const char *pattern, char *path, size_t bytes)
{
    struct text text = {0};
    bool has_process = false;
    for (const char *c = pattern; *c; c++) {
        if (c[0] == '%' && c[1] == 'p') {
            text_add(&text, "%d", (int)getpid());
            has_process = true;
            c++;
        } else {
            text_add(&text, "%c", *c);
        }
    }
    if (!has_process)
        text_add(&text, ".%d", (int)getpid());
    snprintf(path, bytes, "%s", text.data ? text.data : pattern);
    free(text.data);
}

static void open_log(struct report_sink *report)
{
    const char *log_path = report->options.log_path;
    report->file = STDERR_FILENO;
    if (strcmp(log_path, "stderr") == 0)
        return;
    if (strcmp(log_path, "stdout") == 0) {
        report->file = STDOUT_FILENO;
        return;
    }
    char path[PATH_MAX];
    expand_path(log_path, path, sizeof(path));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        complain(report, path, errno);
        return;
    }
    report->file = file;
    report->owns_file = true;
}

struct report_sink *report_open(const struct options *options, struct symbolizer *symbolizer)
{
    struct report_sink *report = calloc(1, sizeof(*report));
    if (!report)
        return NULL;
    pthread_mutex_init(&report->lock, NULL);
    report->options = *options;
    open_log(report);
    report->color = strcmp(options->color, "always") == 0 ||
                    (strcmp(options->color, "auto") == 0 && isatty(report->file));
    report->owns_symbolizer = symbolizer == NULL;
    report->symbolizer = symbolizer ? symbolizer : symbolizer_create(options);
    return report;
}

void report_close(struct report_sink *report)
{
    if (!report)
        return;
    if (report->owns_symbolizer && report->symbolizer)
        report->symbolizer->destroy(report->symbolizer);
    if (report->owns_file)
        close(report->file);
    pthread_mutex_destroy(&report->lock);
    free(report);
}

void report_note(struct report_sink *report, const char *format, ...)
{
    struct text text = {0};
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    text_add(&text, "csan: %s\n", line);
    pthread_mutex_lock(&report->lock);
    put(report, &text);
    pthread_mutex_unlock(&report->lock);
    free(text.data);
}

/* ---- stacks */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Between the program's line and the driver lie csan, the CUDA runtime and the stubs nvcc makes for
 * a launch. None of them tells the reader anything. */
static bool is_plumbing(const struct symbol_frame *frame, const char *kernel)
{
    static const char *const modules[] = {"libcudart.so", "libcuda.so"};
    static const char *const functions[] = {
        "__cuda",           "cuda", "csan_", "__device_stub_", "__wrapper__device_stub_",
        "libcudart_static_"};
    const char *function = frame->function ? frame->function : "";
    if (frame->own)
        return true;
    for (size_t i = 0; frame->module && i < sizeof(modules) / sizeof(modules[0]); i++)
        if (starts_with(base_name(frame->module), modules[i]))
            return true;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (starts_with(function, functions[i]))
            return true;
    if (function[0] == 'c' && function[1] == 'u' && function[2] >= 'A' && function[2] <= 'Z')
        return true;
    /* the host function that bears the kernel's name */
    return *kernel && strcmp(function, kernel) == 0;
}

struct stack_writer {
    struct report_sink *report;
    struct text *text;
    const char *kernel;
    int number;
    bool started;    /* past the plumbing */
    bool everything; /* plumbing too */
    char *site;      /* "main example.cu:14": the first frame, for the advice */
    size_t site_bytes;
};

static const char *stripped(const struct report_sink *report, const char *file)
{
    const char *prefix = report->options.strip_path_prefix;
    return *prefix && starts_with(file, prefix) ? file + strlen(prefix) : file;
}

static void write_frame(void *user, size_t index, const struct symbol_frame *frame)
{
    struct stack_writer *writer = user;
    (void)index;
    if (!writer->started && !writer->everything && is_plumbing(frame, writer->kernel))
        return;
    writer->started = true;
    char place[PATH_MAX + 64];
    if (frame->file)
        snprintf(place, sizeof(place), "%s:%u", stripped(writer->report, frame->file), frame->line);
    else
        snprintf(place, sizeof(place), "(%s+0x%lx)", frame->module ? frame->module : "?",
                 frame->offset);
    const char *function = frame->function ? frame->function : "??";
    text_add(writer->text, "  #%d %s %s\n", writer->number, function, place);
    if (writer->number++ == 0 && writer->site && frame->file)
        snprintf(writer->site, writer->site_bytes, " (%s)", place);
}

static void write_unresolved(struct stack_writer *writer, const void *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_add(writer->text, "  #%d %p\n", writer->number++, frames[i]);
}

/* `site`, if not NULL, gets " (file:line)" of the innermost frame that is the program's. */
static void write_stack(struct report_sink *report, struct text *text, const void *const *frames,
                        size_t count, const char *kernel, char *site, size_t site_bytes)
{
    struct stack_writer writer = {
        .report = report, .text = text, .kernel = kernel, .site = site, .site_bytes = site_bytes};
    if (site)
        *site = '\0';
    if (count == 0) {
        text_add(text, "  (no stack was recorded)\n");
        return;
    }
    struct symbolizer *symbolizer = report->symbolizer;
    if (!symbolizer) {
        write_unresolved(&writer, frames, count);
        return;
    }
    symbolizer->frames(symbolizer, frames, count, write_frame, &writer);
    if (!writer.started) { /* nothing but plumbing: better that than nothing */
        writer.everything = true;
        symbolizer->frames(symbolizer, frames, count, write_frame, &writer);
    }
}

/* ---- one race */

enum { NAME_BYTES = 4096, SITE_BYTES = PATH_MAX + 80 };

struct side {
    const struct csan_race_access *access;
    char name[NAME_BYTES];
    char site[SITE_BYTES];
};

static const char *doing(int kind)
{
    static const char *const words[] = {[CSAN_READ] = "reading from",
                                        [CSAN_WRITE] = "writing to",
                                        [CSAN_ATOMIC] = "atomically updating",
                                        [CSAN_ALLOCATE] = "allocating",
                                        [CSAN_FREE] = "freeing"};
    return words[kind];
}

static void write_access(struct report_sink *report, struct text *text, const char *opening,
                         struct side *side)
{
    const struct csan_race_access *access = side->access;
    if (report->symbolizer)
        report->symbolizer->demangle(report->symbolizer, access->name, side->name,
                                     sizeof(side->name));
    else
        snprintf(side->name, sizeof(side->name), "%s", access->name);
    if (access->host)
        text_add(text, "%s by the host during call:\n%s\n", opening, side->name);
    else
        text_add(text, "%s by stream %lu during kernel:\n%s\n", opening, access->stream,
                 side->name);
    if (*access->arguments)
        text_add(text, "%s argument(s) %s\n", doing(access->kind), access->arguments);
    else
        text_add(text, "%s memory\n", doing(access->kind));
    text_add(text, "With stack trace:\n");
    write_stack(report, text, access->frames, access->frame_count, side->name, side->site,
                sizeof(side->site));
}

static const char *bound_reason(int bound)
{
    switch (bound) {
    case CSAN_BOUND_DIRECTION:
        return "only whether it reads or writes through each pointer is known, so the range "
               "reaches "
               "to the end of the allocation";
    case CSAN_BOUND_DATA:
        return "its addresses depend on data in memory";
    case CSAN_BOUND_GUARD:
        return "whether it happens depends on data in memory";
    case CSAN_BOUND_BUDGET:
        return "the analysis of the kernel stopped at its budget";
    case CSAN_BOUND_ANNOTATED:
        return "the program's annotation says 'at most'";
    default:
        return "exact";
    }
}

static void write_certainty(struct text *text, const struct csan_race *race,
                            const struct side *current, const struct side *previous)
{
    if (!race->possible) {
        text_add(text, "Certainty: a race. Both accesses are exact.\n");
        return;
    }
    text_add(text, "Certainty: a possible race.\n");
    const struct side *sides[] = {current, previous};
    for (int i = 0; i < 2; i++)
        if (sides[i]->access->bound != CSAN_EXACT)
            text_add(text, "  %s is bounded: %s.\n", sides[i]->name,
                     bound_reason(sides[i]->access->bound));
    if (current->access->bound == CSAN_EXACT && previous->access->bound == CSAN_EXACT)
        text_add(text, "  Whether the two strided patterns meet was too costly to decide.\n");
}

static void write_overlap(struct text *text, const struct csan_race *race)
{
    text_add(text, "Overlap: %lu byte%s from 0x%lx", race->bytes, race->bytes == 1 ? "" : "s",
             race->address);
    if (race->allocation_bytes)
        text_add(text, ", bytes [%lu, %lu) of an allocation of %lu bytes at 0x%lx",
                 race->address - race->allocation, race->address - race->allocation + race->bytes,
                 race->allocation_bytes, race->allocation);
    text_add(text, ".\n");
}

static void write_meaning(struct text *text, const struct csan_race *race,
                          const struct side *previous)
{
    switch (race->kind) {
    case CSAN_RACE_ATOMIC:
        text_add(text, "Kind: an atomic access and one that is plain, or of another width.\n");
        break;
    case CSAN_RACE_BIRTH:
        text_add(text, "Kind: the memory is used without an order after its allocation.\n");
        break;
    case CSAN_RACE_FREE:
        text_add(text, "Kind: the memory is freed while another stream may still use it.\n");
        break;
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, "Kind: the memory is used after it was freed on a stream.\n");
        break;
    case CSAN_RACE_REUSE:
        text_add(text, "Kind: memory reused while %s still uses it.\n", previous->access->lane);
        break;
    default:
        break;
    }
}

static void write_event_advice(struct text *text, const struct side *first,
                               const struct side *second)
{
    const struct csan_race_access *before = first->access, *after = second->access;
    if (after->host) {
        text_add(text,
                 "Fix: make the host wait for %s (an event recorded after %s%s, or "
                 "cudaStreamSynchronize) before %s%s.\n",
                 before->lane, first->name, first->site, second->name, second->site);
        return;
    }
    text_add(text,
             "Fix: record an event on %s after %s%s, and make %s wait for it "
             "(cudaStreamWaitEvent) before %s%s.\n",
             before->lane, first->name, first->site, after->lane, second->name, second->site);
}

static void write_fix(struct text *text, const struct csan_race *race, const struct side *current,
                      const struct side *previous)
{
    switch (race->kind) {
    case CSAN_RACE_USE_AFTER_FREE:
        text_add(text, "Fix: free the memory after its last use: move %s%s behind %s%s.\n",
                 previous->name, previous->site, current->name, current->site);
        return;
    case CSAN_RACE_REUSE:
        text_add(text,
                 "Fix: tell the pool that %s uses the block (what record_stream does in "
                 "PyTorch), or make %s wait for %s before the block is freed.\n",
                 previous->access->lane, current->access->lane, previous->access->lane);
        return;
    case CSAN_RACE_FREE:
        /* whichever came first, the free has to wait for the use */
        if (previous->access->kind == CSAN_FREE)
            write_event_advice(text, current, previous);
        else
            write_event_advice(text, previous, current);
        return;
    default:
        write_event_advice(text, previous, current);
    }
}

static void write_race(struct report_sink *report, struct text *text, const struct csan_race *race)
{
    struct side *current = calloc(2, sizeof(*current)), *previous = current + 1;
    if (!current)
        return;
    current->access = &race->current;
    previous->access = &race->previous;
    text_add(text,
             "%s============================\n"
             "CSAN detected a possible data race on tensor with data pointer %lu%s\n",
             report->color ? "\033[1;31m" : "", race->pointer, report->color ? "\033[0m" : "");
    write_access(report, text, "Access", current);
    write_access(report, text, "Previous access", previous);
    if (race->allocation_bytes) {
        text_add(text, "Tensor was allocated with stack trace:\n");
        write_stack(report, text, race->allocation_frames, race->allocation_frame_count, "", NULL,
                    0);
    } else {
        text_add(text, "Trace for tensor's allocation not found.\n");
    }
    write_meaning(text, race, previous);
    write_certainty(text, race, current, previous);
    write_overlap(text, race);
    write_fix(text, race, current, previous);
    free(current);
}

void report_race(struct report_sink *report, const struct csan_race *race)
{
    struct text text = {0};
    pthread_mutex_lock(&report->lock);
    if (report->options.report_limit && report->printed >= (uint64_t)report->options.report_limit) {
        report->withheld++;
        pthread_mutex_unlock(&report->lock);
        return;
    }
    report->printed++;
    write_race(report, &text, race);
    const char *problem =
        report->symbolizer ? report->symbolizer->trouble(report->symbolizer) : NULL;
    if (problem)
        text_add(&text, "csan: %s\n", problem);
    put(report, &text);
    pthread_mutex_unlock(&report->lock);
    free(text.data);
}

/* ---- the summary */

static void add_count(struct text *text, uint64_t count, const char *what)
{
    if (count)
        text_add(text, "%s%lu %s", text->length && text->data[text->length - 1] != '(' ? ", " : "",
                 count, what);
}

static void write_levels(struct text *text, const struct csan_stats *stats)
{
    static const char *const names[CSAN_LEVEL_COUNT] = {
        [CSAN_LEVEL_ANNOTATED] = "annotated", [CSAN_LEVEL_LIBRARY] = "copies and sets",
        [CSAN_LEVEL_TRACED] = "traced",       [CSAN_LEVEL_RANGES] = "ranges",
        [CSAN_LEVEL_DIRECTION] = "direction", [CSAN_LEVEL_UNKNOWN] = "unknown"};
    text_add(text, " (");
    for (int level = 0; level < CSAN_LEVEL_COUNT; level++)
        add_count(text, stats->launches[level], names[level]);
    text_add(text, ")");
}

void report_summary(struct report_sink *report, const struct csan_stats *stats,
                    const char *const *unmodelled, size_t unmodelled_count)
{
    struct text text = {0};
    text_add(&text, "csan: %lu ops", stats->ops);
    if (stats->ops)
        write_levels(&text, stats);
    text_add(&text, ", %lu race%s", stats->races, stats->races == 1 ? "" : "s");
    text_add(&text, ", %lu possible race%s", stats->possible, stats->possible == 1 ? "" : "s");
    add_count(&text, report->withheld, "reports withheld (report_limit)");
    add_count(&text, stats->pending_timeouts, "access sets that came too late");
    add_count(&text, stats->pending_overflows, "access sets the queue had no room to wait for");
    add_count(&text, stats->promises_broken, "waits whose release was never seen");
    add_count(&text, stats->strided_dropped, "strided accesses forgotten (strided_cap)");
    add_count(&text, stats->unknown_frees, "frees of unknown pool blocks");
    for (size_t i = 0; i < unmodelled_count; i++)
        text_add(&text, "%s%s", i ? ", " : "; not modelled: ", unmodelled[i]);
    text_add(&text, "\n");
    pthread_mutex_lock(&report->lock);
    put(report, &text);
    pthread_mutex_unlock(&report->lock);
    free(text.data);
}
