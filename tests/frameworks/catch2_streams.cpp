/* What csan/catch2.h makes of test cases with and without races; tests/shell/test_frameworks.sh
 * runs it. */
#define CATCH_CONFIG_MAIN
#include "streams.h"

#include <csan/catch2.h>

TEST_CASE("ordered")
{
    streams_run(true);
    CHECK(true);
}

TEST_CASE("racy")
{
    streams_run(false);
    CHECK(true);
}

TEST_CASE("racy again")
{
    streams_run(false);
}

TEST_CASE("sections")
{
    SECTION("good")
    {
        streams_run(true);
    }
    SECTION("bad")
    {
        streams_run(false);
    }
}

TEST_CASE("allowed")
{
    csan::allow_races();
    streams_run(false);
}

TEST_CASE("expected")
{
    csan::expect_race();
    streams_run(false);
}

TEST_CASE("expected and absent")
{
    csan::expect_race();
    streams_run(true);
}

TEST_CASE("racy and wrong")
{
    streams_run(false);
    REQUIRE(1 == 2);
}
