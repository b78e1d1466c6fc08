#!/bin/sh
# Brings every go.mod and go.sum in order. Called by `make tidy`.
#
# The workspace raises a module's requirements to what the others need, and that can bring in what tidying then has to
# record, so both are repeated until nothing changes: two or three rounds.
set -eu

cd "$(dirname "$0")/.."
GO=${GO:-go}
modules='shared hub-server/client hub-server edge-server deploy/e2e examples/agents/golang'

state() { for m in $modules; do cat "$m/go.mod" "$m/go.sum" 2>/dev/null || true; done | cksum; }

before=
while [ "$before" != "$(state)" ]; do
	before=$(state)
	$GO work sync
	for m in $modules; do
		(cd "$m" && GOWORK=off $GO mod tidy)
	done
done
