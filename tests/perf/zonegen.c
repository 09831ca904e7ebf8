/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zonegen ORIGIN RECORDS SEED [plain|nsec|nsec3] [sorted|mixed]: writes a zone of about RECORDS
 * records, the same for the same arguments, like those of registries and hosters: hosts with A and
 * AAAA, delegations with two NS, glue and DS, mail, text.
 *
 * Chains are real. Signatures are random octets of the size of ECDSA P-256: they can be loaded and
 * sent, but not validated. Names are in canonical order or mixed; nsec is sorted.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "dns/name.h"

#define LABEL_MAX 16
#define DATES     "20371231000000 20260101000000 4711"

struct item {
	char label[LABEL_MAX];
	uint64_t key;
};

struct hashed {
	uint8_t hash[SHA_DIGEST_LENGTH];
	const char *types;
};

static const char *origin;
static uint64_t seed;
static bool nsec, nsec3;
static struct hashed *hashes;
static size_t n_hashes;
static uint64_t n_records;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

/* A label of 6 to 13 characters, a different one for each @i below 2^30. */
static void make_label(struct item *item, uint64_t i)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	uint64_t unique = (i * 0x2545f491u + seed) & 0x3fffffff;
	unsigned n = 0, more;

	item->key = mix(i ^ seed << 32);
	more = (unsigned)(item->key & 7);
	for (unsigned at = 0; at < 6; at++)
		item->label[n++] = digits[unique >> (25 - at * 5) & 31];
	for (unsigned at = 0; at < more; at++)
		item->label[n++] = digits[item->key >> (8 + at * 5) & 31];
	item->label[n] = '\0';
}

static void base64(const uint8_t *octets, unsigned n, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)octets[i] << 16 |
			     (i + 1 < n ? (uint32_t)octets[i + 1] << 8 : 0) |
			     (i + 2 < n ? octets[i + 2] : 0);

		*out++ = digits[v >> 18 & 63];
		*out++ = digits[v >> 12 & 63];
		*out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[v & 63] : '=';
	}
	*out = '\0';
}

static void random_base64(unsigned n, char *out)
{
	static uint64_t counter;
	uint64_t words[9];

	for (unsigned i = 0; i < n / 8 + 1; i++)
		words[i] = mix(++counter ^ seed);
	base64((const uint8_t *)words, n, out);
}

/* The signature of one RRset, in a signed zone. */
static void sign(const char *owner, const char *type, unsigned labels)
{
	char text[96];

	if (!nsec && !nsec3)
		return;
	random_base64(64, text);
	printf("%s\tRRSIG\t%s 13 %u 3600 " DATES " %s %s\n", owner, type, labels, origin, text);
	n_records++;
}

static unsigned origin_labels(void)
{
	uint8_t wire[256];

	return name_from_text(wire, DNS_NAME_MAX, origin, strlen(origin)) < 0 ? 0 :
										name_n_labels(wire);
}

static void chain_name(const char *owner, const char *next, const char *types)
{
	uint8_t wire[256];
	char full[300];
	int n;

	if (nsec) {
		printf("%s\tNSEC\t%s %s\n", owner, next, types);
		n_records++;
		sign(owner, "NSEC", origin_labels() + (*owner != '@'));
	}
	if (!nsec3)
		return;
	snprintf(full, sizeof(full), "%s%s%s", *owner == '@' ? "" : owner, *owner == '@' ? "" : ".",
		 origin);
	n = name_from_text(wire, DNS_NAME_MAX, full, strlen(full));
	SHA1(wire, (size_t)n, hashes[n_hashes].hash);
	hashes[n_hashes++].types = types;
}

static void apex(const char *next)
{
	unsigned labels = origin_labels();

	printf("$ORIGIN %s\n$TTL 3600\n", origin);
	printf("@\tSOA\tns1 hostmaster 1 7200 900 1209600 300\n");
	sign("@", "SOA", labels);
	printf("@\tNS\tns1\n@\tNS\tns2\n");
	sign("@", "NS", labels);
	n_records += 3;
	if (nsec || nsec3) {
		char key[96];

		random_base64(64, key);
		printf("@\tDNSKEY\t257 3 13 %s\n", key);
		sign("@", "DNSKEY", labels);
		n_records++;
	}
	if (nsec3) {
		printf("@\tNSEC3PARAM\t1 0 0 -\n");
		sign("@", "NSEC3PARAM", labels);
		n_records++;
	}
	chain_name("@", next,
		   nsec3 ? "NS SOA RRSIG DNSKEY NSEC3PARAM" : "NS SOA RRSIG NSEC DNSKEY");
}

static void host(const struct item *item, unsigned labels, const char *next)
{
	uint32_t v = (uint32_t)(item->key >> 20);

	printf("%s\tA\t10.%u.%u.%u\n", item->label, v >> 16 & 255, v >> 8 & 255, v & 255);
	sign(item->label, "A", labels);
	printf("%s\tAAAA\t2001:db8:%x:%x::%x\n", item->label, v & 0xffff, v >> 16 & 0xffff,
	       v >> 8 & 0xffff);
	sign(item->label, "AAAA", labels);
	n_records += 2;
	chain_name(item->label, next, nsec3 ? "A AAAA RRSIG" : "A AAAA RRSIG NSEC");
}

static void delegation(const struct item *item, unsigned labels, const char *next)
{
	bool glue = item->key >> 40 & 1, ds = (item->key >> 41 & 3) == 0;
	uint32_t v = (uint32_t)(item->key >> 20);

	n_records += 2;
	if (glue) {
		printf("%s\tNS\tns1.%s\n%s\tNS\tns2.%s\n", item->label, item->label, item->label,
		       item->label);
	} else {
		unsigned hoster = v % 5000;

		printf("%s\tNS\tns1.hoster%u.example.net.\n%s\tNS\tns2.hoster%u.example.net.\n",
		       item->label, hoster, item->label, hoster);
	}
	if (ds) {
		printf("%s\tDS\t%u 13 2 %016" PRIX64 "%016" PRIX64 "%016" PRIX64 "%016" PRIX64 "\n",
		       item->label, v & 0xffff, mix(v), mix(v + 1u), mix(v + 2u), mix(v + 3u));
		n_records++;
		sign(item->label, "DS", labels);
	}
	if (nsec3 && !ds)
		; /* opt-out */
	else
		chain_name(item->label, next,
			   nsec3 ? "NS DS RRSIG" :
			   ds    ? "NS DS RRSIG NSEC" :
				   "NS RRSIG NSEC");
	if (glue) {
		printf("ns1.%s\tA\t10.%u.%u.1\nns2.%s\tA\t10.%u.%u.2\n", item->label, v >> 8 & 255,
		       v & 255, item->label, v >> 8 & 255, v & 255);
		n_records += 2;
	}
}

static void mail(const struct item *item, unsigned labels, const char *next)
{
	printf("%s\tMX\t10 mx%u.example.net.\n", item->label, (unsigned)(item->key >> 20 & 1023));
	sign(item->label, "MX", labels);
	printf("%s\tTXT\t\"v=spf1 mx ip4:10.0.%u.0/24 -all\"\n", item->label,
	       (unsigned)(item->key >> 32 & 255));
	sign(item->label, "TXT", labels);
	n_records += 2;
	chain_name(item->label, next, nsec3 ? "MX TXT RRSIG" : "MX TXT RRSIG NSEC");
}

static int cmp_labels(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->label, ((const struct item *)b)->label);
}

static int cmp_hashes(const void *a, const void *b)
{
	return memcmp(a, b, SHA_DIGEST_LENGTH);
}

static void base32hex(const uint8_t *hash, char *out)
{
	for (unsigned i = 0; i < SHA_DIGEST_LENGTH; i += 5) {
		uint64_t group = 0;

		for (unsigned k = 0; k < 5; k++)
			group = group << 8 | hash[i + k];
		for (int shift = 35; shift >= 0; shift -= 5)
			*out++ = "0123456789abcdefghijklmnopqrstuv"[group >> shift & 31];
	}
	*out = '\0';
}

static void write_nsec3(void)
{
	unsigned labels = origin_labels() + 1;

	qsort(hashes, n_hashes, sizeof(*hashes), cmp_hashes);
	for (size_t i = 0; i < n_hashes; i++) {
		char owner[40], next[40];

		base32hex(hashes[i].hash, owner);
		base32hex(hashes[(i + 1) % n_hashes].hash, next);
		printf("%s\tNSEC3\t1 1 0 - %s %s\n", owner, next, hashes[i].types);
		n_records++;
		sign(owner, "NSEC3", labels);
	}
}

/* The number of names for this many records, by the average counts of each kind. */
static size_t names_for(uint64_t records)
{
	double per_name = nsec ? 5.775 : nsec3 ? 5.116 : 2.546;

	return (size_t)((double)records / per_name) + 1;
}

int main(int argc, char **argv)
{
	size_t n;
	struct item *items;
	unsigned labels;

	if (argc < 4) {
		fprintf(stderr, "zonegen ORIGIN RECORDS SEED [plain|nsec|nsec3] [sorted|mixed]\n");
		return 2;
	}
	origin = argv[1];
	seed = strtoull(argv[3], NULL, 10);
	nsec = argc > 4 && !strcmp(argv[4], "nsec");
	nsec3 = argc > 4 && !strcmp(argv[4], "nsec3");
	n = names_for(strtoull(argv[2], NULL, 10));
	items = calloc(n + 1, sizeof(*items));
	hashes = calloc(n + 1, sizeof(*hashes));
	if (!items || !hashes)
		return 1;
	for (size_t i = 0; i < n; i++)
		make_label(&items[i], i);
	if (nsec || (argc > 5 && !strcmp(argv[5], "sorted")))
		qsort(items, n, sizeof(*items), cmp_labels);
	labels = origin_labels() + 1;
	apex(items[0].label);
	for (size_t i = 0; i < n; i++) {
		const char *next = i + 1 < n ? items[i + 1].label : "@";
		unsigned kind = (unsigned)(items[i].key >> 44 & 15);

		if (kind < 6)
			host(&items[i], labels, next);
		else if (kind < 13)
			delegation(&items[i], labels, next);
		else
			mail(&items[i], labels, next);
	}
	if (nsec3)
		write_nsec3();
	fprintf(stderr, "%" PRIu64 " records\n", n_records);
	return 0;
}
