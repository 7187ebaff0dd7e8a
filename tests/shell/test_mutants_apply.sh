# Each mutant is a patch of today's sources: one that no longer applies would test nothing. make
# test-mutants builds them and lets the oracle find them.
tree=$(realpath "$(dirname "$test")/../..")
for patch in "$tree"/tests/oracle/mutants/*.patch; do
    check "$(basename "$patch" .patch) applies" \
        patch --dry-run --force -s -p1 -F0 -d "$tree" -i "$patch"
done
