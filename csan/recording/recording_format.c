/* See recording_format.h. */
#include "csan/recording/recording_format.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

const struct recording_form recording_forms[RECORDED_KINDS] = {
    [RECORDED_OP] = {"op", {FIELD_LANE, FIELD_SET}},
    [RECORDED_OP_PENDING] = {"op-pending", {FIELD_TICKET, FIELD_LANE, FIELD_SET}},
    [RECORDED_RESOLVE] = {"resolve", {FIELD_TICKET, FIELD_SET}},
    [RECORDED_JOIN_LANE] = {"join-lane", {FIELD_LANE, FIELD_OTHER}},
    [RECORDED_JOIN] = {"join", {FIELD_LANE, FIELD_SNAPSHOT}},
    [RECORDED_SNAPSHOT] = {"snapshot", {FIELD_SNAPSHOT, FIELD_LANE}},
    [RECORDED_SNAPSHOT_ALL] = {"snapshot-all", {FIELD_SNAPSHOT}},
    [RECORDED_SNAPSHOT_EVENT] = {"snapshot-event", {FIELD_SNAPSHOT, FIELD_EVENT}},
    [RECORDED_PROMISE] = {"promise", {FIELD_SNAPSHOT}},
    [RECORDED_KEEP] = {"keep", {FIELD_SNAPSHOT, FIELD_LANE}},
    [RECORDED_RELEASE] = {"release", {FIELD_SNAPSHOT}},
    [RECORDED_EVENT] = {"event", {FIELD_EVENT}},
    [RECORDED_RECORD] = {"record", {FIELD_EVENT, FIELD_LANE}},
    [RECORDED_RECORD_SNAPSHOT] = {"record-snapshot", {FIELD_EVENT, FIELD_SNAPSHOT}},
    [RECORDED_WAIT] = {"wait", {FIELD_LANE, FIELD_EVENT}},
    [RECORDED_EVENT_DESTROY] = {"event-destroy", {FIELD_EVENT}},
    [RECORDED_LANE] = {"lane", {FIELD_LANE, FIELD_HANDLE, FIELD_TEXT}},
    [RECORDED_UNPROMISED] = {"lane-unpromised", {FIELD_LANE, FIELD_TEXT}},
    [RECORDED_LANE_DESTROY] = {"lane-destroy", {FIELD_LANE}},
    [RECORDED_BIRTH] = {"birth", {FIELD_MEMORY, FIELD_LANE, FIELD_SITE, FIELD_BASE, FIELD_BYTES}},
    [RECORDED_FREE_BEGIN] = {"free-begin",
                             {FIELD_FREE, FIELD_LANE, FIELD_SITE, FIELD_BASE, FIELD_FLAGS}},
    [RECORDED_FREE_END] = {"free-end", {FIELD_FREE, FIELD_FLAGS}},
    [RECORDED_POOL_ALLOC] = {"pool-alloc", {FIELD_LANE, FIELD_SITE, FIELD_BASE, FIELD_BYTES}},
    [RECORDED_POOL_FREE] = {"pool-free", {FIELD_LANE, FIELD_SITE, FIELD_BASE}},
    [RECORDED_DRAIN] = {"drain", {FIELD_NONE}},
    [RECORDED_CLEAR] = {"clear-races", {FIELD_NONE}},
    [RECORDED_CONTEXT] = {"context", {FIELD_CONTEXT}},
    [RECORDED_BRANCH] = {"branch", {FIELD_CONTEXT, FIELD_PARENT}},
    [RECORDED_BRANCH_END] = {"branch-end", {FIELD_CONTEXT}},
    [RECORDED_TIME] = {"time", {FIELD_NANOSECONDS}},
    [RECORDED_SITE] = {"site", {FIELD_SITE, FIELD_STACK, FIELD_TEXT, FIELD_TEXTS}},
    [RECORDED_STACK] = {"stack", {FIELD_STACK, FIELD_FRAMES}},
    [RECORDED_MODULE] = {"module",
                         {FIELD_ADDRESS, FIELD_BYTES, FIELD_HANDLE, FIELD_TEXT, FIELD_SECOND_TEXT}},
    [RECORDED_SOURCE_LINE] = {"source-line",
                              {FIELD_ADDRESS, FIELD_LINE, FIELD_TEXT, FIELD_SECOND_TEXT}},
    [RECORDED_HOST_LANE] = {"lane-host", {FIELD_LANE, FIELD_FLAGS, FIELD_TEXT}},
    [RECORDED_SAME_OPERATOR] = {"sibling", {FIELD_LANE, FIELD_OTHER, FIELD_FIRST, FIELD_LAST}},
    [RECORDED_LANE_KIND] = {"lane-kind", {FIELD_LANE, FIELD_FLAGS, FIELD_SITE}},
    [RECORDED_LANE_NAME] = {"lane-name", {FIELD_LANE, FIELD_TEXT}},
    [RECORDED_LANE_PART] = {"lane-part", {FIELD_LANE, FIELD_OTHER}},
    [RECORDED_LAUNCHED_SITE] = {"site-launched", {FIELD_SITE, FIELD_STACK}},
    [RECORDED_FRAMEWORK] = {"framework", {FIELD_NONE}},
    [RECORDED_CLOCK] = {"clock", {FIELD_NANOSECONDS}}, /* since 1970, as of the next time */
    [RECORDED_STEP] = {"step", {FIELD_LANE, FIELD_FLAGS, FIELD_FIRST, FIELD_LAST, FIELD_SITE}},
    [RECORDED_LANE_AS] = {"lane-as", {FIELD_LANE, FIELD_HANDLE, FIELD_FLAGS, FIELD_TEXT}},
    [RECORDED_RANGES] = {"ranges", {FIELD_TEXT}}, /* that ops are made in from here on */
    [RECORDED_KERNEL] = {"kernel", {FIELD_TEXT, FIELD_SECOND_TEXT}}, /* name; where it is defined */
    [RECORDED_JUDGED] = {"judged", {FIELD_LANE, FIELD_FLAGS, FIELD_ADDRESS, FIELD_SET}},
    [RECORDED_FINDING] = {"finding",
                          {FIELD_LANE, FIELD_SITE, FIELD_LAST, FIELD_ADDRESS, FIELD_BYTES,
                           FIELD_TEXTS}},
    [RECORDED_HOST_CHANGE] = {"host-change",
                              {FIELD_LANE, FIELD_SITE, FIELD_OTHER, FIELD_FIRST, FIELD_LAST,
                               FIELD_SET}},
    [RECORDED_LINK] = {"link",
                       {FIELD_LANE, FIELD_FLAGS, FIELD_HANDLE, FIELD_FIRST, FIELD_LAST,
                        FIELD_ADDRESS, FIELD_BYTES, FIELD_NANOSECONDS}},
    [RECORDED_AT] = {"at", {FIELD_TENTHS}}, /* when the entry behind it was made */
};

const char *const recording_field_names[FIELD_COUNT] = {
    [FIELD_LANE] = "lane",         [FIELD_OTHER] = "other",
    [FIELD_SNAPSHOT] = "snapshot", [FIELD_EVENT] = "event",
    [FIELD_FREE] = "free",         [FIELD_TICKET] = "ticket",
    [FIELD_SITE] = "site",         [FIELD_STACK] = "stack",
    [FIELD_CONTEXT] = "context",   [FIELD_PARENT] = "parent",
    [FIELD_BYTES] = "bytes",       [FIELD_MEMORY] = "memory",
    [FIELD_FLAGS] = "flags",       [FIELD_NANOSECONDS] = "nanoseconds",
    [FIELD_FIRST] = "first",       [FIELD_LAST] = "last",
    [FIELD_TENTHS] = "tenths",     [FIELD_HANDLE] = "handle",
    [FIELD_ADDRESS] = "address",   [FIELD_LINE] = "line",
    [FIELD_BASE] = "base",         [FIELD_TEXT] = "text",
    [FIELD_SECOND_TEXT] = "text",  [FIELD_TEXTS] = "texts",
    [FIELD_FRAMES] = "frames",     [FIELD_SET] = "set",
};

bool recording_kind_happens(enum recording_kind kind)
{
    switch (kind) {
    case RECORDED_PROMISE:
    case RECORDED_EVENT:
    case RECORDED_CONTEXT:
    case RECORDED_TIME:
    case RECORDED_AT:
    case RECORDED_SITE:
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
    case RECORDED_CLOCK:
    case RECORDED_FRAMEWORK:
    case RECORDED_LAUNCHED_SITE:
    case RECORDED_KERNEL:
        return false;
    default:
        return true;
    }
}

/* Bit by bit: only blocks that are compressed already go through here. */
uint32_t recording_crc(uint32_t crc, const void *bytes, size_t count)
{
    static const uint32_t nibbles[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                         0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                         0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ nibbles[crc & 15];
        crc = crc >> 4 ^ nibbles[crc & 15];
    }
    return ~crc;
}

bool byte_buffer_reserve_slow(struct byte_buffer *buffer, size_t bytes)
{
    if (buffer->failed || bytes > SIZE_MAX - buffer->length ||
        !array_reserve(&buffer->data, buffer->length + bytes, &buffer->capacity, 4096, SIZE_MAX, 1))
        buffer->failed = true;
    return !buffer->failed;
}

void byte_buffer_put_text(struct byte_buffer *buffer, const char *text)
{
    size_t length = strlen(text);
    if (!byte_buffer_reserve(buffer, NUMBER_BYTES_MAX + length + 1 + ENTRY_BYTES_MAX))
        return;
    byte_buffer_put(buffer, length);
    memcpy(buffer->data + buffer->length, text, length + 1);
    buffer->length += length + 1;
}

uint64_t byte_cursor_number_slow(struct byte_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
        uint8_t byte = *cursor->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->failed = true;
    cursor->at = cursor->end;
    return 0;
}

size_t byte_cursor_count(struct byte_cursor *cursor)
{
    uint64_t count = byte_cursor_number(cursor);
    if (count <= (uint64_t)(cursor->end - cursor->at))
        return (size_t)count;
    cursor->failed = true;
    cursor->at = cursor->end;
    return 0;
}

const char *byte_cursor_text(struct byte_cursor *cursor)
{
    size_t length = byte_cursor_count(cursor);
    const char *text = (const char *)cursor->at;
    if (length < (size_t)(cursor->end - cursor->at) && !text[length]) {
        cursor->at += length + 1;
        return text;
    }
    cursor->failed = true;
    cursor->at = cursor->end;
    return "";
}
