#!/bin/sh
# Every check that is not a test. Called by `make check`. All of them run, so that one look shows every fault;
# the exit code is 0 only if none failed. Names given as arguments select steps: scripts/check.sh format vet
#
# No check changes a file.
set -u

cd "$(dirname "$0")/.." || exit 1
GO=${GO:-go}
modules='shared hub-server hub-server/client edge-server deploy/e2e examples/agents/golang'
patterns='./shared/... ./hub-server/... ./hub-server/client/... ./edge-server/... ./deploy/e2e/... ./examples/agents/golang/...'

go_files() {
	git ls-files --cached --others --exclude-standard '*.go' | while read -r f; do
		if [ -f "$f" ]; then echo "$f"; fi
	done
}

format() {
	unformatted=$(go_files | xargs gofmt -l) || return 1
	[ -z "$unformatted" ] && return 0
	echo "not gofmt-ed:"
	echo "$unformatted"
	return 1
}

shell() {
	for f in scripts/*.sh; do
		sh -n "$f" || return 1
	done
}

vet() { $GO vet $patterns; }

# The edge runs on people's laptops too, and its process control differs per system.
vet_darwin() { GOOS=darwin CGO_ENABLED=0 $GO vet ./edge-server/...; }

lint() { scripts/lint.sh; }

# Layers, file sizes, comments on exported names, forbidden words, links and commands in the documents.
repository() {
	$GO test -count=1 ./deploy/e2e/internal/repolint ./deploy/e2e/internal/doctest &&
		$GO test -count=1 -v -run '^TestFilesStaySmall$' ./deploy/e2e/internal/repolint | sed -n 's/.*_test.go:[0-9]*: /  /p'
}

generated() { scripts/generate.sh --check; }

tidy() {
	failed=0
	for m in $modules; do
		(cd "$m" && GOWORK=off $GO mod tidy -diff) || { echo "in $m: run go mod tidy"; failed=1; }
	done
	return $failed
}

# What somebody gets who installs one module: no workspace to hide a version that another module asks for.
alone() {
	failed=0
	for m in $modules; do
		(cd "$m" && GOWORK=off $GO build ./...) || { echo "in $m: does not build without the workspace"; failed=1; }
	done
	return $failed
}

# go work sync can only write, so it works on a copy.
sync() {
	copy=$(mktemp -d) || return 1
	cp -R go.work shared hub-server edge-server deploy examples "$copy" || return 1
	(cd "$copy" && $GO work sync)
	status=$?
	for m in $modules; do
		if ! git diff --no-index --exit-code -- "$m/go.mod" "$copy/$m/go.mod"; then
			echo "in $m: run go work sync"
			status=1
		fi
	done
	rm -rf "$copy"
	return $status
}

[ $# -gt 0 ] || set -- format shell generated tidy sync alone vet vet_darwin repository lint

failures=
for step in "$@"; do
	start=$(date +%s)
	if "$step"; then result=ok; else result=FAILED failures="$failures $step"; fi
	printf 'check: %-10s %-6s %3d s\n' "$step" "$result" $(($(date +%s) - start))
done

if [ -n "$failures" ]; then
	echo "check: failed:$failures" >&2
	exit 1
fi
