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

run() {
	what=$1
	shift
	start=$(date +%s)
	echo "test: $what"
	# The report ends with 1 if a test failed, and with -strict if one was skipped.
	$GO test $race -shuffle=on -timeout 20m -json "$@" | $GO run ./deploy/e2e/cmd/testreport $strict
	echo "test: $what passed in $(($(date +%s) - start)) s"
}

run "modules" ./shared/... ./hub-server/... ./hub-server/client/... ./edge-server/... ./examples/agents/golang/...
# What of docs/guarantees.md is tried with whole systems: the report has a line for each, with the figures and the seed.
echo "test: promises against killed, cut, paused and full systems: P1, P2, P3, P5, P6, P12, P19, P24 with TIME=40s, a fifteenth of the figures;" \
	"P13, P15, P16, P17, P22 in full; P23 with a fifth of that TIME"
run "system" -p 1 ./deploy/e2e/...
