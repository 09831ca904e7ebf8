/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/special.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"
#include "dns/nameset.h"

#define TTL_S 10800u /* RFC 6303 section 3 */

struct special {
	struct nameset zones; /* special names that are answered */
	struct nameset stubs;
	struct nameset apart;
};

static const uint8_t localhost[] = "\11localhost";
static const uint8_t rname[] = "\6nobody\7invalid"; /* RFC 6303 section 3 */

/* Serial, refresh, retry, expire, minimum: 1 3600 1200 604800 10800. */
static const uint8_t numbers[] = { 0,    0,    0, 1,    0,    0,    0x0e, 0x10, 0,    0,
				   0x04, 0xb0, 0, 0x09, 0x3a, 0x80, 0,    0,    0x2a, 0x30 };

static const uint8_t address4[] = { 127, 0, 0, 1 };
static const uint8_t address6[16] = { [15] = 1 };

/* Owners of a PTR record with localhost. */
static const uint8_t reverse4[] = "\0011\0010\0010\003127\7in-addr\4arpa";
static const uint8_t reverse6[] =
	"\0011\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010"
	"\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010\0010"
	"\3ip6\4arpa";

/* --- The sets --------------------------------------------------------------------------------- */

static int make_special(struct nameset *s, const char *const *list)
{
	int err = nameset_init(s, nameset_length(list));

	if (!err)
		err = nameset_add_all(s, list);
	if (!err)
		nameset_sort(s);
	return err;
}

/* The special names except those that are off. */
static int make_zones(struct special *s, const struct special_config *config)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	struct nameset off = { 0 };
	int err = nameset_init(&s->zones, SPECIAL_NAMES_N);

	if (!err)
		err = make_special(&off, config->off);
	for (const char *const *name = special_names; *name && !err && !config->is_off; name++) {
		int bytes = name_from_text(folded, sizeof(folded), *name, strlen(*name));

		err = bytes < 0 ? bytes : 0;
		if (!err && !nameset_find(&off, folded))
			err = nameset_add(&s->zones, *name);
	}
	nameset_sort(&s->zones);
	nameset_fini(&off);
	return err;
}

static int make_apart(struct special *s, const struct special_config *config)
{
	int err =
		nameset_init(&s->apart, nameset_length(config->stubs) +
						nameset_length(config->insecure) + SPECIAL_NAMES_N);

	if (!err)
		err = nameset_add_all(&s->apart, config->stubs);
	if (!err)
		err = nameset_add_all(&s->apart, config->insecure);
	if (!err)
		err = nameset_add_all(&s->apart, special_names);
	nameset_sort(&s->apart);
	return err;
}

int special_new(struct special **out, const struct special_config *config)
{
	struct special *s = calloc(1, sizeof(*s));
	int err = s ? make_zones(s, config) : -ENOMEM;

	if (!err)
		err = make_special(&s->stubs, config->stubs);
	if (!err)
		err = make_apart(s, config);
	if (err) {
		special_free(s);
		s = NULL;
	}
	*out = s;
	return err;
}

void special_free(struct special *s)
{
	if (!s)
		return;
	nameset_fini(&s->zones);
	nameset_fini(&s->stubs);
	nameset_fini(&s->apart);
	free(s);
}

const uint8_t *special_apart(const struct special *s, const uint8_t *folded)
{
	return nameset_find(&s->apart, folded);
}

/* --- Answers ---------------------------------------------------------------------------------- */

const uint8_t *special_find(const struct special *s, const uint8_t *folded, uint16_t qtype)
{
	const uint8_t *name = qtype == DNS_TYPE_DS ? name_parent(folded) : folded;
	const uint8_t *apex = name ? nameset_find(&s->zones, name) : NULL;
	const uint8_t *stub = apex ? nameset_find(&s->stubs, name) : NULL;

	return stub && stub <= apex ? NULL : apex;
}

bool special_has(const struct special *s, const struct query *q)
{
	return special_find(s, q->folded, q->qtype) != NULL;
}

static bool is_reverse(const uint8_t *name)
{
	return name_equal(name, reverse4) || name_equal(name, reverse6);
}

static bool is_special_there(const struct special *s, const uint8_t *name, const uint8_t *apex)
{
	return name == apex || name_equal(apex, localhost) || name_is_under(reverse4, name) ||
	       name_is_under(reverse6, name) || nameset_has_under(&s->stubs, name);
}

static int add_special(struct render *r, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
		       size_t bytes)
{
	return writer_add_rr(&r->writer, owner, type, DNS_CLASS_IN, TTL_S, rdata, bytes);
}

static int add_special_soa(struct render *r, const uint8_t *apex)
{
	uint8_t rdata[DNS_NAME_MAX + sizeof(rname) + sizeof(numbers)];
	size_t bytes = name_bytes(apex);

	memcpy(rdata, apex, bytes);
	memcpy(rdata + bytes, rname, sizeof(rname));
	memcpy(rdata + bytes + sizeof(rname), numbers, sizeof(numbers));
	return add_special(r, apex, DNS_TYPE_SOA, rdata, bytes + sizeof(rname) + sizeof(numbers));
}

/* Adds the record of the type that was asked for, if the name has it; for ANY one set (RFC 8482
 * section 4.1). */
static int add_special_answer(struct render *r, const uint8_t *name, const uint8_t *apex,
			      uint16_t qtype)
{
	bool is_apex = name == apex, is_any = qtype == DNS_TYPE_ANY;

	if (name_equal(apex, localhost) && (is_any || qtype == DNS_TYPE_A))
		return add_special(r, name, DNS_TYPE_A, address4, sizeof(address4));
	if (name_equal(apex, localhost) && qtype == DNS_TYPE_AAAA)
		return add_special(r, name, DNS_TYPE_AAAA, address6, sizeof(address6));
	if (is_reverse(name) && (is_any || qtype == DNS_TYPE_PTR))
		return add_special(r, name, DNS_TYPE_PTR, localhost, sizeof(localhost));
	if (is_apex && (is_any || qtype == DNS_TYPE_SOA))
		return add_special_soa(r, apex);
	if (is_apex && qtype == DNS_TYPE_NS)
		return add_special(r, apex, DNS_TYPE_NS, apex, name_bytes(apex));
	return 0;
}

static void begin_special(struct render *r, const struct query *q)
{
	memcpy(r->chain[0], q->folded, (q->qname_bytes + 7u) & ~7u);
	writer_init(&r->writer, r->body, q->question_end, DNS_MESSAGE_MAX - RENDER_OPT_MAX,
		    r->chain[0]);
}

static void finish_special(const struct render *r, bool exists, struct cache_answer *a)
{
	uint16_t rcode = exists ? DNS_RCODE_NOERROR : DNS_RCODE_NXDOMAIN;

	*a = (struct cache_answer){
		.body = r->body,
		.full_bytes = (uint16_t)writer_bytes(&r->writer),
		.short_bytes = (uint16_t)writer_bytes(&r->writer),
		.ancount = r->writer.n_records[WRITER_ANSWER],
		.nscount = r->writer.n_records[WRITER_AUTHORITY],
		.flags = (uint16_t)(DNS_FLAG_QR | DNS_FLAG_AA | DNS_FLAG_RA | rcode),
		.expires_s = VOLLEY_NEVER,
	};
}

bool special_answer(const struct special *s, struct render *r, const struct query *q, bool exists,
		    struct cache_answer *a)
{
	const uint8_t *at = special_find(s, q->folded, q->qtype), *name = r->chain[0], *apex;

	if (!at)
		return false;
	begin_special(r, q);
	apex = name + (at - q->folded);
	if (add_special_answer(r, name, apex, q->qtype))
		return false;
	if (!r->writer.n_records[WRITER_ANSWER]) {
		writer_set_section(&r->writer, WRITER_AUTHORITY);
		if (add_special_soa(r, apex))
			return false;
	}
	finish_special(r, exists || is_special_there(s, name, apex), a);
	return true;
}
