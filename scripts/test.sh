#!/bin/sh
# Runs every test of every module. Called by `make test`.
#
#   CI=true   the race detector is required, and a skipped test counts as failed
#
# The system tests come last and one package at a time: they start real processes and watch clocks, and a
# compiler working beside them on a small machine is noise they did not ask for.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}

# The race detector needs cgo, and cgo needs a C compiler. Nothing else here does.
compiler=$($GO env CC)
race=
if command -v "${compiler%% *}" >/dev/null 2>&1; then
	# This package is SQLite's C turned into Go: no goroutine, no atomic and no generic of its own, and its memory is none that the detector knows.
	# To ask about each access all the same takes most of the time. deploy/e2e/internal/rig builds its programs likewise.
	race="-race -gcflags=modernc.org/sqlite/lib=-race=false"
	export CGO_ENABLED=1
	# A program with the race detector sleeps a second before it ends, and hundreds are started here. Tests end what they start.
	export GORACE="atexit_sleep_ms=0"
elif [ "${CI:-}" = true ]; then
	echo "test: CI=true needs the race detector, and that needs a C compiler ($compiler): install one" >&2
	exit 1
else
	echo "test: no C compiler ($compiler) here, so the race detector is off"
	export CGO_ENABLED=0
fi

strict=
if [ "${CI:-}" = true ]; then strict=-strict; fi

# in_memory makes a folder in memory for tests, if there are 4 GiB to spare and programs may run there: it prints the name, or nothing.
in_memory() {
	room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print ($4 >= 4 * 1024 * 1024) }')
	if [ "$room" != 1 ] || ! made=$(mktemp -d /dev/shm/switchyard-test-XXXXXX); then return; fi
	printf '#!/bin/sh\n' >"$made/runs"
	chmod 755 "$made" "$made/runs"
	if "$made/runs" 2>/dev/null; then echo "$made"; else rm -rf "$made"; fi
}

run() {
	what=$1
	shift
	start=$(date +%s)
	echo "test: $what"
	# The report ends with 1 if a test failed, and with -strict if one was skipped.
	$GO test $race -ldflags=-w -shuffle=on -timeout 20m -json "$@" | $GO run ./deploy/e2e/cmd/testreport $strict
	echo "test: $what passed in $(($(date +%s) - start)) s"
}

# Stores of these tests are synced thousands of times. In memory that is free and loses nothing: what ends here is a process, never a machine.
memory=
if [ -z "${TMPDIR:-}" ]; then memory=$(in_memory); fi
SWITCHYARD_TEST_PROGRAMS=$(mktemp -d)
export SWITCHYARD_TEST_PROGRAMS
trap 'rm -rf "$memory" "$SWITCHYARD_TEST_PROGRAMS"' EXIT
trap 'exit 130' INT TERM
# The longest package first; and as tests wait more than they work, one package more at a time than there are processors.
(
	if [ -n "$memory" ]; then export TMPDIR="$memory" GOTMPDIR="${GOTMPDIR:-/tmp}"; fi
	run "modules" -p $(($(getconf _NPROCESSORS_ONLN) + 1)) \
		./hub-server/internal/sqlstore ./shared/... ./hub-server/... ./hub-server/client/... ./edge-server/... ./examples/agents/golang/...
)
# What of docs/guarantees.md is tried with whole systems: the report has a line for each, with the figures and the seed.
echo "test: promises against killed, cut, paused and full systems: P1, P2, P3, P5, P6, P12, P19, P24 with TIME=40s, a fifteenth of the figures;" \
	"P13, P15, P16, P17, P22 in full; P23 with a fifth of that TIME"
run "system" -p 1 ./deploy/e2e/...
