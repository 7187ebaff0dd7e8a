/* Layouts of parameters. See layout.h. */
#include "runtime/hook/kernel/layout.h"

#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Kernel Parameters": up to 32,764 bytes. */
enum { BYTES_MAX = 32768 };

static struct {
    void *func_param_info, *kernel_param_info;
} table;

void layout_symbols_find(void)
{
    driver_function_cached(&table.func_param_info, "cuFuncGetParamInfo");
    driver_function_cached(&table.kernel_param_info, "cuKernelGetParamInfo");
}

/* The handle may be of either kind, as with names. */
CUresult layout_ask(CUfunction handle, size_t index, size_t *offset, size_t *bytes)
{
    PFN_cuFuncGetParamInfo_v12040 of_function =
        (PFN_cuFuncGetParamInfo_v12040)__atomic_load_n(&table.func_param_info, __ATOMIC_ACQUIRE);
    PFN_cuKernelGetParamInfo_v12040 of_kernel = (PFN_cuKernelGetParamInfo_v12040)__atomic_load_n(
        &table.kernel_param_info, __ATOMIC_ACQUIRE);
    CUresult result =
        of_function ? of_function(handle, index, offset, bytes) : CUDA_ERROR_NOT_FOUND;
    if (result != CUDA_SUCCESS && of_kernel)
        result = of_kernel((CUkernel)handle, index, offset, bytes);
    return result;
}

static bool parameter_add(struct layout *layout, size_t offset, size_t bytes)
{
    struct layout_parameter *grown =
        offset + bytes <= BYTES_MAX
            ? realloc(layout->parameters, (layout->count + 1) * sizeof *grown)
            : NULL;
    if (!grown)
        return false;
    layout->parameters = grown;
    grown[layout->count++] = (struct layout_parameter){(uint32_t)offset, (uint32_t)bytes};
    if (offset + bytes > layout->bytes)
        layout->bytes = (uint32_t)(offset + bytes);
    return true;
}

bool layout_find(struct layout *layout, CUfunction handle, const struct ptx_function *ptx)
{
    size_t offset, bytes;
    CUresult result = CUDA_SUCCESS;
    bool found = true;
    *layout = (struct layout){0};
    for (uint32_t i = 0; ptx && found && i < ptx->param_count; i++)
        found = parameter_add(layout, ptx->params[i].offset, ptx->params[i].size);
    for (size_t i = 0; !ptx && found && result == CUDA_SUCCESS; i++) {
        result = layout_ask(handle, i, &offset, &bytes);
        if (result == CUDA_SUCCESS)
            found = parameter_add(layout, offset, bytes);
        else /* behind the last one: CUDA Driver API, cuFuncGetParamInfo; a handle of the other kind
                may end in another error */
            found = i > 0 || result == CUDA_ERROR_INVALID_VALUE;
    }
    if (!found)
        layout_release(layout);
    return found;
}

void layout_release(struct layout *layout)
{
    free(layout->parameters);
    *layout = (struct layout){0};
}

const uint8_t *layout_extra(void *const *extra, size_t *bytes)
{
    const uint8_t *buffer = NULL;
    *bytes = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[i + 1];
        else
            break; /* nothing csan knows how to step over */
    }
    return buffer;
}

/* Nearly all parameters have 4 or 8 bytes, for which a call of memcpy is not worth it. */
static void parameter_copy(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (bytes == sizeof(uint32_t))
        memcpy(to, from, sizeof(uint32_t));
    else
        memcpy(to, from, bytes);
}

bool layout_copy(const struct layout *layout, void *const *parameters, void *const *extra,
                 uint8_t *to)
{
    size_t bytes = 0;
    const uint8_t *buffer = parameters ? NULL : layout_extra(extra, &bytes);
    uint32_t end = 0; /* of the parameters so far */
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct layout_parameter *parameter = &layout->parameters[i];
        const uint8_t *from = parameters ? parameters[i] : NULL;
        if (buffer && parameter->offset + parameter->bytes <= bytes)
            from = buffer + parameter->offset;
        if (!from)
            return false;
        if (parameter->offset > end)
            memset(to + end, 0, parameter->offset - end);
        parameter_copy(to + parameter->offset, from, parameter->bytes);
        end = parameter->offset + parameter->bytes;
    }
    return true;
}

/* ---- Words ---- */

/* A word that several parameters share, or one has a part of. */
struct shared_word {
    uint64_t value;
    uint32_t number;
    bool begun;
};

static bool shared_end(const struct layout *layout, struct shared_word *word,
                       bool (*any)(const void *words, size_t bytes))
{
    const bool whole = word->begun && word->number < layout->bytes / 8;
    word->begun = false;
    return whole && any(&word->value, sizeof word->value);
}

/* The word is that one from now on. Whether `any` holds for the one before. */
static bool shared_is(const struct layout *layout, struct shared_word *word, uint32_t number,
                      bool (*any)(const void *words, size_t bytes))
{
    if (word->begun && word->number == number)
        return false;
    const bool found = shared_end(layout, word, any);
    *word = (struct shared_word){.number = number, .begun = true};
    return found;
}

/* The words that one parameter has alone; parts of others go to `shared`. */
static bool parameter_any(const struct layout *layout, const struct layout_parameter *parameter,
                          const uint8_t *from, struct shared_word *shared,
                          bool (*any)(const void *words, size_t bytes))
{
    const uint32_t offset = parameter->offset, before = (8 - offset % 8) % 8;
    const uint32_t head = before < parameter->bytes ? before : parameter->bytes;
    const uint32_t whole = (parameter->bytes - head) / 8 * 8;
    const uint32_t tail = parameter->bytes - head - whole;
    bool found = false;
    if (head) {
        found = shared_is(layout, shared, offset / 8, any);
        memcpy((uint8_t *)&shared->value + offset % 8, from, head);
    }
    found = found || (whole && any(from + head, whole));
    if (tail) {
        found = shared_is(layout, shared, (offset + head + whole) / 8, any) || found;
        memcpy(&shared->value, from + head + whole, tail);
    }
    return found;
}

bool layout_any_word(const struct layout *layout, void *const *parameters, void *const *extra,
                     bool (*any)(const void *words, size_t bytes))
{
    struct shared_word shared = {0};
    size_t bytes;
    if (!parameters) {
        const uint8_t *buffer = layout_extra(extra, &bytes);
        return !buffer || bytes < layout->bytes || any(buffer, layout->bytes);
    }
    for (uint32_t i = 0; i < layout->count; i++)
        if (!parameters[i] ||
            parameter_any(layout, &layout->parameters[i], parameters[i], &shared, any))
            return true;
    return shared_end(layout, &shared, any);
}
