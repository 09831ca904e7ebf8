/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations that load, each default, and one row for each thing that is refused. */
#include "config/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "config/words.h"
#include "tests/unit/config/configtext.h"

static const struct refusal refusals[] = {
	/* server */
	{ "listen missing", "server:\n  workers: 1\n",
	  "1: server.listen: is missing, give a list" },
	{ "listen empty", "cache:\n  size: 8M\nserver:\n  listen: []\n",
	  "4: server.listen: is missing" },
	{ "listen not an address", "server:\n  listen:\n    - 192.0.2.1\n    - eth0\n",
	  "4: server.listen[1]: \"eth0\" is not accepted, give a list of IPv4 or IPv6 addresses, "
	  "each with @ and a port behind it if not 53" },
	{ "listen with a prefix", "server:\n  listen: [192.0.2.1/24]\n",
	  "2: server.listen[0]: \"192" },
	{ "listen port 0", "server:\n  listen: [192.0.2.1@0]\n", "2: server.listen[0]: " },
	{ "listen port too big", "server:\n  listen: [192.0.2.1@65536]\n",
	  "2: server.listen[0]: " },
	{ "listen port empty", "server:\n  listen: [192.0.2.1@]\n", "2: server.listen[0]: " },
	{ "listen port twice", "server:\n  listen: [192.0.2.1@53@53]\n", "2: server.listen[0]: " },
	{ "listen multicast", "server:\n  listen: [224.0.0.1]\n", "2: server.listen[0]: " },
	{ "listen link-local", "server:\n  listen: [\"fe80::1\"]\n",
	  "2: server.listen[0]: fe80::1 is a link-local address: give its interface, too, as in "
	  "fe80::1%eth0" },
	{ "listen without such an interface", "server:\n  listen: [\"fe80::1%nosuch0@53\"]\n",
	  "2: server.listen[0]: fe80::1%nosuch0@53: this host has no such interface, or not yet" },
	{ "listen zone of another address", "server:\n  listen: [\"2001:db8::1%lo\"]\n",
	  "2: server.listen[0]: \"2001:db8::1%lo\" is not accepted" },
	{ "listen link-local twice", "server:\n  listen: [\"fe80::1%lo\", \"fe80::1%lo@53\"]\n",
	  "2: server.listen[1]: \"fe80::1%lo@53\" is given twice" },
	{ "listen broadcast", "server:\n  listen: [255.255.255.255]\n", "2: server.listen[0]: " },
	{ "listen IPv6 multicast", "server:\n  listen: [\"ff02::1\"]\n", "2: server.listen[0]: " },
	{ "listen IPv4-mapped", "server:\n  listen: [\"::ffff:192.0.2.1\"]\n",
	  "2: server.listen[0]: " },
	{ "listen longer than an address",
	  "server:\n  listen: [\"2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000\"]\n",
	  "2: server.listen[0]: " },
	{ "listen twice", "server:\n  listen:\n    - 192.0.2.1\n    - \"::\"\n    - 192.0.2.1@53\n",
	  "5: server.listen[2]: \"192.0.2.1@53\" is given twice, first in line 3" },
	{ "listen twice, other spelling",
	  "server:\n  listen: [\"2001:DB8::1\", \"2001:db8:0::1\"]\n",
	  "2: server.listen[1]: \"2001:db8:0::1\" is given twice, first in line 2" },
	{ "workers 0", "server:\n  listen: [192.0.2.1]\n  workers: 0\n",
	  "3: server.workers: \"0\" is not accepted, give auto or a whole number from 1 to 1024" },
	{ "workers negative", "server:\n  listen: [192.0.2.1]\n  workers: -1\n",
	  "3: server.workers: " },
	{ "workers a fraction", "server:\n  listen: [192.0.2.1]\n  workers: 1.5\n",
	  "3: server.workers: " },
	{ "workers too big to hold",
	  "server:\n  listen: [192.0.2.1]\n  workers: 18446744073709551617\n",
	  "3: server.workers: \"18446744073709551617\" is not accepted, give auto" },
	{ "max-udp-size small", "server:\n  listen: [192.0.2.1]\n  max-udp-size: 511\n",
	  "3: server.max-udp-size: \"511\" is not accepted, give a whole number from 512 to 1432" },
	{ "max-udp-size big", "server:\n  listen: [192.0.2.1]\n  max-udp-size: 1433\n",
	  "3: server.max-udp-size: " },
	{ "any neither minimal nor full", "server:\n  listen: [192.0.2.1]\n  any: all\n",
	  "3: server.any: \"all\" is not accepted, give minimal or full" },
	{ "nsid of half an octet", "server:\n  listen: [192.0.2.1]\n  nsid: 0xabc\n",
	  "3: server.nsid: \"0xabc\" is not accepted, give a text of 1 to 128 bytes, or 0x" },
	{ "nsid of no octet", "server:\n  listen: [192.0.2.1]\n  nsid: 0x\n",
	  "3: server.nsid: \"0x\" is not accepted" },
	{ "version empty", "server:\n  listen: [192.0.2.1]\n  version: \"\"\n",
	  "3: server.version: \"\" is not accepted, give a text of 1 to 255 bytes" },
	{ "minimal-responses not a bool",
	  "server:\n  listen: [192.0.2.1]\n  minimal-responses: maybe\n",
	  "3: server.minimal-responses: \"maybe\" is not accepted, give true or false" },
	{ "pid-file empty", "server:\n  listen: [192.0.2.1]\n  pid-file: ''\n",
	  "3: server.pid-file: \"\" is not accepted, give the path of a file" },
	{ "max-connections", "server:\n  listen: [192.0.2.1]\n  tcp: {max-connections: 0}\n",
	  "3: server.tcp.max-connections: \"0\" is not accepted, give a whole number from 1 to" },
	{ "idle-timeout", "server:\n  listen: [192.0.2.1]\n  tcp: {idle-timeout: 2h}\n",
	  "3: server.tcp.idle-timeout: \"2h\" is not accepted, give a time from 1s to 1h: seconds, "
	  "or a number with s, m, h or d behind it" },
	{ "max-queries", "server:\n  listen: [192.0.2.1]\n  tcp: {max-queries: 1000001}\n",
	  "3: server.tcp.max-queries: \"1000001\" is not accepted" },
	{ "secret short", "server:\n  listen: [192.0.2.1]\n  cookies: {secret: \"0123\"}\n",
	  "3: server.cookies.secret: \"(hidden)\" is not accepted, give 32 hexadecimal digits" },
	{ "TLS without a certificate",
	  "server:\n  listen: [192.0.2.1]\n  tls: {listen: [192.0.2.1]}\n",
	  "3: server.tls.listen: needs server.tls.certificate and server.tls.key" },
	{ "certificate without a key",
	  "server:\n  listen: [192.0.2.1]\n  tls:\n    certificate: c.pem\n",
	  "3: server.tls: certificate and key belong together" },
	{ "TLS on a port of DNS",
	  "server:\n  listen: [192.0.2.1]\n  tls: {listen: [192.0.2.1@53], certificate: c, key: "
	  "k}\n",
	  "3: server.tls.listen[0]: is one of server.listen" },
	{ "TLS twice",
	  "server:\n  listen: [192.0.2.1]\n"
	  "  tls: {listen: [192.0.2.1, 192.0.2.1@853], certificate: c, key: k}\n",
	  "3: server.tls.listen[1]: \"192.0.2.1@853\" is given twice, first in line 3" },
	{ "TLS on no address", "server:\n  listen: [192.0.2.1]\n  tls: {listen: [eth0]}\n",
	  "3: server.tls.listen[0]: \"eth0\" is not accepted, give a list of IPv4 or IPv6 "
	  "addresses, "
	  "each with @ and a port behind it if not 853" },
	{ "storage empty", "server:\n  listen: [192.0.2.1]\n  storage: ''\n",
	  "3: server.storage: \"\" is not accepted, give the path of a file" },
	{ "storage-size", "server:\n  listen: [192.0.2.1]\n  storage-size: 1K\n",
	  "3: server.storage-size: \"1K\" is not accepted, give a size from 1M to 1T" },
	{ "transfers-in", "server:\n  listen: [192.0.2.1]\n  transfers-in: 0\n",
	  "3: server.transfers-in: \"0\" is not accepted, give a whole number from 1 to 10000" },
	{ "transfers-out", "server:\n  listen: [192.0.2.1]\n  transfers-out: all\n",
	  "3: server.transfers-out: \"all\" is not accepted" },
	{ "secret not hexadecimal",
	  "server:\n  listen: [192.0.2.1]\n  cookies: {secret: 0123456789abcdef0123456789abcdeg}\n",
	  "3: server.cookies.secret: \"(hidden)\" is not accepted" },

	/* interfaces */
	{ "interface without a name", LISTEN "interfaces:\n  - xdp: native\n",
	  "4: interfaces[0].name: is missing, give the name of a network interface" },
	{ "interface name too long", LISTEN "interfaces:\n  - name: abcdefghijklmnop\n",
	  "4: interfaces[0].name: \"abcdefghijklmnop\" is not accepted, give the name of a network" },
	{ "interface name with a slash", LISTEN "interfaces:\n  - name: a/b\n",
	  "4: interfaces[0].name: " },
	{ "interface twice", LISTEN "interfaces:\n  - name: a\n  - name: b\n  - name: a\n",
	  "6: interfaces[2].name: \"a\" is given twice, first in line 4" },
	{ "xdp", LISTEN "interfaces:\n  - name: a\n    xdp: fast\n",
	  "5: interfaces[0].xdp: \"fast\" is not accepted, give auto, native, generic or off" },
	{ "xdp, start of a choice", LISTEN "interfaces:\n  - name: a\n    xdp: nat\n",
	  "5: interfaces[0].xdp: \"nat\" is not accepted" },
	{ "port", LISTEN "interfaces:\n  - name: a\n    port: 53\n",
	  "5: interfaces[0].port: \"53\" is not accepted, give auto, xsk, dpdk or socket" },
	{ "device without dpdk", LISTEN "interfaces:\n  - name: a\n    device: net_null0\n",
	  "5: interfaces[0].device: is for DPDK alone: say port: dpdk, too" },
	{ "driver-answers", LISTEN "interfaces:\n  - name: a\n    driver-answers: on\n",
	  "5: interfaces[0].driver-answers: \"on\" is not accepted, give true or false" },
	{ "zero-copy", LISTEN "interfaces:\n  - name: a\n    zero-copy: true\n",
	  "5: interfaces[0].zero-copy: \"true\" is not accepted, give auto, on or off" },
	{ "busy-poll", LISTEN "interfaces:\n  - name: a\n    busy-poll: 0\n",
	  "5: interfaces[0].busy-poll: \"0\" is not accepted, give true, false or a number of "
	  "packets "
	  "from 1 to 4096" },
	{ "umem-frames no power", LISTEN "interfaces:\n  - name: a\n    umem-frames: 5000\n",
	  "5: interfaces[0].umem-frames: \"5000\" is not accepted, give a power of two from 64 to" },
	{ "ring-size no power", LISTEN "interfaces:\n  - name: a\n    ring-size: 96\n",
	  "5: interfaces[0].ring-size: \"96\" is not accepted, give a power of two from 32 to 32768" },
	{ "ring-size for too few frames", LISTEN "interfaces:\n  - name: a\n    ring-size: 4096\n",
	  "5: interfaces[0].ring-size: umem-frames 4096 is less than twice ring-size 4096, " },
	{ "too few frames for ring-size",
	  LISTEN "interfaces:\n  - name: a\n    umem-frames: 2048\n",
	  "5: interfaces[0].umem-frames: umem-frames 2048 is less than twice ring-size 2048, " },
	{ "queues", LISTEN "interfaces:\n  - name: a\n    queues: 65\n",
	  "5: interfaces[0].queues: \"65\" is not accepted, give auto or a whole number from 1 to "
	  "64" },
	{ "core not a number", LISTEN "interfaces:\n  - name: a\n    cores: [0, 2-3]\n",
	  "5: interfaces[0].cores[1]: \"2-3\" is not accepted, give a list of processor numbers" },
	{ "core too big", LISTEN "interfaces:\n  - name: a\n    cores:\n      - 1024\n",
	  "6: interfaces[0].cores[0]: \"1024\" is not accepted" },
	{ "control core twice", "server:\n  listen: [192.0.2.1]\n  control-cores: [1, 0, 1]\n",
	  "3: server.control-cores[2]: \"1\" is not accepted" },
	{ "control core auto", "server:\n  listen: [192.0.2.1]\n  control-cores: auto\n",
	  "3: server.control-cores: has the wrong shape" },
	{ "metrics without a port", LISTEN "metrics:\n  listen: 127.0.0.1\n",
	  "4: metrics.listen: \"127.0.0.1\" is not accepted, give an IPv4 or IPv6 address with @" },
	{ "a level that is none", LISTEN "log:\n  level: loud\n",
	  "4: log.level: \"loud\" is not accepted, give error, warning, notice, info or debug" },
	{ "a form that is none", LISTEN "log:\n  format: xml\n",
	  "4: log.format: \"xml\" is not accepted" },
	{ "metrics by name", LISTEN "metrics:\n  listen: localhost@9253\n",
	  "4: metrics.listen: \"localhost@9253\" is not accepted" },
	{ "core twice", LISTEN "interfaces:\n  - name: a\n    cores: [1, 01]\n",
	  "5: interfaces[0].cores[1]: \"01\" is not accepted" },
	{ "tunnels with a device",
	  LISTEN
	  "interfaces:\n  - name: a\n    port: dpdk\n    device: net_null0\n    tunnels: [ipip]\n",
	  "7: interfaces[0].tunnels: are not taken off where a device is given: leave tunnels or "
	  "device out" },
	{ "unknown tunnel", LISTEN "interfaces:\n  - name: a\n    tunnels: [ipip, gre]\n",
	  "5: interfaces[0].tunnels[1]: \"gre\" is not accepted, give a list, each only once, of ipip "
	  "or "
	  "gue" },
	{ "tunnel twice", LISTEN "interfaces:\n  - name: a\n    tunnels: [gue, gue]\n",
	  "5: interfaces[0].tunnels[1]: \"gue\" is not accepted" },
	{ "tunnels are no list", LISTEN "interfaces:\n  - name: a\n    tunnels: gue\n",
	  "5: interfaces[0].tunnels: has the wrong shape" },
	{ "GUE on the port of a service",
	  LISTEN "interfaces:\n  - name: a\n    tunnels: [gue]\n    gue-port: 53\n",
	  "6: interfaces[0].gue-port: port 53 is one of server.listen: give GUE another" },
	{ "return path of a third kind", LISTEN "interfaces:\n  - name: a\n    return-path: any\n",
	  "5: interfaces[0].return-path: \"any\" is not accepted, give swap or fib" },
	{ "fewer cores than queues",
	  LISTEN "interfaces:\n  - name: a\n    queues: 3\n    cores: [1, 2]\n",
	  "6: interfaces[0].cores: has 2 processors for 3 queues, give as many as queues says" },

	/* cache */
	{ "cache small", LISTEN "cache:\n  size: 8388607\n",
	  "4: cache.size: \"8388607\" is not accepted, give a size from 8M to 69G: bytes, or a "
	  "number "
	  "with K, M, G or T behind it" },
	{ "cache big", LISTEN "cache:\n  size: 1025G\n",
	  "4: cache.size: \"1025G\" is not accepted" },
	{ "cache that wraps", LISTEN "cache:\n  size: 16777217T\n",
	  "4: cache.size: \"16777217T\"" },
	{ "cache with an unknown unit", LISTEN "cache:\n  size: 64MB\n",
	  "4: cache.size: \"64MB\"" },
	{ "cache with a space", LISTEN "cache:\n  size: 64 M\n", "4: cache.size: \"64 M\"" },
	{ "orphan-serve", LISTEN "cache:\n  orphan-serve: 8d\n",
	  "4: cache.orphan-serve: \"8d\" is not accepted, give a time from 0 to 7d" },
	{ "snapshot-interval without snapshot", LISTEN "cache:\n  snapshot-interval: 1h\n",
	  "4: cache.snapshot-interval: has no file to write to: give cache.snapshot, too" },
	{ "snapshot empty", LISTEN "cache:\n  snapshot: \"\"\n", "4: cache.snapshot: " },
	{ "snapshot-interval", LISTEN "cache:\n  snapshot: f\n  snapshot-interval: 8d\n",
	  "5: cache.snapshot-interval: \"8d\" is not accepted, give a time from 0 to 7d" },
	{ "orphan-serve with two units", LISTEN "cache:\n  orphan-serve: 1h30m\n",
	  "4: cache.orphan-serve: \"1h30m\" is not accepted" },

	/* zones */
	{ "zone without a name", LISTEN "zones:\n  - file: a\n",
	  "4: zones[0].name: is missing, give a domain name, such as example.com" },
	{ "zone without a file", LISTEN "zones:\n  - name: a\n",
	  "4: zones[0].file: is missing, give the path of a file" },
	{ "zone name empty", LISTEN "zones:\n  - {name: '', file: a}\n", "4: zones[0].name: \"\"" },
	{ "zone name, empty label", LISTEN "zones:\n  - {name: a..b, file: a}\n",
	  "4: zones[0].name: \"a..b\" is not accepted, give a domain name" },
	{ "zone name with a space", LISTEN "zones:\n  - {name: a b, file: a}\n",
	  "4: zones[0].name: " },
	{ "zone name, label of 64",
	  LISTEN "zones:\n  - {name: "
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, file: a}\n",
	  "4: zones[0].name: " },
	{ "command without a list", LISTEN "zones:\n  - {name: a, file: b, verify: check}\n",
	  "4: zones[0].verify: has the wrong shape, give a list of a command and its arguments" },
	{ "command of nothing", LISTEN "zones:\n  - {name: a, file: b, verify: ['', x]}\n",
	  "4: zones[0].verify[0]: \"\" is not accepted, give a list of a command" },
	{ "command with a list in it", LISTEN "zones:\n  - {name: a, file: b, verify: [x, [y]]}\n",
	  "4: zones[0].verify[1]: has the wrong shape, give a list of a command" },
	{ "verify-timeout", LISTEN "zones:\n  - {name: a, file: b, verify-timeout: 0}\n",
	  "4: zones[0].verify-timeout: \"0\" is not accepted, give a time from 1s to 1d" },
	{ "zone twice",
	  LISTEN "zones:\n  - {name: b, file: a}\n  - {name: Example.COM, file: a}\n"
		 "  - {name: c, file: a}\n  - {name: example.com., file: b}\n",
	  "7: zones[3].name: \"example.com.\" is given twice, first in line 5" },

	/* control */
	{ "control.mode not octal", LISTEN "control:\n  mode: \"0680\"\n",
	  "4: control.mode: \"0680\" is not accepted, give file permissions in octal from 0600 to "
	  "0777" },
	{ "control.mode decimal", LISTEN "control:\n  mode: 660\n", "4: control.mode: \"660\"" },
	{ "control.mode without its owner", LISTEN "control:\n  mode: 0060\n",
	  "4: control.mode: " },
	{ "control.mode with more bits", LISTEN "control:\n  mode: 01777\n", "4: control.mode: " },
	{ "control.read of nobody", LISTEN "control:\n  read: []\n",
	  "4: control.read: names nobody: leave it out" },
	{ "control.change without a name", LISTEN "control:\n  change: [\"group:\"]\n",
	  "4: control.change[0]: \"group:\" is not accepted, give a list of users and groups" },
	{ "control.change of another kind", LISTEN "control:\n  change: [\"user:a\"]\n",
	  "4: control.change[0]: \"user:a\" is not accepted" },
	{ "control.zones-add of no template", LISTEN "control:\n  zones-add: [hosted]\n",
	  "4: control.zones-add[0]: hosted is none of templates" },
	{ "control.change of two in one", LISTEN "control:\n  change: [\"a b\"]\n",
	  "4: control.change[0]: \"a b\" is not accepted" },
	{ "control.change twice", LISTEN "control:\n  change: [a, b, a]\n",
	  "4: control.change[2]: \"a\" is given twice" },
	{ "control.socket too long",
	  LISTEN "control:\n  socket: /run/"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n",
	  "4: control.socket: \"/run/aaaa" },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static void test_unreadable(void **state)
{
	struct config *config;
	char err[512];

	(void)state;
	assert_int_equal(config_load(&config, "/nowhere/volley.yaml", err, sizeof(err)), -ENOENT);
	assert_null(config);
	assert_string_equal(err, "/nowhere/volley.yaml: cannot be read: No such file or directory");
	assert_int_equal(config_load(&config, tmpfolder, err, sizeof(err)), -EISDIR);
	assert_null(config);
}

static void test_short_error_buffer(void **state)
{
	struct config *config;
	char err[16];

	(void)state;
	for (size_t cap = 1; cap <= sizeof(err); cap++) {
		memset(err, 'x', sizeof(err));
		assert_int_equal(load(&config, "server: 1\n", err, cap), ERR_CONFIG);
		assert_int_equal(strlen(err), cap - 1);
	}
}

static void check_defaults_interface(const struct config_interface *interface)
{
	assert_string_equal(interface->name, "eth0");
	assert_int_equal(interface->xdp, CONFIG_XDP_AUTO);
	assert_int_equal(interface->port, CONFIG_PORT_AUTO);
	assert_int_equal(interface->zero_copy, CONFIG_ZERO_COPY_AUTO);
	assert_true(interface->driver_answers);
	assert_int_equal(interface->busy_poll_budget, 0);
	assert_int_equal(interface->tunnels, 0);
	assert_int_equal(interface->net_gue_port, htons(6080));
	assert_int_equal(interface->return_path, CONFIG_RETURN_SWAP);
	assert_null(interface->device);
	assert_int_equal(interface->n_umem_frames, 4096);
	assert_int_equal(interface->ring_size, 2048);
	assert_int_equal(interface->n_queues, 0);
	assert_int_equal(interface->n_cores, 0);
}

static void test_defaults(void **state)
{
	struct config *config = load_good(LISTEN "interfaces:\n  - name: eth0\n");

	(void)state;
	assert_string_equal(config->path, file);
	assert_int_equal(config->n_listen, 1);
	assert_int_equal(config->n_workers, 0);
	assert_int_equal(config->max_udp_size_bytes, 1232);
	assert_false(config->minimal_responses);
	assert_int_equal(config->any, ENGINE_ANY_MINIMAL);
	assert_null(config->nsid);
	assert_null(config->version);
	assert_null(config->identity);
	assert_int_equal(config->n_cookie_secrets, 0);
	assert_int_equal(config->cookie_rotate_s, 86400);
	assert_int_equal(config->tcp_connections_cap, 1000);
	assert_int_equal(config->tcp_client_cap, 0);
	assert_int_equal(config->tcp_idle_s, 10);
	assert_int_equal(config->tcp_queries_max, 0);
	assert_int_equal(config->tcp_backlog, 0);
	assert_int_equal(config->cache_size_bytes, 256u << 20);
	assert_int_equal(config->cache_orphan_serve_s, 300);
	assert_null(config->cache_snapshot);
	assert_int_equal(config->cache_snapshot_interval_s, 0);
	assert_int_equal(config->n_tls_listen, 0);
	assert_null(config->tls_certificate);
	assert_null(config->tls_key);
	assert_null(config->tls_ticket_keys);
	assert_int_equal(config->tls_min, CONFIG_TLS_1_2);
	assert_null(config->storage);
	assert_int_equal(config->storage_bytes, 1u << 30);
	assert_int_equal(config->n_transfers, 16);
	assert_int_equal(config->n_transfers_out, 64);
	assert_int_equal(config->n_keys, 0);
	assert_int_equal(config->n_remotes, 0);
	assert_int_equal(config->n_signing, 0);
	assert_int_equal(config->n_templates, 0);
	assert_int_equal(config->n_zones, 0);
	assert_string_equal(config->control_socket, "/run/volley/control.sock");
	assert_string_equal(config->pid_file, "/run/volley/control.sock.lock");
	assert_int_equal(config->control_mode, 0660);
	assert_null(config->control_read);
	assert_null(config->control_change);
	assert_null(config->control_zones_add);
	assert_int_equal(config->n_control_cores, 0);
	assert_int_equal(config->log_level, LOG_LEVEL_INFO);
	assert_int_equal(config->log_format, LOG_TEXT);
	assert_int_equal(config->metrics.family, 0);
	assert_int_equal(config->n_interfaces, 1);
	check_defaults_interface(&config->interfaces[0]);
	config_free(config);
}

/* Every key there is, none with its default: nothing may be dropped on the way. */
static const char everything[] =
	"include: []\n"
	"server:\n"
	"  listen: [192.0.2.53, \"2001:db8::53@5353\", 0.0.0.0@5300, \"::\"]\n"
	"  allow: [0.0.0.0/0, \"2001:db8:8000::/33\"]\n"
	"  workers: 7\n"
	"  control-cores: [4, 0]\n"
	"  max-udp-size: 1400\n"
	"  minimal-responses: true\n"
	"  any: full\n"
	"  nsid: 0x00fF\n"
	"  version: Volley\n"
	"  identity: ns1 of us\n"
	"  pid-file: volley.pid\n"
	"  tcp:\n"
	"    max-connections: 50\n"
	"    max-connections-per-client: 5\n"
	"    idle-timeout: 2m\n"
	"    max-queries: 8\n"
	"    backlog: 300\n"
	"  cookies:\n"
	"    secret: 000102030405060708090A0b0c0d0e0f\n"
	"    rotate: 2h # secret-files: beside secret it is refused, see test_config_cookies.c\n"
	"  tls:\n"
	"    listen: [192.0.2.53, \"::@8853\"]\n"
	"    certificate: tls/cert.pem\n"
	"    ticket-keys: tls/tickets\n"
	"    min-version: TLSv1.3\n"
	"    key: /etc/key.pem\n"
	"  storage: state\n"
	"  storage-size: 2G\n"
	"  transfers-in: 3\n"
	"  transfers-out: 5\n"
	"interfaces:\n"
	"  - name: eth0\n"
	"    xdp: generic\n"
	"    port: xsk\n"
	"    driver-answers: false\n"
	"    zero-copy: off\n"
	"    busy-poll: true\n"
	"    umem-frames: 1024\n"
	"    ring-size: 512\n"
	"    queues: 2\n"
	"    cores: [3, 1]\n"
	"    tunnels: [gue, ipip]\n"
	"    gue-port: 7000\n"
	"    tunnel-sources: [10.9.0.0/16, 2001:db8::/32]\n"
	"    return-path: fib\n"
	"  - name: eth1\n"
	"    xdp: off\n"
	"    port: dpdk\n"
	"    zero-copy: on\n"
	"    busy-poll: 128\n"
	"    device: 0000:3b:00.0\n"
	"cache:\n"
	"  size: 1G\n"
	"  orphan-serve: 1h\n"
	"  snapshot: state/cache\n"
	"  snapshot-interval: 15m\n  zones: 9000\n  names: 65599\n  intervals: 65600\n"
	"zones:\n"
	"  - name: EXAMPLE.com\n"
	"    file: zones/example.com.zone\n"
	"    verify: [checks/zone, '', --a b]\n"
	"    verify-timeout: 2m\n"
	"  - name: .\n"
	"    file: /var/root.zone\n"
	"    verify: [check]\n"
	"recursion:\n" /* the others: test_config_recursion.c */
	"  allow: []\n"
	"dpdk:\n"
	"  huge-pages: off\n"
	"  memory: 1G\n"
	"  options: [--iova-mode, va]\n"
	"control:\n"
	"  socket: control.sock\n"
	"  mode: 0600\n"
	"  read: [monitor, \"1000\"]\n"
	"  change: [group:dns]\n"
	"  zones-add: [hosted]\n"
	"templates:\n"
	"  - name: hosted\n"
	"metrics:\n"
	"  listen: \"::1@9253\"\n"
	"log:\n"
	"  level: warning\n"
	"  format: json\n";

static void check_everything_log(const struct config *config)
{
	assert_int_equal(config->log_level, LOG_LEVEL_WARN);
	assert_int_equal(config->log_format, LOG_JSON);
}

static void check_everything_tls(const struct config *config)
{
	static const uint8_t v4[16] = { 192, 0, 2, 53 };

	assert_int_equal(config->n_tls_listen, 2);
	assert_memory_equal(config->tls_listen[0].addr, v4, 16);
	assert_int_equal(ntohs(config->tls_listen[0].net_port), 853);
	assert_int_equal(ntohs(config->tls_listen[1].net_port), 8853);
	assert_below_folder(config->tls_certificate, "tls/cert.pem");
	assert_string_equal(config->tls_key, "/etc/key.pem");
	assert_non_null(strstr(config->tls_ticket_keys, "/tls/tickets"));
	assert_int_equal(config->tls_min, CONFIG_TLS_1_3);
}

static void check_everything_server(const struct config *config)
{
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 0x53 };
	static const uint8_t v4[16] = { 192, 0, 2, 53 };
	static const uint8_t zeros[16];

	assert_int_equal(config->n_listen, 4);
	assert_int_equal(config->listen[0].family, AF_INET);
	assert_int_equal(ntohs(config->listen[0].net_port), 53);
	assert_memory_equal(config->listen[0].addr, v4, 16);
	assert_int_equal(config->listen[1].family, AF_INET6);
	assert_int_equal(ntohs(config->listen[1].net_port), 5353);
	assert_memory_equal(config->listen[1].addr, v6, 16);
	assert_int_equal(config->listen[2].family, AF_INET);
	assert_int_equal(ntohs(config->listen[2].net_port), 5300);
	assert_memory_equal(config->listen[2].addr, zeros, 16);
	assert_int_equal(config->listen[3].family, AF_INET6);
	assert_memory_equal(config->listen[3].addr, zeros, 16);
	assert_int_equal(config->n_workers, 7);
	assert_int_equal(config->n_control_cores, 2);
	assert_int_equal(config->control_cores[0], 4);
	assert_int_equal(config->control_cores[1], 0);
	assert_int_equal(config->metrics.family, AF_INET6);
	assert_int_equal(ntohs(config->metrics.net_port), 9253);
	assert_int_equal(config->max_udp_size_bytes, 1400);
	assert_true(config->minimal_responses);
	assert_int_equal(config->any, ENGINE_ANY_FULL);
	assert_int_equal(config->n_nsid, 2);
	assert_memory_equal(config->nsid, "\0\377", 2);
	assert_string_equal(config->version, "Volley");
	assert_string_equal(config->identity, "ns1 of us");
	assert_int_equal(config->tcp_connections_cap, 50);
	assert_int_equal(config->tcp_client_cap, 5);
	assert_int_equal(config->tcp_idle_s, 120);
	assert_int_equal(config->tcp_queries_max, 8);
	assert_int_equal(config->tcp_backlog, 300);
	check_everything_tls(config);
	assert_below_folder(config->storage, "state");
	assert_int_equal(config->storage_bytes, 2ull << 30);
	assert_int_equal(config->n_transfers, 3);
	assert_int_equal(config->n_transfers_out, 5);
	assert_int_equal(config->n_cookie_secrets, 1);
	for (int i = 0; i < 16; i++)
		assert_int_equal(config->cookie_secrets[0].secret[i], i);
	assert_null(config->cookie_secrets[0].file);
	assert_int_equal(config->cookie_rotate_s, 7200);
}

static void check_everything_interfaces(const struct config *config)
{
	const struct config_interface *first = &config->interfaces[0];
	const struct config_interface *second = &config->interfaces[1];

	assert_int_equal(config->n_interfaces, 2);
	assert_int_equal(first->xdp, CONFIG_XDP_GENERIC);
	assert_int_equal(first->port, CONFIG_PORT_XSK);
	assert_false(first->driver_answers);
	assert_int_equal(first->zero_copy, CONFIG_ZERO_COPY_OFF);
	assert_int_equal(first->busy_poll_budget, WORDS_BUDGET_TRUE);
	assert_int_equal(first->n_umem_frames, 1024);
	assert_int_equal(first->ring_size, 512);
	assert_int_equal(first->n_queues, 2);
	assert_int_equal(first->tunnels, VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE);
	assert_int_equal(first->net_gue_port, htons(7000));
	assert_int_equal(first->n_tunnel_sources, 2);
	assert_int_equal(first->tunnel_sources[0].family, AF_INET);
	assert_int_equal(first->tunnel_sources[0].bits, 16);
	assert_memory_equal(first->tunnel_sources[0].addr, "\x0a\x09\0\0", 4);
	assert_int_equal(first->tunnel_sources[1].bits, 32);
	assert_int_equal(first->return_path, CONFIG_RETURN_FIB);
	assert_int_equal(first->n_cores, 2);
	assert_int_equal(first->cores[0], 3);
	assert_int_equal(first->cores[1], 1);
	assert_string_equal(second->name, "eth1");
	assert_int_equal(second->xdp, CONFIG_XDP_OFF);
	assert_int_equal(second->port, CONFIG_PORT_DPDK);
	assert_int_equal(second->zero_copy, CONFIG_ZERO_COPY_ON);
	assert_int_equal(second->busy_poll_budget, 128);
	assert_string_equal(second->device, "0000:3b:00.0");
	assert_null(first->device);
	assert_int_equal(config->dpdk.huge_pages, CONFIG_HUGE_OFF);
	assert_int_equal(config->dpdk.memory_bytes, 1 << 30);
	assert_string_equal(config->dpdk.options[0], "--iova-mode");
	assert_string_equal(config->dpdk.options[1], "va");
	assert_null(config->dpdk.options[2]);
	assert_int_equal(second->n_queues, 0);
}

static void test_everything(void **state)
{
	struct config *config = load_good(everything);

	(void)state;
	check_everything_log(config);
	check_everything_server(config);
	check_everything_interfaces(config);
	assert_int_equal(config->cache_size_bytes, 1u << 30);
	assert_int_equal(config->cache_orphan_serve_s, 3600);
	assert_non_null(strstr(config->cache_snapshot, "/state/cache"));
	assert_int_equal(config->cache_snapshot_interval_s, 900);
	assert_int_equal(config->cache_zones, 9000);
	assert_int_equal(config->n_zones, 2);
	assert_string_equal(config->zones[0].name, "example.com.");
	assert_below_folder(config->zones[0].file, "zones/example.com.zone");
	assert_below_folder(config->zones[0].verify.argv[0], "checks/zone");
	assert_string_equal(config->zones[0].verify.argv[1], "");
	assert_string_equal(config->zones[0].verify.argv[2], "--a b");
	assert_null(config->zones[0].verify.argv[3]);
	assert_int_equal(config->zones[0].verify.timeout_s, 120);
	assert_string_equal(config->zones[1].verify.argv[0], "check");
	assert_null(config->zones[1].verify.argv[1]);
	assert_int_equal(config->zones[1].verify.timeout_s, 30);
	assert_string_equal(config->zones[1].name, ".");
	assert_string_equal(config->zones[1].file, "/var/root.zone");
	assert_below_folder(config->control_socket, "control.sock");
	assert_below_folder(config->pid_file, "volley.pid");
	assert_int_equal(config->control_mode, 0600);
	assert_string_equal(config->control_read[0], "monitor");
	assert_string_equal(config->control_read[1], "1000");
	assert_null(config->control_read[2]);
	assert_string_equal(config->control_change[0], "group:dns");
	assert_string_equal(config->control_zones_add[0], "hosted");
	assert_null(config->control_zones_add[1]);
	config_free(config);
}

struct number {
	const char *name;
	const char *text;
	uint64_t size_bytes;
	uint32_t orphan_s;
};

static const struct number numbers[] = {
	{ "bytes, 0", "{size: 8388608, orphan-serve: 0}", 8388608, 0 },
	{ "K, bare seconds", "{size: 8192K, orphan-serve: 90}", 8388608, 90 },
	{ "M, s", "{size: 8M, orphan-serve: 300s}", 8388608, 300 },
	{ "G, m", "{size: 3G, orphan-serve: 7m}", 3ull << 30, 420 },
	{ "the most, h", "{size: 69G, orphan-serve: 2h}", 69ull << 30, 7200 },
	{ "quoted, d", "{size: \"16M\", orphan-serve: '7d'}", 16u << 20, 604800 },
};

static void test_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct config *config;
		char text[256];

		snprintf(text, sizeof(text), LISTEN "cache: %s\n", numbers[i].text);
		config = load_good(text);
		if (config->cache_size_bytes != numbers[i].size_bytes ||
		    config->cache_orphan_serve_s != numbers[i].orphan_s)
			fail_msg("%s: %llu bytes, %u s", numbers[i].name,
				 (unsigned long long)config->cache_size_bytes,
				 config->cache_orphan_serve_s);
		config_free(config);
	}
}

static void test_everything_is_everything(void **state)
{
	(void)state;
	assert_all_used(&words_host_keys, everything);
}

/* Between two texts the keys are told that begin so and need a start, and no others. */
static void assert_for_start(const char *running, const char *next, const char *prefix)
{
	struct config *a = load_good(running), *b = load_good(next);
	const struct words_key *key, *told;
	unsigned int at = 0;

	told = config_next_for_start(a, b, &at);
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		bool is_due = key->needs_start && !strncmp(key->path, prefix, strlen(prefix));

		if (is_due != (told == key))
			fail_msg("%s is %s", key->path, is_due ? "not told" : "told");
		if (told == key)
			told = config_next_for_start(a, b, &at);
	}
	assert_null(told);
	config_free(a);
	config_free(b);
}

/* A key that needs a start, and does not make itself known, is one that nobody is warned of. */
static void test_keys_that_need_a_start(void **state)
{
	static const char plain[] = LISTEN "interfaces: [{name: eth0}, {name: eth1}]\n";
	char text[sizeof(everything)];

	(void)state;
	assert_for_start(everything, everything, "none");
	assert_for_start(plain, plain, "none");
	snprintf(text, sizeof(text), "%s", everything);
	memcpy(strstr(text, "eth0"), "eth2", 4);
	assert_for_start(everything, text, "none");
	assert_for_start(plain, LISTEN "interfaces: [{name: eth1}, {name: eth0}]\n", "none");
	assert_for_start(plain, LISTEN "interfaces: [{name: eth0}, {name: eth1, cores: [0]}]\n",
			 "interfaces[].cores");
	assert_for_start(LISTEN "interfaces: [{name: eth1, cores: [0]}]\n",
			 LISTEN "interfaces: [{name: eth0}, {name: eth1, cores: [0]}]\n", "none");
	assert_for_start(plain, LISTEN "interfaces: [{name: eth0}, {name: eth1, queues: 2}]\n",
			 "none");
	assert_for_start(LISTEN,
			 LISTEN "  any: full\n  nsid: a\nkeys: [{name: a, secret: "
				"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=}]\n",
			 "server.any");
	assert_for_start(
		"server: {listen: [192.0.2.1], tcp: {idle-timeout: 60}}\ncache: {size: 8M}",
		"server: {listen: [192.0.2.1@53], tcp: {idle-timeout: 1m}, workers: auto}", "none");
}

/* All of them: no line of `everything` says what is there anyway. */
static void test_all_keys_that_need_a_start(void **state)
{
	static const char *const levels[] = { "server.", "cache.", "dpdk.", "control.",
					      "metrics." };
	struct config *a = load_good(everything), *b = load_good(LISTEN);
	bool told[WORDS_KEYS_MAX] = { false };
	const struct words_key *key;

	(void)state;
	for (unsigned int at = 0; (key = config_next_for_start(a, b, &at));)
		told[words_key_number(key)] = true;
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++)
			if (key->needs_start && !strncmp(key->path, levels[k], strlen(levels[k])) &&
			    !told[i])
				fail_msg("%s is not told", key->path);
	config_free(a);
	config_free(b);
}

/* Each key of an interface by itself makes it another one, for which it is attached anew. */
static void test_what_is_said_of_an_interface(void **state)
{
	static const char *const rows[][3] = {
		{ "xdp", "xdp: native" },
		{ "port", "port: dpdk" },
		{ "driver-answers", "driver-answers: false" },
		{ "zero-copy", "zero-copy: on" },
		{ "busy-poll", "busy-poll: 8" },
		{ "umem-frames", "umem-frames: 8192" },
		{ "ring-size", "ring-size: 64" },
		{ "queues", "queues: 1" },
		{ "cores", "cores: [0]" },
		{ "tunnels", "tunnels: [ipip]" },
		{ "gue-port", "gue-port: 7" },
		{ "tunnel-sources", "tunnels: [ipip], tunnel-sources: [10.0.0.0/8]",
		  LISTEN "interfaces: [{name: a, tunnels: [ipip]}]\n" },
		{ "return-path", "return-path: fib" },
		{ "device", "device: other, port: dpdk",
		  LISTEN "interfaces: [{name: a, port: dpdk}]\n" },
	};
	unsigned int n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *plain = rows[i][2] ? rows[i][2] : LISTEN "interfaces: [{name: a}]\n";
		struct config *a = load_good(plain), *b, *c;
		char next[256];

		snprintf(next, sizeof(next), LISTEN "interfaces: [{name: a, %s}]\n", rows[i][1]);
		b = load_good(next);
		c = load_good(next);
		if (config_interface_is_same(&a->interfaces[0], &b->interfaces[0]))
			fail_msg("%s makes no difference", rows[i][0]);
		assert_true(config_interface_is_same(&b->interfaces[0], &c->interfaces[0]));
		assert_ptr_equal(config_find_interface(b, "a"), &b->interfaces[0]);
		assert_null(config_find_interface(b, "b"));
		config_free(a);
		config_free(b);
		config_free(c);
	}
	for (unsigned int i = 0; words_key_at(i); i++)
		n += !strncmp(words_key_at(i)->path, "interfaces[].", 13);
	assert_int_equal(n, sizeof(rows) / sizeof(rows[0]) + 1); /* and its name */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_short_error_buffer),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_everything_is_everything),
		cmocka_unit_test(test_keys_that_need_a_start),
		cmocka_unit_test(test_all_keys_that_need_a_start),
		cmocka_unit_test(test_what_is_said_of_an_interface),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
