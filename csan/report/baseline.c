/* See baseline.h. */
#include "csan/report/baseline.h"
#include "csan/base/array.h"
#include "csan/base/environment.h"
#include "csan/report/fingerprint.h"
#include "csan/recording/recording_format.h"
#include "csan/base/regular_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FINGERPRINTS_MAX = 1 << 20,
    REPORT_VERSION_MAX = 1,
    WORD_BYTES = 32,               /* kept of a string: longer than all that matter here */
    PIECE_BYTES = 16 << 10,        /* read at once */
    VARIABLE_BYTES_MAX = 120 << 10 /* below Linux' limit for one string, MAX_ARG_STRLEN */
};

struct baseline {
    uint64_t *items;
    size_t count, capacity;
    bool sorted;
};

/* ---- the set */

struct baseline *baseline_create(void)
{
    return calloc(1, sizeof(struct baseline));
}

void baseline_free(struct baseline *baseline)
{
    if (baseline)
        free(baseline->items);
    free(baseline);
}

bool baseline_add(struct baseline *baseline, uint64_t fingerprint)
{
    if (!array_room(&baseline->items, baseline->count, &baseline->capacity, 64, FINGERPRINTS_MAX,
                    sizeof *baseline->items))
        return false;
    baseline->items[baseline->count++] = fingerprint;
    baseline->sorted = false;
    return true;
}

static int in_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool baseline_has(struct baseline *baseline, uint64_t fingerprint)
{
    if (!baseline->count)
        return false;
    if (!baseline->sorted)
        qsort(baseline->items, baseline->count, sizeof *baseline->items, in_order);
    baseline->sorted = true;
    return bsearch(&fingerprint, baseline->items, baseline->count, sizeof fingerprint, in_order) !=
           NULL;
}

/* ---- a report in JSON, byte by byte: members by the names "format", "version",
 * "fingerprint_version" at its top, and "fingerprint" anywhere */

struct scanner {
    struct baseline *baseline;
    char word[WORD_BYTES], key[WORD_BYTES]; /* the last string or number, and the member's name */
    size_t length;
    unsigned depth;
    bool in_string, escaped, in_number;
    bool begun, ended, is_report;
    unsigned long version, fingerprint_version;
    const char *wrong;
};

static void keep(struct scanner *scanner, char c)
{
    if (scanner->length < WORD_BYTES - 1)
        scanner->word[scanner->length++] = c;
    else
        scanner->length = WORD_BYTES; /* too long to be one that matters */
}

static void word_begin(struct scanner *scanner)
{
    scanner->length = 0;
}

static bool word_end(struct scanner *scanner)
{
    if (scanner->length >= WORD_BYTES)
        scanner->length = 0;
    scanner->word[scanner->length] = '\0';
    return scanner->length > 0;
}

static bool key_is(const struct scanner *scanner, const char *name)
{
    return strcmp(scanner->key, name) == 0;
}

static void take_string(struct scanner *scanner)
{
    uint64_t fingerprint;
    word_end(scanner);
    if (key_is(scanner, "format") && scanner->depth == 1)
        scanner->is_report = strcmp(scanner->word, "csan-report") == 0;
    if (!key_is(scanner, "fingerprint"))
        return;
    if (!fingerprint_read(scanner->word, &fingerprint))
        scanner->wrong = "one of its fingerprints is damaged";
    else if (!baseline_add(scanner->baseline, fingerprint))
        scanner->wrong = "it has too many races, or memory is short";
}

static void take_number(struct scanner *scanner)
{
    word_end(scanner);
    scanner->in_number = false;
    if (scanner->depth != 1)
        return;
    if (key_is(scanner, "version"))
        scanner->version = strtoul(scanner->word, NULL, 10);
    else if (key_is(scanner, "fingerprint_version"))
        scanner->fingerprint_version = strtoul(scanner->word, NULL, 10);
}

static void in_string(struct scanner *scanner, char c)
{
    if (!scanner->escaped && c == '"') {
        scanner->in_string = false;
        take_string(scanner);
        return;
    }
    scanner->escaped = !scanner->escaped && c == '\\';
    keep(scanner, c);
}

static void outside(struct scanner *scanner, char c)
{
    if (c == '"') {
        scanner->in_string = true;
        word_begin(scanner);
    } else if (c == ':') {
        word_end(scanner);
        memcpy(scanner->key, scanner->word, sizeof scanner->key);
    } else if (c == '{' || c == '[') {
        scanner->depth++;
        scanner->key[0] = '\0';
    } else if (c == ',') {
        scanner->key[0] = '\0';
    } else if (c == '}' || c == ']') {
        scanner->key[0] = '\0';
        scanner->ended = --scanner->depth == 0;
    } else if (c >= '0' && c <= '9') {
        scanner->in_number = true;
        word_begin(scanner);
        keep(scanner, c);
    }
}

static void scan(struct scanner *scanner, char c)
{
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (scanner->in_string) {
        in_string(scanner, c);
        return;
    }
    if (scanner->in_number) {
        if (c >= '0' && c <= '9') {
            keep(scanner, c);
            return;
        }
        take_number(scanner);
    }
    if (blank)
        return;
    if (scanner->ended)
        scanner->wrong = "something follows its end";
    else if (!scanner->begun && c != '{')
        scanner->wrong = "it is no report of csan's in JSON";
    else
        outside(scanner, c);
    scanner->begun = true;
}

static const char *judge(const struct scanner *scanner)
{
    if (scanner->wrong)
        return scanner->wrong;
    if (!scanner->begun)
        return "it is empty";
    if (!scanner->ended)
        return "it is cut off";
    if (!scanner->is_report)
        return "it is no report of csan's in JSON";
    if (scanner->version > REPORT_VERSION_MAX || scanner->fingerprint_version > FINGERPRINT_VERSION)
        return "it was written by a newer csan";
    if (scanner->fingerprint_version < FINGERPRINT_VERSION)
        return "it was written by an older csan, whose fingerprints are others; convert it: csan "
               "report --format=json -o NEW OLD";
    return NULL;
}

static const char *scan_file(struct scanner *scanner, int file)
{
    char piece[PIECE_BYTES];
    ssize_t bytes;
    while (!scanner->wrong && (bytes = read(file, piece, sizeof piece)) != 0) {
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0)
            return strerror(errno);
        for (ssize_t i = 0; i < bytes && !scanner->wrong; i++)
            scan(scanner, piece[i]);
    }
    return judge(scanner);
}

static bool is_recording(int file)
{
    char magic[sizeof RECORDING_MAGIC - 1];
    return pread(file, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           memcmp(magic, RECORDING_MAGIC, sizeof magic) == 0;
}

static const char *read_file(struct baseline *baseline, const char *path)
{
    struct scanner scanner = {.baseline = baseline};
    const char *wrong;
    int file = regular_file_open(path, &wrong);
    if (file < 0)
        return wrong;
    wrong = is_recording(file) ? "it is a recording, which csan run reads, but not the program "
                                 "itself; make a report of it: csan report --format=json -o FILE "
                                 "RECORDING"
                               : scan_file(&scanner, file);
    close(file);
    return wrong;
}

bool baseline_is_recording(const char *path)
{
    const char *wrong;
    int file = regular_file_open(path, &wrong);
    if (file < 0)
        return false;
    bool is = is_recording(file);
    close(file);
    return is;
}

/* ---- the environment */

/* What follows this path in the variable, or NULL. */
static const char *handed_over(const char *path)
{
    const char *value = environment_get("CSAN_BASELINE");
    size_t length = strlen(path);
    return value && strncmp(value, path, length) == 0 && value[length] == '\n' ? value + length + 1
                                                                               : NULL;
}

static const char *read_words(struct baseline *baseline, const char *words)
{
    char word[17];
    uint64_t fingerprint;
    while (*words) {
        snprintf(word, sizeof word, "%.16s", words);
        if (!fingerprint_read(word, &fingerprint) || !baseline_add(baseline, fingerprint))
            return "what CSAN_BASELINE has of it is damaged";
        words += strlen(word);
        words += *words == ' ';
    }
    return NULL;
}

char *baseline_to_environment(struct baseline *baseline, const char *path)
{
    size_t bytes = strlen(path) + 2 + baseline->count * 17, length;
    char *value = bytes <= VARIABLE_BYTES_MAX ? malloc(bytes) : NULL;
    if (!value)
        return NULL;
    length = (size_t)snprintf(value, bytes, "%s\n", path);
    for (size_t i = 0; i < baseline->count; i++)
        length += (size_t)snprintf(value + length, bytes - length, "%s%016" PRIx64, i ? " " : "",
                                   baseline->items[i]);
    return value;
}

struct baseline *baseline_read(const char *path, char *message, size_t message_bytes)
{
    struct baseline *baseline = baseline_create();
    const char *words = handed_over(path);
    const char *wrong = !baseline ? "there is no memory"
                        : words   ? read_words(baseline, words)
                                  : read_file(baseline, path);
    if (!wrong)
        return baseline;
    snprintf(message, message_bytes, "%s: %s", path, wrong);
    baseline_free(baseline);
    return NULL;
}
