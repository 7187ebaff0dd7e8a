/* The form of a recording: what csan record writes and csan replay, dump and info read. All numbers
 * are little endian.
 *
 *   file   = head, then blocks to its end
 *   head   = RECORDING_MAGIC, u16 major, u16 minor, u32 crc of these twelve bytes
 *   block  = header of 32 bytes (struct block_header in recording_block.h), then its stored bytes:
 *            FACTS    text, "key value" lines: who recorded what; also the table of entries below,
 *                     so that a recording says itself how it is read. The first block.
 *            ENTRIES  entries; they may refer to what earlier blocks defined
 *            END      text, "key value" lines that are known at the end. Without it the process was
 *                     killed, or the file is cut off.
 *   entry  = u8 kind, then the fields of that kind
 *   field  = an unsigned number in LEB128, seven bits a byte, low ones first, unless it is
 *            base       difference to the base last written, zigzag
 *            text       length, bytes, NUL
 *            texts      number, then texts
 *            frames     number, then each as difference to the one before, zigzag
 *            set        an access set: recording_set.h
 *
 * A newer minor version may add kinds, facts and levels, and is refused by an older reader as a
 * newer major one is: entries that are left out would be order that is left out. */
#ifndef CSAN_RECORDING_RECORDING_FORMAT_H
#define CSAN_RECORDING_RECORDING_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC "\211CSAN\r\n\032"

enum {
    RECORDING_MAJOR = 1,
    RECORDING_MINOR = 15,
    RECORDING_HEAD_BYTES = 16,
    RECORDING_FIELDS_MAX = 8
};

enum recording_field {
    FIELD_NONE,
    FIELD_LANE,
    FIELD_OTHER, /* a second lane */
    FIELD_SNAPSHOT,
    FIELD_EVENT,
    FIELD_FREE,
    FIELD_TICKET,
    FIELD_SITE,
    FIELD_STACK,
    FIELD_CONTEXT,
    FIELD_PARENT, /* a context */
    FIELD_BYTES,
    FIELD_MEMORY,      /* enum csan_memory_kind */
    FIELD_FLAGS,       /* of the entry's kind; of a host's lane: enum csan_host_lane; of a
                          role: enum csan_lane_role; of what is judged: enum context_judged; of a
                          link: enum csan_link_kind */
    FIELD_FIRST,       /* op's number; of a link: its number */
    FIELD_LAST,        /* the same; of a finding: the site of the call that reported it; of a
                          change by the host: the op's sequence number in its lane */
    FIELD_NANOSECONDS, /* since the last such entry; of a link: of CLOCK_MONOTONIC */
    FIELD_TENTHS,      /* of a microsecond: since the last such entry, the first since 1970 */
    FIELD_HANDLE,
    FIELD_ADDRESS,
    FIELD_LINE,
    FIELD_BASE, /* from here on not a plain number */
    FIELD_TEXT,
    FIELD_SECOND_TEXT,
    FIELD_TEXTS,
    FIELD_FRAMES,
    FIELD_SET,
    FIELD_COUNT
};

enum recording_kind {
    RECORDED_NOTHING,
    RECORDED_OP,
    RECORDED_OP_PENDING,
    RECORDED_RESOLVE,
    RECORDED_JOIN_LANE,
    RECORDED_JOIN,
    RECORDED_SNAPSHOT,
    RECORDED_SNAPSHOT_ALL,
    RECORDED_SNAPSHOT_EVENT,
    RECORDED_PROMISE,
    RECORDED_KEEP,
    RECORDED_RELEASE,
    RECORDED_EVENT,
    RECORDED_RECORD,
    RECORDED_RECORD_SNAPSHOT,
    RECORDED_WAIT,
    RECORDED_EVENT_DESTROY,
    RECORDED_LANE,
    RECORDED_UNPROMISED,
    RECORDED_LANE_DESTROY,
    RECORDED_BIRTH,
    RECORDED_FREE_BEGIN,
    RECORDED_FREE_END,
    RECORDED_POOL_ALLOC,
    RECORDED_POOL_FREE,
    RECORDED_DRAIN,
    RECORDED_CLEAR,
    RECORDED_CONTEXT,
    RECORDED_BRANCH,
    RECORDED_BRANCH_END,
    RECORDED_TIME,
    RECORDED_SITE,
    RECORDED_STACK,
    RECORDED_MODULE,
    RECORDED_SOURCE_LINE,
    RECORDED_HOST_LANE,
    RECORDED_SAME_OPERATOR,
    RECORDED_LANE_KIND,
    RECORDED_LANE_NAME,
    RECORDED_LANE_PART,
    RECORDED_STEP,
    RECORDED_LAUNCHED_SITE,
    RECORDED_FRAMEWORK,
    RECORDED_CLOCK,
    RECORDED_LANE_AS,
    RECORDED_RANGES,
    RECORDED_KERNEL,
    RECORDED_JUDGED,
    RECORDED_FINDING,
    RECORDED_HOST_CHANGE,
    RECORDED_LINK,
    RECORDED_AT,
    RECORDED_KINDS
};

/* FIELD_FLAGS of the two halves of a free. */
enum {
    RECORDED_CHECKED = 1,
    RECORDED_IGNORED = 2,
    RECORDED_FAILED = 1,
    RECORDED_WAITED = 2,
    RECORDED_FORGOTTEN = 4
};

struct recording_form {
    const char *name;
    uint8_t fields[RECORDING_FIELDS_MAX]; /* enum recording_field, up to FIELD_NONE */
};
extern const struct recording_form recording_forms[RECORDED_KINDS];
/* Whether entries of the kind say what happened, and not what others refer to, or when. */
bool recording_kind_happens(enum recording_kind kind);
extern const char *const recording_field_names[FIELD_COUNT];

/* CRC-32 of IEEE 802.3, as zlib's and gzip's. `crc`: of the bytes before, 0 at the beginning. */
uint32_t recording_crc(uint32_t crc, const void *bytes, size_t count);

/* ---- bytes that are written: the buffer grows as needed; when memory is short, `failed` is set
 * and stays */

struct byte_buffer {
    uint8_t *data;
    size_t length, capacity;
    bool failed;
};

/* Makes room for `bytes` more; false when memory is short. */
bool byte_buffer_reserve_slow(struct byte_buffer *buffer, size_t bytes);
static inline bool byte_buffer_reserve(struct byte_buffer *buffer, size_t bytes)
{
    return buffer->capacity - buffer->length >= bytes || byte_buffer_reserve_slow(buffer, bytes);
}

/* ENTRY_BYTES_MAX: an entry without set, text or frames. */
enum { NUMBER_BYTES_MAX = 10, ENTRY_BYTES_MAX = 1 + RECORDING_FIELDS_MAX * NUMBER_BYTES_MAX };

/* Returns where to go on. */
static inline uint8_t *number_write(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Room was reserved. */
static inline void byte_buffer_put(struct byte_buffer *buffer, uint64_t value)
{
    buffer->length = (size_t)(number_write(buffer->data + buffer->length, value) - buffer->data);
}
/* Makes room for the text, and for the entry's other fields behind it. */
void byte_buffer_put_text(struct byte_buffer *buffer, const char *text);

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}
static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* ---- bytes that are read: past the end, or nonsense, `failed` is set and numbers are 0 */

struct byte_cursor {
    const uint8_t *at, *end;
    bool failed;
};

uint64_t byte_cursor_number_slow(struct byte_cursor *cursor);
static inline uint64_t byte_cursor_number(struct byte_cursor *cursor)
{
    if (cursor->at < cursor->end && *cursor->at < 0x80)
        return *cursor->at++;
    return byte_cursor_number_slow(cursor);
}
/* A count of things of which each takes at least one more byte. */
size_t byte_cursor_count(struct byte_cursor *cursor);
const char *byte_cursor_text(struct byte_cursor *cursor);

#endif
