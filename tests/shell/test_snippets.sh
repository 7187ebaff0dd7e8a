# The code that README.md, CONTRIBUTING.md, the tutorial, the guides and the pages for developers show
# does what they say: commands are run on the embedded device and print what the page has, programs
# compile, the oracle runs, data can be parsed. Blocks that cannot run here say why; the last line counts them.

case $root in
*/asan | */tsan)
    echo "skipped $(basename "$test" .sh): documents show csan without a sanitizer"
    return 0
    ;;
esac
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export CUDA_HOME=$cuda PATH=$cuda/bin:$PATH
unset CSAN_DEVICE MAKEFLAGS MAKELEVEL

snippets() { python3 "$top/tests/shell/snippets.py" "$@" >said 2>&1; }
# ---- Of documents
mapfile -t pages < <(cd "$top" && ls README.md CONTRIBUTING.md docs/*.md docs/guide/*.md docs/reference/[!a]*.md docs/development/*.md 2>/dev/null)
snippets "$top" "$root" "$scratch/work" "${pages[@]}"
tail -1 said
sed '$d' said >wrong
check "every snippet does what its page says" test ! -s wrong || sed 's/^/    /' wrong

# ---- Of the runner itself
# wrong_block TEXT: what it says of a page with this block
wrong_block()
{
    rm -rf tree again
    mkdir -p tree/samples
    ln -s "$top/include" tree/include
    printf '%b\n' "$1" >tree/page.md
    snippets "$scratch/tree" "$root" "$scratch/again" page.md
    grep -Eq "^page.md:[0-9]+: $2" said
}
check "another output is found" wrong_block '```console\n$ echo one\ntwo\n```' "'echo one' prints something else"
check "a command that fails, too" wrong_block '```sh\nfalse\n```' "'false' ended with 1"
check "and one that is not there" wrong_block '```sh\nfrobnicate\n```' "'frobnicate' ended with 127"
check "a program that does not compile, too" wrong_block '```c\nint main(void) { return x; }\n```' 'does not compile'
check "a fragment that does not compile, too" wrong_block '```c\nfrobnicate();\n```' 'does not compile'
check "JSON that is none, too" wrong_block '```json\n{"a": }\n```' 'cannot be parsed'
check "a block without a tag, too" wrong_block '```\nls\n```' "a block's tag says what it is"
check "a reason that is not known, too" wrong_block '<!-- not run: too lazy -->\n```sh\nls\n```' 'not run for a reason'
check "a quoted line that its file does not have, too" \
    wrong_block '<!-- from: include/csan/csan.h -->\n```text\nint frobnicate;\n```' 'include/csan/csan.h has no line'
check "... stands for any lines" eval '! wrong_block "\`\`\`console\n\$ seq 5\n1\n...\n5\n\`\`\`" ".*"'
check "a known reason is counted" eval '! wrong_block "<!-- not run: needs a GPU -->\n\`\`\`sh\nfalse\n\`\`\`" ".*"; grep -q "not run: 1 needs a GPU" said'
