#!/bin/sh
# Tags a version of the Go SDK and of what it is made of: scripts/release.sh v1.2.3
#
# Who runs `go get` sees neither the workspace nor a replace, so each go.mod has to require the tagged versions of its neighbours. This writes
# them, commits, and tags shared/VERSION and hub-server/client/VERSION on that commit. Nothing is pushed; it prints the command.
set -eu

version=${1:-}
echo "$version" | grep -Eqx 'v[01]\.[0-9]+\.[0-9]+' || { echo "usage: scripts/release.sh v1.2.3 (from v2 on the module paths need a /v2)" >&2; exit 2; }
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || { echo "release: the tree has changes; commit them first" >&2; exit 1; }

repository=github.com/switchyard-dev/switchyard
for file in hub-server/client/go.mod hub-server/go.mod edge-server/go.mod deploy/e2e/go.mod; do
	for module in shared hub-server/client; do
		if grep -q "$repository/$module v" "$file"; then
			"${GO:-go}" mod edit -require="$repository/$module@$version" "$file"
		fi
	done
done
if [ -n "$(git status --porcelain)" ]; then
	git commit -qam "release: require $version of the SDK and of shared"
fi
git tag "shared/$version"
git tag "hub-server/client/$version"
echo "git push origin HEAD shared/$version hub-server/client/$version"
