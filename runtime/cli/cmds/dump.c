/* `csan dump FILE`: prints a recording as text, one entry a line, in the detector's order. Ops,
 * births and frees have the numbers that reports and csan_race_access use. */
#include "csan/recording/recording_block.h"
#include "csan/report/finding.h"
#include "csan/recording/recording_read.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/dump_launches.h"
#include "runtime/cli/site_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dump {
    struct site_table sites;
    uint64_t number;
};

static void usage(FILE *out)
{
    fputs(
        "usage: csan dump [--entries | --launches] FILE\n\n"
        "Prints a recording that csan record made, one entry a line. The exit code is 2 when it\n"
        "cannot be read to its end; what could be read is printed.\n\n"
        "  --entries   the bytes of the entries instead, decompressed and without their blocks:\n"
        "              csan/recording/recording_format.h says what they mean\n"
        "  --launches  what the launches that were traced touched, one a line, without addresses:\n"
        "              those of two runs can be compared once they are sorted\n",
        out);
}

/* ---- fields */

static void print_text(const char *text)
{
    putchar('"');
    site_text_print(text);
    putchar('"');
}

static void print_access(const struct csan_access *access, const struct named_site *site)
{
    static const char *const kinds[] = {"?", "read", "write", "atomic"};
    static const char *const bounds[] = {"",          " <=direction", " <=data",  " <=guard",
                                         " <=budget", " <=annotated", " <=shape", " <=object"};
    static const char *const orders[] = {"", " acquires", " releases", " acquires and releases"};
    printf("\n    %s 0x%" PRIx64, kinds[access->kind], access->base);
    if (access->bytes == CSAN_TO_END)
        fputs(" to the end", stdout);
    else
        printf(" + %" PRIu64, access->bytes);
    for (uint8_t k = 0; k < access->dim_count; k++)
        printf(" x (%" PRId64 ", %" PRIu64 ")", access->dims[k].stride, access->dims[k].count);
    if (access->element_bytes)
        printf(" of %u", access->element_bytes);
    fputs(orders[access->order & 3], stdout);
    fputs(bounds[access->bound], stdout);
    if (site && access->argument < site->count && site->arguments[access->argument]) {
        putchar(' ');
        print_text(site->arguments[access->argument]);
    }
}

static void print_set(const struct dump *dump, const struct recording_set *set)
{
    const struct named_site *site = site_table_find(&dump->sites, set->site);
    printf(" %s", finding_level_name(set->level));
    if (set->site)
        printf(" site %u ", set->site);
    if (site)
        print_text(site->name);
    for (size_t i = 0; i < set->count; i++)
        print_access(&set->accesses[i], site);
}

static void print_field(const struct dump *dump, const struct recorded *recorded,
                        enum recording_field field)
{
    const struct named_site *site;
    switch (field) {
    case FIELD_TEXT:
    case FIELD_SECOND_TEXT:
        putchar(' ');
        print_text(field == FIELD_TEXT ? recorded->text : recorded->second_text);
        return;
    case FIELD_TEXTS:
        for (size_t i = 0; i < recorded->count; i++) {
            putchar(' ');
            print_text(recorded->texts[i]);
        }
        return;
    case FIELD_FRAMES:
        for (size_t i = 0; i < recorded->count; i++)
            printf(" 0x%" PRIxPTR, (uintptr_t)recorded->frames[i]);
        return;
    case FIELD_SET:
        print_set(dump, recorded->set);
        return;
    case FIELD_BASE:
    case FIELD_ADDRESS:
    case FIELD_HANDLE:
        printf(" %s 0x%" PRIx64, recording_field_names[field], recorded->value[field]);
        return;
    default:
        printf(" %s %" PRIu64, recording_field_names[field], recorded->value[field]);
        site = field == FIELD_SITE ? site_table_find(&dump->sites, recorded->value[field]) : NULL;
        if (site && recorded->kind != RECORDED_SITE) {
            putchar(' ');
            print_text(site->name);
        }
    }
}

static bool has_number(enum recording_kind kind)
{
    return kind == RECORDED_OP || kind == RECORDED_OP_PENDING || kind == RECORDED_BIRTH ||
           kind == RECORDED_FREE_BEGIN;
}

static void print_entry(struct dump *dump, const struct recorded *recorded)
{
    const struct recording_form *form = &recording_forms[recorded->kind];
    if (recorded->kind == RECORDED_SITE)
        site_table_keep(&dump->sites, recorded);
    if (has_number(recorded->kind))
        printf("#%" PRIu64 " ", ++dump->number);
    fputs(form->name, stdout);
    for (int i = 0; i < RECORDING_FIELDS_MAX && form->fields[i]; i++)
        print_field(dump, recorded, form->fields[i]);
    putchar('\n');
}

static enum recorded_status entries_print(struct recording_reader *reader)
{
    struct dump dump = {0};
    struct recorded recorded;
    enum recorded_status status;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY && !ferror(stdout))
        print_entry(&dump, &recorded);
    fflush(stdout);
    site_table_free(&dump.sites);
    return status;
}

static int entries_dump(const char *path)
{
    struct block_reader blocks;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        fprintf(stderr, "csan dump: %s: %s\n", path, strerror(errno));
        return 2;
    }
    enum block_status status = block_reader_open(&blocks, file);
    while (status == BLOCK_READ && (status = block_reader_next(&blocks)) == BLOCK_READ)
        if (blocks.kind == BLOCK_ENTRIES)
            fwrite(blocks.contents, 1, blocks.bytes, stdout);
    if (status == BLOCK_DAMAGED)
        fprintf(stderr, "csan dump: %s: byte %llu: %s\n", path, (unsigned long long)blocks.offset,
                blocks.message);
    block_reader_close(&blocks);
    close(file);
    return status == BLOCK_DAMAGED ? 2 : 0;
}

int command_dump(int argc, char **argv)
{
    char message[PATH_MAX + 256];
    bool entries = false, launches = false;
    const char *path = NULL;
    struct arguments arguments = arguments_of("dump", usage, argc, argv);
    while (!arguments.code && arguments.at < argc) {
        if (!argument_option(&arguments))
            argument_file(&arguments, &path);
        else if (argument_is(&arguments, "--entries"))
            entries = true;
        else if (argument_is(&arguments, "--launches"))
            launches = true;
        else
            argument_unknown(&arguments);
    }
    arguments_need(&arguments, path);
    if (entries && launches && !arguments.code)
        arguments_fail(&arguments, "--entries and --launches do not go together");
    if (arguments.code || !path)
        return arguments_exit_code(arguments.code);
    if (entries)
        return entries_dump(path);
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    if (!reader) {
        fprintf(stderr, "csan dump: %s\n", message);
        return 2;
    }
    enum recorded_status status = launches ? launches_dump(reader) : entries_print(reader);
    if (status == RECORDED_DAMAGED)
        fprintf(stderr, "csan dump: %s\n", recording_reader_message(reader));
    recording_reader_close(reader);
    return status == RECORDED_DAMAGED ? 2 : 0;
}
