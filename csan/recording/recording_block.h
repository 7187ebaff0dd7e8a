/* The blocks of a recording. A frame, compression and a checksum let a reader decide for each block
 * whether it is whole, and where it is not. recording_format.h says what is in them. */
#ifndef CSAN_RECORDING_RECORDING_BLOCK_H
#define CSAN_RECORDING_RECORDING_BLOCK_H

#include "csan/base/output.h"
#include "csan/recording/recording_format.h"

enum block_kind { BLOCK_FACTS = 1, BLOCK_ENTRIES = 2, BLOCK_END = 3 };

enum {
    BLOCK_MAGIC = 0x4b425343,  /* "CSBK" */
    BLOCK_BYTES = 64 << 10,    /* entries are written out at about so many */
    BLOCK_BYTES_MAX = 1 << 28, /* a single entry may be long */
    BLOCK_PLAIN = 0,
    BLOCK_ZSTD = 1 /* codecs; zstd frames bear a checksum of the contents */
};

struct block_header {
    uint32_t magic;
    uint8_t kind, codec;
    uint16_t zero;
    uint64_t number;       /* from 0 */
    uint32_t stored_bytes; /* that follow the header */
    uint32_t bytes;        /* once decompressed */
    uint32_t stored_crc;   /* of the stored bytes */
    uint32_t header_crc;   /* of this header up to here */
};

/* ---- writing */

struct block_writer {
    struct output_file *file; /* the caller's, open; its path stays, too */
    const char *path;
    uint64_t number, offset; /* of the next block */
    void *context;           /* zstd's */
    struct byte_buffer stored;
};

/* Write the head of the file. 0, or errno's value. */
int block_writer_open(struct block_writer *writer, struct output_file *file, const char *path);
/* The same; a block that could not be written whole is the last. */
int block_writer_put(struct block_writer *writer, enum block_kind kind, const void *bytes,
                     size_t count);
void block_writer_close(struct block_writer *writer); /* not the file */

/* ---- reading */

enum block_status { BLOCK_READ, BLOCK_NONE_LEFT, BLOCK_DAMAGED };

struct block_reader {
    int descriptor;
    uint64_t number, offset, file_bytes; /* of the next block; of the file */
    uint64_t block_offset;               /* of the newest block */
    size_t bytes_max;                    /* size of a block's contents; a test may set less */
    uint8_t *stored, *contents;
    size_t bytes; /* of contents */
    enum block_kind kind;
    char message[160]; /* of BLOCK_DAMAGED: what is wrong, where `offset` is */
};

/* Read the head of the file: BLOCK_READ or BLOCK_DAMAGED. */
enum block_status block_reader_open(struct block_reader *reader, int descriptor);
/* Contents stay valid until the next block. */
enum block_status block_reader_next(struct block_reader *reader);
void block_reader_close(struct block_reader *reader); /* not the descriptor */

#endif
