/* Matrices between memory and the registers of a warp: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store (PTX ISA 9.7.14.3 to .5), and how a matrix is spread over lanes and registers. */
#include "runtime/device/exec/exec_matrix.h"
#include "runtime/device/exec/exec_access.h"
#include "runtime/device/exec/exec_collective.h"

#include <stdlib.h>

enum { EIGHT = 8, ROW_BYTES = 16 }; /* of the 8 x 8 matrices of 16-bit elements */

/* ---- suffixes ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint8_t element, bits;
} elements[] = {{"f16", ELEMENT_F16, 16},
                {"bf16", ELEMENT_BF16, 16},
                {"tf32", ELEMENT_TF32, 32},
                {"f32", ELEMENT_F32, 32},
                {"f64", ELEMENT_F64, 64},
                {"e4m3", ELEMENT_E4M3, 8},
                {"e5m2", ELEMENT_E5M2, 8},
                {"s32", ELEMENT_S32, 32},
                {"s8", ELEMENT_S8, 8},
                {"u8", ELEMENT_U8, 8},
                {"s4", ELEMENT_S4, 4},
                {"u4", ELEMENT_U4, 4},
                {"b1", ELEMENT_B1, 1},
                {"e2m1", ELEMENT_E2M1, 8},
                {"e2m3", ELEMENT_E2M3, 8},
                {"e3m2", ELEMENT_E3M2, 8},
                {"e2m1 packed", ELEMENT_E2M1_PACKED, 4}};

static const struct {
    const char *name;
    uint8_t kind;
} kinds[] = {{"kind::f8f6f4", MATRIX_KIND_F8F6F4},
             {"kind::mxf8f6f4", MATRIX_KIND_MXF8F6F4},
             {"kind::mxf4", MATRIX_KIND_MXF4},
             {"kind::mxf4nvf4", MATRIX_KIND_MXF4NVF4}};

/* Words that change nothing here: the order of a warp, state spaces, which matrix is moved. */
static const char *const plain_words[] = {
    "mma", "wmma", "wgmma", "mma_async", "load", "store",  "sync",   "aligned", "a",
    "b",   "c",    "d",     "and",       "popc", "shared", "global", "rn",      "shared::cta",
};

uint32_t matrix_element_bits(uint8_t element)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (elements[i].element == element)
            return elements[i].bits;
    return 0;
}

/* "m16n8k16" */
static bool read_shape(const char *word, struct matrix_words *words)
{
    uint32_t *axes[] = {&words->m, &words->n, &words->k};
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*word != "mnk"[i])
            return false;
        *axes[i] = (uint32_t)strtoul(word + 1, &end, 10);
        word = end;
    }
    return *word == 0;
}

static bool is_plain(const char *word)
{
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++)
        if (!strcmp(word, plain_words[i]))
            return true;
    return false;
}

static bool read_element(const char *word, struct matrix_words *words)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(word, elements[i].name) && words->element_count < 4) {
            words->elements[words->element_count++] = elements[i].element;
            return true;
        }
    return false;
}

static bool read_kind(const char *word, struct matrix_words *words)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(word, kinds[i].name)) {
            words->kind = kinds[i].kind;
            return true;
        }
    return false;
}

/* ".block_scale.scale_vec::2X", and behind the types ".ue8m0". */
static bool read_scale(const char *word, struct matrix_words *words)
{
    static const char vector[] = "scale_vec::";
    if (!strcmp(word, "block_scale"))
        words->scaled = true;
    else if (!strncmp(word, vector, strlen(vector)))
        words->scale_count = (uint32_t)strtoul(word + strlen(vector), NULL, 10);
    else if (!strcmp(word, "ue8m0"))
        words->scale_element = ELEMENT_UE8M0;
    else if (!strcmp(word, "ue4m3"))
        words->scale_element = ELEMENT_UE4M3;
    else
        return false;
    return true;
}

/* "No explicit padding is necessary": of these kinds, two elements of e2m1 share a byte. */
static void pack(struct matrix_words *words)
{
    if (words->kind != MATRIX_KIND_MXF4 && words->kind != MATRIX_KIND_MXF4NVF4)
        return;
    for (uint8_t i = 0; i < words->element_count; i++)
        if (words->elements[i] == ELEMENT_E2M1)
            words->elements[i] = ELEMENT_E2M1_PACKED;
}

static bool read_layout(const char *word, struct matrix_words *words)
{
    bool column = !strcmp(word, "col");
    if ((!column && strcmp(word, "row")) || words->layout_count == 2)
        return false;
    words->columns[words->layout_count++] = column;
    return true;
}

void matrix_read_words(const char *mnemonic, struct matrix_words *words)
{
    char text[256], *rest = text;
    *words = (struct matrix_words){0};
    words->other = strlen(mnemonic) >= sizeof text;
    strncpy(text, mnemonic, sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (char *word; (word = strsep(&rest, ".")) != NULL;) {
        if (!strcmp(word, "satfinite"))
            words->saturate = true;
        else if (!strcmp(word, "xor"))
            words->exclusive = true;
        else if (!strcmp(word, "sp") || !strcmp(word, "sp::ordered_metadata"))
            words->sparse = true;
        else if (!read_shape(word, words) && !read_element(word, words) &&
                 !read_layout(word, words) && !read_kind(word, words) && !read_scale(word, words) &&
                 !is_plain(word))
            words->other = true;
    }
    pack(words);
}

/* ---- fragments ----------------------------------------------------------------------------- */

uint32_t fragment_packed(const struct fragment *fragment)
{
    return fragment->register_bytes * 8 / matrix_element_bits(fragment->element);
}

/* wmma: the elements in a row, B's column by column, dealt out to the lanes in turn; what is left
 * of the registers holds them once more. */
static void place_opaque(const struct fragment *f, uint32_t lane, uint32_t r, uint32_t j,
                         uint32_t *row, uint32_t *column)
{
    uint32_t packed = fragment_packed(f);
    uint32_t index = ((lane * f->count + r) * packed + j) % (f->rows * f->columns);
    *row = f->role == MATRIX_B ? index % f->rows : index / f->columns;
    *column = f->role == MATRIX_B ? index / f->rows : index % f->columns;
}

/* mma: "Matrix Fragments for mma.m16n8k16 ..." (9.7.14.5) are all one pattern. Four lanes share a
 * row of A and C or a column of B; registers go on by 8 rows first, then along the row. */
void fragment_place(const struct fragment *f, uint32_t lane, uint32_t r, uint32_t j, uint32_t *row,
                    uint32_t *column)
{
    uint32_t packed = fragment_packed(f), line = lane / 4, place = lane % 4;
    if (f->opaque) {
        place_opaque(f, lane, r, j, row, column);
    } else if (f->role == MATRIX_B) {
        *row = (place + 4 * r) * packed + j;
        *column = line;
    } else if (f->role == MATRIX_A) {
        uint32_t halves = f->rows / EIGHT;
        *row = line + EIGHT * (r % halves);
        *column = (place + 4 * (r / halves)) * packed + j;
    } else {
        uint32_t index = r * packed + j;
        *row = line + EIGHT * (index / 2 % 2);
        *column = index / 4 * EIGHT + place * 2 + index % 2; /* more than 8 columns: wgmma */
    }
}

void fragment_decode(struct decoder *decoder, struct fragment *fragment,
                     const struct ptx_operand *operand, bool destination)
{
    bool vector = operand->kind == PTX_OPERAND_VECTOR;
    uint32_t count = fragment->count = vector ? operand->count : 1;
    fragment->register_bytes = fragment->element == ELEMENT_F64 ? 8 : 4;
    uint32_t *slots = decoder_keep(decoder, (count + 1) * sizeof *slots);
    for (uint32_t r = 0; slots && r < count; r++) {
        const struct ptx_operand *element = vector ? &operand->elements[r] : operand;
        uint32_t bits = fragment->register_bytes * 8;
        slots[r] = destination ? decoder_destination(decoder, element, bits)
                               : decoder_source(decoder, element, bits);
    }
    fragment->slots = slots;
    uint64_t held = (uint64_t)count * fragment_packed(fragment) * WARP_LANES;
    uint64_t needed = (uint64_t)fragment->rows * fragment->columns;
    if (needed == 0 || (fragment->opaque ? held % needed : held - needed))
        decoder_fail(decoder);
}

void matrix_decode_sync(struct decoder *decoder)
{
    const struct ptx_operand all = {.kind = PTX_OPERAND_IMMEDIATE, .imm = ALL_LANES};
    collective_decode_sync(decoder, &all);
}

/* ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------- */

struct eight_by_eight {
    struct micro row; /* the access of one row */
    uint32_t slots[4];
    uint32_t count; /* matrices */
    bool transposed, stores;
};

/* Lanes 0 to 7 name the rows of the first matrix, 8 to 15 of the second... */
static int resolve_rows(struct warp *w, const struct eight_by_eight *site, uint8_t **rows)
{
    uint32_t mask = w->mask;
    memset(rows, 0, WARP_LANES * sizeof *rows);
    w->mask &= ALL_LANES >> (WARP_LANES - site->count * EIGHT);
    int flow = space_resolve(w, &site->row, rows);
    w->mask = mask;
    return flow;
}

/* The j-th of lane l's two elements of matrix k: two of a row, or of a column with .trans. */
static uint8_t *element_of(const struct eight_by_eight *site, uint8_t *const *rows, uint32_t k,
                           uint32_t l, uint32_t j)
{
    uint32_t line = l / 4, place = l % 4 * 2 + j;
    uint8_t *start = rows[k * EIGHT + (site->transposed ? place : line)];
    return start ? start + (site->transposed ? line : place) * 2 : NULL;
}

static void move_elements(struct warp *w, const struct eight_by_eight *site, uint8_t *const *rows,
                          uint32_t k)
{
    uint16_t *values = slot(w, site->slots[k]);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t j = 0; j < 2; j++) {
            uint8_t *memory = element_of(site, rows, k, l, j);
            if (memory && site->stores)
                memcpy(memory, &values[2 * l + j], 2);
            else if (memory)
                memcpy(&values[2 * l + j], memory, 2);
        }
    }
}

static int move_rows(struct warp *w, const struct micro *op)
{
    const struct eight_by_eight *site = op->pointer;
    uint8_t *rows[WARP_LANES];
    int flow = resolve_rows(w, site, rows);
    for (uint32_t k = 0; flow == FLOW_NEXT && k < site->count; k++)
        move_elements(w, site, rows, k);
    return flow;
}

static uint32_t count_of_matrices(const char *mnemonic)
{
    return strstr(mnemonic, ".x4") ? 4 : strstr(mnemonic, ".x2") ? 2 : 1;
}

static void decode_rows(struct decoder *decoder, const struct ptx_instruction *i, bool stores)
{
    struct eight_by_eight *site = decoder_keep(decoder, sizeof *site);
    const struct ptx_operand *values = &i->operands[stores ? 1 : 0];
    if (!site || !strstr(i->mnemonic, ".m8n8") || !strstr(i->mnemonic, ".b16")) {
        decoder_fail(decoder);
        return;
    }
    site->count = count_of_matrices(i->mnemonic);
    site->transposed = strstr(i->mnemonic, ".trans") != NULL;
    site->stores = stores;
    bool vector = values->kind == PTX_OPERAND_VECTOR;
    if ((vector ? values->count : 1) != site->count) {
        decoder_fail(decoder);
        return;
    }
    for (uint32_t k = 0; k < site->count; k++) {
        const struct ptx_operand *value = vector ? &values->elements[k] : values;
        site->slots[k] =
            stores ? decoder_source(decoder, value, 32) : decoder_destination(decoder, value, 32);
    }
    access_part(decoder, &site->row, &i->operands[stores ? 0 : 1], i->space, ROW_BYTES);
    site->row.option |= stores ? ACCESS_WRITES : 0;
    site->row.touch = (uint8_t)(1u << (stores ? DEVICE_TRACE_WRITE : DEVICE_TRACE_READ));
    matrix_decode_sync(decoder);
    decoder_emit(decoder, move_rows)->pointer = site;
}

void decode_ldmatrix(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_rows(decoder, i, false);
}

void decode_stmatrix(struct decoder *decoder, const struct ptx_instruction *i)
{
    decode_rows(decoder, i, true);
}

static int transpose(struct warp *w, const struct micro *op)
{
    uint16_t *d = slot(w, op->d), a[2 * WARP_LANES];
    memcpy(a, slot(w, op->a), sizeof a);
    LANES(w, {
        for (int j = 0; j < 2; j++) /* element (l / 4, l % 4 * 2 + j) is (.., l / 4) of a */
            d[2 * l + j] = a[(l % 4 * 2 + j) * EIGHT + l / 4];
    });
    return FLOW_NEXT;
}

void decode_movmatrix(struct decoder *decoder, const struct ptx_instruction *i)
{
    if (strcmp(i->mnemonic, "movmatrix.sync.aligned.m8n8.trans.b16")) {
        decoder_fail(decoder);
        return;
    }
    uint32_t a = decoder_source(decoder, &i->operands[1], 32);
    uint32_t d = decoder_destination(decoder, &i->operands[0], 32);
    matrix_decode_sync(decoder);
    struct micro *op = decoder_emit(decoder, transpose);
    op->d = d;
    op->a = a;
}

/* ---- wmma.load, wmma.store ------------------------------------------------------------------ */

struct wmma_access {
    struct micro place; /* where the matrix begins, and how it is accessed */
    struct fragment fragment;
    uint32_t stride; /* slot of the elements from line to line in memory */
    bool by_column;  /* lines are columns */
    bool stores;
};

/* Addresses of the j-th elements of the lanes' r-th registers. */
static void element_addresses(struct warp *w, const struct wmma_access *site, uint32_t r,
                              uint32_t j, const uint64_t *starts, uint64_t *addresses)
{
    const uint32_t *stride = slot(w, site->stride);
    uint32_t bits = matrix_element_bits(site->fragment.element);
    LANES(w, {
        uint32_t row, column;
        fragment_place(&site->fragment, (uint32_t)l, r, j, &row, &column);
        uint64_t line = site->by_column ? column : row, place = site->by_column ? row : column;
        addresses[l] = starts[l] + (line * stride[l] + place) * bits / 8;
    });
}

/* Bytes `first` to `first` + `bytes` of the lanes' r-th registers, from or to memory. */
static int move_part(struct warp *w, const struct wmma_access *site, uint32_t r, uint32_t j,
                     uint32_t bytes, const uint64_t *starts)
{
    uint64_t addresses[WARP_LANES];
    uint8_t *pointers[WARP_LANES];
    struct micro part = site->place;
    uint32_t whole = site->fragment.register_bytes;
    uint8_t *values = (uint8_t *)slot(w, site->fragment.slots[r]) + (size_t)j * bytes;
    part.bytes = (uint8_t)bytes;
    part.count = 1;
    element_addresses(w, site, r, j, starts, addresses);
    int flow = space_resolve_at(w, &part, addresses, pointers);
    if (flow != FLOW_NEXT)
        return flow;
    if (site->stores)
        LANES(w, memcpy(pointers[l], values + (size_t)l * whole, bytes));
    else
        LANES(w, memcpy(values + (size_t)l * whole, pointers[l], bytes));
    return FLOW_NEXT;
}

static int wmma_access_run(struct warp *w, const struct micro *op)
{
    const struct wmma_access *site = op->pointer;
    const struct fragment *fragment = &site->fragment;
    uint64_t starts[WARP_LANES];
    space_addresses(w, &site->place, starts);
    /* Where memory goes on as the registers do, a register is one access. */
    bool along = site->by_column == (fragment->role == MATRIX_B);
    uint32_t parts = along ? 1 : fragment_packed(fragment);
    int flow = FLOW_NEXT;
    for (uint32_t r = 0; r < fragment->count; r++)
        for (uint32_t j = 0; j < parts && flow == FLOW_NEXT; j++)
            flow = move_part(w, site, r, j, fragment->register_bytes / parts, starts);
    return flow;
}

/* wmma.load.a...: which matrix the word after the operation names. */
static void name_matrix(struct fragment *fragment, const struct matrix_words *words, char name)
{
    fragment->opaque = true;
    fragment->element = words->elements[0];
    fragment->role = name == 'a' ? MATRIX_A : name == 'b' ? MATRIX_B : MATRIX_C;
    fragment->rows = name == 'b' ? words->k : words->m;
    fragment->columns = name == 'a' ? words->k : words->n;
}

void decode_wmma_access(struct decoder *decoder, const struct ptx_instruction *i)
{
    bool stores = i->form == PTX_FORM_WMMA_STORE;
    struct wmma_access *site = decoder_keep(decoder, sizeof *site);
    struct matrix_words words;
    matrix_read_words(i->mnemonic, &words);
    if (!site || words.other || words.element_count != 1 || words.layout_count != 1) {
        decoder_fail(decoder);
        return;
    }
    struct fragment *fragment = &site->fragment;
    name_matrix(fragment, &words,
                i->mnemonic[stores ? strlen("wmma.store.") : strlen("wmma.load.")]);
    site->stores = stores;
    site->by_column = words.columns[0];
    fragment_decode(decoder, fragment, &i->operands[stores ? 1 : 0], !stores);
    if (matrix_element_bits(fragment->element) < 8 &&
        site->by_column != (fragment->role == MATRIX_B))
        decoder_fail(decoder);
    struct access_place place;
    access_place(decoder, &i->operands[stores ? 0 : 1], i->space, &place);
    access_fill(&site->place, &place);
    site->place.option |= stores ? ACCESS_WRITES : 0;
    site->place.instruction = decoder->instruction_index;
    site->place.touch = (uint8_t)(1u << (stores ? DEVICE_TRACE_WRITE : DEVICE_TRACE_READ));
    site->stride =
        i->operand_count > 2
            ? decoder_source(decoder, &i->operands[2], 32)
            : decoder_constant(decoder, 32, site->by_column ? fragment->rows : fragment->columns);
    matrix_decode_sync(decoder);
    decoder_emit(decoder, wmma_access_run)->pointer = site;
}
