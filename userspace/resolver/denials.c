/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/denials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "base/wire.h"
#include "dns/rdata.h"
#include "dns/writer.h"
#include "resolver/denials_zone.h"

#define LABELS_MAX 64 /* of a name whose zone is searched */

/* --- The store -------------------------------------------------------------------------------- */

bool denials_suit(const struct resolver_config *config)
{
	static const char *const others[] = { "aggressive-nsec:", "domain-insecure:",   "local-",
					      "module-config:",   "unblock-lan-zones:", "val-" };

	if (!config->aggressive_nsec ||
	    (!config->trust_anchor_file && !config->auto_trust_anchor_file))
		return false;
	for (size_t i = 0; i < config->n_options; i++)
		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			if (!strncmp(config->options[i].name, others[k], strlen(others[k])))
				return false;
	return true;
}

static int set_denials_stubs(struct denials *d, const struct resolver_config *config)
{
	d->stubs = calloc(config->n_stubs ? config->n_stubs : 1, sizeof(*d->stubs));
	if (!d->stubs)
		return -ENOMEM;
	for (; d->n_stubs < config->n_stubs; d->n_stubs++) {
		const char *text = config->stubs[d->n_stubs].zone;
		uint8_t *name = d->stubs[d->n_stubs];
		int n = name_from_text(name, DNS_NAME_MAX, text, strlen(text));

		if (n < 0)
			return n;
		name_fold(name, name, (size_t)n);
	}
	return 0;
}

static size_t bound(const struct resolver_config *config)
{
	uint64_t share = config->rrset_cache_bytes / DENIALS_BYTES_SHARE;

	if (share > DENIALS_BYTES_MAX)
		return DENIALS_BYTES_MAX;
	return share < DENIALS_BYTES_MIN ? DENIALS_BYTES_MIN : (size_t)share;
}

int denials_new(struct denials **out, const struct resolver_config *config)
{
	struct denials *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->bytes_max = bound(config);
	d->max_life_s = config->max_negative_ttl_s;
	d->has_dns64 = config->dns64_prefix;
	CDS_INIT_LIST_HEAD(&d->used);
	for (unsigned int i = 0; i < DENIALS_CHAINS; i++)
		CDS_INIT_LIST_HEAD(&d->zones[i]);
	err = getrandom(d->key, sizeof(d->key), 0) == sizeof(d->key) ?
		      set_denials_stubs(d, config) :
		      -EIO;
	if (err) {
		denials_free(d);
		return err;
	}
	*out = d;
	return 0;
}

static void free_zone(struct denials *d, struct denials_zone *z)
{
	d->bytes -= z->n_bytes;
	denials_zone_free(z);
}

void denials_free(struct denials *d)
{
	if (!d)
		return;
	while (!cds_list_empty(&d->used))
		free_zone(d, cds_list_entry(d->used.next, struct denials_interval, used)->zone);
	free(d->stubs);
	free(d);
}

static struct cds_list_head *chain_of_denials(struct denials *d, const uint8_t *apex)
{
	return &d->zones[siphash24(d->key, apex, name_bytes(apex)) % DENIALS_CHAINS];
}

static struct denials_zone *find_denials_zone(struct denials *d, const uint8_t *apex)
{
	struct denials_zone *z;

	cds_list_for_each_entry(z, chain_of_denials(d, apex), chain)
		if (name_equal(z->apex, apex))
			return z;
	return NULL;
}

/* --- Learning --------------------------------------------------------------------------------- */

/* libunbound answers for some of these names by itself, whatever their zones contain. */
static bool is_denials_special(const uint8_t *apex)
{
	return !*apex || name_is_under(apex, (const uint8_t *)"\4arpa");
}

/* The known zone; or a new one, which replaces a zone with other parameters. NULL: no memory. */
static struct denials_zone *take_denials_zone(struct denials *d,
					      const struct denials_reading *reading)
{
	struct denials_zone *z = find_denials_zone(d, reading->apex);

	if (z && !nsec3_params_equal(&z->params, &reading->params)) {
		free_zone(d, z);
		z = NULL;
	}
	if (z)
		return z;
	z = denials_zone_new(reading->apex, &reading->params);
	if (!z)
		return NULL;
	d->bytes += z->n_bytes;
	cds_list_add(&z->chain, chain_of_denials(d, reading->apex));
	return z;
}

/* The latest interval, the first in the list, always stays. */
static void keep_bound(struct denials *d)
{
	while (d->bytes > d->bytes_max && d->used.next != d->used.prev) {
		struct denials_interval *last =
			cds_list_entry(d->used.prev, struct denials_interval, used);
		struct denials_zone *z = last->zone;

		d->bytes -= z->n_bytes;
		denials_zone_drop(z, last);
		d->bytes += z->n_bytes;
		if (!z->n)
			free_zone(d, z);
	}
}

void denials_learn(struct denials *d, const uint8_t *msg, size_t n, uint64_t now_ns,
		   uint64_t wall_s)
{
	struct denials_reading *reading = &d->reading;
	struct denials_zone *z;
	int err;

	if (!denials_read(reading, msg, n, wall_s, d->max_life_s) ||
	    is_denials_special(reading->apex))
		return;
	z = take_denials_zone(d, reading);
	if (!z)
		return;
	d->bytes -= z->n_bytes;
	err = denials_zone_set_soa(z, &reading->soa, now_ns);
	for (unsigned int i = 0; i < reading->n_nsec3 && !err; i++)
		err = denials_zone_put(z, &reading->nsec3[i], now_ns, &d->used);
	d->bytes += z->n_bytes;
	if (!z->n)
		free_zone(d, z);
	keep_bound(d);
}

/* --- Answering -------------------------------------------------------------------------------- */

/* Questions for meta types and for types of the proofs themselves go upstream. */
static bool is_plain_type(uint16_t qtype)
{
	return !rdata_is_meta(qtype) && qtype != DNS_TYPE_RRSIG && qtype != DNS_TYPE_NSEC &&
	       qtype != DNS_TYPE_NSEC3;
}

static bool is_stub(const struct denials *d, const uint8_t *name)
{
	for (size_t i = 0; i < d->n_stubs; i++)
		if (name_equal(d->stubs[i], name))
			return true;
	return false;
}

/* The deepest known zone that the name may be in. Names from a stub's apex down are in the stub. */
static struct denials_zone *zone_of(struct denials *d, const uint8_t *name)
{
	if (name_n_labels(name) > LABELS_MAX)
		return NULL;
	for (; name; name = name_parent(name)) {
		struct denials_zone *z = find_denials_zone(d, name);

		if (z)
			return z;
		if (is_stub(d, name))
			return NULL;
	}
	return NULL;
}

/* A record and its signatures. */
static int write_denials_set(struct denials *d, const uint8_t *owner, uint16_t type, uint32_t ttl_s,
			     const uint8_t *bytes, size_t n_bytes)
{
	int err = 0;

	for (const uint8_t *at = bytes; at < bytes + n_bytes && !err; at += 2 + wire_load_be16(at))
		err = writer_add_rr(&d->writer, owner, at == bytes ? type : DNS_TYPE_RRSIG,
				    DNS_CLASS_IN, ttl_s, at + 2, wire_load_be16(at));
	return err;
}

static int write_interval(struct denials *d, const struct denials_interval *i, uint32_t ttl_s)
{
	uint8_t owner[1 + NSEC3_LABEL_CHARS + NAME_FOLDED_BYTES];
	struct nsec3_label label;

	nsec3_label_of(i->owner, &label);
	memcpy(owner, label.label, sizeof(label.label));
	memcpy(owner + sizeof(label.label), i->zone->apex, name_bytes(i->zone->apex));
	return write_denials_set(d, owner, DNS_TYPE_NSEC3, ttl_s, i->bytes, i->n_bytes);
}

static int write_denials_records(struct denials *d, const struct denials_zone *z,
				 const struct denials_proof *proof, uint32_t ttl_s)
{
	int err =
		write_denials_set(d, z->apex, DNS_TYPE_SOA, ttl_s, z->soa->bytes, z->soa->n_bytes);

	for (unsigned int i = 0; i < proof->n && !err; i++)
		err = write_interval(d, proof->used[i], ttl_s);
	return err;
}

/* The seconds until the first of the records expires. */
static uint32_t ttl_of_denials(const struct denials_zone *z, const struct denials_proof *proof,
			       uint64_t now_ns)
{
	uint64_t until_ns = z->soa->until_ns;

	for (unsigned int i = 0; i < proof->n; i++)
		if (proof->used[i]->until_ns < until_ns)
			until_ns = proof->used[i]->until_ns;
	return until_ns > now_ns ? (uint32_t)((until_ns - now_ns) / CLOCK_NS_PER_S) : 0;
}

/* Returns the octets; 0: the message does not fit. */
static size_t write_denials_message(struct denials *d, const uint8_t *name, uint16_t qtype,
				    const struct denials_zone *z, const struct denials_proof *proof,
				    uint32_t ttl_s)
{
	size_t n_name = name_bytes(name);
	uint8_t *question = d->msg + DNS_HEADER_BYTES;
	uint32_t base = (uint32_t)(DNS_HEADER_BYTES + n_name + DNS_QUESTION_FIXED_BYTES);

	memcpy(question, name, n_name);
	wire_store_be16(question + n_name, qtype);
	wire_store_be16(question + n_name + 2, DNS_CLASS_IN);
	writer_init(&d->writer, d->msg + base, base, sizeof(d->msg), question);
	writer_set_section(&d->writer, WRITER_AUTHORITY);
	if (write_denials_records(d, z, proof, ttl_s))
		return 0;
	writer_put_header(&d->writer, d->msg, 0,
			  DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA | DNS_FLAG_AD | proof->rcode, 0);
	return base + writer_bytes(&d->writer);
}

size_t denials_answer(struct denials *d, const uint8_t *name, uint16_t qtype, uint16_t qclass,
		      uint64_t now_ns, const uint8_t **msg)
{
	struct denials_proof proof;
	struct denials_zone *z;
	uint32_t ttl_s;

	if (cds_list_empty(&d->used) || qclass != DNS_CLASS_IN || !is_plain_type(qtype) ||
	    (d->has_dns64 && qtype == DNS_TYPE_AAAA))
		return 0;
	z = zone_of(d, name);
	if (!z || !denials_zone_prove(z, name, qtype, &proof))
		return 0;
	ttl_s = ttl_of_denials(z, &proof, now_ns);
	if (!ttl_s)
		return 0;
	for (unsigned int i = 0; i < proof.n; i++)
		cds_list_move(&proof.used[i]->used, &d->used);
	*msg = d->msg;
	return write_denials_message(d, name, qtype, z, &proof, ttl_s);
}
