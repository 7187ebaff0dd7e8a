/* All that csan knows of one kernel. See kernel_report.h. */
#include "runtime/cli/kernels/kernel_report.h"
#include "runtime/cli/kernels/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

/* The bracket that opens the parameters: the one that the last ")" closes. NULL: there are none. */
static const char *parameters_of_name(const char *name)
{
    size_t length = strlen(name);
    unsigned depth = 0;
    if (length == 0 || name[length - 1] != ')')
        return NULL;
    for (const char *at = name + length; at-- > name;) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* A template's demangled name starts with what it returns. */
char *report_bare_name(const char *name)
{
    const char *end = parameters_of_name(name), *start = name;
    unsigned depth = 0;
    if (!end)
        end = name + strlen(name);
    for (const char *at = name; at < end; at++) {
        depth += *at == '<' || *at == '(';
        depth -= (*at == '>' || *at == ')') && depth;
        if (*at == ' ' && depth == 0)
            start = at + 1;
    }
    return strndup(start, (size_t)(end - start));
}

/* "float*", "int" of "f(float*, int)", if there are as many as the kernel has parameters. */
static void declare_parameters(struct kernel_report *report)
{
    const char *start = parameters_of_name(report->name), *at;
    unsigned depth = 0;
    uint32_t count = 0;
    for (int round = 0; start && round < 2; round++) {
        const char *from = start + 1;
        count = 0;
        for (at = from; *at; at++) {
            depth += *at == '(' || *at == '<' || *at == '[' || *at == '{';
            bool ends = (*at == ',' || (*at == ')' && !at[1])) && depth == 0;
            depth -= (*at == ')' || *at == '>' || *at == ']' || *at == '}') && depth;
            if (!ends)
                continue;
            if (at > from && round == 1)
                report->parameters[count].declared = strndup(from, (size_t)(at - from));
            count += at > from;
            from = at + 1 + (at[1] == ' ');
        }
        if (count != report->parameter_count)
            return;
    }
}

/* ---- Parameters ---- */

static bool make_parameters(struct kernel_report *report, uint32_t count)
{
    report->parameters = calloc((size_t)count + 1, sizeof *report->parameters);
    report->parameter_count = report->parameters ? count : 0;
    report->has_parameters = report->parameters != NULL;
    return report->has_parameters;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = text ? strlen(text) : 0;
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static uint8_t class_of(const struct parameter *parameter)
{
    if (parameter->bytes == 8 &&
        (ends_with(parameter->declared, "*") || ends_with(parameter->declared, "* __restrict__") ||
         ends_with(parameter->declared, "&")))
        return PARAMETER_POINTER;
    return parameter->bytes > 16 ? PARAMETER_STRUCT : PARAMETER_SCALAR;
}

/* What the kernel does with what lies at a parameter says more than its type. */
static void add_direction(struct kernel_report *report, const struct access_pointer *pointer)
{
    if (pointer->source == ACCESS_SOURCE_VARIABLE ||
        pointer->param_index >= report->parameter_count)
        return;
    struct parameter *parameter = &report->parameters[pointer->param_index];
    parameter->reads |= pointer->reads;
    parameter->writes |= pointer->writes;
    parameter->atomics |= pointer->atomics;
    if (pointer->guessed || pointer->param_offset != parameter->offset)
        return;
    if (pointer->source == ACCESS_SOURCE_OBJECT)
        parameter->class = PARAMETER_OBJECT;
    else if (parameter->bytes == 8 && parameter->class == PARAMETER_SCALAR)
        parameter->class = PARAMETER_POINTER;
}

static void describe_parameters(struct kernel_report *report)
{
    const struct ptx_function *function = report->function;
    for (uint32_t i = 0; i < report->parameter_count; i++) {
        const struct ptx_param *param = &function->params[i];
        struct parameter *parameter = &report->parameters[i];
        parameter->offset = param->offset;
        parameter->bytes = param->size;
        bool whole = param->size == ptx_type_bits(param->type) / 8;
        parameter->type = whole ? ptx_type_name(param->type) : "";
        parameter->class = whole ? class_of(parameter) : PARAMETER_STRUCT;
        if (param->is_ptr && parameter->class == PARAMETER_SCALAR)
            parameter->class = PARAMETER_POINTER;
    }
    for (uint32_t i = 0; report->directions && i < report->directions->count; i++)
        add_direction(report, &report->directions->pointers[i]);
}

/* ---- Reports ---- */

static bool name_kernel(struct kernel_report *report, const char *mangled)
{
    report->mangled = mangled;
    report->name = demangle(mangled);
    if (!report->name)
        report->name = strdup(mangled);
    return report->name != NULL;
}

static void find_set(struct kernel_report *report, const struct kernel_launch *launch)
{
    struct access_launch from = {.dynamic_shared = launch->shared,
                                 .parameters = launch->arguments ? launch->parameters : NULL};
    memcpy(from.grid, launch->grid, sizeof from.grid);
    memcpy(from.block, launch->block, sizeof from.block);
    memcpy(from.cluster, launch->cluster, sizeof from.cluster);
    report->launch = launch;
    report->access = access_kernel_create(report->function);
    report->set = report->access ? access_set_find(report->access, &from) : NULL;
}

bool report_of_function(struct kernel_report *report, const struct ptx_function *function,
                        const struct kernel_launch *launch)
{
    report->function = function;
    if (!name_kernel(report, function->name) || !make_parameters(report, function->param_count))
        return false;
    declare_parameters(report);
    report->directions = access_directions_find(function);
    describe_parameters(report);
    report->description = describe_create(function);
    if (launch)
        find_set(report, launch);
    return report->directions && report->description && (!launch || report->set);
}

bool report_of_cubin(struct kernel_report *report, const struct cubin_kernel *kernel)
{
    if (!name_kernel(report, kernel->name) || !make_parameters(report, kernel->param_count))
        return false;
    report->has_parameters = kernel->has_params;
    declare_parameters(report);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        struct parameter *parameter = &report->parameters[i];
        parameter->offset = kernel->params[i].offset;
        parameter->bytes = kernel->params[i].bytes;
        parameter->type = "";
        parameter->class = class_of(parameter);
    }
    return true;
}

void report_release(struct kernel_report *report)
{
    for (uint32_t i = 0; i < report->parameter_count; i++)
        free(report->parameters[i].declared);
    free(report->parameters);
    free(report->name);
    access_directions_release(report->directions);
    describe_release(report->description);
    access_kernel_release(report->access);
    *report = (struct kernel_report){0};
}

/* ---- Words ---- */

static void parameter_text(const struct kernel_report *report, const char *before, uint32_t index,
                           uint32_t offset, char text[REPORT_BASE])
{
    uint32_t start = index < report->parameter_count ? report->parameters[index].offset : 0;
    if (offset > start)
        snprintf(text, REPORT_BASE, "%sarg%" PRIu32 "+%" PRIu32, before, index, offset - start);
    else
        snprintf(text, REPORT_BASE, "%sarg%" PRIu32, before, index);
}

static const char *object_word(uint8_t object)
{
    return object == INSTRUCTION_ACCESS_OBJECT_TEXTURE   ? "texture "
           : object == INSTRUCTION_ACCESS_OBJECT_SURFACE ? "surface "
                                                         : "tensor map ";
}

void report_pointer(const struct kernel_report *report, const struct access_pointer *pointer,
                    char text[REPORT_BASE])
{
    if (pointer->source == ACCESS_SOURCE_VARIABLE)
        snprintf(text, REPORT_BASE, "%s", pointer->variable->name);
    else
        parameter_text(
            report,
            pointer->source == ACCESS_SOURCE_OBJECT ? object_word((uint8_t)pointer->object) : "",
            pointer->param_index, pointer->param_offset, text);
}

void report_base(const struct kernel_report *report, const struct access_base *base,
                 char text[REPORT_BASE])
{
    const char *star = base->kind == ACCESS_BASE_ADDRESS ? "*" : "";
    const char *object = base->kind == ACCESS_BASE_OBJECT ? object_word(base->object) : "";
    if (base->variable)
        snprintf(text, REPORT_BASE, "%s%s", star, base->variable->name);
    else
        parameter_text(report, *star ? star : object, base->param_index, base->param_offset, text);
}

const char *report_kind(uint8_t kind)
{
    return kind == ACCESS_READ ? "read" : kind == ACCESS_WRITE ? "write" : "atomic";
}

const char *report_bound(uint8_t bound)
{
    static const char *const words[] = {
        [ACCESS_EXACT] = "",
        [ACCESS_BOUND_DIRECTION] = "only the pointer is known",
        [ACCESS_BOUND_DATA] = "the address depends on data that is not known",
        [ACCESS_BOUND_GUARD] = "whether it happens depends on data that is not known",
        [ACCESS_BOUND_SHAPE] = "the touched bytes have no shape that csan can describe",
        [ACCESS_BOUND_BUDGET] = "the analysis stopped at its budget",
    };
    return bound < sizeof words / sizeof *words ? words[bound] : "?";
}

const char *report_known(uint8_t known)
{
    return known == DESCRIBE_EXACT ? "exact" : known == DESCRIBE_BOUNDED ? "bounded" : "unknown";
}
