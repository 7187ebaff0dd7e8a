/* Matrices spread over the registers of a warp (PTX ISA 9.7.14, "Warp Level Matrix Instructions"):
 * what moves them (exec_matrix.c) and what multiplies them (alu_matrix.c). */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_MATRIX_H
#define RUNTIME_DEVICE_EXEC_EXEC_MATRIX_H

#include "runtime/device/exec/exec_decoder.h"

enum matrix_element {
    ELEMENT_NONE,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_S32,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1,
    ELEMENT_E2M1, /* in the middle of a byte: bits 2 to 5 */
    ELEMENT_E2M3, /* in the lower bits of a byte */
    ELEMENT_E3M2,
    ELEMENT_E2M1_PACKED, /* two in a byte */
    ELEMENT_UE8M0,       /* scales: powers of two, and e4m3 without a sign */
    ELEMENT_UE4M3
};

/* What a product may be of, beside halves and the like. */
enum matrix_kind {
    MATRIX_KIND_NONE,
    MATRIX_KIND_F8F6F4,
    MATRIX_KIND_MXF8F6F4,
    MATRIX_KIND_MXF4,
    MATRIX_KIND_MXF4NVF4
};

enum matrix_role { MATRIX_A, MATRIX_B, MATRIX_C };

/* One matrix: element (row, column) is the j-th of some lane's r-th register. */
struct fragment {
    uint8_t element, role;
    bool opaque;             /* wmma: which lane has what, which is ours to choose */
    uint32_t rows, columns;  /* of the matrix */
    uint32_t count;          /* registers a lane */
    uint32_t register_bytes; /* 4 or 8 */
    const uint32_t *slots;
};

/* The suffixes of a matrix instruction, in the order in which they are written. */
struct matrix_words {
    uint32_t m, n, k;
    uint8_t elements[4], element_count;
    bool columns[2]; /* .col instead of .row */
    uint8_t layout_count;
    bool saturate, exclusive; /* .satfinite; .xor */
    bool sparse;              /* .sp */
    uint8_t kind;             /* enum matrix_kind */
    bool scaled;              /* .block_scale */
    uint32_t scale_count;     /* .scale_vec: along k; 0: not written */
    uint8_t scale_element;
    bool other; /* a word that is none of these */
};

void matrix_read_words(const char *mnemonic, struct matrix_words *words);
uint32_t matrix_element_bits(uint8_t element);
/* Elements in one register. */
uint32_t fragment_packed(const struct fragment *fragment);
/* The place in the matrix of the j-th element of a lane's r-th register. */
void fragment_place(const struct fragment *fragment, uint32_t lane, uint32_t r, uint32_t j,
                    uint32_t *row, uint32_t *column);
/* Gives the fragment its registers. Fails the instruction if their number is wrong. */
void fragment_decode(struct decoder *decoder, struct fragment *fragment,
                     const struct ptx_operand *operand, bool destination);
/* alu_matrix.c: the number that bits stand for. */
double matrix_element_value(uint8_t element, uint64_t bits);
/* All elements of a fragment, row by row; and back, for lanes of the mask. Elements of 32 bits that
 * are integers wrap, or stop at the ends. */
void matrix_read(struct warp *w, const struct fragment *fragment, double *matrix);
void matrix_write(struct warp *w, const struct fragment *fragment, bool saturate,
                  const double *matrix);
/* alu_sparse.c: whether A, which holds half of its elements, may be that large, and the metadata's
 * selector that number. Then the matrix with zeros where it has nothing: twice as many columns. */
bool matrix_sparse_is_valid(const struct fragment *a, uint32_t selector);
void matrix_read_sparse(struct warp *w, const struct fragment *a, uint32_t metadata,
                        uint32_t selector, double *matrix);
/* The same of a half that was read already. */
void matrix_spread_sparse(const struct warp *w, const struct fragment *a, uint32_t metadata,
                          uint32_t selector, const double *held, double *matrix);
/* alu_scale.c: what a row of A, or a column of B, is multiplied with in each of `count` parts of k.
 * The lanes' words hold them; which lane's and which byte, the slots of 16 bits say. */
struct matrix_scales {
    uint8_t count, element;
    uint32_t words[2], byte[2], thread[2]; /* slots: of A and B */
};

/* Whether the kind has such scales (PTX ISA 9.7.14.3); a count that is not written is found. */
bool matrix_scales_are_valid(struct matrix_words *words);
/* Operands `first` to `first` + 3: scales of A, {byte, thread}, those of B, {byte, thread}. */
bool matrix_decode_scales(struct decoder *decoder, const struct ptx_instruction *i, uint32_t first,
                          const struct matrix_words *words, struct matrix_scales *scales);
/* Multiplies A (m rows of k) and B (k rows of n). False: no such byte or thread. */
bool matrix_scale(const struct warp *w, const struct matrix_scales *scales, uint32_t m, uint32_t n,
                  uint32_t k, double *a, double *b);
/* All lanes of the warp come together before what is emitted next: .sync.aligned. */
void matrix_decode_sync(struct decoder *decoder);

#endif
