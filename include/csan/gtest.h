/* GoogleTest: a test in which csan finds a race fails, with the report as its failure text.
 *
 *     #include <csan/gtest.h>   // in one source file of the test program, or in several
 *
 * Nothing else is needed: the header registers its listener before main. Build the test program
 * with -lcsan and run it with CSAN=1, or run it under `csan run`. csan::allow_races() and
 * csan::expect_race() are for single tests (test_listener.h).
 *
 * Listeners that make failures come after those that handle them (GoogleTest User's Guide,
 * "Generating Failures in Listeners"); this one is registered behind the default printer, and ends
 * before it.
 */
#ifndef CSAN_GTEST_H
#define CSAN_GTEST_H

#include <csan/test_listener.h>
#include <gtest/gtest.h>

namespace csan
{

class gtest_listener : public testing::EmptyTestEventListener
{
    void OnTestStart(const testing::TestInfo &) override
    {
        running_test::now().begin();
    }

    void OnTestEnd(const testing::TestInfo &info) override
    {
        const std::string text = running_test::now().end();
        if (!text.empty())
            GTEST_MESSAGE_AT_(info.file() ? info.file() : "", info.line(), text.c_str(),
                              testing::TestPartResult::kNonFatalFailure);
    }
};

inline bool register_gtest_listener()
{
    static const bool registered =
        (testing::UnitTest::GetInstance()->listeners().Append(new gtest_listener), true);
    return registered;
}

namespace
{
const bool gtest_listener_registered = register_gtest_listener();
}

} // namespace csan

#endif
