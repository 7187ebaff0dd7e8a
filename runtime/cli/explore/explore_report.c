/* Prints the result of csan explore: each race in csan's words, whether it is confirmed, and how to
 * replay the two schedules that show it. */
#include "runtime/cli/process/child.h"
#include "runtime/cli/explore/explore.h"

#include <stdio.h>
#include <string.h>

/* As a shell reads it back. */
static void word_add(struct text *text, const char *word)
{
    if (*word && !word[strcspn(word, " \t\n'\"\\$&;|<>()*?[]#~`!{}")]) {
        text_add(text, " %s", word);
        return;
    }
    text_add(text, " '");
    for (const char *at = word; *at; at++)
        text_add(text, *at == '\'' ? "'\\''" : "%c", *at);
    text_add(text, "'");
}

bool explore_schedule_path(const struct explorer *explorer, const struct evidence *evidence,
                           int which, char path[SCRATCH_PATH])
{
    const struct run run = {.number = evidence->runs[which]};
    run_schedule_path(&run, &explorer->settings, path);
    return explorer->keep != NULL;
}

void explore_command_add(struct text *text, const struct explorer *explorer,
                         const struct evidence *evidence, int which)
{
    char path[SCRATCH_PATH], option[SCRATCH_PATH + 32];
    if (explore_schedule_path(explorer, evidence, which, path))
        snprintf(option, sizeof option, "--schedule=replay:%s", path);
    else
        snprintf(option, sizeof option, "--schedule=%s", evidence->schedules[which]);
    text_add(text, "csan run --device=embedded");
    word_add(text, option);
    text_add(text, " --");
    for (char **argument = explorer->program.arguments; *argument; argument++)
        word_add(text, *argument);
}

static void print_evidence(const struct explorer *explorer, const struct evidence *evidence)
{
    printf("  What differs: %s. The two schedules:\n", evidence->what);
    for (int i = 0; i < 2; i++) {
        struct text text = {0};
        explore_command_add(&text, explorer, evidence, i);
        printf("    %s\n", text.data ? text.data : "");
        text_free(&text);
    }
}

static void print_finding(const struct explorer *explorer, size_t index)
{
    const struct explored_race *finding = &explorer->findings[index];
    const char *separator = "";
    printf("============================\n%sFirst reported with --schedule=%s.\n",
           finding->text ? finding->text
                         : "(A race whose report is not known: the same schedule, run again with "
                           "symbols, did not show it.)\n",
           finding->schedule);
    if (finding->alone) {
        printf("CONFIRMED (race %zu): two legal schedules end differently. Of the reported races "
               "they differ in this one alone.\n",
               index + 1);
    } else if (finding->together) {
        printf("CONFIRMED (race %zu) together with race ", index + 1);
        for (size_t i = 0; i < explorer->finding_count; i++)
            if (i != index && (finding->together >> i & 1)) {
                printf("%s%zu", separator, i + 1);
                separator = ", ";
            }
        printf(": no two schedules were found that distinguish them.\n");
    } else if (finding->in_vain) {
        printf("not confirmed (race %zu): its accesses came in another order in %u runs, which "
               "ended equal.\n",
               index + 1, finding->in_vain);
    } else {
        printf("not confirmed (race %zu): no run had its accesses in another order.\n", index + 1);
    }
    if (finding_confirmed(finding))
        print_evidence(explorer, &finding->evidence);
}

/* What suppressions or a baseline name is only counted. */
static void print_findings(const struct explorer *explorer)
{
    size_t printed = 0;
    for (size_t i = 0; i < explorer->finding_count; i++) {
        if (explorer->findings[i].race.suppressed)
            continue;
        print_finding(explorer, i);
        printed++;
    }
    if (printed)
        printf("============================\n");
}

static void print_sum(const struct explorer *explorer)
{
    unsigned races = 0, confirmed = 0, suppressed = 0;
    for (size_t i = 0; i < explorer->finding_count; i++) {
        bool hidden = explorer->findings[i].race.suppressed;
        suppressed += hidden;
        races += !hidden;
        confirmed += !hidden && finding_confirmed(&explorer->findings[i]);
    }
    printf("csan explore: %u schedule%s, %zu%s different result%s; %u race%s, %u confirmed",
           explorer->made, explorer->made == 1 ? "" : "s", explorer->kept_count,
           explorer->kept_count == MOST_KEPT ? " or more" : "",
           explorer->kept_count == 1 ? "" : "s", races, races == 1 ? "" : "s", confirmed);
    if (suppressed)
        printf(", %u suppressed or known", suppressed);
    if (explorer->errors)
        printf("; %zu other finding%s, no race, which csan run reports", explorer->errors,
               explorer->errors == 1 ? "" : "s");
    putchar('\n');
}

void explore_report(const struct explorer *explorer)
{
    print_findings(explorer);
    if (explorer->unreported.runs[0]) {
        printf("NOT REPORTED: runs ended differently (%u times), though no race that csan reported "
               "went another way between them. Possible causes: the host reads memory that the "
               "device still writes; the program declared an order that is not there; it depends "
               "on something else than the order of its work; csan missed a race.\n",
               explorer->unreported_runs);
        print_evidence(explorer, &explorer->unreported);
    }
    if (explorer->parted.runs[0]) {
        printf("WENT ANOTHER WAY: the program made other calls in some runs, and ended differently "
               "there. It learned something of the device that depends on the schedule: it asked "
               "whether work was done, or read memory that the device still wrote. No reported "
               "race is shown to be the cause.\n");
        print_evidence(explorer, &explorer->parted);
    }
    if (explorer->unsteady)
        printf("csan explore: %zu part%s of the results differ%s even when the same schedule is "
               "replayed (time, random numbers, host threads?) and %s not compared\n",
               explorer->ignored.count, explorer->ignored.count == 1 ? "" : "s",
               explorer->ignored.count == 1 ? "s" : "",
               explorer->ignored.count == 1 ? "was" : "were");
    if (explorer->threaded)
        printf("csan explore: several host threads enqueue work; a schedule does not fix the order "
               "between them, so running one again may end differently\n");
    if (explorer->ways > 1)
        printf("csan explore: the program takes %u different ways, by what it learns of the device "
               "(does it ask whether work is done?); memory is compared only of runs that went "
               "the same way\n",
               explorer->ways);
    if (explorer->kept_count && !explorer->kept[0].whole)
        printf("csan explore: the program does not end by exit, so that memory at its end is not "
               "seen: only exit status and output are compared\n");
    if (child_interrupted())
        printf("csan explore: interrupted; this is what %u of %lu schedules showed\n",
               explorer->made, explorer->wanted);
    if (explorer->untracked)
        printf("csan explore: only the first %d races were examined\n", MOST_RACES);
    print_sum(explorer);
}
