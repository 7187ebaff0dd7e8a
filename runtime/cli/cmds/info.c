/* `csan info FILE`: prints who recorded what, and how much of it, without looking for races. */
#include "csan/report/finding.h"
#include "csan/recording/recording_read.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/statistics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct totals {
    uint64_t kinds[RECORDED_KINDS], levels[CSAN_LEVEL_COUNT], accesses, nanoseconds;
    uint64_t links[CSAN_LINK_KINDS], sent_bytes; /* what joins it to other processes */
};

static void usage(FILE *out)
{
    fputs(
        "usage: csan info [--statistics] FILE\n\n"
        "Says what is in a recording that csan record made. The exit code is 2 when it cannot be\n"
        "read to its end; the totals are of what could be read.\n\n"
        "  --statistics  also the ops by name, with the mean bytes that each reads and writes, "
        "and\n"
        "                how many touch how much\n",
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

static int info_print(struct recording_reader *reader, struct statistics *statistics)
{
    struct totals totals = {0};
    struct recorded recorded = {0};
    enum recorded_status status;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        count(&totals, &recorded);
        if (statistics)
            statistics_take(statistics, &recorded);
    }
    print_facts(reader);
    print_notes(reader);
    print_totals(reader, &totals);
    if (statistics)
        statistics_print(statistics);
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
    bool wanted = false;
    struct arguments arguments = arguments_of("info", usage, argc, argv);
    while (!arguments.code && arguments.at < argc) {
        if (!argument_option(&arguments))
            argument_file(&arguments, &path);
        else if (argument_is(&arguments, "--statistics"))
            wanted = true;
        else
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
    struct statistics *statistics = wanted ? statistics_create() : NULL;
    int code = info_print(reader, statistics);
    statistics_destroy(statistics);
    recording_reader_close(reader);
    return code;
}
