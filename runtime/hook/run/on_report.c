/* csan_on_report: an empty function to stop at in a debugger. It has a file of its own, so that the
 * compiler cannot see at its callers that it is empty. */
#include <csan/csan.h>

__attribute__((noinline, noclone)) void csan_on_report(const struct csan_race *race)
{
    __asm__ volatile("" : : "r"(race) : "memory"); /* the argument is there to be looked at */
}
