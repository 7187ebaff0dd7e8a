# Each mutant is a patch of today's sources: one that no longer applies would test nothing. make
# test-mutants builds them and lets the oracle find them.
tree=$(realpath "$(dirname "$test")/../..")
for patch in "$tree"/tests/oracle/mutants/*.patch; do
    check "$(basename "$patch" .patch) applies" \
        patch --dry-run --force -s -p1 -F0 -d "$tree" -i "$patch"
done
# One of them is built, and found.
case $root in
*/asan | */tsan) ;;
*)
    found()
    {
        (cd "$tree" && env -u MAKEFLAGS -u MAKELEVEL PROGRAMS=5000 scripts/test-mutants "$root" all-streams-blocking) >out 2>err
    }
    check "a mutant can be built, and the oracle finds it" found
    ;;
esac
