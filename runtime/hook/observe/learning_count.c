/* How many launches were known, traced or not learned, and how the summary says it. See learning.h.
 */
#include "csan/base/text.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/observe/learning_program.h"
#include "runtime/hook/observe/trace_source.h"

static struct {
    uint64_t known, bounded, traced, waited, not_learned[LEARNING_OBSTACLES],
        unknown[LEARN_UNKNOWN_REASONS];
    uint64_t like_others; /* of those not learned */
} table;                  /* atomic */

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void learning_count_node(uint8_t answer)
{
    __atomic_fetch_sub(&table.not_learned[LEARNING_CAPTURED], 1, __ATOMIC_RELAXED);
    count(answer == LEARN_KNOWN ? &table.known : &table.bounded);
}

static void count_not_learned(const struct learning *learning, enum learning_obstacle obstacle)
{
    count(&table.not_learned[obstacle]);
    if (learning->bounded && !learning->captured)
        count(&table.like_others);
}

void learning_count(const struct learning *learning, bool waited)
{
    if (learning->taken)
        count(&table.traced);
    else if (learning->applied)
        count(learning->reply.answer == LEARN_KNOWN ? &table.known : &table.bounded);
    else if (waited)
        count(&table.waited);
    else if (learning->learned && learning->reply.answer == LEARN_UNKNOWN)
        count(&table.unknown[learning->reply.reason]);
    else if (learning->obstacle && learning->reply.answer != LEARN_KNOWN)
        count_not_learned(learning, learning->obstacle);
    else if (learning->learned && learning->reply.answer == LEARN_OPEN)
        count_not_learned(learning, LEARNING_NOT_YET);
}

void learning_notes(struct text *notes)
{
    static const char *const obstacles[LEARNING_OBSTACLES] = {
        [LEARNING_MEMORY_SHORT] = "memory was short",
        [LEARNING_LAYOUT_UNKNOWN] = "the driver does not say how their parameters lie",
        [LEARNING_PARAMETERS_UNKNOWN] = "parameters passed in parts",
        [LEARNING_MAPS_UNKNOWN] = "through tensor maps whose memory is not known",
        [LEARNING_COLLECTIVE] = "collective or cooperative",
        [LEARNING_REFUSED] = "could not be traced",
        [LEARNING_UNHEARD] = "of kernels that no earlier process learned",
        [LEARNING_UNLIKE] = "unlike any launch that earlier processes learned",
        [LEARNING_CAPTURED] = "in graphs",
        [LEARNING_NOT_YET] = "traces not in yet"};
    uint64_t known = table.known + table.bounded + table.traced + table.waited, not_known = 0;
    for (int i = 0; i < LEARNING_OBSTACLES; i++)
        not_known += table.not_learned[i];
    for (int i = 0; i < LEARN_UNKNOWN_REASONS; i++)
        not_known += table.unknown[i];
    const bool rests = learning_program_rests();
    if (!known && (!not_known || (trace_is_sourceless() && !rests))) /* nobody asked for it */
        return;
    text_add(notes,
             "learning: %llu launches known from earlier ones, %llu bounded by them, %llu traced "
             "to learn, %llu waited for those, %llu not learned",
             (unsigned long long)table.known, (unsigned long long)table.bounded,
             (unsigned long long)table.traced, (unsigned long long)table.waited,
             (unsigned long long)not_known);
    const char *separator = " (";
    for (int i = 0; i < LEARNING_OBSTACLES + LEARN_UNKNOWN_REASONS; i++) {
        bool own = i < LEARNING_OBSTACLES;
        uint64_t number = own ? table.not_learned[i] : table.unknown[i - LEARNING_OBSTACLES];
        if (!number)
            continue;
        text_add(notes, "%s%llu %s", separator, (unsigned long long)number,
                 own ? obstacles[i] : learn_reason_text((uint8_t)(i - LEARNING_OBSTACLES)));
        separator = ", ";
    }
    text_add(notes, "%s", separator[0] == ',' ? ")" : "");
    if (table.like_others)
        text_add(notes, ", %llu of them bounded by what others of their kernels did",
                 (unsigned long long)table.like_others);
    if (rests)
        text_add(notes, "; none was traced, since earlier runs knew this program");
    if (rests && learning_program_missed_count())
        text_add(notes, ", but for %llu, so the next run learns again",
                 (unsigned long long)learning_program_missed_count());
    text_add(notes, "\n");
}

bool learning_has_untaught(void)
{
    static const enum learning_obstacle without[] = {LEARNING_MEMORY_SHORT, LEARNING_LAYOUT_UNKNOWN,
                                                     LEARNING_PARAMETERS_UNKNOWN,
                                                     LEARNING_MAPS_UNKNOWN};
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        count += table.not_learned[without[i]];
    return count > 0;
}
