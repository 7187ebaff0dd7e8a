/* Catch2, versions 2 and 3 (2.13 and 3.7 were tested): a test case in which csan finds a race
 * fails, with the report as its failure text.
 *
 *     #include <csan/catch2.h>   // in exactly one source file of the test program
 *
 * Build the test program with -lcsan and run it with CSAN=1, or run it under `csan run`.
 * csan::allow_races() and csan::expect_race() are for single test cases (test_listener.h). A test
 * case with sections runs several times; each run is looked at.
 */
#ifndef CSAN_CATCH2_H
#define CSAN_CATCH2_H

#include <csan/test_listener.h>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_test_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#define CSAN_CATCH_LISTENER Catch::EventListenerBase
#else
#include <catch2/catch.hpp>
#define CSAN_CATCH_LISTENER Catch::TestEventListenerBase
#endif

#ifdef CATCH_CONFIG_PREFIX_ALL
#define CSAN_CATCH_FAIL CATCH_FAIL_CHECK
#else
#define CSAN_CATCH_FAIL FAIL_CHECK
#endif

namespace csan
{

class catch_listener : public CSAN_CATCH_LISTENER
{
  public:
#if __has_include(<catch2/catch_all.hpp>)
    using Catch::EventListenerBase::EventListenerBase;
#else
    using Catch::TestEventListenerBase::TestEventListenerBase;
#endif

    void sectionStarting(const Catch::SectionInfo &info) override
    {
        CSAN_CATCH_LISTENER::sectionStarting(info);
        if (depth++ == 0)
            running_test::now().begin();
    }

    /* The outermost section is the test case. Listeners learn of its end before reporters do, so an
     * assertion that fails here still belongs to it. */
    void sectionEnded(const Catch::SectionStats &stats) override
    {
        if (--depth == 0) {
            const std::string text = running_test::now().end();
            if (!text.empty()) {
                CSAN_CATCH_FAIL(text);
                count_failure(stats);
            }
        }
        CSAN_CATCH_LISTENER::sectionEnded(stats);
    }

  private:
    /* Catch2 3 counted the section's assertions before anybody learns of its end, and its JUnit
     * reporter leaves out test cases that have none. Catch2 hands the same object, which is not
     * const where it was made, to the reporters behind this listener. */
    static void count_failure(const Catch::SectionStats &stats)
    {
#if __has_include(<catch2/catch_all.hpp>)
        const_cast<Catch::SectionStats &>(stats).assertions.failed++;
#else
        (void)stats;
#endif
    }

    int depth = 0;
};

CATCH_REGISTER_LISTENER(catch_listener)

} // namespace csan

#endif
