/* See stack_frames.h. */
#include "csan/stack/stack_frames.h"
#include "csan/base/path_name.h"
#include "csan/stack/stack_library.h"
#include "csan/stack/stack_source.h"
#include "csan/stack/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 256 };

struct gathering {
    const struct stack_style *style;
    const char *callee;
    struct stack_frame items[FRAMES_MAX];
    bool hidden[FRAMES_MAX];
    size_t count;
    bool ended;     /* main was seen: what called it is not asked for */
    char entry[64]; /* see struct stack_frames */
};

static bool begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* ---- what is left out */

/* cudaMalloc, cuLaunchKernel: a capital after the prefix. */
static bool is_cuda_name(const char *function)
{
    size_t prefix = begins(function, "cuda") ? 4 : begins(function, "cu") ? 2 : 0;
    return prefix && function[prefix] >= 'A' && function[prefix] <= 'Z';
}

/* Functions of the statically linked run-time, which has no debug information, and of its headers
 * (cudaLaunchKernel<T> and the like). */
static bool is_runtime_function(const struct symbol_frame *frame)
{
    static const char *const headers[] = {"cuda_runtime.h", "cuda_runtime_api.h", "host_runtime.h"};
    const char *function = frame->function;
    if (!function)
        return false;
    if (begins(function, "__device_stub__") || begins(function, "__wrapper__device_stub_") ||
        begins(function, "__cudaLaunchKernel")) /* what nvcc makes of <<<>>> */
        return true;
    if (begins(function, "cudaError ")) /* the return type of a template: cudaMalloc<T> */
        function += strlen("cudaError ");
    if (!frame->file)
        return is_cuda_name(function) || begins(function, "__cuda") ||
               begins(function, "cudart::") || begins(function, "libcudart_static_");
    const char *file = path_name(frame->file);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        if (strcmp(file, headers[i]) == 0)
            return true;
    return strstr(file, ".cudafe1.stub.c") != NULL;
}

/* "cudaMalloc" of "cudaError cudaMalloc<float>(float**, unsigned long)", if it is the runtime's. */
static void entry_take(char *entry, size_t bytes, const char *function)
{
    if (!function)
        return;
    if (begins(function, "cudaError "))
        function += strlen("cudaError ");
    else if (begins(function, "__cudaLaunchKernel")) /* of <<<>>> */
        function = "cudaLaunchKernel";
    const size_t length = strcspn(function, "<(@");
    if (begins(function, "cuda") && is_cuda_name(function) && length < bytes)
        snprintf(entry, bytes, "%.*s", (int)length, function);
}

/* What calls CUDA, or any function, for Python, and says nothing. */
static bool is_bridge(const char *path)
{
    static const char *const names[] = {"libffi.so", "libffi-", "_ctypes.", "_cffi_backend."};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (begins(path_name(path), names[i]))
            return true;
    return strstr(path, "-packages/cuda/bindings/") != NULL;
}

bool stack_frame_is_hidden(const struct symbol_frame *frame, const char *callee)
{
    const char *module = frame->module ? path_name(frame->module) : "";
    return frame->own || begins(module, "libcuda.so") || begins(module, "libcudart.so") ||
           is_runtime_function(frame) || (frame->module && is_bridge(frame->module)) ||
           (frame->function && callee[0] && strcmp(frame->function, callee) == 0);
}

/* ---- gathering */

const char *stack_path_shorten(const struct stack_style *style, const char *path)
{
    size_t length = strlen(style->directory);
    if (style->strip[0] && begins(path, style->strip))
        return path + strlen(style->strip);
    if (length && begins(path, style->directory) && path[length] == '/')
        return path + length + 1;
    return path;
}

static char *copy(const char *string)
{
    return string ? strdup(string) : NULL;
}

static void take(struct gathering *gathering, const struct symbol_frame *frame, bool heading)
{
    if (gathering->count == FRAMES_MAX)
        return;
    const struct stack_style *style = gathering->style;
    gathering->hidden[gathering->count] =
        !heading && stack_frame_is_hidden(frame, gathering->callee);
    gathering->items[gathering->count++] = (struct stack_frame){
        .function = copy(frame->function),
        .file = frame->file ? copy(stack_path_shorten(style, frame->file)) : NULL,
        .module = frame->module ? copy(stack_path_shorten(style, frame->module)) : NULL,
        .line = frame->line,
        .heading = heading,
        .library = heading ? NULL : stack_library(frame->function, frame->file, frame->module),
        .offset = frame->offset};
}

static bool is_main(const struct stack_frame *frame)
{
    return frame->function && frame->module && strcmp(frame->function, "main") == 0;
}

static void visit(void *user, size_t index, const struct symbol_frame *frame)
{
    struct gathering *gathering = user;
    (void)index;
    take(gathering, frame, false);
    const size_t last = gathering->count - 1;
    gathering->ended |= !gathering->hidden[last] && is_main(&gathering->items[last]);
}

/* One address at a time, to end at main: a C library with debug information, which called it, takes
 * the helper 40 ms to read. */
static void gather(struct gathering *gathering, const void *const *frames, size_t count)
{
    struct symbolizer *symbolizer = gathering->style->symbolizer;
    for (size_t i = 0; i < count && !gathering->ended; i++) {
        struct csan_source_line line;
        if (!stack_source_owns(frames[i]))
            symbolizer->frames(symbolizer, &frames[i], 1, visit, gathering);
        else if (stack_source_describe(frames[i], &line))
            take(gathering,
                 &(struct symbol_frame){
                     .function = line.function, .file = line.file, .line = line.line},
                 !line.file);
    }
}

static void frame_free(struct stack_frame *frame)
{
    free(frame->function);
    free(frame->file);
    free(frame->module);
}

void stack_frames_resolve(struct stack_frames *stack, const struct stack_style *style,
                          const void *const *frames, size_t count, const char *callee)
{
    struct gathering *gathering = calloc(1, sizeof *gathering);
    *stack = (struct stack_frames){0};
    if (!gathering)
        return;
    gathering->style = style;
    gathering->callee = callee;
    gather(gathering, frames, count);
    size_t first = 0, end = gathering->count;
    while (first < end && gathering->hidden[first])
        entry_take(gathering->entry, sizeof gathering->entry, gathering->items[first++].function);
    if (first == end) /* then all of it is better than nothing */
        first = 0;
    for (size_t i = first; i < end; i++)
        if (is_main(&gathering->items[i]))
            end = i + 1;
    stack->items = calloc(end - first + 1, sizeof *stack->items);
    for (size_t i = 0; i < gathering->count; i++) {
        if (stack->items && i >= first && i < end)
            stack->items[stack->count++] = gathering->items[i];
        else
            frame_free(&gathering->items[i]);
    }
    if (gathering->entry[0])
        stack->entry = strdup(gathering->entry);
    free(gathering);
}

void stack_frames_free(struct stack_frames *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        frame_free(&stack->items[i]);
    free(stack->items);
    free(stack->entry);
    *stack = (struct stack_frames){0};
}

static bool is_own(const struct stack_frame *frame)
{
    return !frame->library && !frame->heading;
}

bool stack_frames_have_own(const struct stack_frames *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        if (is_own(&stack->items[i]))
            return true;
    return false;
}

const struct stack_frame *stack_frames_top(const struct stack_frames *stack)
{
    const struct stack_frame *script = NULL, *own = NULL, *line = NULL, *module = NULL;
    for (size_t i = 0; i < stack->count; i++) {
        const struct stack_frame *frame = &stack->items[i];
        bool of_script = frame->file && !frame->module;
        bool has_line = frame->file && frame->line;
        if (has_line && is_own(frame))
            return frame;
        if (of_script && !script)
            script = frame;
        if (frame->module && frame->function && is_own(frame) && !own)
            own = frame;
        if (has_line && !line)
            line = frame;
        if (frame->module && !module)
            module = frame;
    }
    return script ? script : own ? own : line ? line : module;
}

void stack_frame_place(const struct stack_frame *frame, char *place, size_t bytes)
{
    if (frame->file)
        snprintf(place, bytes, "%s:%u", frame->file, frame->line);
    else if (frame->module)
        snprintf(place, bytes, "%s+0x%llx", frame->module, (unsigned long long)frame->offset);
    else
        snprintf(place, bytes, "0x%llx", (unsigned long long)frame->offset);
}
