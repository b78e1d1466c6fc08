#!/bin/sh
# Strikes the system at the figures of docs/guarantees.md. Called by `make faults`.
#
#   TIME=10m   about how long whole systems are struck; 10m means the figures as stated, 40s a fifteenth of them, 20m twice as much. P4 and P7
#              to P11 and the simulator follow, and do what `make test` does at least.
#   SEED=0     what goes wrong and when, for all of it; 0 means something new, which is the first line printed. (The simulator has its own:
#              it plays the stories from 1 on.)
#
# Whole systems come first (P1, P2, P3, P5, P6, P12, P13, P15, P16, P17, P19), then what is tried closer to the code (P4, P7, P8, P9, P10, P11, cards, and
# the simulator); how long that took is printed, and docs/guarantees.md has it for two cores. Then come P22, P24, and P23, which plays P1, P2, P3 and
# P12 again with wrong clocks. A failure stops nothing: the end says everything that was tried and all that failed. The race detector is off:
# `make test` has it, and here it would only make faults rarer.
set -eu

cd "$(dirname "$0")/.."
. scripts/effort.sh
GO=${GO:-go}
TIME=${TIME:-10m}
effort faults

# of scales a figure that is stated for 10 minutes, to no less than the second.
of() { at_least "$2" $(($1 * seconds / 600)); }

start=$(date +%s)
elapsed() { echo "$(($(date +%s) - start)) s"; }

failed=0
test() { $GO test -count=1 -timeout $((3600 + 6 * seconds))s -json "$@" || failed=1; }
strike() { test "$@" ./deploy/e2e/faults -time "${seconds}s" -seed "$SEED"; }
later='^(TestNothingGoesByClocks|TestHubsWhoseClocks|Test.*DiskIsFull|Test.*FileDescriptors)'

everything() {
	strike -skip "$later"
	test -run '^(TestResumeReplays|TestAClientThatIsAhead|TestALostFrame|TestSlowClients|TestShardsThat)' ./hub-server/internal/gate \
		-resumes "$(of 2000 200)" -lost "$(of 1000 200)" -seed "$SEED"
	test -run '^(TestALogIsDense|TestAnOutboxThat|TestATailReader)' ./hub-server/internal/sqlstore -write-for "$(of 30 2)s" -seed "$SEED"
	test -run '^(TestP10|TestP11|TestEveryPage)' ./hub-server/internal/sqlstore \
		-prompt-crashes "$(of 300 30)" -questions "$(of 500 50)" -seed "$SEED"
	test -run '^(TestCutAtAnyByte|TestP11)' ./hub-server/internal/gate/cards -cuts "$(of 10000 500)" -questions "$(of 500 50)" -seed "$SEED"
	test ./hub-server/internal/simulator -seeds "$(of 5000 1000)"
	test -run '^TestAfterADay' ./deploy/e2e/devices -days "$(of 20 3)" -seed "$SEED"
	echo "faults: P1 to P13 took $(elapsed)"
	test -run '^TestNoSecret' ./deploy/e2e/security
	strike -run "$later"
	# The report goes by what tests said; this is for a `go test` that ended without a word.
	[ "$failed" = 0 ] || echo '{"Action":"fail","Package":"make faults"}'
}

everything | $GO run ./deploy/e2e/cmd/testreport -progress
echo "faults: everything passed in $(elapsed)"
