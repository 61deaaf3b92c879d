#!/bin/sh
# Installs what the tests use besides Go, with apt-get, as root; elsewhere it prints what is missing and what for.
# The product itself needs none of it. Everything is optional: without it ./test.sh names what it does not run.
set -eu
cd "$(dirname "$0")/.."
. tools/say.sh

missing=
# want COMMAND "PACKAGES" "PURPOSE" notes the packages when the command is not there.
want() {
	command -v "$1" >/dev/null && return
	say "missing: $1, for $3"
	missing="$missing $2"
}
if ! has_c; then
	say "missing: a C compiler with the headers of its library, for the race detector"
	missing="$missing gcc libc6-dev"
fi
want curl curl "the newcomer's script (test/newcomer)"
want jq jq "the newcomer's script (test/newcomer)"
want prometheus prometheus "the test with real peers (test/peer)"
[ -x /usr/sbin/nginx ] || want nginx nginx-light "the test with real peers (test/peer)"
want prometheus-alertmanager prometheus-alertmanager "the test with real peers (test/peer)"
want zabbix_js zabbix-proxy-sqlite3 "the test with real peers (test/peer)"
[ -x /usr/sbin/mariadbd ] || want mariadbd "mariadb-server-core mariadb-client-core" "the queries of databases (test/peer)"
[ -x /usr/sbin/clickhouse-server ] || want clickhouse-server clickhouse-server "the queries of databases (test/peer)"
want systemd-analyze systemd "the systemd unit (test/deploy)"
want lintian lintian "the Debian package (test/deploy)"
want buildah buildah "the container image (test/deploy)"
[ -n "${CHROMIUM:-}" ] || want chromium chromium "the tests of the console in a browser (test/browser)"
[ -n "${CHROMIUM:-}" ] || want chromium-headless-shell chromium-headless-shell "the same tests in half the time (test/browser)"
[ -n "$(fc-list :lang=zh 2>/dev/null)" ] || {
	say "missing: a Chinese font, for the pictures of the console"
	missing="$missing fonts-wqy-microhei"
}
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || {
	say "missing: postgresql, for the tests on PostgreSQL"
	missing="$missing postgresql"
}
want patroni patroni "a cluster whose leader fails (test/failover)"
want etcd etcd-server "a cluster whose leader fails (test/failover)"
[ -x /usr/sbin/haproxy ] || want haproxy haproxy "a cluster whose leader fails (test/failover)"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	say "not installed (this needs root and apt-get): apt-get install$missing"
	exit 0
fi
say "installing:$missing"
apt-get update -q
case $missing in
*postgresql* | *patroni*) # the tests start servers of their own: none is to be made and started by the package
	[ -e /etc/postgresql-common/createcluster.conf ] || {
		mkdir -p /etc/postgresql-common
		echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
	}
	;;
esac
# shellcheck disable=SC2086 # the list is meant to be split
DEBIAN_FRONTEND=noninteractive apt-get install -qy -o Dpkg::Options::=--force-confold --no-install-recommends $missing
