/* Fat binaries: what nvcc embeds and __cudaRegisterFatBinary or cuModuleLoadData is given. The
 * layouts are undocumented; these are what nvcc 13.0 and older ones write, little-endian:
 *
 *   wrapper    u32 magic 466243B1, u32 version, pointer to a container, pointer: version 1: unused
 *              here, version 2 (-rdc=true): a NULL-terminated array of pointers to containers
 *   container  u32 magic BA55ED50, u16 version, u16 header bytes, u64 bytes of what follows
 *   entry      u16 kind, u16 version, u32 header bytes, u64 payload bytes, u32 compressed bytes,
 *              u32 -, u16 minor, u16 major, u32 architecture, u32 -, u32 -, u64 flags, u64 -,
 *              u64 unpacked bytes; more fields up to header bytes; then the payload
 *
 * Every length is checked against what holds it before it is used. */
#include "runtime/ptx/fatbin.h"
#include "csan/base/array.h"
#include "runtime/ptx/cubin_text.h"
#include "runtime/ptx/elf_file.h"
#include "runtime/ptx/unaligned.h"

#include <inttypes.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CONTAINER_MAGIC 0xBA55ED50u
#define FLAG_LZ4        0x2000u
#define FLAG_ZSTD       0x8000u
#define MAX_UNPACKED    ((uint64_t)1 << 30)

enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64, MAX_UNITS = 1 << 16 };

static int fail(char *message, size_t message_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(char *message, size_t message_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (message && message_bytes)
        vsnprintf(message, message_bytes, format, arguments);
    va_end(arguments);
    return -1;
}

/* Byte by byte, so that nothing behind a short text is read. */
static bool starts_with(const uint8_t *image, size_t limit, const char *bytes)
{
    for (size_t i = 0; bytes[i]; i++)
        if (i >= limit || image[i] != (uint8_t)bytes[i])
            return false;
    return true;
}

/* PTX begins with blanks, comments or its .version directive. */
static bool looks_like_ptx(const uint8_t *text, size_t limit)
{
    size_t i = 0;
    while (i < limit && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r')))
        i++;
    return starts_with(text + i, limit - i, "//") || starts_with(text + i, limit - i, "/*") ||
           starts_with(text + i, limit - i, ".version");
}

static enum fatbin_image classify(const void *image, size_t limit)
{
    if (!image)
        return FATBIN_IMAGE_UNKNOWN;
    if (starts_with(image, limit, "\xb1\x43\x62\x46")) /* 466243B1, little-endian */
        return FATBIN_IMAGE_WRAPPER;
    if (starts_with(image, limit, "\x50\xed\x55\xba")) /* BA55ED50 */
        return FATBIN_IMAGE_CONTAINER;
    if (starts_with(image, limit, "\177ELF"))
        return FATBIN_IMAGE_ELF;
    return looks_like_ptx(image, limit) ? FATBIN_IMAGE_PTX : FATBIN_IMAGE_UNKNOWN;
}

enum fatbin_image fatbin_classify(const void *image)
{
    return classify(image, SIZE_MAX);
}

/* ---- containers and entries ---- */

/* The container's own header; *end is where its entries end, *first where they start. */
static int read_container(const uint8_t *data, size_t limit, uint64_t *first, uint64_t *end,
                          char *message, size_t message_bytes)
{
    if (limit && limit < CONTAINER_HEADER)
        return fail(message, message_bytes,
                    "fat binary: %zu bytes are too few for its 16-byte header at offset 0", limit);
    if (read32(data) != CONTAINER_MAGIC)
        return fail(message, message_bytes,
                    "fat binary: magic number %08" PRIx32 " at offset 0 instead of ba55ed50",
                    read32(data));
    uint64_t bytes = read64(data + 8);
    *first = read16(data + 6);
    if (*first < CONTAINER_HEADER || bytes > UINT64_MAX / 4 || (limit && *first > limit))
        return fail(message, message_bytes,
                    "fat binary: header of %" PRIu64 " and content of %" PRIu64
                    " bytes at offset 6 make no sense",
                    *first, bytes);
    *end = *first + bytes;
    return 0;
}

/* The entry at `offset`, whose header and payload must lie before `end`; *next is the one after. */
static int read_entry(const uint8_t *data, uint64_t offset, uint64_t end,
                      struct fatbin_entry *entry, uint64_t *next, char *message,
                      size_t message_bytes)
{
    if (end - offset < ENTRY_HEADER)
        return fail(message, message_bytes,
                    "fat binary: cut off in the entry header at offset %" PRIu64, offset);
    const uint8_t *at = data + offset;
    uint32_t header = read32(at + 4);
    uint64_t payload = read64(at + 8), compressed = read32(at + 16), flags = read64(at + 40);
    if (header < ENTRY_HEADER || header > end - offset)
        return fail(message, message_bytes,
                    "fat binary: entry at offset %" PRIu64 " has a header of %" PRIu32 " bytes",
                    offset, header);
    if (payload > end - offset - header)
        return fail(message, message_bytes,
                    "fat binary: entry at offset %" PRIu64 " has %" PRIu64
                    " bytes of payload, and %" PRIu64 " are left",
                    offset, payload, end - offset - header);
    uint16_t kind = read16(at);
    *entry = (struct fatbin_entry){
        .kind = kind == FATBIN_PTX || kind == FATBIN_ELF ? (enum fatbin_kind)kind : FATBIN_OTHER,
        .compression = flags & FLAG_ZSTD  ? FATBIN_ZSTD
                       : flags & FLAG_LZ4 ? FATBIN_LZ4
                                          : FATBIN_PLAIN,
        .arch = read32(at + 28),
        .payload = at + header,
        .payload_bytes = payload,
        .unpacked_bytes = payload};
    if (entry->compression != FATBIN_PLAIN) {
        entry->unpacked_bytes = read64(at + 56);
        if (compressed && compressed <= payload) /* the payload is padded */
            entry->payload_bytes = compressed;
    }
    *next = offset + header + payload;
    return 0;
}

int fatbin_entries(const void *data, size_t limit,
                   bool (*visit)(void *user, const struct fatbin_entry *entry), void *user,
                   char *message, size_t message_bytes)
{
    uint64_t offset = 0, end = 0;
    if (read_container(data, limit, &offset, &end, message, message_bytes) != 0)
        return -1;
    bool cut = limit && end > limit;
    if (cut)
        end = limit;
    while (offset < end) {
        struct fatbin_entry entry;
        if (read_entry(data, offset, end, &entry, &offset, message, message_bytes) != 0)
            return -1;
        if (!visit(user, &entry))
            return 0;
    }
    if (cut)
        return fail(message, message_bytes, "fat binary: cut off at offset %zu", limit);
    return 0;
}

size_t fatbin_image_bytes(const void *image)
{
    uint64_t first, end = 0;
    switch (fatbin_classify(image)) {
    case FATBIN_IMAGE_CONTAINER:
        return read_container(image, 0, &first, &end, NULL, 0) == 0 ? end : 0;
    case FATBIN_IMAGE_ELF:
        return elf_file_bytes(image);
    case FATBIN_IMAGE_PTX:
        return strlen(image);
    default:
        return 0;
    }
}

/* ---- unpacking ---- */

static bool unpack_into(const struct fatbin_entry *entry, char *unpacked, char *message,
                        size_t message_bytes)
{
    size_t produced = 0;
    if (entry->compression == FATBIN_PLAIN) {
        memcpy(unpacked, entry->payload, entry->payload_bytes);
        return true;
    }
    if (entry->compression == FATBIN_ZSTD) {
        produced =
            ZSTD_decompress(unpacked, entry->unpacked_bytes, entry->payload, entry->payload_bytes);
        if (ZSTD_isError(produced)) {
            fail(message, message_bytes, "fat binary: zstd data is damaged: %s",
                 ZSTD_getErrorName(produced));
            return false;
        }
    } else {
        int result = LZ4_decompress_safe((const char *)entry->payload, unpacked,
                                         (int)entry->payload_bytes, (int)entry->unpacked_bytes);
        if (result < 0) {
            fail(message, message_bytes, "fat binary: LZ4 data is damaged near byte %d of it",
                 -result);
            return false;
        }
        produced = (size_t)result;
    }
    if (produced != entry->unpacked_bytes) {
        fail(message, message_bytes,
             "fat binary: compressed data unpacks to %zu bytes, its header says %zu", produced,
             entry->unpacked_bytes);
        return false;
    }
    return true;
}

void *fatbin_unpack(const struct fatbin_entry *entry, size_t *bytes, char *message,
                    size_t message_bytes)
{
    if (entry->unpacked_bytes > MAX_UNPACKED || entry->payload_bytes > MAX_UNPACKED) {
        fail(message, message_bytes, "fat binary: an entry of %zu bytes is larger than 1 GiB",
             entry->unpacked_bytes);
        return NULL;
    }
    char *unpacked = malloc(entry->unpacked_bytes + 1);
    if (!unpacked) {
        fail(message, message_bytes, "out of memory unpacking %zu bytes of a fat binary",
             entry->unpacked_bytes);
        return NULL;
    }
    if (!unpack_into(entry, unpacked, message, message_bytes)) {
        free(unpacked);
        return NULL;
    }
    unpacked[entry->unpacked_bytes] = 0;
    *bytes = entry->unpacked_bytes;
    return unpacked;
}

/* ---- all PTX of an image ---- */

struct collection {
    struct fatbin_text *texts;
    size_t count, capacity;
    uint32_t unit;
    bool failed; /* something was unreadable; message says what came first */
    char *message;
    size_t message_bytes;
};

/* Keeps `text` (malloc'd), or frees it when there is no room. */
static bool keep_text(struct collection *to, char *text, size_t bytes, uint32_t arch)
{
    if (!array_room(&to->texts, to->count, &to->capacity, 8, SIZE_MAX, sizeof *to->texts)) {
        free(text);
        to->failed = true;
        fail(to->message, to->message_bytes, "out of memory reading a fat binary");
        return false;
    }
    to->texts[to->count++] = (struct fatbin_text){text, bytes, arch, to->unit};
    return true;
}

static bool collect_entry(void *user, const struct fatbin_entry *entry)
{
    struct collection *to = user;
    size_t bytes = 0;
    if (entry->kind != FATBIN_PTX)
        return true;
    char *text = fatbin_unpack(entry, &bytes, to->failed ? NULL : to->message, to->message_bytes);
    if (!text) {
        to->failed = true;
        return true; /* the entries behind it may be sound */
    }
    return keep_text(to, text, strnlen(text, bytes), entry->arch);
}

static void collect_container(struct collection *to, const void *container, size_t limit)
{
    char *message = to->failed ? NULL : to->message;
    if (fatbin_entries(container, limit, collect_entry, to, message, to->message_bytes) != 0)
        to->failed = true;
    to->unit++;
}

/* -rdc=true: the list holds one container per unit; `data` is the linked machine code. */
static void collect_wrapper(struct collection *to, const void *image)
{
    struct fatbin_wrapper wrapper;
    memcpy(&wrapper, image, sizeof wrapper);
    if (wrapper.version == 2 && wrapper.list)
        for (size_t i = 0; i < MAX_UNITS && wrapper.list[i]; i++)
            collect_container(to, wrapper.list[i], 0);
    if (to->count == 0 && wrapper.data)
        collect_container(to, wrapper.data, 0);
}

/* 90 for ".target sm_90a"; 0: it has no such directive. */
static uint32_t target_of(const char *text)
{
    const char *target = strstr(text, ".target");
    unsigned arch = 0;
    if (target)
        sscanf(target, ".target sm_%4u", &arch);
    return arch;
}

static void collect_plain_text(struct collection *to, const char *image, size_t limit)
{
    size_t bytes = limit ? strnlen(image, limit) : strlen(image);
    char *text = malloc(bytes + 1);
    if (!text) {
        to->failed = true;
        fail(to->message, to->message_bytes, "out of memory copying %zu bytes of PTX", bytes);
        return;
    }
    memcpy(text, image, bytes);
    text[bytes] = 0;
    keep_text(to, text, bytes, target_of(text));
}

/* Each text of a cubin is one unit. */
static bool collect_cubin_text(void *user, char *text, size_t bytes)
{
    struct collection *to = user;
    bool kept = keep_text(to, text, bytes, target_of(text));
    to->unit++;
    return kept;
}

static void collect_cubin(struct collection *to, const void *image, size_t limit)
{
    if (cubin_texts(image, limit, collect_cubin_text, to))
        return;
    to->failed = true;
    fail(to->message, to->message_bytes, "out of memory reading the PTX of a cubin");
}

static int newest_first(const void *left, const void *right)
{
    const struct fatbin_text *a = left, *b = right;
    if (a->unit != b->unit)
        return a->unit < b->unit ? -1 : 1;
    return a->arch > b->arch ? -1 : a->arch < b->arch;
}

int fatbin_texts(const void *image, size_t limit, struct fatbin_text **texts, size_t *count,
                 char *message, size_t message_bytes)
{
    struct collection to = {.message = message, .message_bytes = message_bytes};
    *texts = NULL;
    *count = 0;
    if (message && message_bytes)
        message[0] = 0;
    switch (classify(image, limit ? limit : SIZE_MAX)) {
    case FATBIN_IMAGE_WRAPPER:
        if (limit && limit < sizeof(struct fatbin_wrapper))
            return fail(message, message_bytes, "fat binary wrapper: cut off at offset %zu", limit);
        collect_wrapper(&to, image);
        break;
    case FATBIN_IMAGE_CONTAINER:
        collect_container(&to, image, limit);
        break;
    case FATBIN_IMAGE_PTX:
        collect_plain_text(&to, image, limit);
        break;
    case FATBIN_IMAGE_ELF:
        collect_cubin(&to, image, limit);
        break;
    case FATBIN_IMAGE_UNKNOWN:
        return fail(message, message_bytes,
                    "image is no fat binary, cubin or PTX text (unknown first bytes)");
    }
    if (to.count)
        qsort(to.texts, to.count, sizeof *to.texts, newest_first);
    *texts = to.texts;
    *count = to.count;
    return to.failed ? -1 : (int)to.count;
}

void fatbin_texts_release(struct fatbin_text *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i].text);
    free(texts);
}

/* ---- all machine code of an image ---- */

static bool note_machine_code(void *user, const struct fatbin_entry *entry)
{
    struct fatbin_machine_code *code = user;
    if (entry->kind == FATBIN_ELF && entry->arch < FATBIN_ARCHITECTURES)
        code->bits[entry->arch / 64] |= (uint64_t)1 << entry->arch % 64;
    return true;
}

static void note_container(struct fatbin_machine_code *code, const void *container, size_t limit)
{
    fatbin_entries(container, limit, note_machine_code, code, NULL, 0);
}

struct fatbin_machine_code fatbin_machine_code(const void *image, size_t limit)
{
    struct fatbin_machine_code code = {{0}};
    struct fatbin_wrapper wrapper;
    const enum fatbin_image kind = classify(image, limit ? limit : SIZE_MAX);
    if (kind == FATBIN_IMAGE_CONTAINER)
        note_container(&code, image, limit);
    if (kind != FATBIN_IMAGE_WRAPPER || (limit && limit < sizeof wrapper))
        return code;
    memcpy(&wrapper, image, sizeof wrapper);
    if (wrapper.version == 2 && wrapper.list)
        for (size_t i = 0; i < MAX_UNITS && wrapper.list[i]; i++)
            note_container(&code, wrapper.list[i], 0);
    if (wrapper.data)
        note_container(&code, wrapper.data, 0);
    return code;
}
