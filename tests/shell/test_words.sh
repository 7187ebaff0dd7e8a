# Words that the sources no longer use (scripts/retired-words.txt) are in no identifier, comment, text
# or document.
tree=$(cd "$(dirname "$test")/../.." && pwd)
check "the check finds a retired word" "$tree/scripts/lint-words" --self-check
run_foreign "$tree/scripts/lint-words"
check "no retired word is used" test "$status" = 0 || sed 's/^/    /' out
run_foreign "$tree/scripts/lint-words" scripts
check "some files alone can be checked" test "$status" = 0
# A tree with one file that uses one.
mkdir -p tree/scripts
cp "$tree"/scripts/lint-words "$tree"/scripts/retired-words.txt tree/scripts/
word=back
echo "int ${word}log;" >tree/one.c
git -C tree init -q && git -C tree add -A
run_foreign tree/scripts/lint-words
check "a file that uses one is named, with line and replacement" grep -q "^one.c:1: '${word}log' is retired: deferred" out
check "... and the check fails" test "$status" = 1
