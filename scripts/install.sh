#!/bin/sh
# Installs what building, tests and demo need and this machine lacks: Debian packages, by apt-get, asked only for those missing.
# Checks Node.js too, which has to be there already. Exit code 1 with a message when something cannot be had.
set -eu

OLDEST_NODE=20.19
# wireguard-go, wireguard-tools: the device and its judge; nftables, iproute2: tools the tests compare with;
# containernetworking-plugins: attach the lab's pods; iputils-ping, fping, tcpdump, conntrack: look at packets;
# procps, util-linux: sysctl, unshare; openssl: certificates of test servers; gcc, libc6-dev: the netlink addon;
# python3: the routing model that the topology is compared with; ca-certificates, make: what the rest leans on.
PACKAGES="wireguard-go wireguard-tools nftables iproute2 containernetworking-plugins iputils-ping fping tcpdump conntrack
procps util-linux openssl gcc libc6-dev python3 ca-certificates make"

fail() {
  echo "cannot install: $1" >&2
  exit 1
}

node_is_new_enough() {
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    const [c, d] = process.argv[1].split(".").map(Number);
    process.exit(a > c || (a === c && b >= d) ? 0 : 1)' "$OLDEST_NODE"
}

has_node_headers() {
  prefix=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
  [ -e "$prefix/include/node/node_api.h" ] || [ -e /usr/include/node/node_api.h ] || [ -e /usr/include/nodejs/src/node_api.h ]
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

command -v node >/dev/null || fail "Node.js is missing; install $OLDEST_NODE or newer with npm (nodejs.org, or NodeSource's packages)"
node_is_new_enough || fail "Node.js $(node --version) is too old; $OLDEST_NODE or newer is needed"
command -v npm >/dev/null || fail "npm is missing; it comes with Node.js, or as Debian's package npm"
command -v dpkg-query >/dev/null || fail "this is neither Debian nor Ubuntu; install by hand what these packages hold: $PACKAGES"

missing=
for package in $PACKAGES; do
  is_installed "$package" || missing="$missing $package"
done
has_node_headers || missing="$missing libnode-dev"
[ -n "$missing" ] || exit 0

[ "$(id -u)" = 0 ] || fail "not root, and these packages are missing:$missing (run it with sudo, or install them)"
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null || fail "apt-get update failed (no network?)"
# shellcheck disable=SC2086  # a list of words
apt-get install -q -y --no-install-recommends $missing >/dev/null || fail "apt-get install$missing failed"
