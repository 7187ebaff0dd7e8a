# pytest --csan: a test with a race fails with the report as its text; csan_allow, csan_expect, fixtures, xdist.

case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): what people install has no sanitizer in it"
    return 0
    ;;
esac

tree=$(realpath "$(dirname "$test")/../..")
tests=$tree/tests/python/pytest
if [ ! -d "$tree/build/pytest" ]; then
    echo "skipped $(basename "$test" .sh): there is no build/pytest (scripts/setup.sh)"
    return 0
fi

# The wheel's packages as they are in the tree, with this build's command.
mkdir -p site/csan_cuda-0.dist-info
cp -r "$tree/runtime/wheel/csan" site/
printf 'Metadata-Version: 2.1\nName: csan-cuda\nVersion: 0\n' >site/csan_cuda-0.dist-info/METADATA
printf '[pytest11]\ncsan = csan.pytest_plugin\n' >site/csan_cuda-0.dist-info/entry_points.txt
export PYTHONPATH=$scratch/site:$tree/build/pytest CSAN_COMMAND=$root/bin/csan PYTHONDONTWRITEBYTECODE=1
unset CSAN_DEVICE
printf '[pytest]\n' >pytest.ini

ended() { [ "$status" = "$1" ]; }
pytest() { run python3 -m pytest -c pytest.ini -p no:cacheprovider "$@"; }
outcome() { grep -Eq "(^|::)$1 $2|$2 .*::$1" out; }

pytest --csan --csan-device=embedded -v "$tests"
check "tests with races fail pytest" ended 1
for name in test_ordered test_allowed test_expected test_nothing; do
    check "$name passes" outcome "$name" PASSED
done
for name in test_racy test_racy_again test_another_is_allowed test_expected_and_absent test_racy_and_wrong; do
    check "$name fails" outcome "$name" FAILED
done
check "a race in a fixture is an error of the set-up" outcome test_with_racy_fixture ERROR
check "a test that is to fail stays so" outcome test_xfail_and_racy XFAIL
check "a skipped test stays so" outcome test_skipped SKIPPED
check "the report is the failure's text" \
    eval 'sed -n "/_ test_racy _/,/_ test_racy_again _/p" out | grep -q "^CSAN: data race: fill .*race.py" &&
        sed -n "/_ test_racy _/,/_ test_racy_again _/p" out | grep -q "in test_racy$"'
check "and stands there once" [ "$(sed -n '/_ test_racy _/,/_ test_racy_again _/p' out | grep -c '^CSAN: data race')" = 1 ]
check "a test's own failure stays, with the report behind it" \
    eval 'sed -n "/_ test_racy_and_wrong _/,\$p" out | grep -q "its own failure" && sed -n "/_ test_racy_and_wrong _/,\$p" out | grep -q "^CSAN: data race"'
sed -n '/_ test_racy _/,/_ test_racy_again _/p' out >racy
check "what was expected and is absent is said" grep -q 'a race was expected, and none was found' out
check "the last lines count" grep -q '^csan: [0-9]* tests checked: 5 findings, 3 allowed or expected' out

pytest --csan --csan-device=embedded "$tests" -k "test_ordered or test_nothing or test_expected and not absent"
check "without races pytest succeeds" ended 0
printf '[pytest]\ncsan = true\n' >pytest.ini
pytest --csan-device=embedded -v "$tests" -k test_racy_again
check "pytest.ini switches it on, too" eval 'ended 1 && outcome test_racy_again FAILED'
printf '[pytest]\n' >pytest.ini
pytest --csan --csan-device=embedded --junitxml=junit.xml "$tests" -k "test_racy_again"
check "JUnit's file has the report" eval 'grep -q "<failure" junit.xml && grep -q "CSAN: data race" junit.xml'

pytest --csan --csan-device=embedded -v -n 2 "$tests"
check "with xdist the same tests fail" eval 'ended 1 && outcome test_racy FAILED && outcome test_ordered PASSED && outcome test_with_racy_fixture ERROR'
check "and the last lines count those of all workers" grep -q '^csan: [0-9]* tests checked: 5 findings, 3 allowed or expected' out

run "$root/bin/csan" run --device=embedded --options=halt_on_error=0 python3 -m pytest -c pytest.ini -p no:cacheprovider --csan "$tests" -k test_nothing
check "under csan run it does not start again" ended 0
run "$root/bin/csan" run --device=embedded --options=exitcode=0:halt_on_error=0 python3 -m pytest -c pytest.ini -p no:cacheprovider "$tests" -k "test_racy_again"
check "without --csan a race fails no test" eval 'ended 0 && ! grep -q "^csan:" out'
pytest --csan --csan-options=halt_on_eror=0 "$tests" -k test_nothing
check "without the frames of pytest itself" eval '! grep -q "_pytest/" racy'
check "a wrong option is csan run's to refuse" eval '! ended 0 && grep -q halt_on_error err'
run env CSAN_COMMAND=/nowhere/csan python3 -m pytest -c pytest.ini --csan "$tests" -k test_nothing
check "a command that is not there is said" eval 'ended 4 && cat out err | grep -q "/nowhere/csan cannot be run"'

# The names of struct csan_api are those of csan.h, in their order.
cat >members.py <<'END'
import re, sys
from csan.findings import MEMBERS

text = re.sub(r"/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
body = re.search(r"struct csan_api \{(.*?)\n\};", text, re.S).group(1)
members = [re.search(r"\(\*(\w+)\)", m).group(1) for m in body.split(";") if "(*" in m]
assert members == MEMBERS, (members, MEMBERS)
END
run python3 members.py "$tree/include/csan/csan.h"
check "the package knows csan.h's table" ended 0
