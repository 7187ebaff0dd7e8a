/* See recording_block.h. */
#include "csan/recording/recording_block.h"
#include "csan/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

_Static_assert(sizeof(struct block_header) == 32, "as it lies in the file");

struct file_head {
    char magic[8];
    uint16_t major, minor;
    uint32_t crc;
};
_Static_assert(sizeof(struct file_head) == RECORDING_HEAD_BYTES, "as it lies in the file");

/* ---- writing */

/* At the end of the file. */
static int append(struct block_writer *writer, const void *bytes, size_t count)
{
    return output_file_write(writer->file, writer->path, O_APPEND, -1, bytes, count);
}

int block_writer_open(struct block_writer *writer, struct output_file *file, const char *path)
{
    struct file_head head = {.major = RECORDING_MAJOR, .minor = RECORDING_MINOR};
    memcpy(head.magic, RECORDING_MAGIC, sizeof head.magic);
    head.crc = recording_crc(0, &head, offsetof(struct file_head, crc));
    ZSTD_CCtx *context = ZSTD_createCCtx();
    *writer = (struct block_writer){
        .file = file, .path = path, .offset = sizeof head, .context = context};
    if (!context)
        return ENOMEM;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return append(writer, &head, sizeof head);
}

int block_writer_put(struct block_writer *writer, enum block_kind kind, const void *bytes,
                     size_t count)
{
    size_t room = sizeof(struct block_header) + ZSTD_compressBound(count);
    writer->stored.length = 0;
    if (count > BLOCK_BYTES_MAX || !byte_buffer_reserve(&writer->stored, room))
        return count > BLOCK_BYTES_MAX ? EFBIG : ENOMEM;
    uint8_t *stored = writer->stored.data + sizeof(struct block_header);
    size_t stored_bytes =
        ZSTD_compress2(writer->context, stored, ZSTD_compressBound(count), bytes, count);
    if (ZSTD_isError(stored_bytes))
        return ENOMEM;
    struct block_header header = {.magic = BLOCK_MAGIC,
                                  .kind = (uint8_t)kind,
                                  .codec = BLOCK_ZSTD,
                                  .number = writer->number,
                                  .stored_bytes = (uint32_t)stored_bytes,
                                  .bytes = (uint32_t)count,
                                  .stored_crc = recording_crc(0, stored, stored_bytes)};
    header.header_crc = recording_crc(0, &header, offsetof(struct block_header, header_crc));
    memcpy(writer->stored.data, &header, sizeof header);
    int error = append(writer, writer->stored.data, sizeof header + stored_bytes);
    if (!error) {
        writer->number++;
        writer->offset += sizeof header + stored_bytes;
    }
    return error;
}

void block_writer_close(struct block_writer *writer)
{
    ZSTD_freeCCtx(writer->context);
    free(writer->stored.data);
    *writer = (struct block_writer){0};
}

/* ---- reading */

static enum block_status damaged(struct block_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum block_status damaged(struct block_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->message, sizeof reader->message, format, arguments);
    va_end(arguments);
    return BLOCK_DAMAGED;
}

/* How many of the bytes could be read. */
static size_t read_at(const struct block_reader *reader, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got =
            pread(reader->descriptor, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

enum block_status block_reader_open(struct block_reader *reader, int descriptor)
{
    struct file_head head;
    struct stat status;
    *reader = (struct block_reader){.descriptor = descriptor, .bytes_max = BLOCK_BYTES_MAX};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return damaged(reader, S_ISDIR(status.st_mode) ? "it is a directory, no recording"
                                                       : "it is no file that could be a recording");
    if (status.st_size == 0)
        return damaged(reader, "it is no csan recording: it is empty");
    reader->file_bytes = (uint64_t)status.st_size;
    size_t got = read_at(reader, &head, sizeof head, 0);
    if (got < sizeof head.magic || memcmp(head.magic, RECORDING_MAGIC, sizeof head.magic) != 0)
        return damaged(reader, head.magic[0] == '{'
                                   ? "it is no csan recording; csan report and csan merge read "
                                     "reports in JSON"
                                   : "it is no csan recording");
    if (got < sizeof head)
        return damaged(reader, "the recording is cut off in its head");
    if (head.crc != recording_crc(0, &head, offsetof(struct file_head, crc)))
        return damaged(reader, "the head of the recording is damaged");
    if (head.major != RECORDING_MAJOR || head.minor > RECORDING_MINOR)
        return damaged(reader,
                       "it is of format %u.%u, and this csan reads %d.%d: use the csan that made "
                       "it, or a newer one",
                       head.major, head.minor, RECORDING_MAJOR, RECORDING_MINOR);
    reader->offset = sizeof head;
    return BLOCK_READ;
}

static enum block_status header_check(struct block_reader *reader,
                                      const struct block_header *header)
{
    if (header->magic != BLOCK_MAGIC ||
        header->header_crc != recording_crc(0, header, offsetof(struct block_header, header_crc)))
        return damaged(reader, "the header of block %llu is damaged",
                       (unsigned long long)reader->number);
    if (header->number != reader->number)
        return damaged(reader, "block %llu is missing", (unsigned long long)reader->number);
    if (header->kind < BLOCK_FACTS || header->kind > BLOCK_END || header->codec > BLOCK_ZSTD ||
        header->zero || header->bytes > reader->bytes_max ||
        (header->codec == BLOCK_PLAIN && header->bytes != header->stored_bytes))
        return damaged(reader, "block %llu makes no sense", (unsigned long long)reader->number);
    if (header->stored_bytes > reader->file_bytes - reader->offset - sizeof *header)
        return damaged(reader, "the recording is cut off in block %llu",
                       (unsigned long long)reader->number);
    return BLOCK_READ;
}

static bool resize(uint8_t **bytes, size_t count)
{
    uint8_t *resized = realloc(*bytes, count + 1);
    if (resized)
        *bytes = resized;
    return resized != NULL;
}

static enum block_status contents_read(struct block_reader *reader,
                                       const struct block_header *header)
{
    unsigned long long number = reader->number;
    if (!resize(&reader->stored, header->stored_bytes) || !resize(&reader->contents, header->bytes))
        return damaged(reader, "there is no memory for block %llu", number);
    if (read_at(reader, reader->stored, header->stored_bytes, reader->offset + sizeof *header) !=
        header->stored_bytes)
        return damaged(reader, "block %llu cannot be read", number);
    if (recording_crc(0, reader->stored, header->stored_bytes) != header->stored_crc)
        return damaged(reader, "block %llu is damaged", number);
    if (header->codec == BLOCK_PLAIN) {
        memcpy(reader->contents, reader->stored, header->bytes);
        return BLOCK_READ;
    }
    size_t bytes =
        ZSTD_decompress(reader->contents, header->bytes, reader->stored, header->stored_bytes);
    if (bytes != header->bytes)
        return damaged(reader, "block %llu does not decompress", number);
    return BLOCK_READ;
}

enum block_status block_reader_next(struct block_reader *reader)
{
    struct block_header header;
    if (reader->offset >= reader->file_bytes)
        return BLOCK_NONE_LEFT;
    if (read_at(reader, &header, sizeof header, reader->offset) != sizeof header)
        return damaged(reader, "the recording is cut off in the header of block %llu",
                       (unsigned long long)reader->number);
    enum block_status status = header_check(reader, &header);
    if (status == BLOCK_READ)
        status = contents_read(reader, &header);
    if (status != BLOCK_READ)
        return status;
    reader->kind = header.kind;
    reader->bytes = header.bytes;
    reader->contents[header.bytes] = 0;
    reader->block_offset = reader->offset;
    reader->offset += sizeof header + header.stored_bytes;
    reader->number++;
    return BLOCK_READ;
}

void block_reader_close(struct block_reader *reader)
{
    free(reader->stored);
    free(reader->contents);
    *reader = (struct block_reader){.descriptor = -1};
}
