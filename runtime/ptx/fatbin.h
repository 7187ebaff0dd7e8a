/* Reads the fat binaries nvcc embeds: the wrapper {0x466243B1, version, data, filename or list},
 * the container 0xBA55ED50 behind it, and its entries (PTX or ELF), uncompressed, LZ4 or zstd. */
#ifndef RUNTIME_PTX_FATBIN_H
#define RUNTIME_PTX_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nvcc's wrapper in a program or shared library, one for each translation unit: an element of
 * section FATBIN_SEGMENT. -rdc=true: version 2, and one for each device link. */
#define FATBIN_WRAPPER_MAGIC 0x466243B1u
#define FATBIN_SEGMENT       ".nvFatBinSegment"

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;        /* container */
    const void *const *list; /* version 2: containers, NULL-terminated */
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_OTHER = 0 };
enum fatbin_compression { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
    enum fatbin_kind kind;
    enum fatbin_compression compression;
    uint32_t arch;          /* 90 for sm_90 / compute_90 */
    const uint8_t *payload; /* points into the container */
    size_t payload_bytes;   /* as stored */
    size_t unpacked_bytes;  /* as unpacked; equals payload_bytes when plain */
};

/* What an image handed to the driver is. */
enum fatbin_image {
    FATBIN_IMAGE_UNKNOWN,
    FATBIN_IMAGE_WRAPPER,   /* struct with magic 0x466243B1 */
    FATBIN_IMAGE_CONTAINER, /* magic 0xBA55ED50 */
    FATBIN_IMAGE_ELF,       /* a cubin, if anything of CUDA's */
    FATBIN_IMAGE_PTX        /* NUL-terminated text */
};
enum fatbin_image fatbin_classify(const void *image);

/* How many bytes of memory the image is, by its own headers: a container, an ELF file or PTX
 * without its NUL. 0: it is something else, or they make no sense. */
size_t fatbin_image_bytes(const void *image);

/* Calls `visit` for each entry of the container at `data`; when `limit` is not 0 no byte at or
 * after data + limit is read. Stops early when visit returns false. Returns 0, or -1 with `message`
 * (of `message_bytes`) saying what is wrong and at which offset; entries before the damage are
 * visited. */
int fatbin_entries(const void *data, size_t limit,
                   bool (*visit)(void *user, const struct fatbin_entry *entry), void *user,
                   char *message, size_t message_bytes);

/* Unpack an entry. Returns malloc'd memory with one extra NUL byte, *bytes without it, or NULL with
 * `message` filled. Refuses more than 1 GiB. */
void *fatbin_unpack(const struct fatbin_entry *entry, size_t *bytes, char *message,
                    size_t message_bytes);

/* Every PTX text a driver image offers, newest architecture first, ready for ptx_parse: follows a
 * version-1 wrapper to its container and a version-2 wrapper (-rdc=true) to its NULL-terminated
 * list of containers, and takes what a cubin keeps (cubin_text.h), if the image itself is one.
 * `limit` as above (0: unknown). The k-th text of unit u: texts[i] with unit ==
 * u; texts of different units are to be linked together. Free with fatbin_texts_release. Returns
 * the count, 0 when there is no PTX, -1 with `message` when the image is damaged (what was readable
 * before the damage is still returned in *texts). */
struct fatbin_text {
    char *text;
    size_t bytes;
    uint32_t arch;
    uint32_t unit;
};
int fatbin_texts(const void *image, size_t limit, struct fatbin_text **texts, size_t *count,
                 char *message, size_t message_bytes);
void fatbin_texts_release(struct fatbin_text *texts, size_t count);

/* The architectures that an image has machine code for: bit 90 for sm_90 and sm_90a. */
enum { FATBIN_ARCHITECTURES = 256 };
struct fatbin_machine_code {
    uint64_t bits[FATBIN_ARCHITECTURES / 64];
};
/* Of a wrapper's containers or of a container. Empty for a cubin and for PTX, which are one code by
 * themselves. What is damaged is passed over. `limit` as above. */
struct fatbin_machine_code fatbin_machine_code(const void *image, size_t limit);

#endif
