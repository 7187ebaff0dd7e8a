/* A schedule in a file: what was run when, so that another run does the same. schedule.c reports
 * each step that it makes and asks for the next one. The file is text:
 *
 *   csan schedule 1                  the version of this form
 *   # random:7                       what it is a recording of: for people
 *   reads early                      or late: when pageable sources of copies are read
 *   memory plain                     or fixed: where memory lies, see outcome.c
 *   3 1 8192                         at the 3rd occasion, item 1 for up to 8,192 instructions
 *   5 2 64 x12                       twelve times so
 *   9 4 0 idle                       before the 9th, while the program called nothing
 *   end 14                           so many steps
 *
 * A file without its last line is that of a program that was killed: what there is can be replayed.
 * Whatever is wrong with a file, or with the program that it is replayed for, is said once, and the
 * run goes on eagerly. */
#include "csan/base/array.h"
#include "runtime/device/driver/driver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, MOST_STEPS = 1 << 26 };
static const char first_line[] = "csan schedule 1\n";

/* ---- Saving -------------------------------------------------------------------------------- */

bool recording_save(const char *path, const char *policy)
{
    FILE *file = fopen(path, "we");
    if (!file) {
        device_say("cannot save the schedule in '%s': %s", path, strerror(errno));
        return false;
    }
    fprintf(file, "%s# %s\nreads %s\nmemory %s\n", first_line, policy,
            device.schedule.stages_late ? "late" : "early",
            device.fixed_memory ? "fixed" : "plain");
    device.schedule.recording.file = file;
    return true;
}

static void write_step(void)
{
    struct recording *recording = &device.schedule.recording;
    const struct recorded_step *step = &recording->saved;
    if (!step->count)
        return;
    fprintf(recording->file, "%" PRIu64 " %" PRIu64 " %" PRIu64, step->point, step->item,
            step->budget);
    if (step->count > 1)
        fprintf(recording->file, " x%" PRIu64, step->count);
    fputs(step->idle ? " idle\n" : "\n", recording->file);
    recording->saved.count = 0;
}

void recording_add(const struct recorded_step *step)
{
    struct recording *recording = &device.schedule.recording;
    struct recorded_step *saved = &recording->saved;
    if (!recording->file)
        return;
    recording->made++;
    if (saved->count && saved->point == step->point && saved->item == step->item &&
        saved->budget == step->budget && saved->idle == step->idle) {
        saved->count++;
        return;
    }
    write_step();
    /* A step that lets go of the lock may be done after later ones: in the file points only grow.
     */
    uint64_t point = step->point > saved->point ? step->point : saved->point;
    *saved = *step;
    saved->point = point;
}

/* So that the file of a program that dies shows how. */
void recording_flush(void)
{
    struct recording *recording = &device.schedule.recording;
    if (!recording->file)
        return;
    write_step();
    fflush(recording->file);
}

static void save_end(struct recording *recording)
{
    write_step();
    fprintf(recording->file, "end %" PRIu64 "\n", recording->made);
    bool failed = ferror(recording->file) != 0;
    if ((fclose(recording->file) != 0) | failed)
        device_say("the schedule could not be saved whole: %s", strerror(errno));
    recording->file = NULL;
}

/* ---- Loading ------------------------------------------------------------------------------- */

static bool parse_step(const char *line, struct recorded_step *step)
{
    int used = 0;
    *step = (struct recorded_step){.count = 1};
    if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &step->point, &step->item,
               &step->budget, &used) != 3)
        return false;
    line += used;
    if (sscanf(line, " x%" SCNu64 "%n", &step->count, &used) == 1)
        line += used;
    if (!strncmp(line, " idle", 5)) {
        step->idle = true;
        line += 5;
    }
    return !strcmp(line, "\n") && step->count && step->item;
}

static bool append(struct recording *recording, const struct recorded_step *step, size_t *capacity)
{
    if (!array_room(&recording->steps, recording->count, capacity, 64, MOST_STEPS,
                    sizeof *recording->steps))
        return false;
    recording->steps[recording->count++] = *step;
    return true;
}

/* The lines after the first. 0, or the number of the line that is wrong. */
static int read_lines(FILE *file, struct recording *loaded)
{
    char line[LINE];
    size_t capacity = 0;
    uint64_t steps = 0, end, point = 0;
    struct recorded_step step;
    for (int number = 2; fgets(line, sizeof line, file); number++) {
        size_t length = strlen(line);
        if (loaded->whole)
            return number; /* something after the end */
        if (line[0] == '#')
            continue;
        if (number == 3) {
            loaded->late = !strcmp(line, "reads late\n");
            if (!loaded->late && strcmp(line, "reads early\n") != 0)
                return number;
        } else if (number == 4) {
            loaded->fixed = !strcmp(line, "memory fixed\n");
            if (!loaded->fixed && strcmp(line, "memory plain\n") != 0)
                return number;
        } else if (sscanf(line, "end %" SCNu64, &end) == 1) {
            if (end != steps)
                return number;
            loaded->whole = true;
        } else if (!length || line[length - 1] != '\n') {
            return feof(file) ? 0 : number; /* cut off in the middle: the whole lines count */
        } else if (!parse_step(line, &step) || step.point < point ||
                   !append(loaded, &step, &capacity)) {
            return number;
        } else {
            point = step.point;
            steps += step.count;
        }
    }
    return 0;
}

static bool load(FILE *file, const char *path, struct recording *loaded)
{
    char line[LINE] = "";
    if (!fgets(line, sizeof line, file) || strncmp(line, "csan schedule ", 14) != 0) {
        device_say("'%s' is no recorded schedule", path);
        return false;
    }
    if (strcmp(line, first_line) != 0) {
        device_say("'%s' was saved by another version of csan: %.*s; record it anew", path,
                   (int)strcspn(line, "\n"), line);
        return false;
    }
    int wrong = read_lines(file, loaded);
    if (wrong)
        device_say("'%s' is damaged: line %d is no part of a schedule", path, wrong);
    else if (!loaded->whole)
        device_say("'%s' is cut off (its program did not end normally, or the file is not whole): "
                   "after its last step the run goes on eagerly",
                   path);
    return !wrong;
}

bool recording_load(const char *path)
{
    struct recording loaded = {0};
    FILE *file = fopen(path, "re");
    if (!file) {
        device_say("cannot read the schedule '%s': %s; the run is eager", path, strerror(errno));
        return false;
    }
    bool good = load(file, path, &loaded);
    fclose(file);
    if (!good) {
        free(loaded.steps);
        return false;
    }
    struct recording *recording = &device.schedule.recording;
    free(recording->steps);
    recording->steps = loaded.steps;
    recording->count = loaded.count;
    recording->next = 0;
    recording->whole = loaded.whole;
    device.schedule.stages_late = loaded.late;
    device.fixed_memory |= loaded.fixed;
    return true;
}

/* ---- Replaying ----------------------------------------------------------------------------- */

const struct recorded_step *recording_next(bool idle)
{
    struct recording *recording = &device.schedule.recording;
    uint64_t point = device.schedule.point;
    if (recording->next == recording->count) {
        if (!recording->whole) {
            device_say("replay: the recorded steps are used up; going on eagerly");
            device.schedule.policy = POLICY_EAGER;
        }
        return NULL;
    }
    const struct recorded_step *step = &recording->steps[recording->next];
    if (idle)
        return step->idle && step->point == point + 1 ? step : NULL;
    if (step->point < point)
        recording_abandon("the program went on without a recorded step");
    return step->point == point ? step : NULL;
}

void recording_pass(void)
{
    struct recording *recording = &device.schedule.recording;
    if (--recording->steps[recording->next].count == 0)
        recording->next++;
}

void recording_abandon(const char *why)
{
    struct recording *recording = &device.schedule.recording;
    uint64_t item = recording->next < recording->count ? recording->steps[recording->next].item : 0;
    device_say("replay: this is not the program that was recorded, or it did something else: %s "
               "(entry %" PRIu64 ", item %" PRIu64 "); going on eagerly",
               why, device.schedule.point, item);
    device.schedule.policy = POLICY_EAGER;
    recording->next = recording->count;
}

void recording_close(void)
{
    struct recording *recording = &device.schedule.recording;
    if (recording->file)
        save_end(recording);
    if (device.schedule.policy == POLICY_REPLAY && recording->next < recording->count &&
        !recording->steps[recording->next].idle)
        device_say("replay: the program ended before all recorded steps were made; it is not the "
                   "one that was recorded, or it did something else");
}
