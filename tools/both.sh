#!/bin/sh
# Runs the test program of a package, for go test -exec: where it makes databases, on the embedded engine and then on the
# PostgreSQL server of the run.
set -eu
env TOCSIN_TEST_POSTGRES= "$@"
case $PWD in
*/test/nodes) exit ;; # starts servers of its own
*/test/architecture) only='-test.run=Statement|Retention|Watched|Plans|AModuleHolds' ;; # the others read the source
*/test/story) only='-test.run=TestEnginesAgree|TestInvariantsOfTwoPrograms|TestMove|Restart' ;; # all take a quarter of an hour
esac
[ -n "${TOCSIN_TEST_POSTGRES-}" ] && grep -q TOCSIN_TEST_POSTGRES "$1" || exit 0
echo "on PostgreSQL:"
exec "$@" ${only-}
