# csan help, its manual page and its completions: all made of the same tables.

says() { grep -Eq -- "$1" err; }
has() { grep -Eq -- "$1" out; }
ended() { [ "$status" = "$1" ]; }
csan=$root/bin/csan
commands="run record replay report merge info dump explore kernels doctor mutate help"

run "$csan" help
check "csan help succeeds" ended 0
cp out help
for command in $commands; do
    check "csan help lists $command" grep -Eq "^  csan $command +[a-z]" help
    run "$csan" "$command" --help
    check "csan $command --help succeeds" ended 0
    check "csan $command --help begins with its usage" has "^usage: csan $command"
    cp out own
    run "$csan" help "$command"
    [ $command = help ] || check "csan help $command says the same" cmp -s out own
done
run env CSAN=1 CSAN_OPTIONS=help=1 "$programs/stream_same"
sed -n 's/^  \([a-z_]*\)=.*/\1/p' err >options
check "help=1 lists options" test "$(wc -l <options)" -gt 25
for option in halt_on_error exitcode log_path color strip_path_prefix report_limit verbosity \
    print_suppressions suppressions external_symbolizer_path format help; do
    check "help=1 lists $option" grep -qx $option options
done
check "csan help lists the same options" sh -c 'sed -n "s/^  \([a-z_]*\)=.*/\1/p" help | cmp -s - options'
run "$csan"
check "csan alone ends with 2" ended 2
check "csan alone prints the help as an error" says '^usage: csan COMMAND'
run "$csan" rnu
check "an unknown command ends with 2" ended 2
check "an unknown command proposes the nearest" says "no command 'rnu'; did you mean 'run'"
run "$csan" help fly
check "csan help of an unknown command ends with 2" ended 2
run "$csan" help --completion=fish
check "completion for another shell ends with 2" ended 2

# The manual page.
run "$csan" help --man
cp out csan.1
while read -r option; do
    grep -q "^\.BR $option=" csan.1 || echo "$option"
done <options >missing
check "the manual page has every option" test ! -s missing
for command in $commands; do
    check "the manual page has csan $command" grep -qx ".SS csan $command" csan.1
done
if command -v groff >/dev/null; then
    run_foreign groff -man -Tascii -ww csan.1
    check "groff has nothing to say against it" test ! -s err
    check "it can be read" has 'finds data races between GPU streams'
else
    echo "skipped: the manual page is not formatted, since there is no groff"
fi

# bash: what it would propose, with words as bash breaks them.
"$csan" help --completion=bash >completion.bash
proposed() { [ "$(bash -c '
    . ./completion.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _csan 2>/dev/null
    echo "${COMPREPLY[@]}"' complete "${@:2}")" = "$1" ]; }
check "bash completes commands" proposed "record replay report" csan re
check "bash completes flags" proposed "--save-schedule=" csan run --sa
check "bash completes values" proposed "embedded" csan run --device = e
check "bash lists values" proposed "auto gpu embedded" csan run --device =
check "bash completes values of csan report" proposed "sarif" csan report --format = s
check "bash completes options" proposed "exitcode= external_symbolizer_path=" csan run --options = ex
check "bash completes further options" proposed "log_path=" csan run --options = exitcode = 1 : log
check "bash completes words that it does not break" proposed "--device=embedded" csan run --device=e
check "bash completes a value behind a blank" proposed "embedded" csan run --device e
check "bash completes an option's values" proposed "auto 0 1" csan run --options = halt_on_error =
check "bash completes options behind a blank" proposed "exitcode=" csan run --options exitc
touch known.supp 'known two' report.html
check "bash completes files" proposed "known two known.supp" csan report kno
check "bash completes an option's file" proposed "report.html" csan report --html = rep
check "bash completes an option's file behind a blank" proposed "report.html" csan merge -o rep
check "bash completes an option's file that it does not break" proposed "--html=report.html" csan report --html=rep
check "bash completes a file among options" proposed "known.supp" csan run --options = exitcode = 1 : suppressions = known.
check "bash completes csan help" proposed "mutate" csan help mu
check "bash leaves files to itself" proposed "" csan run ./x
check "bash leaves a program's own words alone" proposed "" csan run --device = embedded ./x

"$csan" help --completion=zsh >_csan
check "zsh's has every command" sh -c "for c in $commands; do grep -q \"^        '\$c:\" _csan || exit 1; done"
check "zsh's has every option" sh -c "while read -r o; do grep -q \"'\$o\\[\" _csan || exit 1; done <options"
if command -v zsh >/dev/null; then
    check "zsh can read it" zsh -n _csan
else
    echo "skipped: the completion for zsh is not read, since there is no zsh"
fi
