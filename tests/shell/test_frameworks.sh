# csan's listeners for GoogleTest and Catch2, its function for CTest, and the files for CI services.

tree=$(realpath "$(dirname "$test")/../..")
ended() { [ "$status" = "$1" ]; }
case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): what people link has no sanitizer in it"
    return 0
    ;;
esac

# build NAME LIBRARY...
build()
{
    local name=$1
    shift
    run_foreign g++ -std=c++17 -g -I"$tree/include" -isystem "$cuda/include" "$tree/tests/frameworks/${name}_streams.cpp" \
        -o "$name" -L"$root/lib" -lcsan -Wl,-rpath="$root/lib" "$@" -lpthread
    check "$name: a test program is built" ended 0
}

# ---- GoogleTest

if echo '#include <gtest/gtest.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    build gtest -lgtest_main -lgtest
    passes() { grep -q "^\[       OK \] Streams.$1 " out; }
    fails() { grep -q "^\[  FAILED  \] Streams.$1 (" out; }
    run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./gtest
    check "gtest: races fail the program" eval '! ended 0'
    for name in Ordered Allowed Expected; do
        check "gtest: $name passes" passes $name
    done
    for name in Racy RacyAgain ExpectedAndAbsent; do
        check "gtest: $name fails" fails $name
    done
    check "gtest: the report is the failure's text" \
        eval 'sed -n "/RUN.*Streams.Racy\$/,/FAILED.*Streams.Racy /p" out | grep -q "CSAN: data race: cudaMemsetAsync"'
    check "gtest: with the test's stack" eval 'sed -n "/RUN.*Streams.Racy\$/,/FAILED.*Streams.Racy /p" out | grep -q "gtest_streams.cpp:1[0-9]"'
    check "gtest: what was expected and is absent is said" grep -q "a race was expected, and none was found" out
    run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./gtest --gtest_filter='*Ordered:*Allowed:*.Expected'
    check "gtest: races that are allowed do not fail the program" ended 0
    run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./gtest --gtest_output=xml:gtest.xml --gtest_filter=*.Racy
    check "gtest: the XML has the report" grep -q 'CSAN: data race' gtest.xml
    run env LD_LIBRARY_PATH="$root/lib/csan/embedded" ./gtest --gtest_filter='*.Racy'
    check "gtest: without CSAN=1 nothing fails" ended 0
else
    echo "skipped part of $(basename "$test" .sh): there is no GoogleTest"
fi

# ---- Catch2

# catch2_check NAME: the test program NAME, built with one version of it.
catch2_check()
{
    local name=$1
    for reporter in console junit; do
        run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./$name -r $reporter
        check "$name: races fail the program ($reporter)" eval '! ended 0 && [ "$status" -lt 128 ]'
    done
    check "$name: JUnit's file has the reports" eval '[ "$(grep -c "<failure" out)" = 6 ] && grep -q "CSAN: data race" out'
    for one in ordered allowed expected; do
        run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./$name "$one"
        check "$name: '$one' passes" ended 0
    done
    for one in racy "racy again" sections "expected and absent" "racy and wrong"; do
        run env CSAN=1 CSAN_OPTIONS=halt_on_error=0 ./$name "$one"
        check "$name: '$one' fails" eval '! ended 0 && [ "$status" -lt 128 ]'
    done
    check "$name: a test's own failure stays beside the report" eval 'grep -q "1 == 2" out && grep -q "CSAN: data race" out'
    run env LD_LIBRARY_PATH="$root/lib/csan/embedded" ./$name racy
    check "$name: without CSAN=1 nothing fails" ended 0
}

if echo '#include <catch2/catch.hpp>' | g++ -E -x c++ - >/dev/null 2>&1; then
    build catch2
    catch2_check catch2
else
    echo "skipped part of $(basename "$test" .sh): there is no Catch2"
fi

# Version 3, as its sources in CATCH2_3: src/catch2 and extras/catch_amalgamated.cpp.
if [ -n "${CATCH2_3:-}" ]; then
    mkdir -p catch3/catch2
    sed 's/^#cmakedefine.*//; s/@CATCH_CONFIG_DEFAULT_REPORTER@/console/; s/@CATCH_CONFIG_CONSOLE_WIDTH@/80/' \
        "$CATCH2_3/src/catch2/catch_user_config.hpp.in" >catch3/catch2/catch_user_config.hpp
    run_foreign g++ -O0 -std=c++17 -c "$CATCH2_3/extras/catch_amalgamated.cpp" -o catch3/catch.o
    run_foreign g++ -std=c++17 -g -Wall -Wextra -Werror -I"$tree/include" -isystem "$cuda/include" -isystem "$CATCH2_3/src" \
        -isystem catch3 "$tree/tests/frameworks/catch2_streams.cpp" catch3/catch.o -o catch2_3 -L"$root/lib" -lcsan \
        -Wl,-rpath="$root/lib" -lpthread
    check "catch2_3: a test program is built" ended 0
    catch2_check catch2_3
fi

# ---- CTest, and the files for CI services

if command -v cmake >/dev/null; then
    run_foreign env -u MAKEFLAGS -u MAKELEVEL make -C "$tree" --no-print-directory install PREFIX="$scratch/csan"
    mkdir -p ctest
    "$cuda/bin/nvcc" -g -cudart shared "$tree/samples/missing_wait.cu" -o ctest/racy
    "$cuda/bin/nvcc" -g -cudart shared "$tree/samples/missing_wait_fixed.cu" -o ctest/good
    cat >ctest/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(tests LANGUAGES NONE)
enable_testing()
find_package(csan REQUIRED)
csan_add_test(NAME racy DEVICE embedded COMMAND ${CMAKE_SOURCE_DIR}/racy)
csan_add_test(NAME good DEVICE embedded OPTIONS host_order=threads print_summary=1 COMMAND ${CMAKE_SOURCE_DIR}/good)
END
    run_foreign cmake -S ctest -B ctest/build -DCMAKE_PREFIX_PATH="$scratch/csan"
    check "csan_add_test is there" ended 0
    run_foreign ctest --test-dir ctest/build --output-on-failure
    check "ctest: a racy test fails, its twin passes" \
        eval '! ended 0 && grep -Eq "racy .*Failed" out && grep -Eq "good .*Passed" out && grep -q "CSAN: data race" out'
    cp out ctest.log

    # What the files for CI services run: the tests are started in the build's folder.
    mkdir -p service/build
    printf 'add_test(%s "%s")\n' racy "$scratch/ctest/racy" good "$scratch/ctest/good" >service/build/CTestTestfile.cmake
    for service in github-actions gitlab-ci; do
        rm -f service/*.csan service/csan.sarif
        sed -nE 's/^ *- (run: )?(csan .*)/\2/p; s/^ *run: (csan .*)/\1/p' "$tree/samples/ci/$service.yml" >service/commands
        check "$service: records and merges" eval '[ "$(cut -d" " -f1,2 service/commands | xargs)" = "csan record csan merge" ]'
        run_foreign env PATH="$root/bin:$PATH" bash -c 'cd service && . ./commands'
        check "$service: the findings are in the log" [ "$(grep -c '^CSAN: data race: add (.*missing_wait.cu:' out)" = 1 ]
        cp out service.log
        run_foreign python3 "$tree/samples/ci/code_quality.py" service/csan.sarif
        check "$service: and in csan.sarif" eval 'ended 0 && grep -q "missing_wait.cu\"" out'
    done
else
    echo "skipped part of $(basename "$test" .sh): there is no cmake"
fi

run "$root/bin/csan" record --check --device=embedded -o tests.%p.csan "$root/tests/programs/plain/missing_wait"
check "a run that records and checks fails" ended 66
run "$root/bin/csan" merge --sarif=csan.sarif tests.*.csan
run_foreign python3 "$tree/samples/ci/code_quality.py" csan.sarif
check "code_quality.py names the line for GitLab" \
    eval 'ended 0 && grep -q "missing_wait.cu\"" out && grep -q "\"begin\": 4[0-9]" out && ! grep -q "file://" out'
cat >matcher.py <<'END'
# The problem matcher finds the report's line in what csan, and ctest around it, print.
import json, re, sys

folder, *logs = sys.argv[1:]
actions = json.load(open(f"{folder}/problem-matcher.json"))["problemMatcher"][0]["pattern"][0]
editor = json.load(open(f"{folder}/vscode-tasks.json"))["tasks"][0]["problemMatcher"]["pattern"]
assert actions == editor
for log in logs:
    found = [m for m in (re.match(actions["regexp"], line) for line in open(log)) if m]
    assert len(found) == 1, (log, found)
    assert found[0][actions["file"]].endswith("missing_wait.cu") and found[0][actions["line"]].isdigit(), found
END
run "$root/bin/csan" run --device=embedded "$root/tests/programs/plain/missing_wait"
cp err plain.log
run_foreign python3 matcher.py "$tree/samples/ci" plain.log $([ -f ctest.log ] && echo ctest.log service.log)
check "the problem matcher finds a report's line" ended 0
