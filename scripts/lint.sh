#!/bin/sh
# Runs golangci-lint over every module, or over the package patterns given. Called by scripts/check.sh.
#
# The linter is pinned here and built once into bin/tools, outside every go.mod: its authors advise against
# building it with other people's dependency versions, and warm it then costs seconds instead of a minute.
set -eu

version=v2.15.0

cd "$(dirname "$0")/.."
GO=${GO:-go}
lint=bin/tools/golangci-lint-$version

if [ ! -x "$lint" ]; then
	echo "lint: building golangci-lint $version once (some minutes) ..."
	mkdir -p bin/tools
	GOBIN=$PWD/bin/tools GOWORK=off GOFLAGS='' CGO_ENABLED=0 \
		"$GO" install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
	mv bin/tools/golangci-lint "$lint"
fi

if [ $# -eq 0 ]; then
	set -- ./shared/... ./hub-server/... ./hub-server/client/... ./edge-server/... ./deploy/e2e/... ./examples/agents/golang/...
fi
exec "$lint" run --allow-parallel-runners "$@"
