/* The fundamental types and opcodes by name: the tables that ir.h's enums index. */
#include "runtime/ptx/ir.h"

static const struct {
    const char *name;
    uint16_t bits;
    bool is_float, is_signed;
} types[] = {
    [PTX_TYPE_NONE] = {"none", 0, false, false},
    [PTX_U8] = {"u8", 8, false, false},
    [PTX_U16] = {"u16", 16, false, false},
    [PTX_U32] = {"u32", 32, false, false},
    [PTX_U64] = {"u64", 64, false, false},
    [PTX_S8] = {"s8", 8, false, true},
    [PTX_S16] = {"s16", 16, false, true},
    [PTX_S32] = {"s32", 32, false, true},
    [PTX_S64] = {"s64", 64, false, true},
    [PTX_B8] = {"b8", 8, false, false},
    [PTX_B16] = {"b16", 16, false, false},
    [PTX_B32] = {"b32", 32, false, false},
    [PTX_B64] = {"b64", 64, false, false},
    [PTX_B128] = {"b128", 128, false, false},
    [PTX_F16] = {"f16", 16, true, true},
    [PTX_F16X2] = {"f16x2", 32, true, true},
    [PTX_BF16] = {"bf16", 16, true, true},
    [PTX_BF16X2] = {"bf16x2", 32, true, true},
    [PTX_TF32] = {"tf32", 32, true, true},
    [PTX_F32] = {"f32", 32, true, true},
    [PTX_F32X2] = {"f32x2", 64, true, true},
    [PTX_F64] = {"f64", 64, true, true},
    [PTX_U16X2] = {"u16x2", 32, false, false},
    [PTX_S16X2] = {"s16x2", 32, false, true},
    [PTX_E4M3X2] = {"e4m3x2", 16, true, true},
    [PTX_E5M2X2] = {"e5m2x2", 16, true, true},
    [PTX_PRED] = {"pred", 1, false, false},
    [PTX_TEXREF] = {"texref", 0, false, false},
    [PTX_SAMPLERREF] = {"samplerref", 0, false, false},
    [PTX_SURFREF] = {"surfref", 0, false, false},
    [PTX_TYPE_OTHER] = {"other", 0, false, false},
};

static const char *const opcodes[] = {
    [PTX_OP_UNKNOWN] = "unknown",
#define OP(name, spelling) [PTX_OP_##name] = spelling,
#include "runtime/ptx/opcodes.def"
#undef OP
};

static bool is_type(enum ptx_type type)
{
    return (unsigned)type <= PTX_TYPE_OTHER;
}

uint32_t ptx_type_bits(enum ptx_type type)
{
    return is_type(type) ? types[type].bits : 0;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return is_type(type) && types[type].is_float;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return is_type(type) && types[type].is_signed;
}

const char *ptx_type_name(enum ptx_type type)
{
    return is_type(type) ? types[type].name : "invalid";
}

const char *ptx_opcode_name(enum ptx_opcode opcode)
{
    return (unsigned)opcode < PTX_OP_COUNT ? opcodes[opcode] : "invalid";
}
