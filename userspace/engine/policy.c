/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dns/name.h"
#include "zone/walk.h"

struct policy {
	const struct zone *local; /* may be NULL */
	uint32_t slot;
	uint32_t gen;
	size_t n_lists;
	const struct zone *lists[];
};

/* Targets of CNAME that are actions, as on the wire. */
static const uint8_t to_nxdomain[] = "";
static const uint8_t to_nodata[] = "\1*";
static const uint8_t to_passthru[] = "\14rpz-passthru";
static const uint8_t to_drop[] = "\10rpz-drop";
static const uint8_t to_tcp_only[] = "\14rpz-tcp-only";

/* Labels below the origin that make a trigger something else than a name. */
static const char *const other_triggers[] = { "rpz-ip", "rpz-client-ip", "rpz-nsip",
					      "rpz-nsdname" };

enum action {
	ACTION_NONE, /* not one that is known */
	ACTION_NXDOMAIN,
	ACTION_NODATA,
	ACTION_PASS,
	ACTION_DROP,
	ACTION_TCP_ONLY,
	ACTION_REWRITE,
};

static bool is_name(const uint8_t *name, const uint8_t *wire, size_t bytes)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	if (name_bytes(name) != bytes)
		return false;
	name_fold(folded, name, bytes);
	return !memcmp(folded, wire, bytes);
}

/* One label "rpz-...": an action that is not known here. */
static bool is_reserved(const uint8_t *name)
{
	return *name > 4 && !strncasecmp((const char *)name + 1, "rpz-", 4) && !name[1 + *name];
}

static enum action action_of(const struct zone *list, const struct zone_rrset *cname)
{
	static const struct {
		const uint8_t *wire;
		size_t bytes;
		enum action action;
	} actions[] = {
		{ to_nxdomain, sizeof(to_nxdomain), ACTION_NXDOMAIN },
		{ to_nodata, sizeof(to_nodata), ACTION_NODATA },
		{ to_passthru, sizeof(to_passthru), ACTION_PASS },
		{ to_drop, sizeof(to_drop), ACTION_DROP },
		{ to_tcp_only, sizeof(to_tcp_only), ACTION_TCP_ONLY },
	};
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(list, cname), &rd);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (is_name(rd.bytes, actions[i].wire, actions[i].bytes))
			return actions[i].action;
	}
	return is_reserved(rd.bytes) ? ACTION_NONE : ACTION_REWRITE;
}

/* The label of `name` that stands right before its last `apex_bytes` octets; NULL: it is the apex. */
static const uint8_t *label_below(const uint8_t *name, unsigned int bytes, unsigned int apex_bytes)
{
	const uint8_t *end = name + bytes - apex_bytes;
	const uint8_t *label = NULL;

	while (name < end) {
		label = name;
		name += 1 + *name;
	}
	return label;
}

static bool is_other_trigger(const uint8_t *label)
{
	for (size_t i = 0; i < sizeof(other_triggers) / sizeof(other_triggers[0]); i++) {
		if (*label == strlen(other_triggers[i]) &&
		    !memcmp(label + 1, other_triggers[i], *label))
			return true;
	}
	return false;
}

static bool is_ignored(const struct zone *list, const struct zone_node *node,
		       unsigned int apex_bytes)
{
	const struct zone_rrset *cname = zone_node_rrset(list, node, DNS_TYPE_CNAME);
	uint8_t owner[ZONE_NAME_MAX], folded[NAME_FOLDED_BYTES];
	unsigned int bytes = zone_node_owner(list, node, owner);

	name_fold(folded, owner, bytes);
	return is_other_trigger(label_below(folded, bytes, apex_bytes)) ||
	       (cname && action_of(list, cname) == ACTION_NONE);
}

struct policy_counts policy_count(const struct zone *zone, bool is_list)
{
	struct policy_counts counts = { 0 };
	const struct zone_node *node;
	unsigned int apex_bytes, n;
	struct zone_walk walk;

	zone_apex(zone, &apex_bytes);
	zone_walk_behind(&walk, zone, zone_apex_node(zone));
	while ((node = zone_walk_next(&walk))) {
		zone_node_rrsets(zone, node, &n);
		if (!n)
			continue;
		if (is_list && is_ignored(zone, node, apex_bytes))
			counts.n_ignored++;
		else
			counts.n_rules++;
	}
	return counts;
}

int policy_new(struct policy **out, const struct zone *local, const struct zone *const *lists,
	       size_t n, uint32_t slot, uint32_t gen)
{
	struct policy *p = calloc(1, sizeof(*p) + n * sizeof(p->lists[0]));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->local = local;
	p->slot = slot;
	p->gen = gen;
	p->n_lists = n;
	for (size_t i = 0; i < n; i++)
		p->lists[i] = lists[i];
	*out = p;
	return 0;
}

void policy_free(struct policy *p)
{
	free(p);
}

/* ---- Rules ---------------------------------------------------------------------------------------- */

/* A node that speaks of a name: an owner of records, itself or by a wildcard. */
struct rule {
	const struct zone *zone; /* NULL: there is none */
	const struct zone_node *node;
};

static struct rule find_node(const struct zone *zone, const uint8_t *folded, unsigned int bytes)
{
	const struct rule none = { 0 };
	struct zone_result found;
	unsigned int n = 0;

	/* By a type that nobody has: what is asked is whether the name is there. */
	zone_find(zone, folded, bytes, DNS_TYPE_NULL, &found);
	if (found.node && found.status != ZONE_DNAME && found.status != ZONE_DELEGATION)
		zone_node_rrsets(zone, found.node, &n);
	return n && found.node != zone_apex_node(zone) ? (struct rule){ zone, found.node } : none;
}

static struct rule find_local(const struct policy *p, const uint8_t *folded, unsigned int bytes)
{
	return p->local ? find_node(p->local, folded, bytes) : (struct rule){ 0 };
}

/* The rule for NAME.ORIGIN: of a name so long that there is no such, none. */
static struct rule find_in_list(const struct zone *list, const uint8_t *folded, unsigned int bytes)
{
	uint8_t trigger[NAME_FOLDED_BYTES];
	unsigned int apex_bytes, kept = bytes - 1; /* without the root's octet */
	const uint8_t *apex = zone_apex(list, &apex_bytes);

	if (!kept || kept + apex_bytes > DNS_NAME_MAX ||
	    is_other_trigger(label_below(folded, bytes, 1)))
		return (struct rule){ 0 };
	memcpy(trigger, folded, kept);
	memcpy(trigger + kept, apex, apex_bytes);
	return find_node(list, trigger, kept + apex_bytes);
}

static enum action rule_action(const struct rule *rule, bool *is_action)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);

	*is_action = cname != NULL;
	return cname ? action_of(rule->zone, cname) : ACTION_NONE;
}

/* ---- Answers -------------------------------------------------------------------------------------- */

static int add_rrset(struct render *r, const struct zone *zone, const uint8_t *owner,
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

/* The records of the type that was asked for, or a CNAME; of ANY one set (RFC 8482 section 4.1). */
static const struct zone_rrset *choose(const struct rule *rule, uint16_t qtype)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	unsigned int n;

	if (cname || qtype == DNS_TYPE_ANY)
		return cname ? cname : zone_node_rrsets(rule->zone, rule->node, &n);
	return zone_node_rrset(rule->zone, rule->node, qtype);
}

/* The SOA says whose rule it was, and for how long a negative answer holds (RFC 2308 section 3). */
static int add_soa(struct render *r, const struct zone *zone)
{
	uint8_t owner[ZONE_NAME_MAX];

	zone_node_owner(zone, zone_apex_node(zone), owner);
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	return add_rrset(r, zone, owner, zone_soa(zone));
}

static void begin(struct render *r, const struct query *q)
{
	memcpy(r->chain[0], q->folded, (q->qname_bytes + 7u) & ~7u);
	writer_init(&r->writer, r->body, q->question_end, DNS_MESSAGE_MAX - RENDER_OPT_MAX,
		    r->chain[0]);
}

static void finish(const struct policy *p, const struct render *r, uint16_t rcode,
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

/* Records of the rule, or none of them with the SOA; false where they fit no message. */
static bool answer(const struct policy *p, struct render *r, const struct query *q,
		   const struct rule *rule, uint16_t rcode, const struct zone_rrset *rrset,
		   struct cache_answer *a)
{
	begin(r, q);
	if (rrset ? add_rrset(r, rule->zone, r->chain[0], rrset) : add_soa(r, rule->zone))
		return false;
	finish(p, r, rcode, a);
	return true;
}

/* Of *.NAME the asterisk stands for the name of the question. False: that has no room in a name. */
static bool read_alias(const struct rule *rule, const struct query *q, struct policy_alias *alias)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	unsigned int n_before = q->qname_bytes - 1u;
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
	memcpy(alias->target, q->folded, n_before);
	memcpy(alias->target + n_before, rd.bytes + 2, rd.len - 2u);
	alias->n_bytes = n_before + rd.len - 2u;
	name_fold(alias->target, alias->target, alias->n_bytes);
	return true;
}

/* The CNAME, which is all of the answer to who asks for it. */
static bool write_alias(const struct policy *p, struct render *r, const struct query *q,
			const struct policy_alias *alias, struct cache_answer *a)
{
	begin(r, q);
	if (writer_add_rr(&r->writer, r->chain[0], DNS_TYPE_CNAME, DNS_CLASS_IN, alias->ttl_s,
			  alias->target, (uint16_t)alias->n_bytes))
		return false;
	finish(p, r, DNS_RCODE_NOERROR, a);
	return true;
}

static enum policy_verdict rewrite(const struct policy *p, struct render *r, const struct query *q,
				   const struct rule *rule, struct policy_alias *alias,
				   struct cache_answer *a)
{
	bool is_asked = q->qtype == DNS_TYPE_CNAME || q->qtype == DNS_TYPE_ANY;

	if (!read_alias(rule, q, alias)) /* nothing of what the operator meant is there */
		return answer(p, r, q, rule, DNS_RCODE_NXDOMAIN, NULL, a) ? POLICY_FILTERED :
									    POLICY_NONE;
	if (name_equal(alias->target, q->folded) || !write_alias(p, r, q, alias, a)) {
		alias->n_bytes = 0;
		return POLICY_NONE;
	}
	if (!is_asked)
		return POLICY_REWRITE;
	alias->n_bytes = 0;
	return POLICY_FILTERED;
}

static enum policy_verdict obey(const struct policy *p, struct render *r, const struct query *q,
				const struct rule *rule, struct policy_alias *alias,
				struct cache_answer *a)
{
	const struct zone_rrset *rrset = NULL;
	uint16_t rcode = DNS_RCODE_NOERROR;
	bool is_action;

	switch (rule_action(rule, &is_action)) {
	case ACTION_PASS:
		return POLICY_NONE;
	case ACTION_DROP:
		return POLICY_DROP;
	case ACTION_TCP_ONLY:
		return POLICY_TCP_ONLY;
	case ACTION_REWRITE:
		return rewrite(p, r, q, rule, alias, a);
	case ACTION_NXDOMAIN:
		rcode = DNS_RCODE_NXDOMAIN;
		break;
	case ACTION_NODATA:
		break;
	case ACTION_NONE:
		if (is_action)
			return POLICY_NONE;
		rrset = choose(rule, q->qtype);
	}
	return answer(p, r, q, rule, rcode, rrset, a) ? POLICY_FILTERED : POLICY_NONE;
}

/* The target of a rule's CNAME as it stands, if that is not the name itself. */
static void note_target(const struct rule *rule, const struct query *q, struct policy_alias *alias)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	struct zone_rdata rd;

	if (!cname || q->qtype == DNS_TYPE_CNAME || q->qtype == DNS_TYPE_ANY)
		return;
	zone_rdata_next(zone_rrset_first(rule->zone, cname), &rd);
	name_fold(alias->target, rd.bytes, rd.len);
	alias->ttl_s = cname->ttl;
	alias->n_bytes = name_equal(alias->target, q->folded) ? 0 : rd.len;
}

enum policy_verdict policy_answer_local(const struct policy *p, struct render *r,
					const struct query *q, struct policy_alias *alias,
					struct cache_answer *a)
{
	struct rule rule = find_local(p, q->folded, q->qname_bytes);

	alias->n_bytes = 0;
	if (!rule.zone || !answer(p, r, q, &rule, DNS_RCODE_NOERROR, choose(&rule, q->qtype), a))
		return POLICY_NONE;
	note_target(&rule, q, alias);
	return alias->n_bytes ? POLICY_ALIAS : POLICY_LOCAL;
}

enum policy_verdict policy_answer(const struct policy *p, struct render *r, const struct query *q,
				  struct policy_alias *alias, struct cache_answer *a)
{
	struct rule rule = find_local(p, q->folded, q->qname_bytes);

	alias->n_bytes = 0;
	if (rule.zone)
		return policy_answer_local(p, r, q, alias, a);
	for (size_t i = 0; i < p->n_lists && !rule.zone; i++)
		rule = find_in_list(p->lists[i], q->folded, q->qname_bytes);
	return rule.zone ? obey(p, r, q, &rule, alias, a) : POLICY_NONE;
}

/* An alias of itself is an old way to say rpz-passthru. */
static bool is_itself(const struct rule *rule, const uint8_t *folded)
{
	const struct zone_rrset *cname = zone_node_rrset(rule->zone, rule->node, DNS_TYPE_CNAME);
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(rule->zone, cname), &rd);
	return name_equal(rd.bytes, folded);
}

bool policy_names(const struct policy *p, const uint8_t *folded, unsigned int bytes)
{
	struct rule rule = find_local(p, folded, bytes);
	bool is_action;

	if (rule.zone)
		return true;
	for (size_t i = 0; i < p->n_lists && !rule.zone; i++)
		rule = find_in_list(p->lists[i], folded, bytes);
	if (!rule.zone)
		return false;
	switch (rule_action(&rule, &is_action)) {
	case ACTION_PASS:
		return false;
	case ACTION_NONE:
		return !is_action;
	case ACTION_REWRITE:
		return !is_itself(&rule, folded);
	default:
		return true;
	}
}
