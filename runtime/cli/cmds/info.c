/* `csan info FILE`: prints who recorded what, and how much of it, without looking for races. */
#include "csan/base/json_text.h"
#include "csan/report/finding.h"
#include "csan/recording/recording_read.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/statistics/call_statistics.h"
#include "runtime/cli/statistics/statistics.h"
#include "runtime/cli/statistics/wait_statistics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRESS_ENTRIES = 4096 };

struct totals {
    uint64_t kinds[RECORDED_KINDS], levels[CSAN_LEVEL_COUNT], accesses, nanoseconds;
    uint64_t links[CSAN_LINK_KINDS], sent_bytes; /* what joins it to other processes */
};

static void usage(FILE *out)
{
    fputs(
        "usage: csan info [options] FILE\n\n"
        "Says what is in a recording that csan record made. The exit code is 2 when it cannot be\n"
        "read to its end; the totals are of what could be read.\n\n"
        "  --statistics   also the calls by kind and device; the ops by name, with the mean bytes "
        "that\n"
        "                 each reads and writes, and how many touch how much; the waits by kind, "
        "and how\n"
        "                 many ordered nothing; the ten places whose waits are needless, with "
        "lines\n"
        "  --format=FORM  text or json: all of that as one document; csan-info.schema.json, "
        "beside\n"
        "                 csan.h, describes it\n",
        out);
}

static void count_link(struct totals *totals, const struct recorded *recorded)
{
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    if (kind >= CSAN_LINK_KINDS)
        return;
    if (kind != CSAN_LINK_TAKE || recorded->value[FIELD_HANDLE]) /* else it received nothing */
        totals->links[kind]++;
    if (kind == CSAN_LINK_NEXT || kind == CSAN_LINK_SEND)
        totals->sent_bytes += recorded->value[FIELD_BYTES];
}

static void count(struct totals *totals, const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_LINK)
        count_link(totals, recorded);
    totals->kinds[recorded->kind]++;
    if (recorded->kind == RECORDED_TIME)
        totals->nanoseconds += recorded->value[FIELD_NANOSECONDS];
    if (!recorded->set || (recorded->kind != RECORDED_OP && recorded->kind != RECORDED_RESOLVE))
        return;
    totals->levels[recorded->set->level]++;
    totals->accesses += recorded->set->count;
}

static void print_facts(const struct recording_reader *reader)
{
    static const char *const keys[] = {"csan",    "command", "directory", "machine",
                                       "process", "rank",    "device",    "options"};
    char value[4096];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (recording_reader_fact(reader, keys[i], NULL, value, sizeof value))
            printf("%-12s %s\n", keys[i], value);
    if (recording_reader_fact(reader, "started", NULL, value, sizeof value)) {
        time_t started = (time_t)strtoll(value, NULL, 10);
        struct tm parts;
        if (localtime_r(&started, &parts) &&
            strftime(value, sizeof value, "%Y-%m-%d %H:%M:%S", &parts))
            printf("%-12s %s\n", "started", value);
    }
    if (recording_reader_fact(reader, "check", NULL, value, sizeof value))
        printf("%-12s %s\n", "checked", strcmp(value, "0") == 0 ? "no, only recorded" : "yes");
}

/* What the run itself counted, such as messages of MPI; known at its end only. */
static void print_notes(const struct recording_reader *reader)
{
    char value[4096];
    for (const char *at = NULL;
         (at = recording_reader_fact(reader, "note", at, value, sizeof value));)
        printf("%-12s %s\n", "note", value);
}

/* Of csan merge --order. */
static void print_links(const struct totals *totals)
{
    const uint64_t *links = totals->links;
    const uint64_t sent = links[CSAN_LINK_SEND] + links[CSAN_LINK_NEXT];
    const uint64_t received = links[CSAN_LINK_RECEIVE] + links[CSAN_LINK_TAKE];
    const uint64_t shared = links[CSAN_LINK_SHARE] + links[CSAN_LINK_OPEN] + links[CSAN_LINK_MAP];
    const uint64_t events = links[CSAN_LINK_RECORD] + links[CSAN_LINK_WAIT];
    if (sent || received)
        printf("%-12s %" PRIu64 " sent, %" PRIu64 " bytes; %" PRIu64 " received\n", "messages",
               sent, totals->sent_bytes, received);
    if (links[CSAN_LINK_ENTER] || links[CSAN_LINK_LEAVE])
        printf("%-12s %" PRIu64 " entered, %" PRIu64 " left\n", "calls of all",
               links[CSAN_LINK_ENTER], links[CSAN_LINK_LEAVE]);
    if (shared || events)
        printf("%-12s %" PRIu64 " handles and mappings, %" PRIu64 " records and waits of events\n",
               "shared", shared, events);
}

static uint64_t ops_of(const struct totals *totals)
{
    return totals->kinds[RECORDED_OP] + totals->kinds[RECORDED_OP_PENDING];
}

static void print_ops(const struct totals *totals)
{
    const char *separator = " (";
    printf("%-12s %" PRIu64, "ops", ops_of(totals));
    for (int i = 0; i < CSAN_LEVEL_COUNT; i++) {
        if (!totals->levels[i])
            continue;
        printf("%s%" PRIu64 " %s", separator, totals->levels[i], finding_level_words(i));
        separator = ", ";
    }
    puts(separator[0] == ',' ? ")" : "");
}

static void print_totals(const struct recording_reader *reader, const struct totals *totals)
{
    struct recording_extent extent = recording_reader_extent(reader);
    uint64_t ops = ops_of(totals);
    printf("%-12s %.3f s\n", "lasted", (double)totals->nanoseconds * 1e-9);
    print_ops(totals);
    print_links(totals);
    printf("%-12s %" PRIu64 ", accesses of ops %" PRIu64 "\n", "entries", extent.entries,
           totals->accesses);
    for (int kind = 1; kind < RECORDED_KINDS; kind++)
        if (totals->kinds[kind])
            printf("  %-16s %" PRIu64 "\n", recording_forms[kind].name, totals->kinds[kind]);
    printf("%-12s %" PRIu64 " bytes in %" PRIu64 " blocks, %" PRIu64 " before compression", "size",
           extent.bytes, extent.blocks, extent.contents);
    if (ops)
        printf(", %.1f bytes an op", (double)extent.bytes / (double)ops);
    putchar('\n');
}

/* What --statistics and --format=json ask for; NULL: not wanted, or memory is short. */
struct wanted {
    struct call_statistics *calls;
    struct statistics *ops;
    struct wait_statistics *waits;
    bool json;
};

static void fact_json(struct text *text, const struct recording_reader *reader, const char *key)
{
    char value[4096];
    const bool there = recording_reader_fact(reader, key, NULL, value, sizeof value) != NULL;
    json_member_string(text, key, there ? value : NULL);
}

static void unmodelled_json(struct text *text, const struct recording_reader *reader)
{
    char value[512];
    text_add(text, "\"unmodelled\": [");
    for (const char *at = NULL;
         (at = recording_reader_fact(reader, "unmodelled", at, value, sizeof value));) {
        json_string_add(text, value);
        text_add(text, ", ");
    }
    json_comma_drop(text);
    text_add(text, "],\n ");
}

static void info_json(const struct recording_reader *reader, const struct totals *totals,
                      const struct wanted *wanted, bool complete)
{
    const struct recording_extent extent = recording_reader_extent(reader);
    struct text text = {0};
    text_add(&text, "{\"format\": \"csan-info\", \"version\": 1, \"tool\": \"csan %d.%d\",\n ",
             CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR);
    fact_json(&text, reader, "command");
    fact_json(&text, reader, "directory");
    fact_json(&text, reader, "device");
    json_member_truth(&text, "complete", complete);
    text_add(&text, "\"seconds\": %.9f,\n ", (double)totals->nanoseconds * 1e-9);
    unmodelled_json(&text, reader);
    if (wanted->calls)
        call_statistics_json(wanted->calls, &text);
    if (wanted->ops)
        statistics_json(wanted->ops, &text);
    if (wanted->waits)
        wait_statistics_json(wanted->waits, &text);
    json_member_number(&text, "ops", ops_of(totals));
    json_member_number(&text, "entries", extent.entries);
    json_member_number(&text, "bytes", extent.bytes);
    json_comma_drop(&text);
    text_add(&text, "}\n");
    fputs(text.data ? text.data : "", stdout);
    text_free(&text);
}

static void info_text(const struct recording_reader *reader, const struct totals *totals,
                      const struct wanted *wanted)
{
    shown_wrap();
    print_facts(reader);
    print_notes(reader);
    print_totals(reader, totals);
    if (wanted->calls)
        call_statistics_print(wanted->calls);
    if (wanted->ops)
        statistics_print(wanted->ops);
    if (wanted->waits)
        wait_statistics_print(wanted->waits);
}

static void progress(const struct recording_reader *reader)
{
    const struct recording_extent extent = recording_reader_extent(reader);
    shown_progress("csan info: %.0f%%", 100 * (double)extent.bytes /
                                            (double)(extent.file_bytes ? extent.file_bytes : 1));
}

static int info_print(struct recording_reader *reader, const struct wanted *wanted)
{
    struct totals totals = {0};
    struct recorded recorded = {0};
    enum recorded_status status;
    struct shown_pace pace = {0};
    uint64_t entries = 0;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        if (++entries % PROGRESS_ENTRIES == 0 && shown_is_due(&pace))
            progress(reader);
        count(&totals, &recorded);
        if (wanted->calls)
            call_statistics_take(wanted->calls, &recorded);
        if (wanted->ops)
            statistics_take(wanted->ops, &recorded);
        if (wanted->waits)
            wait_statistics_take(wanted->waits, &recorded);
    }
    shown_done(&pace);
    if (wanted->json)
        info_json(reader, &totals, wanted, status != RECORDED_DAMAGED);
    else
        info_text(reader, &totals, wanted);
    if (status != RECORDED_DAMAGED)
        return 0;
    fflush(stdout);
    fprintf(stderr, "csan info: %s\n", recording_reader_message(reader));
    return 2;
}

int command_info(int argc, char **argv)
{
    char message[PATH_MAX + 256];
    const char *path = NULL;
    bool counted = false;
    struct wanted wanted = {0};
    struct arguments arguments = arguments_of("info", usage, argc, argv);
    while (!arguments.code && arguments.at < argc) {
        if (!argument_option(&arguments))
            argument_file(&arguments, &path);
        else if (argument_is(&arguments, "--statistics"))
            counted = true;
        else if (!argument_has_json(&arguments, &wanted.json))
            argument_unknown(&arguments);
    }
    arguments_need(&arguments, path);
    if (arguments.code)
        return arguments_exit_code(arguments.code);
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    if (!reader) {
        fprintf(stderr, "csan info: %s\n", message);
        return 2;
    }
    if (counted || wanted.json) {
        wanted.calls = call_statistics_create();
        wanted.ops = statistics_create();
        wanted.waits = wait_statistics_create(reader);
    }
    int code = info_print(reader, &wanted);
    call_statistics_destroy(wanted.calls);
    statistics_destroy(wanted.ops);
    wait_statistics_destroy(wanted.waits);
    recording_reader_close(reader);
    return code;
}
