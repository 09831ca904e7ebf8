/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes as a query to the engine, with two small zones, one of them signed, and a cache.
 * For any input there is no reply, or a DNS message with the query's id within the client's limit.
 * In the query's own buffer and in another one the reply is the same.
 *
 * The first octet is the way of the query: bit 0: TCP, bit 1: a port with little room, bit 2: IPv6.
 */
#include "tests/unit/engine/world.h"

#define SMALL_CAP 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char zone[] =
	"$TTL 60\n"
	"@ SOA ns root 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n@ MX 1 ns\n"
	"a A 192.0.2.2\n"
	"b CNAME a\nc CNAME b\nd CNAME d\ne CNAME a.f.\n"
	"*.w A 192.0.2.3\n*.v CNAME a.w\n"
	"n DNAME w\n"
	"s NS ns.s\nns.s AAAA 2001:db8::1\n"
	"t TXT \"a text of some length, so that there is something to cut off\"\n";

#define SIG(type) " RRSIG " type " 13 2 60 20380101000000 20260101000000 1 y. AAAA\n"

/* clang-format off */
static const char signed_zone[] =
	"$TTL 60\n"
	"@ SOA ns root 1 2 3 4 5\n@" SIG("SOA")
	"@ NS ns\n@" SIG("NS")
	"@ DNSKEY 257 3 13 AAAA\n"
	"@ NSEC a.y. NS SOA RRSIG NSEC DNSKEY\n@" SIG("NSEC")
	"a A 192.0.2.2\na" SIG("A")
	"a HTTPS 1 .\n"
	"a NSEC b.y. A HTTPS RRSIG NSEC\na" SIG("NSEC")
	"b CNAME x.w\nb" SIG("CNAME")
	"b NSEC n.y. CNAME RRSIG NSEC\nb" SIG("NSEC")
	"n DNAME w\nn" SIG("DNAME")
	"n NSEC s.y. DNAME RRSIG NSEC\nn" SIG("NSEC")
	"s NS ns.s\nns.s AAAA 2001:db8::1\n"
	"s NSEC *.w.y. NS RRSIG NSEC\ns" SIG("NSEC")
	"*.w A 192.0.2.3\n*.w" SIG("A")
	"*.w NSEC y. A RRSIG NSEC\n*.w" SIG("NSEC");
/* clang-format on */

static struct world world;

/* A set hides its members from the search for leaks: their pointers have bits of a hash. */
static void tear_down(void)
{
	world_free(&world);
}

static void set_up(void)
{
	static struct cookie_secrets cookies = { .n = 1 };
	static struct engine_identity identity = {
		.version = "1", .name = "2", .nsid = "3", .nsid_bytes = 1
	};
	struct engine_config config = ENGINE_CONFIG_INIT;

	world.zones.cookies = &cookies;
	world.zones.identity = &identity;
	config.any = ENGINE_ANY_FULL;
	rcu_register_thread();
	world_add_zone(&world, "z", zone);
	world_add_zone(&world, "y", signed_zone);
	world_open(&world, &config);
	MUST(!atexit(tear_down));
}

static void check(const uint8_t *msg, size_t len, const uint8_t *out, size_t n, size_t limit)
{
	ldns_pkt *pkt = NULL;

	if (n == 0)
		return;
	MUST(len >= DNS_HEADER_BYTES && n >= DNS_HEADER_BYTES && n <= limit);
	MUST(memcmp(msg, out, 2) == 0);
	MUST(out[DNS_FLAGS_AT] & 0x80);
	MUST(ldns_wire2pkt(&pkt, out, n) == LDNS_STATUS_OK);
	ldns_pkt_free(pkt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t apart[DNS_MESSAGE_MAX], in_place[DNS_MESSAGE_MAX];
	static const uint8_t client[16] = { 0x20, 1, 0xd, 0xb8 };
	struct engine_request rq = { .client = client, .now_s = 1, .wall_s = 1 };
	size_t cap, n;

	if (!world.engine)
		set_up();
	if (size < 1 || size - 1 > sizeof(in_place))
		return 0;
	rq.msg = data + 1;
	rq.len = size - 1;
	rq.stream = data[0] & 1;
	rq.family = data[0] & 4 ? AF_INET6 : AF_INET;
	cap = data[0] & 2 ? SMALL_CAP : rq.stream ? sizeof(apart) : ENGINE_MAX_UDP_BYTES;
	if (rq.len > cap)
		return 0;
	n = engine_answer(world.uncached, &rq, apart, cap);
	check(rq.msg, rq.len, apart, n, cap);

	if (rq.len)
		memcpy(in_place, rq.msg, rq.len);
	rq.msg = in_place;
	MUST(engine_answer(world.engine, &rq, in_place, cap) == n);
	MUST(memcmp(apart, in_place, n) == 0);
	rcu_quiescent_state();
	return 0;
}
