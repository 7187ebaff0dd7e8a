/* See finding.h. */
#include "csan/report/finding.h"
#include "csan/report/fingerprint.h"
#include "csan/report/proposal.h"
#include "csan/report/race_cause.h"
#include "csan/report/race_memory.h"
#include "csan/stack/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

const char *finding_class_name(int kind)
{
    static const char *const names[CSAN_FINDING_KINDS] = {
        [CSAN_FINDING_RACE] = "race",
        [CSAN_FINDING_REUSE] = "reuse",
        [CSAN_FINDING_OUT_OF_BOUNDS] = "out_of_bounds",
        [CSAN_FINDING_USE_AFTER_FREE] = "use_after_free",
        [CSAN_FINDING_DEVICE_EXCEPTION] = "device_exception",
        [CSAN_FINDING_UNINITIALIZED] = "uninitialized",
        [CSAN_FINDING_LEAK] = "leak",
        [CSAN_FINDING_WRONG_DEVICE] = "wrong_device",
        [CSAN_FINDING_OUT_OF_MEMORY] = "out_of_memory",
    };
    return names[csan_finding_kind_of(kind)];
}

const char *finding_cause_name(int cause)
{
    static const char *const causes[] = {
        [CSAN_CAUSE_NONE] = "none",
        [CSAN_CAUSE_RECORDED_AGAIN] = "recorded-again",
        [CSAN_CAUSE_RECORDED_BEFORE] = "recorded-before",
        [CSAN_CAUSE_NEVER_RECORDED] = "never-recorded",
        [CSAN_CAUSE_WAIT_ELSEWHERE] = "wait-elsewhere",
        [CSAN_CAUSE_NON_BLOCKING] = "non-blocking",
        [CSAN_CAUSE_PER_THREAD] = "per-thread",
        [CSAN_CAUSE_HOST_FUNCTION] = "host-function",
        [CSAN_CAUSE_STREAM_DESTROYED] = "stream-destroyed",
        [CSAN_CAUSE_TWO_EXECUTABLE_GRAPHS] = "two-executable-graphs",
        [CSAN_CAUSE_NO_DEPENDENCY_WAIT] = "no-dependency-wait",
        [CSAN_CAUSE_AD_HOC] = "ad-hoc-synchronization",
    };
    const int count = sizeof causes / sizeof *causes;
    return causes[cause >= 0 && cause < count ? cause : CSAN_CAUSE_NONE];
}

/* ---- making */

static char *words_take(struct text *text)
{
    char *data = text->data ? text->data : strdup("");
    *text = (struct text){0};
    return data;
}

/* Lists of arguments contain flag characters for text reports. */
static char *arguments_copy(const char *arguments)
{
    char *copy = strdup(arguments ? arguments : "");
    size_t length = 0;
    for (size_t i = 0; copy && copy[i]; i++)
        if (copy[i] != CSAN_ARGUMENT_RETURNED[0])
            copy[length++] = copy[i];
    if (copy)
        copy[length] = '\0';
    return copy;
}

static uint64_t place_of(const struct stack_style *style, const void *const *frames, size_t count)
{
    struct symbolizer *symbolizer = style->symbolizer;
    return symbolizer->place ? symbolizer->place(symbolizer, frames, count) : 0;
}

/* Where the program made the call that does it: of a graph's node the launch. */
static uint64_t access_place(const struct stack_style *style, const struct csan_race_access *access)
{
    return access->launch_frame_count
               ? place_of(style, access->launch_frames, access->launch_frame_count)
               : place_of(style, access->frames, access->frame_count);
}

static struct stack_frames take_stack(struct race_words *words, const void *const *frames,
                                      size_t count, const char *callee)
{
    return stack_memo_take(&words->stacks, &words->style, frames, count, callee);
}

static void access_fill(struct finding_access *access, const struct csan_race_access *from,
                        const struct race_side *side, struct race_words *words)
{
    const struct stack_style *style = &words->style;
    struct text deed = {0};
    race_deed_add(&deed, from, words->object);
    *access = (struct finding_access){.name = strdup(side->name),
                                      .symbol = strdup(from->name ? from->name : ""),
                                      .lane = strdup(side->lane),
                                      .arguments = arguments_copy(from->arguments),
                                      .deed = words_take(&deed),
                                      .stream = from->stream,
                                      .number = from->sequence,
                                      .kind = from->kind,
                                      .host = from->host != 0,
                                      .at_call = from->at_call != 0};
    const char *reason = race_access_reason(from);
    access->reason = reason ? strdup(reason) : NULL;
    access->ranges = from->ranges && from->ranges[0] ? strdup(from->ranges) : NULL;
    access->detail = from->detail && from->detail[0] ? strdup(from->detail) : NULL;
    if (from->created_frame_count)
        access->created = take_stack(words, from->created_frames, from->created_frame_count, "");
    access->defined = from->defined ? strdup(stack_path_shorten(style, from->defined)) : NULL;
    access->stack = take_stack(words, from->frames, from->frame_count, side->name);
    if (from->launch_frame_count)
        access->launch_stack = take_stack(words, from->launch_frames, from->launch_frame_count, "");
    access->place = access_place(style, from);
}

/* Of what is no race, where nothing came before. */
static void access_fill_none(struct finding_access *access)
{
    *access = (struct finding_access){.name = strdup(""),
                                      .symbol = strdup(""),
                                      .lane = strdup(""),
                                      .arguments = strdup(""),
                                      .deed = strdup("")};
}

static void proposal_fill(struct finding_proposal *proposal, const struct csan_race *race,
                          const struct stack_style *style)
{
    const struct proposal made = proposal_of(race);
    const struct csan_race_call *recorded = made.recorded;
    *proposal = (struct finding_proposal){.kind = made.kind,
                                          .obstacle = made.obstacle ? strdup(made.obstacle) : NULL};
    if (made.kind == PROPOSAL_NONE)
        return;
    proposal->from = recorded ? place_of(style, recorded->frames, recorded->frame_count)
                              : access_place(style, made.from);
    proposal->to = access_place(style, made.to);
}

enum { CALLS_MAX = 4 };

static void calls_fill(struct finding *finding, const struct csan_race_order *order,
                       struct race_words *words)
{
    const struct {
        const char *role;
        const struct csan_race_call *call;
    } all[CALLS_MAX] = {{"record", &order->record},
                        {"record-again", &order->again},
                        {"wait", &order->wait},
                        {"usable-record", &order->usable}};
    finding->calls = calloc(CALLS_MAX, sizeof *finding->calls);
    for (int i = 0; finding->calls && i < CALLS_MAX; i++) {
        const struct csan_race_call *call = all[i].call;
        if (!call->lane)
            continue;
        struct finding_call *made = &finding->calls[finding->call_count++];
        *made =
            (struct finding_call){.role = strdup(all[i].role),
                                  .lane = strdup(call->lane),
                                  .name = strdup(call->name ? call->name : ""),
                                  .event = call->event ? strdup(call->event) : NULL,
                                  .place = place_of(&words->style, call->frames, call->frame_count),
                                  .after = call->after};
        made->stack = take_stack(words, call->frames, call->frame_count, "");
    }
}

static void others_fill(struct finding *finding, const struct csan_race *race)
{
    finding->others = calloc(race->also_count + 1, sizeof *finding->others);
    finding->other_total = race->also_total;
    for (size_t i = 0; finding->others && i < race->also_count; i++)
        finding->others[finding->other_count++] =
            (struct finding_other){.lane = strdup(race->also[i].lane),
                                   .stream = race->also[i].stream,
                                   .number = race->also[i].sequence,
                                   .address = race->also[i].address,
                                   .bytes = race->also[i].bytes};
}

static void variable_fill(struct finding *finding, const struct csan_race *race,
                          struct race_words *words)
{
    char variable[SITE_BYTES], module[PLACE_BYTES];
    race_variable(words, race, variable, sizeof variable, module, sizeof module);
    finding->variable = strdup(variable);
    finding->variable_module = strdup(module);
}

static bool complete(const struct finding *finding)
{
    for (int i = 0; i < 2; i++) {
        const struct finding_access *access = &finding->accesses[i];
        if (!access->name || !access->symbol || !access->lane || !access->arguments ||
            !access->deed)
            return false;
    }
    return finding->variable && finding->variable_module && finding->headline && finding->cause &&
           finding->cause_kind && finding->fix && finding->text && finding->seen_by;
}

struct finding *finding_create(const struct csan_race *race, struct race_words *words,
                               const char *text)
{
    static const struct csan_race_order no_order;
    const struct csan_race_order *order = race->order ? race->order : &no_order;
    struct text cause = {0}, fix = {0}, headline = {0};
    struct finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return NULL;
    race_cause_add(&cause, words, race);
    race_fix_add(&fix, words, race);
    race_sentence_add(&headline, words, race);
    *finding = (struct finding){.number = race->number,
                                .group = race->group,
                                .time = race->time > CSAN_TIME_UNKNOWN ? race->time : 0,
                                .headline = words_take(&headline),
                                .cause_kind = strdup(finding_cause_name(order->cause)),
                                .kind = race->kind,
                                .possible = race->possible != 0,
                                .address = race->address,
                                .bytes = race->bytes,
                                .pointer = race->pointer,
                                .allocation = race->allocation,
                                .allocation_bytes = race->allocation_bytes,
                                .object = race->object,
                                .cause = words_take(&cause),
                                .fix = words_take(&fix),
                                .text = strdup(text),
                                .unpromised = race->unpromised ? strdup(race->unpromised) : NULL,
                                .seen_by = calloc(1, sizeof *finding->seen_by),
                                .seen_count = 1};
    access_fill(&finding->accesses[0], &race->current, &words->current, words);
    if (race->error && !(finding->error = finding_error_create(race->error, words))) {
        finding_destroy(finding);
        return NULL;
    }
    if (race->error && !race->previous.kind)
        access_fill_none(&finding->accesses[1]);
    else
        access_fill(&finding->accesses[1], &race->previous, &words->previous, words);
    finding->allocation_stack =
        take_stack(words, race->allocation_frames, race->allocation_frame_count, "");
    variable_fill(finding, race, words);
    calls_fill(finding, order, words);
    others_fill(finding, race);
    proposal_fill(&finding->proposal, race, &words->style);
    finding->fingerprint = finding_fingerprint(finding);
    if (complete(finding))
        return finding;
    finding_destroy(finding);
    return NULL;
}

static void access_clear(struct finding_access *access)
{
    free(access->name);
    free(access->symbol);
    free(access->lane);
    free(access->arguments);
    free(access->deed);
    free(access->reason);
    free(access->ranges);
    free(access->detail);
    stack_frames_free(&access->created);
    free(access->defined);
    stack_frames_free(&access->stack);
    stack_frames_free(&access->launch_stack);
}

static void calls_clear(struct finding *finding)
{
    for (size_t i = 0; i < finding->call_count; i++) {
        free(finding->calls[i].role);
        free(finding->calls[i].lane);
        free(finding->calls[i].name);
        free(finding->calls[i].event);
        stack_frames_free(&finding->calls[i].stack);
    }
    free(finding->calls);
    for (size_t i = 0; i < finding->other_count; i++)
        free(finding->others[i].lane);
    free(finding->others);
}

void finding_destroy(struct finding *finding)
{
    if (!finding)
        return;
    access_clear(&finding->accesses[0]);
    access_clear(&finding->accesses[1]);
    stack_frames_free(&finding->allocation_stack);
    calls_clear(finding);
    finding_error_destroy(finding->error);
    free(finding->variable);
    free(finding->variable_module);
    free(finding->headline);
    free(finding->cause_kind);
    free(finding->cause);
    free(finding->fix);
    free(finding->text);
    free(finding->proposal.obstacle);
    free(finding->unpromised);
    free(finding->seen_by);
    free(finding);
}

/* The text has the number where it says how sure the race is, on a line of its own. */
void finding_renumber(struct finding *finding, uint64_t number)
{
    char old[48];
    struct text text = {0};
    int length = snprintf(old, sizeof old, "\nRace %" PRIu64 " is ", finding->number);
    const char *at = strstr(finding->text, old);
    if (finding->number == number)
        return;
    finding->number = number;
    if (!at)
        return;
    text_add(&text, "%.*s\nRace %" PRIu64 " is %s", (int)(at - finding->text), finding->text,
             number, at + length);
    if (text.cut) {
        text_free(&text);
        return;
    }
    free(finding->text);
    finding->text = text.data;
}

/* ---- the same race again */

/* Of what is no race: what did it, and the line of the instruction that failed. */
static uint64_t error_fingerprint(const struct finding *finding)
{
    const struct finding_access *access = &finding->accesses[0];
    const struct fingerprint_side side = {access->symbol, &access->stack, &access->launch_stack};
    char place[PLACE_BYTES];
    return fingerprint_of_error(finding->kind, &side,
                                finding_error_place(finding->error, place, sizeof place) ? place
                                                                                         : NULL);
}

uint64_t finding_fingerprint(const struct finding *finding)
{
    if (finding->error)
        return error_fingerprint(finding);
    const struct finding_access *accesses = finding->accesses;
    const struct fingerprint_side sides[2] = {
        {accesses[0].symbol, &accesses[0].stack, &accesses[0].launch_stack},
        {accesses[1].symbol, &accesses[1].stack, &accesses[1].launch_stack}};
    return fingerprint_make(finding->kind, sides);
}
