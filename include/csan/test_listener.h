/* What csan's listeners for C++ test frameworks share: gtest.h and catch2.h. C++11; header only.
 *
 * A test takes a mark at its begin. At its end it fails if csan found something since, with the
 * reports as failure text. A test that is to have a race says so:
 *
 *     csan::allow_races();   races and other findings of this test do not fail it
 *     csan::expect_race();   the test fails unless there is one
 *
 * Both hold for the test that calls them, up to its end. Not thread-safe: they belong to the thread
 * that runs the tests. Where csan is absent or off nothing fails.
 */
#ifndef CSAN_TEST_LISTENER_H
#define CSAN_TEST_LISTENER_H

#include <csan/csan.h>

#include <string>
#include <vector>

namespace csan
{

/* What the running test says about its races. */
enum class races { fail, allowed, expected };

class running_test
{
  public:
    /* The one that is running now. */
    static running_test &now()
    {
        static running_test test;
        return test;
    }

    void begin()
    {
        csan_races_clear(); /* the same race in another test is a failure of that one, too */
        mark = csan_race_mark();
        policy = races::fail;
    }

    /* The test is over. Returns what it failed for: reports, or that there is none; "": nothing. */
    std::string end()
    {
        std::string text;
        std::vector<csan_race> found(csan_findings_since(mark, nullptr, 0));
        size_t count = csan_findings_since(mark, found.data(), found.size());
        size_t certain = 0;
        for (size_t i = 0; i < count && i < found.size(); i++) {
            if (found[i].possible)
                continue;
            certain++;
            if (policy == races::fail)
                text += report(i);
        }
        if (policy == races::expected && certain == 0 && csan_enabled())
            text = "csan: a race was expected, and none was found";
        csan_races_clear();
        return text;
    }

    races policy = races::fail;

  private:
    std::string report(size_t index) const
    {
        std::string text(csan_report_since(mark, index, nullptr, 0) + 1, '\0');
        csan_report_since(mark, index, &text[0], text.size());
        text.resize(text.size() - 1);
        return text;
    }

    uint64_t mark = 0;
};

inline void allow_races()
{
    running_test::now().policy = races::allowed;
}

inline void expect_race()
{
    running_test::now().policy = races::expected;
}

} // namespace csan

#endif
