/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rpz/rpz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "cache/convert.h"
#include "dns/name.h"
#include "rpz/rpz_rules.h"
#include "zone/zone_walk.h"

#define BY_CLIENT  "rpz-client-ip"
#define BY_ADDRESS "rpz-ip"

/* Targets of a CNAME that are actions, in wire form. */
static const uint8_t to_nxdomain[] = "";
static const uint8_t to_nodata[] = "\1*";
static const uint8_t to_passthru[] = "\14rpz-passthru";
static const uint8_t to_drop[] = "\10rpz-drop";
static const uint8_t to_tcp_only[] = "\14rpz-tcp-only";

/* Labels below the origin: a trigger with such a label is not a name. */
static const struct {
	const char *label;
	bool is_prefix;
} other_triggers[] = {
	{ BY_ADDRESS, true },
	{ BY_CLIENT, true },
	{ RPZ_NSIP, true },
	{ RPZ_NSDNAME, false },
};
#define N_OTHER_TRIGGERS (sizeof(other_triggers) / sizeof(other_triggers[0]))

/* ---- One rule -------------------------------------------------------------------------------- */

static bool is_rpz_name(const uint8_t *name, const uint8_t *wire, size_t bytes)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	if (name_bytes(name) != bytes)
		return false;
	name_fold(folded, name, bytes);
	return !memcmp(folded, wire, bytes);
}

/* A name of one label "rpz-...": an unknown action. */
static bool is_reserved(const uint8_t *name)
{
	return *name > 4 && !strncasecmp((const char *)name + 1, "rpz-", 4) && !name[1 + *name];
}

enum rpz_action rpz_action(const struct zone *list, const struct zone_node *node)
{
	static const struct {
		const uint8_t *wire;
		size_t bytes;
		enum rpz_action action;
	} actions[] = {
		{ to_nxdomain, sizeof(to_nxdomain), RPZ_ACTION_NXDOMAIN },
		{ to_nodata, sizeof(to_nodata), RPZ_ACTION_NODATA },
		{ to_passthru, sizeof(to_passthru), RPZ_ACTION_PASS },
		{ to_drop, sizeof(to_drop), RPZ_ACTION_DROP },
		{ to_tcp_only, sizeof(to_tcp_only), RPZ_ACTION_TCP_ONLY },
	};
	const struct zone_rrset *cname = zone_node_rrset(list, node, DNS_TYPE_CNAME);
	struct zone_rdata rd;

	if (!cname)
		return RPZ_ACTION_DATA;
	zone_rdata_next(zone_rrset_first(list, cname), &rd);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (is_rpz_name(rd.bytes, actions[i].wire, actions[i].bytes))
			return actions[i].action;
	}
	return is_reserved(rd.bytes) ? RPZ_ACTION_UNKNOWN : RPZ_ACTION_ALIAS;
}

/* The label of `name` right before its last `apex_bytes` octets; NULL: `name` is the apex. */
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

/* The index in other_triggers; -1: none. */
static int other_trigger(const uint8_t *label)
{
	for (size_t i = 0; i < N_OTHER_TRIGGERS; i++) {
		if (*label == strlen(other_triggers[i].label) &&
		    !memcmp(label + 1, other_triggers[i].label, *label))
			return (int)i;
	}
	return -1;
}

static bool is_rpz_ignored(const struct zone *list, const struct zone_node *node,
			   unsigned int apex_bytes)
{
	uint8_t owner[ZONE_NAME_MAX], folded[NAME_FOLDED_BYTES];
	unsigned int bytes = zone_node_owner(list, node, owner);
	struct clients_prefix prefix;
	const uint8_t *label;
	int other;

	name_fold(folded, owner, bytes);
	label = label_below(folded, bytes, apex_bytes);
	other = other_trigger(label);
	if (other >= 0 && (label == folded || (other_triggers[other].is_prefix &&
					       !rpz_prefix_read(folded, label, &prefix))))
		return true;
	return rpz_action(list, node) == RPZ_ACTION_UNKNOWN;
}

struct rpz_counts rpz_count(const struct zone *zone, bool is_list)
{
	struct rpz_counts counts = { 0 };
	const struct zone_node *node;
	unsigned int apex_bytes, n;
	struct zone_walk walk;

	zone_apex(zone, &apex_bytes);
	zone_walk_behind(&walk, zone, zone_apex_node(zone));
	while ((node = zone_walk_next(&walk))) {
		zone_node_rrsets(zone, node, &n);
		if (!n)
			continue;
		if (is_list && is_rpz_ignored(zone, node, apex_bytes))
			counts.n_ignored++;
		else
			counts.n_rules++;
	}
	return counts;
}

/* ---- All rules ------------------------------------------------------------------------------- */

static int add_rpz_list(struct rpz *p, const struct rpz_list *list)
{
	struct rpz_rules *rules = &p->lists[p->n_lists++];
	int err;

	rules->zone = list->zone;
	rules->hits = list->hits;
	rules->ede_code = list->ede_code;
	err = rpz_prefixes_new(&rules->clients, list->zone, BY_CLIENT);
	if (!err)
		err = rpz_prefixes_new(&rules->addresses, list->zone, BY_ADDRESS);
	if (!err)
		err = rpz_prefixes_new(&rules->server_addresses, list->zone, RPZ_NSIP);
	rules->has_server_names = rpz_has_server_names(list->zone);
	p->has_clients |= rules->clients != NULL;
	p->has_servers |= rules->server_addresses || rules->has_server_names;
	return err;
}

/* How many rule sets were ever made. */
static uint64_t n_rpz;

int rpz_new(struct rpz **out, const struct zone *local, const struct rpz_list *lists, size_t n,
	    uint32_t slot, uint32_t gen)
{
	struct rpz *p = calloc(1, sizeof(*p) + n * sizeof(p->lists[0]));
	int err = 0;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->local = local;
	p->slot = slot;
	p->gen = gen;
	p->number = __atomic_add_fetch(&n_rpz, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n && !err; i++)
		err = add_rpz_list(p, &lists[i]);
	if (err)
		rpz_free(p);
	else
		*out = p;
	return err;
}

void rpz_free(struct rpz *p)
{
	for (size_t i = 0; p && i < p->n_lists; i++) {
		rpz_prefixes_free(p->lists[i].clients);
		rpz_prefixes_free(p->lists[i].addresses);
		rpz_prefixes_free(p->lists[i].server_addresses);
	}
	free(p);
}

uint32_t rpz_slot(const struct rpz *p)
{
	return p->slot;
}

/* ---- Which rule decides ---------------------------------------------------------------------- */

/* The node that answers for a name: it owns records, itself or as a wildcard. NULL: none. */
static const struct zone_node *find_rpz_node(const struct zone *zone, const uint8_t *folded,
					     unsigned int bytes)
{
	struct zone_result found;
	unsigned int n = 0;

	/* No name has records of this type, so the result tells only if the name is there. */
	zone_find(zone, folded, bytes, DNS_TYPE_NULL, &found);
	if (found.node && found.status != ZONE_DNAME && found.status != ZONE_DELEGATION)
		zone_node_rrsets(zone, found.node, &n);
	return n && found.node != zone_apex_node(zone) ? found.node : NULL;
}

const struct zone_node *rpz_local_node(const struct rpz *p, const uint8_t *folded,
				       unsigned int n_bytes)
{
	return p->local ? find_rpz_node(p->local, folded, n_bytes) : NULL;
}

/* NULL also if the trigger would be too long for a name. */
const struct zone_node *rpz_name_node(const struct zone *list, const uint8_t *folded,
				      unsigned int n_bytes, const uint8_t *label)
{
	uint8_t trigger[NAME_FOLDED_BYTES];
	unsigned int apex_bytes, n_label = label ? 1u + *label : 0;
	unsigned int kept = n_bytes - 1; /* without the root's octet */
	const uint8_t *apex = zone_apex(list, &apex_bytes);
	const struct zone_node *node;

	if (!kept || kept + n_label + apex_bytes > DNS_NAME_MAX)
		return NULL;
	memcpy(trigger, folded, kept);
	if (label)
		memcpy(trigger + kept, label, n_label);
	memcpy(trigger + kept + n_label, apex, apex_bytes);
	node = find_rpz_node(list, trigger, kept + n_label + apex_bytes);
	return node && rpz_action(list, node) != RPZ_ACTION_UNKNOWN ? node : NULL;
}

static const struct zone_node *find_name(const struct zone *list, const uint8_t *folded,
					 unsigned int bytes)
{
	if (bytes > 1 && other_trigger(label_below(folded, bytes, 1)) >= 0)
		return NULL;
	return rpz_name_node(list, folded, bytes, NULL);
}

static const struct zone_node *find_client(const struct rpz_rules *rules,
					   const struct rpz_client *client)
{
	unsigned int bits;

	return rules->clients && client->family ?
		       rpz_prefixes_find(rules->clients, client->family, client->address, &bits) :
		       NULL;
}

/* An answer that is read along its chain of aliases. */
struct chain {
	struct message message;
	unsigned int n_records;
	unsigned int n_read; /* of these, the records before the present name */
	uint32_t at;         /* the offset after them */
};

/* The rule for the addresses of the answer: the longest prefix, then the lowest address. */
static const struct zone_node *find_address(const struct rpz_prefixes *t, const struct chain *chain)
{
	const struct zone_node *best = NULL, *node;
	unsigned int bits, best_bits = 0, n_address;
	const uint8_t *lowest = NULL;
	uint32_t at = chain->at;
	struct message_record r;

	for (unsigned int i = chain->n_read; t && i < chain->n_records; i++) {
		at = message_name_end(&chain->message, at);
		if (!at || !message_read_record(&chain->message, at, &r))
			break;
		at = r.rdata_at + r.len;
		n_address = r.type == DNS_TYPE_A ? 4 : r.type == DNS_TYPE_AAAA ? 16 : 0;
		if (!n_address || r.len != n_address)
			continue;
		node = rpz_prefixes_find(t, n_address == 4 ? AF_INET : AF_INET6, r.rdata, &bits);
		if (!node || (best && bits < best_bits) ||
		    (best && bits == best_bits && memcmp(r.rdata, lowest, n_address) >= 0))
			continue;
		best = node;
		best_bits = bits;
		lowest = r.rdata;
	}
	return best;
}

static bool hit_with(struct rpz_hit *hit, const struct rpz_rules *rules,
		     const struct zone_node *node, enum rpz_trigger trigger)
{
	hit->zone = rules->zone;
	hit->hits = rules->hits;
	hit->ede_code = rules->ede_code;
	hit->node = node;
	hit->trigger = trigger;
	return node != NULL;
}

/* The first list with a rule for hit->name, or p->n_lists. last: the answer, or NULL if its chain
 * goes on after this name. */
static size_t find_list(const struct rpz *p, const struct rpz_client *client,
			const struct chain *last, struct rpz_hit *hit)
{
	size_t i;

	for (i = 0; i < p->n_lists; i++) {
		const struct rpz_rules *rules = &p->lists[i];

		if (hit_with(hit, rules, find_client(rules, client), RPZ_BY_CLIENT) ||
		    hit_with(hit, rules, find_name(rules->zone, hit->name, hit->n_bytes),
			     RPZ_BY_NAME) ||
		    (last &&
		     hit_with(hit, rules, find_address(rules->addresses, last), RPZ_BY_ADDRESS)))
			return i;
		hit->is_final &= !rules->addresses && !rules->server_addresses &&
				 !rules->has_server_names;
	}
	hit->zone = NULL;
	return i;
}

/* As find_list(), and also looks for rules for the name's servers, which come last in a list. The
 * name is number `at` of the chain. */
static bool find_at(const struct rpz *p, const struct rpz_client *client, const struct chain *last,
		    const struct rpz_servers *servers, unsigned int at, struct rpz_hit *hit)
{
	size_t n_lists = find_list(p, client, last, hit);
	struct rpz_server_hit best = { 0 };

	if (!servers || !rpz_names_servers(p))
		return hit->zone != NULL;
	if (servers->find(servers->user, at, hit->name, n_lists, &best) == RPZ_SERVERS_WAIT) {
		hit->is_waiting = true;
		return true;
	}
	return best.node ? hit_with(hit, &p->lists[best.list], best.node,
				    best.by_address ? RPZ_BY_SERVER_ADDRESS : RPZ_BY_SERVER_NAME) :
			   hit->zone != NULL;
}

static void begin_rpz(struct rpz_hit *hit, const struct rpz_question *q)
{
	hit->zone = NULL;
	hit->is_final = true;
	hit->is_waiting = false;
	hit->n_before = 0;
	hit->n_bytes = q->n_bytes;
	memcpy(hit->name, q->folded, q->n_bytes);
}

static bool find_local(const struct rpz *p, struct rpz_hit *hit)
{
	const struct rpz_rules rules = { .zone = p->local };

	return hit_with(hit, &rules, rpz_local_node(p, hit->name, hit->n_bytes), RPZ_BY_LOCAL_DATA);
}

bool rpz_find(const struct rpz *p, const struct rpz_client *client, const struct rpz_question *q,
	      struct rpz_hit *hit)
{
	begin_rpz(hit, q);
	if (find_local(p, hit))
		return true;
	if (find_list(p, client, NULL, hit) < p->n_lists)
		return true;
	/* The answer may lead to other names, and has addresses. */
	hit->is_final = false;
	return false;
}

/* Follows the CNAME of `name`: writes its target and returns the target's octets; 0: there is no
 * such CNAME. The chain then stands after that CNAME. */
static unsigned int follow_rpz(struct chain *chain, const uint8_t *name,
			       uint8_t target[NAME_FOLDED_BYTES])
{
	uint8_t owner[NAME_FOLDED_BYTES];
	uint32_t at = chain->at;
	struct message_record r;

	for (unsigned int i = chain->n_read; i < chain->n_records; i++) {
		uint32_t owner_at = at;

		at = message_name_end(&chain->message, at);
		if (!at || !message_read_record(&chain->message, at, &r))
			return 0;
		at = r.rdata_at + r.len;
		if (r.type != DNS_TYPE_CNAME ||
		    !message_read_name(&chain->message, owner_at, owner) ||
		    !name_equal(owner, name))
			continue;
		chain->at = at;
		chain->n_read = i + 1;
		return message_read_name(&chain->message, r.rdata_at, target);
	}
	return 0;
}

static void chain_begin(struct chain *chain, const struct rpz_question *q,
			const struct cache_answer *a)
{
	uint32_t name_end = DNS_HEADER_BYTES + q->n_bytes;
	uint32_t body_at = name_end + DNS_QUESTION_FIXED_BYTES;

	chain->message =
		(struct message){ q->folded, a->body, name_end, body_at, body_at + a->full_bytes };
	chain->n_records = a->ancount;
	chain->n_read = 0;
	chain->at = body_at;
}

/* CNAME, ANY and RRSIG ask for the alias itself. */
static bool follows_aliases(uint16_t qtype)
{
	return qtype != DNS_TYPE_CNAME && qtype != DNS_TYPE_ANY && qtype != DNS_TYPE_RRSIG;
}

bool rpz_find_in_answer(const struct rpz *p, const struct rpz_client *client,
			const struct rpz_question *q, const struct cache_answer *a,
			const struct rpz_servers *servers, struct rpz_hit *hit)
{
	static const struct rpz_client nobody;
	uint8_t target[NAME_FOLDED_BYTES];
	struct chain chain, next;

	begin_rpz(hit, q);
	chain_begin(&chain, q, a);
	if (find_local(p, hit))
		return true;
	for (unsigned int i = 0; i <= CONVERT_CHAIN_MAX + 1; i++) {
		unsigned int n = 0;

		next = chain;
		if (follows_aliases(q->qtype))
			n = follow_rpz(&next, hit->name, target);
		if (find_at(p, i ? &nobody : client, n ? NULL : &chain, servers, i, hit) || !n)
			break;
		chain = next;
		hit->n_before = chain.n_read;
		hit->n_bytes = n;
		memcpy(hit->name, target, n);
	}
	hit->is_final = true;
	return hit->is_waiting || hit->zone;
}

bool rpz_names_client(const struct rpz *p, const struct rpz_client *client)
{
	for (size_t i = 0; p->has_clients && i < p->n_lists; i++)
		if (find_client(&p->lists[i], client))
			return true;
	return false;
}

/* A CNAME to itself is an old form of rpz-passthru. */
static bool is_itself(const struct rpz_hit *hit)
{
	const struct zone_rrset *cname = zone_node_rrset(hit->zone, hit->node, DNS_TYPE_CNAME);
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(hit->zone, cname), &rd);
	return name_equal(rd.bytes, hit->name);
}

bool rpz_changes(const struct rpz_hit *hit)
{
	if (hit->trigger == RPZ_BY_LOCAL_DATA)
		return true;
	switch (rpz_action(hit->zone, hit->node)) {
	case RPZ_ACTION_PASS:
	case RPZ_ACTION_UNKNOWN:
		return false;
	case RPZ_ACTION_ALIAS:
		return !is_itself(hit);
	default:
		return true;
	}
}

bool rpz_changes_entry(const struct rpz *p, const struct volley_entry *entry)
{
	static const struct rpz_client nobody;
	const struct rpz_question q = { entry->name, entry->key.name_bytes,
					ntohs(entry->key.qtype) };
	struct rpz_hit hit;
	struct cache_answer a;

	cache_answer_of(&a, entry, 0);
	return rpz_find_in_answer(p, &nobody, &q, &a, NULL, &hit) && rpz_changes(&hit);
}

size_t rpz_clients(const struct rpz *p, struct clients_prefix *prefixes, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_lists; i++)
		n += rpz_prefixes_copy(p->lists[i].clients, n < cap ? prefixes + n : NULL,
				       n < cap ? cap - n : 0);
	return n;
}
