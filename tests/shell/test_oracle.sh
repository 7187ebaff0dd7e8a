# Random host programs, judged by brute force (tests/oracle). A sanitizer's build plays fewer.
case $root in
*/asan | */tsan) programs=1000 ;;
*) programs=20000 ;;
esac
run "$root/tests/oracle/oracle" --programs=$programs
cat out err
check "oracle: csan and brute force agree" [ "$status" = 0 ]
