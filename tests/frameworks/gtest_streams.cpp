/* What csan/gtest.h makes of tests with and without races; tests/shell/test_frameworks.sh runs it.
 */
#include "streams.h"

#include <csan/gtest.h>

TEST(Streams, Ordered)
{
    streams_run(true);
}

TEST(Streams, Racy)
{
    streams_run(false);
}

TEST(Streams, RacyAgain)
{
    streams_run(false);
}

TEST(Streams, Allowed)
{
    csan::allow_races();
    streams_run(false);
}

TEST(Streams, Expected)
{
    csan::expect_race();
    streams_run(false);
}

TEST(Streams, ExpectedAndAbsent)
{
    csan::expect_race();
    streams_run(true);
}
