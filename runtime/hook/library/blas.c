/* cuBLAS: types of elements and scalars, where scalars lie, and the orientation of matrices. The
 * numbers are those of library_types.h and cublas_api.h, which a build of csan need not have;
 * tests/data/libraries/headers.cu compares them. */
#include "runtime/hook/library/rules.h"
#include "runtime/hook/library/touch.h"
#include "runtime/hook/session/session.h"

#include <string.h>

enum { DIAGONAL_UNIT = 1 };
enum {
    POINTER_MODE_UNKNOWN = -2,
    POINTER_MODE_NOT_ASKED = -1,
    POINTER_MODE_HOST = 0,
    POINTER_MODE_DEVICE = 1
};

/* ---- Types ---- */

static struct touch_type type(uint32_t part, bool complex, bool integer)
{
    return (struct touch_type){complex ? 2 * part : part, part, integer};
}

struct touch_type touch_element(const struct touch *call)
{
    switch (call->function->letter) {
    case 'H':
        return type(2, false, false);
    case 'D':
        return type(8, false, false);
    case 'C':
        return type(4, true, false);
    case 'Z':
        return type(8, true, false);
    default:
        return type(4, false, false);
    }
}

struct touch_type touch_real(const struct touch *call)
{
    return type(touch_element(call).part, false, false);
}

struct touch_type touch_single(const struct touch *call)
{
    (void)call;
    return type(4, false, false);
}

struct touch_type touch_index(const struct touch *call)
{
    return type(call->function->wide ? 8 : 4, false, true);
}

struct touch_type touch_bytes(const struct touch *call, int64_t bytes)
{
    (void)call;
    return type(bytes > 0 && bytes <= UINT32_MAX ? (uint32_t)bytes : 0, false, true);
}

/* cudaDataType. Types of less than a byte are left out. */
struct touch_type touch_data(const struct touch *call, int64_t cuda_data_type)
{
    static const struct {
        uint8_t part;
        bool complex, integer;
    } types[] = {
        [0] = {4, 0, 0},  [4] = {4, 1, 0},                    /* 32F */
        [1] = {8, 0, 0},  [5] = {8, 1, 0},                    /* 64F */
        [2] = {2, 0, 0},  [6] = {2, 1, 0},                    /* 16F */
        [3] = {1, 0, 1},  [7] = {1, 1, 1},                    /* 8I */
        [8] = {1, 0, 1},  [9] = {1, 1, 1},                    /* 8U */
        [10] = {4, 0, 1}, [11] = {4, 1, 1},                   /* 32I */
        [12] = {4, 0, 1}, [13] = {4, 1, 1},                   /* 32U */
        [14] = {2, 0, 0}, [15] = {2, 1, 0},                   /* 16BF */
        [20] = {2, 0, 1}, [21] = {2, 1, 1},                   /* 16I */
        [22] = {2, 0, 1}, [23] = {2, 1, 1},                   /* 16U */
        [24] = {8, 0, 1}, [25] = {8, 1, 1},                   /* 64I */
        [26] = {8, 0, 1}, [27] = {8, 1, 1},                   /* 64U */
        [28] = {1, 0, 0}, [29] = {1, 0, 0}, [30] = {1, 0, 0}, /* 8F: E4M3, E5M2, UE8M0 */
    };
    (void)call;
    if (cuda_data_type < 0 || (size_t)cuda_data_type >= sizeof types / sizeof *types)
        return type(0, false, false);
    return type(types[cuda_data_type].part, types[cuda_data_type].complex,
                types[cuda_data_type].integer);
}

struct touch_type touch_real_part(const struct touch *call, int64_t cuda_data_type)
{
    return type(touch_data(call, cuda_data_type).part, false, false);
}

static bool is_complex(int64_t cuda_data_type)
{
    struct touch_type known = touch_data(NULL, cuda_data_type);
    return known.bytes > known.part;
}

/* The scale type of a cublasComputeType_t (cuBLAS documentation, cublasGemmEx, "Supported types").
 */
struct touch_type touch_scale(const struct touch *call, int64_t compute_type,
                              int64_t cuda_data_type)
{
    (void)call;
    switch (compute_type) {
    case 64: /* 16F */
    case 65:
        return type(2, false, false);
    case 70: /* 64F */
    case 71:
        return type(8, is_complex(cuda_data_type), false);
    case 72: /* 32I: of an 8-bit product of floats, the scale is a float, of as many bytes */
    case 73:
        return type(4, false, cuda_data_type == 10);
    default:
        return type(4, is_complex(cuda_data_type), false);
    }
}

/* ---- Scalars ---- */

/* UNKNOWN, as for a handle that is none: then a scalar must not be looked at. */
static int pointer_mode(struct touch *call)
{
    const bool sparse = strncmp(call->function->symbol, "cusparse", 8) == 0;
    int (*mode_of)(void *handle, int *mode) = (int (*)(void *, int *))library_ask(
        call->home, sparse ? LIBRARY_SPARSE_POINTER_MODE : LIBRARY_POINTER_MODE);
    void *handle = (void *)(uintptr_t)touch_argument_pointer(call, 0);
    if (call->pointer_mode == POINTER_MODE_NOT_ASKED &&
        (!mode_of || mode_of(handle, &call->pointer_mode) != 0))
        call->pointer_mode = POINTER_MODE_UNKNOWN;
    return call->pointer_mode;
}

void touch_scalars(struct touch *call, uint64_t pointer, int64_t n)
{
    if (pointer_mode(call) == POINTER_MODE_DEVICE)
        touch_buffer(call, pointer, n);
}

void touch_scalar(struct touch *call, uint64_t pointer)
{
    touch_scalars(call, pointer, 1);
}

enum touch_when touch_value_nonzero(uint64_t scalar, struct touch_type of)
{
    unsigned char value[16], zero[16] = {0};
    enum csan_memory_kind kind;
    if (!scalar || (csan_memory_find(session_context(), scalar, NULL, NULL, &kind) &&
                    (kind == CSAN_MEMORY_DEVICE || kind == CSAN_MEMORY_STREAM ||
                     kind == CSAN_MEMORY_VARIABLE)))
        return TOUCH_MAYBE; /* the library may refuse what the host cannot read */
    if (of.bytes == 0 || of.bytes > sizeof value)
        return TOUCH_ALWAYS;
    memcpy(value, (const void *)(uintptr_t)scalar, of.bytes);
    for (uint32_t end = of.part; !of.integer && end <= of.bytes; end += of.part)
        value[end - 1] &= 0x7f; /* minus zero, too */
    return memcmp(value, zero, of.bytes) == 0 ? TOUCH_NEVER : TOUCH_ALWAYS;
}

enum touch_when touch_nonzero(struct touch *call, uint64_t scalar, struct touch_type of)
{
    return pointer_mode(call) == POINTER_MODE_HOST ? touch_value_nonzero(scalar, of) : TOUCH_MAYBE;
}

/* ---- Shapes' numbers ---- */

LIBRARY_RULES(touch, TOUCH)

enum touch_when touch_partly(const struct touch *call)
{
    (void)call;
    return TOUCH_PARTLY;
}

enum touch_when touch_with_diagonal(const struct touch *call, int64_t diagonal)
{
    (void)call;
    return diagonal == DIAGONAL_UNIT ? TOUCH_PARTLY : TOUCH_ALWAYS;
}
