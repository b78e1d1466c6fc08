#!/bin/sh
# Strikes the system at the figures of docs/guarantees.md. Called by `make faults`.
#
#   TIME=10m   about how long whole systems are struck; 10m means the figures as stated, less does less
#   SEED=0     what goes wrong and when; 0 means something new, which each test prints
#
# Whole systems come first (P1, P2, P3, P5, P6, P12, P13, P16), then what is tried closer to the code (P4, P7, P8, P9, P10, P11, and the
# simulator); that is 10 minutes on two cores. Then come P22, P24, and P23, which plays P1, P2, P3 and P12 again with wrong clocks. The race detector
# is off: `make test` has it, and here it would only make faults rarer.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
TIME=${TIME:-10m}

if [ "$TIME" = 10m ]; then
	resumes=2000 lost=1000 write=30s stories=5000
else
	resumes=200 lost=200 write=2s stories=1000
fi

start=$(date +%s)
test() { $GO test -count=1 -v -timeout 1h "$@"; }
strike() { test "$@" ./deploy/e2e/faults -time "$TIME" -seed "${SEED:-0}"; }
later='^(TestNothingGoesByClocks|TestHubsWhoseClocks|Test.*DiskIsFull|Test.*FileDescriptors)'

strike -skip "$later"
test -run '^(TestResumeReplays|TestAClientThatIsAhead|TestALostFrame)' ./hub-server/internal/gate -resumes $resumes -lost $lost
test -run '^(TestALogIsDense|TestAnOutboxThat|TestATailReader)' ./hub-server/internal/sqlstore -write-for $write
test -run '^(TestP10|TestP11|TestEveryPage)' ./hub-server/internal/sqlstore
test ./hub-server/internal/simulator -seeds $stories
echo "faults: P1 to P13 passed in $(($(date +%s) - start)) s"
test -run '^TestNoSecret' ./deploy/e2e/security
strike -run "$later"
echo "faults: everything passed in $(($(date +%s) - start)) s"
