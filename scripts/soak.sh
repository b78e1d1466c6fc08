#!/bin/sh
# Does what `make faults` does for as long as is asked for. Called by `make soak`, of a night or over a weekend.
#
#   TIME=250m  of whole systems: 250m means 25 times the figures of docs/guarantees.md, so 500 kills where it says 20. P4 and P7 take
#              half of it each; P8 to P11 follow from it too.
#   SEED=0     as in `make faults`
#
# All of it takes about twice TIME, some 25 GB in the temporary folder, and prints a line for each test that ends, and the figures
# at the end of each part.
set -eu

cd "$(dirname "$0")/.."
. scripts/effort.sh
GO=${GO:-go}
TIME=${TIME:-250m}

effort soak
minutes=$(at_least 1 $((seconds / 60)))

start=$(date +%s)
test() { $GO test -count=1 -timeout 0 -json "$@" | $GO run ./deploy/e2e/cmd/testreport -progress; }

test ./deploy/e2e/faults -time "${seconds}s" -seed "$SEED"
test -run '^TestNoSecret' ./deploy/e2e/security
test -run '^(TestResumeReplays|TestAClientThatIsAhead|TestALostFrame|TestSlowClients|TestShardsThat)' ./hub-server/internal/gate \
	-resumes $((minutes * 800)) -lost $((minutes * 200)) -seed "$SEED"
test -run '^(TestALogIsDense|TestAnOutboxThat|TestATailReader)' ./hub-server/internal/sqlstore \
	-write-for $((minutes * 30))s -logs 1024 -seed "$SEED"
test -run '^(TestP10|TestP11)' ./hub-server/internal/sqlstore \
	-prompt-crashes $((minutes * 40)) -questions $((minutes * 200)) -seed "$SEED"
test -run '^(TestCutAtAnyByte|TestP11)' ./hub-server/internal/gate/cards \
	-cuts $((minutes * 1000)) -questions $((minutes * 200)) -seed "$SEED"
test ./hub-server/internal/simulator -seeds $((minutes * 400))
test ./hub-server/internal/simulator -seeds $((minutes * 4000))
test -run '^TestAfterADay' ./deploy/e2e/devices -days $((minutes * 2)) -seed "$SEED"
echo "soak: passed in $(($(date +%s) - start)) s"
