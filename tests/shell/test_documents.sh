# Every page that README.md, DESIGN.md and docs/ link to is there, so are the paths, options, targets
# and variables that they name; README.md and DESIGN.md keep to their size, and sentences to theirs.
csan=$root/bin/csan
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Of what a reader sees: not of blocks of code and of comments.
links()
{
    awk '/^ *```/ { code = !code; next } /<!--/ { hidden = 1 } !code && !hidden; /-->/ { hidden = 0 }' "$1" |
        grep -o '](\([^)#]*\)' | sed 's/^](//' | grep -v '^[a-z]*:' | grep .
}
missing=
while read -r page; do
    for link in $(links "$page"); do
        [ -e "$(dirname "$page")/$link" ] || missing+="$page: $link"$'\n'
    done
done < <(ls "$root"/*.md; find "$root/docs" -name '*.md')
printf '%s' "$missing" >missing
check "every page that is linked to is there" test ! -s missing
check "README.md has at most 8 kB" test "$(wc -c <"$root/README.md")" -le 8192
check "so has DESIGN.md" test "$(wc -c <"$root/DESIGN.md")" -le 8192

python3 "$root/tests/shell/check_documents.py" "$root" "$csan" >wrong 2>&1
check "documents name nothing that is not there" cmp -s wrong /dev/null || sed 's/^/    /' wrong
# wrong_page TEXT: what is said of a page that has this line.
wrong_page()
{
    rm -rf tree
    mkdir -p tree/docs/reference tree/mk
    cp "$root/docs/reference/environment.md" tree/docs/reference/
    cp "$root/Makefile" tree/
    echo "$1" >tree/docs/page.md
    python3 "$root/tests/shell/check_documents.py" tree "$csan" | grep -q "^docs/page.md:1: $2\$"
}
check "a name that was not replaced is found" wrong_page '| @ROWS@ |' 'unreplaced @ROWS@'
check "a path that is not there is found" wrong_page 'as `samples/absent.cu` shows' 'path samples/absent.cu'
check "a heading that is not there is found" wrong_page '[it](page.md#absent)' 'heading page.md#absent'
check "a command's option that is not there is found" wrong_page '`csan run --frobnicate ./app`' 'option --frobnicate of csan run'
check "an option of the library's, too" wrong_page '`CSAN_OPTIONS=dedup=1:frobnicate=1 ./app`' 'option frobnicate='
check "a target that is not there is found" wrong_page '`make frobnicate`' 'target make frobnicate'
check "what is there is not" eval '! wrong_page "\`csan run --options=dedup=1 ./app --own\`, \`make help\`" ".*"'

# No sentence has more than 25 words.
python3 "$root/tests/shell/check_sentences.py" "$root" >long 2>&1
check "no sentence has more than 25 words" cmp -s long /dev/null || sed 's/^/    /' long
# long_sentence TEXT: what is said of a page that has this text, on its third line.
long_sentence()
{
    rm -rf tree
    mkdir -p tree/docs/guide
    printf '# A page\n\n%b\n' "$1" >tree/docs/guide/page.md
    python3 "$root/tests/shell/check_sentences.py" tree ${2:+"--except=$2"}
}
longest=$(printf 'word %.0s' {1..24})end
check "a sentence of 26 words is found" \
    test "$(long_sentence "And $longest.")" = "docs/guide/page.md:3: 26 words"
check "a sentence over two lines is found where it begins" \
    test "$(long_sentence "Short.\nAnd here\n${longest}.")" = "docs/guide/page.md:4: 27 words"
check "so is one in an item of a list" \
    test "$(long_sentence "- First item\n- And $longest")" = "docs/guide/page.md:4: 26 words"
check "a sentence may end with a number" test -z "$(long_sentence "It is version 18. $longest")"
check "one of 25 words is not, nor are two of 25" test -z "$(long_sentence "$longest. $longest")"
check "nor is a table, or a block of code" \
    test -z "$(long_sentence "| And $longest |\n\n\`\`\`\nAnd $longest\n\`\`\`")"
check "nor is a page that is left out" test -z "$(long_sentence "And $longest" 'docs/guide/*')"
