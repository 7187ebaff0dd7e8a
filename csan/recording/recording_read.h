/* Reads a recording: its facts, and its entries one by one. Each number of an entry is checked for
 * its range. Whether a lane, an event and so on exists is for the caller to check, who calls
 * recording_reader_refuse if not. Reading ends at what cannot be read, with a message that names
 * file and byte. Not thread-safe. */
#ifndef CSAN_RECORDING_RECORDING_READ_H
#define CSAN_RECORDING_RECORDING_READ_H

#include "csan/recording/recording_format.h"
#include "csan/recording/recording_set.h"

struct recorded {
    enum recording_kind kind;
    uint64_t value[FIELD_COUNT]; /* by field; 0 for fields that the kind does not have */
    const char *text, *second_text;
    const char *const *texts;
    const void *const *frames;
    size_t count; /* of texts or frames */
    const struct recording_set *set;
};

enum recorded_status {
    RECORDED_ENTRY,
    RECORDED_END,    /* as the recorded process ended it */
    RECORDED_DAMAGED /* or cut off: the message says it */
};

struct recording_reader;

/* NULL: `message` says what is wrong with the file, and where. */
struct recording_reader *recording_reader_open(const char *path, char *message,
                                               size_t message_bytes);
/* The same for an open file; `name` is for messages. The reader closes the descriptor, also when it
 * fails. Blocks of more than bytes_max (0: any) are refused. */
struct recording_reader *recording_reader_open_file(int descriptor, const char *name,
                                                    size_t bytes_max, char *message,
                                                    size_t message_bytes);
void recording_reader_close(struct recording_reader *reader);

/* The next entry: valid until the one after it. */
enum recorded_status recording_reader_next(struct recording_reader *reader,
                                           struct recorded *recorded);

/* The newest entry is impossible: reading ends, with this message. */
enum recorded_status recording_reader_refuse(struct recording_reader *reader, const char *what);

/* "app.csan: byte 4711: the recording is cut off in block 3". */
const char *recording_reader_message(const struct recording_reader *reader);

/* The facts, and after RECORDED_END those of the end, as lines "key value". `*value` receives the
 * rest of the first such line at or after `after` (NULL: the beginning). Returns where to go on;
 * NULL: there is none. */
const char *recording_reader_fact(const struct recording_reader *reader, const char *key,
                                  const char *after, char *value, size_t value_bytes);

struct recording_extent {
    uint64_t bytes, file_bytes; /* read, and of the file */
    uint64_t blocks, entries;   /* entries that say what happened, as csan record counts them */
    uint64_t contents;          /* bytes before compression */
};
struct recording_extent recording_reader_extent(const struct recording_reader *reader);

#endif
