/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/render.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "engine/render_state.h"

/* The results of a step of the chain, beside errors. */
#define STEP_DONE 0
#define STEP_ON   1 /* r->name is an alias's target: go on there */

void render_empty(struct cache_answer *a, uint16_t flags)
{
	*a = (struct cache_answer){ .flags = (uint16_t)(DNS_FLAG_QR | flags) };
}

void render_too_large(struct cache_answer *a, uint16_t flags)
{
	*a = (struct cache_answer){
		.full_bytes = DNS_MESSAGE_MAX,
		.short_bytes = DNS_MESSAGE_MAX,
		.flags = flags,
	};
}

static const struct zone_rrset *apex_ns(const struct render *r)
{
	return zone_node_rrset(r->zone, zone_apex_node(r->zone), DNS_TYPE_NS);
}

static int add_apex(struct render *r, const struct zone_rrset *rrset, uint32_t ttl)
{
	const struct zone_node *apex = zone_apex_node(r->zone);
	uint8_t owner[ZONE_NAME_MAX];

	zone_node_owner(r->zone, apex, owner);
	return dnssec_add_rrset(r, apex, owner, rrset, ttl);
}

/* Up to how many octets the message may grow by the NS RRset: see the header. */
static uint32_t authority_limit(struct render *r)
{
	uint32_t most = r->writer.at <= DNS_UDP_MIN ? DNS_UDP_MIN : r->config->max_udp_bytes;

	render_note_room(r, r->writer.at, DNS_UDP_MIN);
	return most - RENDER_OPT_BYTES;
}

/* Adds the zone's own NS RRset to a positive answer that has room for it. */
static void add_authority(struct render *r)
{
	const struct zone_rrset *ns = apex_ns(r);
	struct writer_mark mark = writer_get_mark(&r->writer);
	uint32_t limit;
	int err;

	if (r->config->minimal_responses || !ns)
		return;
	limit = authority_limit(r);
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	err = add_apex(r, ns, ns->ttl);
	r->partial = err || r->writer.at > limit;
	r->is_exact |= err != 0;
	render_note_room(r, r->writer.at, limit);
	if (err || (r->partial && !r->stream))
		writer_rollback(&r->writer, &mark);
	else
		additional_note(r, ns);
}

static int add_render_answer(struct render *r, const struct zone_node *node,
			     const struct zone_rrset *rrset)
{
	if (additional_has_type(rrset->type))
		r->answered[r->n_answered++] = rrset;
	additional_note(r, rrset);
	return dnssec_add_rrset(r, node, r->name, rrset, rrset->ttl);
}

/* Ends the answer section: adds the proofs, then the records that the client can do without. */
static int end_answer(struct render *r, bool with_ns)
{
	int err = dnssec_add_proofs(r);

	if (!err && with_ns)
		add_authority(r);
	if (!err)
		additional_optional(r);
	return err;
}

/* RFC 8482 section 4.1: one RRset is enough. The first has the lowest type. */
static int answer_any_minimal(struct render *r, const struct zone_node *node)
{
	unsigned int n;
	const struct zone_rrset *first = zone_node_rrsets(r->zone, node, &n);
	int err = n ? dnssec_add_rrset(r, node, r->name, first, first->ttl) : 0;

	return err ? err : end_answer(r, false);
}

static int answer_any_full(struct render *r, const struct zone_node *node)
{
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(r->zone, node, &n);
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		if (r->dnssec_ok && rrsets[i].type == DNS_TYPE_RRSIG)
			continue; /* each signature was added with the set that it covers */
		err = add_render_answer(r, node, &rrsets[i]);
	}
	return err ? err : end_answer(r, node != zone_apex_node(r->zone));
}

/* The NS RRset is not added to itself. A client that asks for DS or DNSKEY has it already. */
static bool takes_ns(const struct render *r, const struct zone_rrset *answer)
{
	return answer != apex_ns(r) && r->qtype != DNS_TYPE_DS && r->qtype != DNS_TYPE_DNSKEY;
}

static int step_answer(struct render *r, const struct zone_result *found)
{
	int err;

	if (!found->rrset && r->config->any == ENGINE_ANY_MINIMAL)
		return answer_any_minimal(r, found->node);
	if (!found->rrset)
		return answer_any_full(r, found->node);
	err = add_render_answer(r, found->node, found->rrset);
	if (err)
		return err;
	return end_answer(r, takes_ns(r, found->rrset));
}

/* The chain goes on at target, unless that is in no zone of ours or was in the chain before. */
static int follow_rendered_alias(struct render *r, const uint8_t *target)
{
	size_t len = name_bytes(target);
	uint8_t *folded;

	if (r->n_steps == RENDER_CHAIN_MAX)
		return STEP_DONE;
	folded = r->chain[++r->n_steps];
	name_fold(folded, target, len);
	for (unsigned int i = 0; i < r->n_steps; i++) {
		if (name_equal(r->chain[i], folded))
			return STEP_DONE;
	}
	r->name = target;
	r->member = zone_set_find(r->set, folded, (unsigned int)len, r->qtype);
	if (r->member && r->member != r->first)
		r->crossed = true;
	r->leads_out = !r->member;
	return r->member && zone_set_zone(r->member) ? STEP_ON : STEP_DONE;
}

static int step_cname(struct render *r, const struct zone_result *found)
{
	struct zone_rdata rd;
	int err = dnssec_add_rrset(r, found->node, r->name, found->rrset, found->rrset->ttl);

	zone_rdata_next(zone_rrset_first(r->zone, found->rrset), &rd);
	return err ? err : follow_rendered_alias(r, rd.bytes);
}

/* r->dname = r->name with its suffix `owner` replaced by `target` (RFC 6672 section 2.3). */
static int substitute(struct render *r, const uint8_t *owner, const uint8_t *target)
{
	size_t kept = name_bytes(r->name) - name_bytes(owner);
	size_t len = name_bytes(target);

	if (kept + len > DNS_NAME_MAX)
		return ERR_NAME_LONG;
	memmove(r->dname, r->name, kept);
	memcpy(r->dname + kept, target, len);
	return 0;
}

/* Adds the DNAME, unless the chain has passed it before: a section has each record once. */
static int add_dname(struct render *r, const struct zone_result *found, const uint8_t *owner)
{
	for (unsigned int i = 0; i < r->n_dnames; i++) {
		if (r->dnames[i] == found->rrset)
			return 0;
	}
	r->dnames[r->n_dnames++] = found->rrset;
	return dnssec_add_rrset(r, found->node, owner, found->rrset, found->rrset->ttl);
}

/*
 * RFC 6672 section 3.1: adds the DNAME, and a CNAME made from it with its TTL. The chain goes on
 * for ANY too (section 3.2, step 3C): the records that match are at the new name.
 */
static int step_dname(struct render *r, const struct zone_result *found)
{
	uint32_t ttl = found->rrset->ttl;
	uint8_t owner[ZONE_NAME_MAX];
	uint8_t alias[DNS_NAME_MAX];
	struct zone_rdata rd;
	int err;

	zone_node_owner(r->zone, found->node, owner);
	zone_rdata_next(zone_rrset_first(r->zone, found->rrset), &rd);
	err = add_dname(r, found, owner);
	if (err)
		return err;
	memcpy(alias, r->name, name_bytes(r->name));
	if (substitute(r, owner, rd.bytes)) {
		r->flags |= DNS_RCODE_YXDOMAIN;
		return STEP_DONE;
	}
	err = writer_add_rr(&r->writer, alias, DNS_TYPE_CNAME, DNS_CLASS_IN, ttl, r->dname,
			    name_bytes(r->dname));
	if (err || r->qtype == DNS_TYPE_CNAME)
		return err; /* the CNAME is the answer */
	return follow_rendered_alias(r, r->dname);
}

/* RFC 2308 sections 3 and 5. RFC 6604 section 3: the rcode is that of the last name. */
static int step_negative(struct render *r, uint16_t rcode)
{
	int err;

	r->flags |= rcode;
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	err = add_apex(r, zone_soa(r->zone), zone_negative_ttl(r->zone));
	return err ? err : dnssec_add_proofs(r);
}

static int step_delegation(struct render *r, const struct zone_result *found)
{
	uint8_t cut[ZONE_NAME_MAX];
	int err;

	/* AA describes the first owner in the answer. So it stays set after an alias of ours. */
	if (!r->n_steps)
		r->flags &= (uint16_t)~DNS_FLAG_AA;
	r->leads_out = true;
	zone_node_owner(r->zone, found->cut, cut);
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	err = dnssec_add_rrset(r, found->cut, cut, found->rrset, found->rrset->ttl);
	if (!err)
		err = dnssec_add_proofs(r);
	return err ? err : additional_referral(r, cut, found->rrset);
}

static void note_render_origin(struct render *r, const struct zone_result *found)
{
	r->origin.zone = r->zone;
	r->origin.encloser = found->encloser;
	r->origin.status = found->status;
	r->origin.is_wildcard = found->wildcard;
}

static int step_render(struct render *r)
{
	const uint8_t *folded = r->chain[r->n_steps];
	struct zone_result found;

	r->zone = zone_set_zone(r->member);
	zone_find(r->zone, folded, (unsigned int)name_bytes(folded), r->qtype, &found);
	dnssec_note_proofs(r, &found);
	if (!r->n_steps)
		note_render_origin(r, &found);
	switch (found.status) {
	case ZONE_ANSWER:
		return step_answer(r, &found);
	case ZONE_CNAME:
		return step_cname(r, &found);
	case ZONE_DNAME:
		return step_dname(r, &found);
	case ZONE_NODATA:
		return step_negative(r, DNS_RCODE_NOERROR);
	case ZONE_NXDOMAIN:
		return step_negative(r, DNS_RCODE_NXDOMAIN);
	case ZONE_DELEGATION:
		return step_delegation(r, &found);
	}
	return -EINVAL;
}

static void begin_render(struct render *r, const struct engine_config *config,
			 const struct zone_set *set, const struct query *q)
{
	r->config = config;
	r->set = set;
	r->qtype = q->qtype;
	r->dnssec_ok = q->edns.dnssec_ok;
	memcpy(r->chain[0], q->folded, (q->qname_bytes + 7u) & ~7u); /* with its padding */
	r->name = r->chain[0];
	r->n_steps = 0;
	r->crossed = false;
	r->leads_out = false;
	r->flags = DNS_FLAG_QR | DNS_FLAG_AA;
	r->origin = (struct render_origin){ 0 };
	r->shorter = r->longer = DNS_NAME_MAX;
	r->is_exact = false;
	r->n_targets = 0;
	r->n_answered = 0;
	r->n_proofs = 0;
	r->partial = false;
	r->n_dnames = 0;
	r->short_at = 0;
	writer_init(&r->writer, r->body, q->question_end, DNS_MESSAGE_MAX - RENDER_OPT_MAX,
		    r->chain[0]);
}

static void finish_render(struct render *r, struct cache_answer *a)
{
	const uint16_t *n = r->writer.n_records;
	bool all = !r->short_at; /* there was nothing optional */

	*a = (struct cache_answer){
		.body = r->body,
		.full_bytes = (uint16_t)writer_bytes(&r->writer),
		.short_bytes = (uint16_t)((all ? r->writer.at : r->short_at) - r->writer.base),
		.ancount = n[WRITER_ANSWER],
		.nscount = n[WRITER_AUTHORITY],
		.arcount_full = n[WRITER_ADDITIONAL],
		.arcount_short = all ? n[WRITER_ADDITIONAL] : r->n_short,
		.partial = r->partial,
		.flags = r->flags,
		.zone_slot = r->crossed || (r->partial && r->stream) ? 0 : r->first->cache_slot,
		.zone_gen = r->first->cache_gen,
		.expires_s = VOLLEY_NEVER,
	};
}

int render_answer(struct render *r, const struct engine_config *config, const struct zone_set *set,
		  const struct query *q, bool stream, struct cache_answer *a)
{
	int err;

	begin_render(r, config, set, q);
	r->stream = stream;
	r->first = set ? zone_set_find(set, r->chain[0], q->qname_bytes, q->qtype) : NULL;
	r->member = r->first;
	if (!r->first || !zone_set_zone(r->first)) {
		render_empty(a, r->first ? DNS_RCODE_SERVFAIL : DNS_RCODE_REFUSED);
		return 0;
	}
	do {
		err = step_render(r);
	} while (err == STEP_ON);
	if (!err)
		err = dnssec_add_proofs(r); /* for a chain that has left our zones */
	if (err)
		return err == ERR_SPACE ? -EMSGSIZE : err;
	finish_render(r, a);
	return 0;
}
