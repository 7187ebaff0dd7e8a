#include "stack_text.h"
#include "script_text.h"
#include "symbolizer.h"

#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 256, PLACE_BYTES = 256 };

struct line {
    size_t start; /* in lines.text; each ends in NUL */
    char place[PLACE_BYTES];
    bool hidden, outermost; /* outermost: nothing of the program comes after it */
};

struct lines {
    const struct stack_style *style;
    const char *callee;
    struct text text;
    struct line items[LINES_MAX];
    size_t count;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

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
    const char *file = base_name(frame->file);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        if (strcmp(file, headers[i]) == 0)
            return true;
    return strstr(file, ".cudafe1.stub.c") != NULL;
}

bool stack_frame_is_hidden(const struct symbol_frame *frame, const char *callee)
{
    const char *module = frame->module ? base_name(frame->module) : "";
    return frame->own || begins(module, "libcuda.so") || begins(module, "libcudart.so") ||
           is_runtime_function(frame) ||
           (frame->function && callee[0] && strcmp(frame->function, callee) == 0);
}

/* ---- one line */

static const char *path_shorten(const struct stack_style *style, const char *path)
{
    size_t length = strlen(style->directory);
    if (style->strip[0] && begins(path, style->strip))
        return path + strlen(style->strip);
    if (length && begins(path, style->directory) && path[length] == '/')
        return path + length + 1;
    return path;
}

static void visit(void *user, size_t index, const struct symbol_frame *frame)
{
    (void)index;
    struct lines *lines = user;
    if (lines->count == LINES_MAX)
        return;
    struct line *line = &lines->items[lines->count++];
    line->start = lines->text.length;
    line->hidden = stack_frame_is_hidden(frame, lines->callee);
    line->outermost = frame->function && strcmp(frame->function, "main") == 0;
    if (frame->file)
        snprintf(line->place, sizeof(line->place), "%s:%u", path_shorten(lines->style, frame->file),
                 frame->line);
    else if (frame->module)
        snprintf(line->place, sizeof(line->place), "%s+0x%llx",
                 path_shorten(lines->style, frame->module), (unsigned long long)frame->offset);
    else
        snprintf(line->place, sizeof(line->place), "0x%llx", (unsigned long long)frame->offset);
    const char *function = frame->function ? frame->function : frame->module ? NULL : "??";
    if (!function)
        text_add(&lines->text, "%s", line->place);
    else
        text_add(&lines->text, frame->file ? "%s %s" : "%s (%s)", function, line->place);
    text_end(&lines->text);
}

void stack_text_add(struct text *text, const struct stack_style *style, const void *const *frames,
                    size_t count, const char *callee, char *place, size_t place_bytes)
{
    if (script_text_concerns(frames, count)) {
        script_text_add(text, style, frames, count, place, place_bytes);
        return;
    }
    struct lines lines = {.style = style, .callee = callee};
    style->symbolizer->frames(style->symbolizer, frames, count, visit, &lines);
    size_t first = 0;
    while (first < lines.count && lines.items[first].hidden)
        first++;
    if (first == lines.count) /* then all of it is better than nothing */
        first = 0;
    snprintf(place, place_bytes, "%s", lines.count ? lines.items[first].place : "");
    for (size_t i = first; i < lines.count && !lines.text.cut; i++) {
        text_add(text, "  #%zu %s\n", i - first, lines.text.data + lines.items[i].start);
        if (lines.items[i].outermost)
            break;
    }
    if (lines.count == 0)
        text_add(text, "  (not recorded)\n");
    text_free(&lines.text);
}
