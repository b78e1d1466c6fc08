#!/bin/sh
# Does what `make faults` does for as long as is asked for. Called by `make soak`, of a night or over a weekend.
#
#   TIME=250m  of whole systems: 250m means 25 times the figures of docs/guarantees.md, so 500 kills where it says 20. It is given in minutes
#              (90m) or hours (4h). P4 and P7 take half of it each; P8 to P11 follow from it too.
#   SEED=0     as in `make faults`
#
# All of it takes about twice TIME, some 25 GB in the temporary folder, and prints a line of figures for each test that passed.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
TIME=${TIME:-250m}

case $TIME in
*[!0-9]*[mh] | [mh] | *[!0-9mh]*) minutes=0 ;;
*h) minutes=$((${TIME%h} * 60)) ;;
*m) minutes=${TIME%m} ;;
*) minutes=0 ;;
esac
if [ "$minutes" -lt 1 ]; then
	echo "soak: TIME=$TIME: want minutes or hours, such as 250m or 4h" >&2
	exit 2
fi

start=$(date +%s)
test() { $GO test -count=1 -timeout 0 -json "$@" | $GO run ./deploy/e2e/cmd/testreport; }

test ./deploy/e2e/faults -time "$TIME" -seed "${SEED:-0}"
test -run '^TestNoSecret' ./deploy/e2e/security
test -run '^(TestResumeReplays|TestAClientThatIsAhead|TestALostFrame)' ./hub-server/internal/gate \
	-resumes $((minutes * 800)) -lost $((minutes * 200))
test -run '^(TestALogIsDense|TestAnOutboxThat|TestATailReader)' ./hub-server/internal/sqlstore -write-for $((minutes * 30))s -logs 1024
test -run '^(TestP10|TestP11)' ./hub-server/internal/sqlstore -prompt-crashes $((minutes * 40)) -questions $((minutes * 200))
test ./hub-server/internal/simulator -seeds $((minutes * 400))
test ./hub-server/internal/simulator -seeds $((minutes * 4000))
echo "soak: passed in $(($(date +%s) - start)) s"
