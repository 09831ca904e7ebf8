/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/querygen.h"

#include <stdbool.h>
#include <string.h>

#include "tests/lib/packet.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#define N_RR    90u /* rrN has N + 1 addresses */
#define N_TXT   60u /* txtN has N + 1 strings of 40 octets */
#define N_CHAIN 20u
#define N_CUT   12u
#define N_MX    12u

/* %u stands for a number below n. */
static const struct {
	const char *format;
	uint32_t n;
	uint32_t weight;
} names[] = {
	{ "", 1, 1 },
	{ "com", 1, 1 },
	{ "example.com", 1, 8 },
	{ "www.example.com", 1, 8 },
	{ "ns%u.example.com", 3, 3 },
	{ "mail.example.com", 1, 2 },
	{ "mixedcase.example.com", 1, 2 },
	{ "ftp.example.com", 1, 2 },
	{ "files.example.com", 1, 1 },
	{ "shop.example.com", 1, 2 },
	{ "away.example.com", 1, 2 },
	{ "dangling.example.com", 1, 2 },
	{ "wild.example.com", 1, 1 },
	{ "x%u.wild.example.com", 100, 3 },
	{ "a.x%u.wild.example.com", 10, 1 },
	{ "host.wild.example.com", 1, 1 },
	{ "x%u.alias.example.com", 50, 2 },
	{ "services.example.com", 1, 1 },
	{ "_tcp.services.example.com", 1, 1 },
	{ "_sip._tcp.services.example.com", 1, 2 },
	{ "sub.example.com", 1, 2 },
	{ "x%u.sub.example.com", 20, 2 },
	{ "ns1.sub.example.com", 1, 1 },
	{ "lame.example.com", 1, 1 },
	{ "large.example.com", 1, 3 },
	{ "svc.example.com", 1, 1 },
	{ "_dns.example.com", 1, 1 },
	{ "unknown.example.com", 1, 1 },
	{ "sp ace.example.com", 1, 1 },
	{ "nx%u.example.com", 500, 4 },
	{ "a.b.nx%u.example.com", 20, 1 },
	{ "example.net", 1, 1 },
	{ "www.example.net", 1, 2 },
	{ "example2.jp", 1, 1 },
	{ "www.example2.jp", 1, 4 },
	{ "2.0.192.in-addr.arpa", 1, 1 },
	{ "%u.2.0.192.in-addr.arpa", 256, 3 },
	{ "%u.128/26.2.0.192.in-addr.arpa", 10, 1 },
	{ "gen.test", 1, 2 },
	{ "rr%u.gen.test", N_RR + 2, 12 },
	{ "txt%u.gen.test", N_TXT + 2, 8 },
	{ "c%u.gen.test", N_CHAIN + 2, 6 },
	{ "loop%u.gen.test", 3, 1 },
	{ "x%u.w.gen.test", 1500, 6 },
	{ "x%u.y.w.gen.test", 20, 1 },
	{ "cut%u.gen.test", N_CUT + 1, 3 },
	{ "x%u.cut3.gen.test", 30, 2 },
	{ "ns0.cut%u.gen.test", N_CUT, 1 },
	{ "mx%u.gen.test", N_MX + 1, 5 },
	{ "nx%u.gen.test", 1500, 5 },
	{ "n%u.elsewhere", 50, 2 },
};

/* Names below each of the signed zones. One NSEC denies both %u and the wildcard beside it. */
static const char *const signed_names[] = {
	"",
	"www.",
	"mail.",
	"CAPITAL.",
	"ns1.",
	"alias.",
	"x%u.alias.",
	"chain.",
	"out.",
	"x.redirect.",
	"svc.",
	"_sip._tcp.",
	"nothere.deep.empty.",
	"empty.",
	"one.two.three.",
	"x%u.wild.",
	"host.wild.",
	"x%u.w.nested.",
	"x.x%u.w.nested.",
	"secure.",
	"x%u.secure.",
	"insecure.",
	"x%u.insecure.",
	"sibling.",
	"far.away.",
	"x.z.far.away2.",
	"nx%u.",
	"www.nx%u.",
	"%u.",
	"%u.",
};

static const uint16_t types[] = {
	1,
	1,
	1,
	1,
	28,
	28,
	28,
	28,
	2,
	2,
	15,
	15,
	16,
	16,
	5,
	6,
	6,
	12,
	33,
	43,
	64,
	65,
	255,
	255,
	257,
	46,
	48,
	65280,
	65281,
	251 /* IXFR */,
	252 /* AXFR */,
	41,
	128 /* NXNAME */,
	250 /* TSIG */,
};

static const uint16_t sizes[] = { 1232, 1232, 1232, 4096, 4096, 512,  0,    1,    511,
				  513,  700,  900,  1000, 1231, 1233, 1400, 65535 };

uint32_t querygen_draw(struct querygen *g, uint32_t n)
{
	g->state ^= g->state << 13;
	g->state ^= g->state >> 7;
	g->state ^= g->state << 17;
	return (uint32_t)((g->state >> 32) * n >> 32);
}

static bool once_in(struct querygen *g, uint32_t n)
{
	return querygen_draw(g, n) == 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_name(uint8_t *wire, const char *format, uint32_t number, const char *origin)
{
	char text[PKT_NAME_MAX];
	int n = snprintf(text, sizeof(text), format, number);

	snprintf(text + n, sizeof(text) - (size_t)n, "%s", origin);
	pkt_name(wire, text);
}
#pragma GCC diagnostic pop

static void draw_signed(struct querygen *g, uint8_t *wire)
{
	const char *origin = querygen_draw(g, 2) ? QUERYGEN_NSEC : QUERYGEN_NSEC3;
	uint32_t i = querygen_draw(g, COUNT(signed_names));

	put_name(wire, signed_names[i], querygen_draw(g, 30), origin);
}

/* Names with long or many labels: they exist up to x.x.(...).deep.gen.test (see the zone). */
static void draw_deep(struct querygen *g, uint8_t *wire)
{
	uint8_t apex[PKT_NAME_MAX];
	size_t tail = pkt_name(apex, "deep." QUERYGEN_ORIGIN), at = 0;
	uint32_t n = querygen_draw(g, 119);

	while (at / 2 < n && at + 2 + tail <= PKT_NAME_MAX) {
		wire[at++] = 1;
		wire[at++] = 'x';
	}
	memcpy(wire + at, apex, tail);
}

static void draw_name(struct querygen *g, uint8_t wire[PKT_NAME_MAX])
{
	uint32_t total = 0, i, at;

	if (once_in(g, 40)) {
		draw_deep(g, wire);
		return;
	}
	if (once_in(g, 6)) {
		draw_signed(g, wire);
		return;
	}
	for (i = 0; i < COUNT(names); i++)
		total += names[i].weight;
	at = querygen_draw(g, total);
	for (i = 0; at >= names[i].weight; i++)
		at -= names[i].weight;
	put_name(wire, names[i].format, querygen_draw(g, names[i].n), "");
}

static void mix_case(struct querygen *g, uint8_t *wire)
{
	for (size_t at = 0; wire[at]; at += 1u + wire[at]) {
		for (size_t i = 1; i <= wire[at]; i++) {
			uint8_t lower = wire[at + i] | 0x20;

			if (lower >= 'a' && lower <= 'z' && querygen_draw(g, 2))
				wire[at + i] ^= 0x20;
		}
	}
}

static uint16_t draw_flags(struct querygen *g)
{
	static const uint16_t usual[] = { 0,      PKT_RD,          PKT_RD, PKT_RD | PKT_AD,
					  PKT_CD, PKT_RD | PKT_CD, PKT_AD };

	if (once_in(g, 50)) /* any bits, but for those of the opcode */
		return (uint16_t)querygen_draw(g, 65536) & 0x87ff;
	return once_in(g, 50) ? (uint16_t)querygen_draw(g, 65536) :
				usual[querygen_draw(g, COUNT(usual))];
}

/* An option with a known code and a fitting value, or with any. */
static size_t draw_option(struct querygen *g, uint8_t *to)
{
	static const struct {
		uint8_t code;
		uint8_t bytes;
	} known[] = { { 3, 0 }, { 8, 7 },  { 8, 11 }, { 10, 8 },  { 10, 24 }, { 10, 40 }, { 10, 9 },
		      { 9, 0 }, { 11, 0 }, { 12, 0 }, { 12, 31 }, { 15, 2 },  { 5, 3 } };
	uint32_t i = querygen_draw(g, COUNT(known) + 2);
	size_t n = i < COUNT(known) ? known[i].bytes : querygen_draw(g, 40);

	to[0] = i < COUNT(known) ? 0 : (uint8_t)querygen_draw(g, 3);
	to[1] = i < COUNT(known) ? known[i].code : (uint8_t)querygen_draw(g, 256);
	to[2] = 0;
	to[3] = (uint8_t)n;
	for (size_t k = 0; k < n; k++)
		to[4 + k] = (uint8_t)querygen_draw(g, 256);
	if (i < COUNT(known) && known[i].code == 10 && n == 24 && g->sign_cookie)
		g->sign_cookie(g, to + 4);
	if (i < COUNT(known) && known[i].code == 8)
		memcpy(to + 4, "\0\1\x18\0", 4);
	return 4 + n;
}

static void draw_edns(struct querygen *g, struct pkt_ask *ask, uint8_t *options)
{
	static const uint32_t counts[] = { 0, 0, 0, 0, 0, 1, 1, 2, 3, 9 };
	uint32_t n = counts[querygen_draw(g, COUNT(counts))];

	ask->edns = true;
	ask->udp_size = sizes[querygen_draw(g, COUNT(sizes))];
	ask->edns_flags = querygen_draw(g, 3) ? 0 : PKT_DO;
	if (once_in(g, 30))
		ask->edns_flags = (uint16_t)querygen_draw(g, 65536);
	ask->options = options;
	for (uint32_t i = 0; i < n && ask->n_options < 400; i++)
		ask->n_options += draw_option(g, options + ask->n_options);
}

/* Damages the message in one of several ways. Returns the new length. */
static size_t damage(struct querygen *g, uint8_t *dns, size_t n)
{
	static const uint8_t counts[] = { 5, 7, 9, 11 };
	size_t more;

	switch (querygen_draw(g, 7)) {
	case 0:
		return querygen_draw(g, (uint32_t)n + 1);
	case 1:
		more = 1 + querygen_draw(g, 20);
		memset(dns + n, (int)querygen_draw(g, 256), more);
		return n + more;
	case 2: /* another count */
		if (n >= PKT_DNS_HEADER)
			dns[counts[querygen_draw(g, 4)]] = (uint8_t)querygen_draw(g, 4);
		return n;
	case 3: /* the last record again */
		more = n > 40 ? PKT_OPT_BYTES : 0;
		memcpy(dns + n, dns + n - more, more);
		dns[11]++;
		return n + more;
	case 4:
		dns[12] = (uint8_t)querygen_draw(g, 256);
		return n;
	default:
		dns[querygen_draw(g, (uint32_t)n)] ^= (uint8_t)(1u << querygen_draw(g, 8));
		return n;
	}
}

size_t querygen_next(struct querygen *g, uint8_t dns[QUERYGEN_BYTES_MAX])
{
	uint8_t name[PKT_NAME_MAX + 1], options[500];
	struct pkt_ask ask = { .name = name };
	size_t n;

	draw_name(g, name);
	if (querygen_draw(g, 2))
		mix_case(g, name);
	ask.id = (uint16_t)querygen_draw(g, 65536);
	ask.flags = draw_flags(g);
	ask.qtype = once_in(g, 60) ? (uint16_t)querygen_draw(g, 65536) :
				     types[querygen_draw(g, COUNT(types))];
	if (once_in(g, 50))
		ask.qclass = (uint16_t)(querygen_draw(g, 2) ? 3 : 255 - querygen_draw(g, 3));
	if (querygen_draw(g, 3))
		draw_edns(g, &ask, options);
	n = pkt_ask(dns, &ask);
	return once_in(g, 10) ? damage(g, dns, n) : n;
}

static void write_rrsets(FILE *f)
{
	for (uint32_t i = 0; i < N_RR; i++) {
		for (uint32_t k = 0; k <= i; k++)
			fprintf(f, "rr%u A 10.%u.%u.%u\n", i, i, k, (i * k) % 250 + 1);
		if (i % 3 == 0)
			fprintf(f, "rr%u AAAA 2001:db8::%x\n", i, i + 1);
	}
	for (uint32_t i = 0; i < N_TXT; i++) {
		fprintf(f, "txt%u TXT", i);
		for (uint32_t k = 0; k <= i; k++)
			fprintf(f, " \"%038u-%u\"", i * 1000 + k, k % 10);
		fputc('\n', f);
	}
}

static void write_links(FILE *f)
{
	for (uint32_t i = 0; i < N_CHAIN; i++)
		fprintf(f, "c%u CNAME c%u\n", i, i + 1);
	fprintf(f, "c%u CNAME rr5\n", N_CHAIN);
	for (uint32_t i = 0; i < 3; i++)
		fprintf(f, "loop%u CNAME loop%u\n", i, (i + 1) % 3);
	for (uint32_t i = 0; i < N_MX; i++) {
		for (uint32_t k = 0; k <= i; k++)
			fprintf(f, "mx%u MX %u rr%u\n", i, k, 3 * k);
	}
	for (uint32_t i = 0; i < N_CUT; i++) {
		for (uint32_t k = 0; k <= i; k++) {
			fprintf(f, "cut%u NS ns%u.cut%u\n", i, k, i);
			fprintf(f, "ns%u.cut%u A 10.9.%u.%u\n", k, i, i, k + 1);
			fprintf(f, "ns%u.cut%u AAAA 2001:db8:9::%x\n", k, i, k + 1);
		}
	}
}

void querygen_write_zone(FILE *f)
{
	fputs("$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\n@ NS ns2\n"
	      "ns1 A 10.0.0.1\nns1 AAAA 2001:db8::53\nns2 A 10.0.0.2\n"
	      "*.w A 10.1.1.1\n*.w TXT \"any\"\n*.w MX 5 rr0\n",
	      f);
	write_rrsets(f);
	write_links(f);
	for (uint32_t n = 0; n < 119; n += 3) {
		for (uint32_t i = 0; i < n; i++)
			fputs("x.", f);
		fprintf(f, "deep A 10.3.%u.1\n", n);
	}
}
