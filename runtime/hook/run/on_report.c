/* csan_on_report: nothing but a place to stop. In a file of its own, so that no caller knows that
 * it is empty. */
#include <csan/csan.h>

__attribute__((noinline, noclone)) void csan_on_report(const struct csan_race *race)
{
    __asm__ volatile("" : : "r"(race) : "memory"); /* the argument is there to be looked at */
}
