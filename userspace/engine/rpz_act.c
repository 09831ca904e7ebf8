/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/rpz_act.h"

#include <string.h>

#include "dns/edns.h"
#include "dns/name.h"
#include "cache/message.h"
#include "rpz/rpz_rules.h"

/* A rule, and the name that it applies to. */
struct rule {
	const struct zone *zone;
	const struct zone_node *node;
	const uint8_t *name;
	unsigned int n_bytes;
};

static int add_rpz_answer_rrset(struct render *r, const struct zone *zone, const uint8_t *owner,
				const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(zone, rrset);
	struct zone_rdata rd;
	int err = 0;

	for (unsigned int i = 0; !err && i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		err = writer_add_rr(&r->writer, owner, rrset->type, DNS_CLASS_IN, rrset->ttl,
				    rd.bytes, rd.len);
	}
	return err;
}

/* The set of the type that was asked for, or the CNAME; for ANY one set (RFC 8482 section 4.1). */
static const struct zone_rrset *choose_rpz_answer(const struct rule *rule, uint16_t qtype)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	unsigned int n;

	if (cname || qtype == DNS_TYPE_ANY)
		return cname ? cname : zone_node_rrsets(rule->zone, rule->node, &n);
	return zone_node_rrset(rule->zone, rule->node, qtype);
}

/* The SOA tells whose rule it is, and how long a negative answer holds (RFC 2308 section 3). */
static int add_rpz_answer_soa(struct render *r, const struct zone *zone)
{
	uint8_t owner[ZONE_NAME_MAX];

	zone_node_owner(zone, zone_apex_node(zone), owner);
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	return add_rpz_answer_rrset(r, zone, owner, zone_soa(zone));
}

/* Adds an alias of upstream. Other records are left out: signatures, for example, because not all
 * that they cover is there. */
static int add_before(struct render *r, const struct message *m, uint32_t owner_at,
		      const struct message_record *record)
{
	uint8_t owner[NAME_FOLDED_BYTES], target[NAME_FOLDED_BYTES];
	unsigned int n = message_copy_name(m, record->rdata_at, target);

	if (record->type != DNS_TYPE_CNAME && record->type != DNS_TYPE_DNAME)
		return 0;
	if (!n || !message_copy_name(m, owner_at, owner))
		return -1;
	return writer_add_rr(&r->writer, owner, record->type, DNS_CLASS_IN, record->ttl, target, n);
}

static int add_chain(struct render *r, const struct rpz_question *q,
		     const struct cache_answer *from, unsigned int n)
{
	uint32_t name_end = DNS_HEADER_BYTES + q->n_bytes, at = name_end + DNS_QUESTION_FIXED_BYTES;
	const struct message m = { q->folded, from->body, name_end, at, at + from->full_bytes };
	struct message_record record;
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		uint32_t owner_at = at;

		at = message_name_end(&m, at);
		if (!at || !message_read_record(&m, at, &record))
			return -1;
		at = record.rdata_at + record.len;
		err = add_before(r, &m, owner_at, &record);
	}
	return err;
}

static int begin_rpz_answer(struct render *r, const struct rpz_question *q,
			    const struct cache_answer *from, unsigned int n_before)
{
	memcpy(r->chain[0], q->folded, q->n_bytes);
	writer_init(&r->writer, r->body, DNS_HEADER_BYTES + q->n_bytes + DNS_QUESTION_FIXED_BYTES,
		    DNS_MESSAGE_MAX - RENDER_OPT_MAX, r->chain[0]);
	return n_before ? add_chain(r, q, from, n_before) : 0;
}

static void finish_rpz_answer(const struct rpz *p, const struct render *r, uint16_t rcode,
			      struct cache_answer *a)
{
	*a = (struct cache_answer){
		.body = r->body,
		.full_bytes = (uint16_t)writer_bytes(&r->writer),
		.short_bytes = (uint16_t)writer_bytes(&r->writer),
		.ancount = r->writer.n_records[WRITER_ANSWER],
		.nscount = r->writer.n_records[WRITER_AUTHORITY],
		.flags = (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RA | rcode),
		.zone_slot = p->slot,
		.zone_gen = p->gen,
		.expires_s = VOLLEY_NEVER,
	};
}

/* Adds the records of the rule, or the SOA if rrset is NULL. False: they fit no message. */
static bool answer_rpz_answer(const struct rpz *p, struct render *r, const struct rule *rule,
			      uint16_t rcode, const struct zone_rrset *rrset,
			      struct cache_answer *a)
{
	if (rrset ? add_rpz_answer_rrset(r, rule->zone, rule->name, rrset) :
		    add_rpz_answer_soa(r, rule->zone))
		return false;
	finish_rpz_answer(p, r, rcode, a);
	return true;
}

/* Reads the target of the CNAME. The asterisk of *.NAME stands for the name that met the rule.
 * False: the result is too long for a name. */
static bool read_alias(const struct rule *rule, struct rpz_alias *alias)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	unsigned int n_before = rule->n_bytes - 1u;
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(rule->zone, cname), &rd);
	alias->ttl_s = cname->ttl;
	if (rd.bytes[0] != 1 || rd.bytes[1] != '*') {
		name_fold(alias->target, rd.bytes, rd.len);
		alias->n_bytes = rd.len;
		return true;
	}
	if (n_before + rd.len - 2u > DNS_NAME_MAX)
		return false;
	memcpy(alias->target, rule->name, n_before);
	memcpy(alias->target + n_before, rd.bytes + 2, rd.len - 2u);
	alias->n_bytes = n_before + rd.len - 2u;
	name_fold(alias->target, alias->target, alias->n_bytes);
	return true;
}

/* Writes the CNAME. If the query asks for a CNAME, this is the whole answer. */
static bool write_alias(const struct rpz *p, struct render *r, const struct rule *rule,
			const struct rpz_alias *alias, struct cache_answer *a)
{
	if (writer_add_rr(&r->writer, rule->name, DNS_TYPE_CNAME, DNS_CLASS_IN, alias->ttl_s,
			  alias->target, (uint16_t)alias->n_bytes))
		return false;
	finish_rpz_answer(p, r, DNS_RCODE_NOERROR, a);
	return true;
}

static enum rpz_verdict rewrite(const struct rpz *p, struct render *r, uint16_t qtype,
				const struct rule *rule, struct rpz_alias *alias,
				struct cache_answer *a)
{
	bool is_asked = qtype == DNS_TYPE_CNAME || qtype == DNS_TYPE_ANY;

	if (!read_alias(rule, alias)) /* the target is too long for a name, so it does not exist */
		return answer_rpz_answer(p, r, rule, DNS_RCODE_NXDOMAIN, NULL, a) ? RPZ_FILTERED :
										    RPZ_NONE;
	if (name_equal(alias->target, rule->name) || !write_alias(p, r, rule, alias, a)) {
		alias->n_bytes = 0;
		return RPZ_NONE;
	}
	if (!is_asked)
		return RPZ_REWRITE;
	alias->n_bytes = 0;
	return RPZ_FILTERED;
}

static enum rpz_verdict act_rpz_answer(const struct rpz *p, struct render *r, uint16_t qtype,
				       const struct rule *rule, struct rpz_alias *alias,
				       struct cache_answer *a)
{
	const struct zone_rrset *rrset = NULL;
	uint16_t rcode = DNS_RCODE_NOERROR;

	switch (rpz_action(rule->zone, rule->node)) {
	case RPZ_ACTION_UNKNOWN:
	case RPZ_ACTION_PASS:
		return RPZ_NONE;
	case RPZ_ACTION_DROP:
		return RPZ_DROP;
	case RPZ_ACTION_TCP_ONLY:
		return RPZ_TCP_ONLY;
	case RPZ_ACTION_ALIAS:
		return rewrite(p, r, qtype, rule, alias, a);
	case RPZ_ACTION_NXDOMAIN:
		rcode = DNS_RCODE_NXDOMAIN;
		break;
	case RPZ_ACTION_NODATA:
		break;
	case RPZ_ACTION_DATA:
		rrset = choose_rpz_answer(rule, qtype);
	}
	return answer_rpz_answer(p, r, rule, rcode, rrset, a) ? RPZ_FILTERED : RPZ_NONE;
}

enum rpz_verdict rpz_act(const struct rpz *p, struct render *r, const struct rpz_question *q,
			 const struct rpz_hit *hit, const struct cache_answer *from,
			 struct rpz_alias *alias, struct cache_answer *a)
{
	const struct rule rule = { hit->zone, hit->node, hit->name, hit->n_bytes };
	enum rpz_verdict verdict;

	alias->n_bytes = 0;
	if (hit->trigger == RPZ_BY_LOCAL_DATA)
		return rpz_answer_local(p, r, q, alias, a);
	if (begin_rpz_answer(r, q, from, from ? hit->n_before : 0))
		return RPZ_NONE;
	alias->ede_code = hit->ede_code;
	alias->is_of_list = true;
	verdict = act_rpz_answer(p, r, q->qtype, &rule, alias, a);
	if (hit->hits && verdict != RPZ_NONE)
		__atomic_fetch_add(hit->hits, 1, __ATOMIC_RELAXED);
	return verdict;
}

/* Notes the target of a rule's CNAME as it is, unless that is the name itself. */
static void note_target(const struct rule *rule, uint16_t qtype, struct rpz_alias *alias)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	struct zone_rdata rd;

	if (!cname || qtype == DNS_TYPE_CNAME || qtype == DNS_TYPE_ANY)
		return;
	zone_rdata_next(zone_rrset_first(rule->zone, cname), &rd);
	name_fold(alias->target, rd.bytes, rd.len);
	alias->ttl_s = cname->ttl;
	alias->ede_code = EDNS_NO_EDE;
	alias->is_of_list = false;
	alias->n_bytes = name_equal(alias->target, rule->name) ? 0 : rd.len;
}

enum rpz_verdict rpz_answer_local(const struct rpz *p, struct render *r,
				  const struct rpz_question *q, struct rpz_alias *alias,
				  struct cache_answer *a)
{
	const struct rule rule = { p->local, rpz_local_node(p, q->folded, q->n_bytes), q->folded,
				   q->n_bytes };

	alias->n_bytes = 0;
	if (!rule.node || begin_rpz_answer(r, q, NULL, 0) ||
	    !answer_rpz_answer(p, r, &rule, DNS_RCODE_NOERROR, choose_rpz_answer(&rule, q->qtype),
			       a))
		return RPZ_NONE;
	note_target(&rule, q->qtype, alias);
	return alias->n_bytes ? RPZ_ALIAS : RPZ_LOCAL;
}
