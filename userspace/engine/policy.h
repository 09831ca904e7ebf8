/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the operator says in the place of upstream, for clients that recurse: local data, and block
 * lists in the form of response policy zones (draft-vixie-dnsop-dns-rpz-00). Asked behind the cache
 * and our zones; what it answers is cached as any other answer, so a rule costs a hit nothing.
 *
 *	question ─► policy_find() ─ a rule that no answer can outdo ──────────────────────► its action
 *	                         └─ else ─► upstream ─► policy_find_in_answer() ─ a rule ─► its action
 *	                                                                       └─ none ──► the answer, into the cache
 *
 * Local data is a zone of the root whose records are all the local ones, a list is a zone of its
 * origin; both are read by zone_load(). The owner of a rule, without the origin, is its trigger:
 *
 *	NAME                          the name of the question, or one that the answer's aliases lead to
 *	LENGTH.ADDRESS.rpz-ip         an address in the answer      LENGTH.ADDRESS.rpz-client-ip   the client
 *	NAME.rpz-nsdname              a name server of the name     LENGTH.ADDRESS.rpz-nsip        an address of such a server
 *
 * NAME may be a wildcard. ADDRESS has its octets (IPv6: its groups, with "zz" for the longest run
 * of zeros) from the last to the first. Its CNAME is the action, or its other records are the
 * answer:
 *
 *	CNAME .              NXDOMAIN            CNAME rpz-passthru.  as if no list were there
 *	CNAME *.             NODATA              CNAME rpz-drop.      no reply
 *	CNAME NAME.          NAME is asked       CNAME rpz-tcp-only.  TC=1 over UDP
 *	CNAME *.NAME.        QUESTION.NAME is    CNAME to itself      as rpz-passthru
 *	other records        these
 *
 * Which rule decides (section 3 of the draft calls it precedence), the first of these first:
 *
 *	1. the name that stands earlier in the chain of aliases; the question is the first
 *	2. the list that stands earlier in the configuration
 *	3. within a list: rpz-client-ip (with the question alone), NAME, rpz-ip (with the last of
 *	   the chain alone), rpz-nsdname, rpz-nsip
 *	4. the exact name before a wildcard; the longest prefix; of two addresses the lower one; of
 *	   two name servers the one that comes first in the canonical order (RFC 4034 section 6.1)
 *
 * Local data, of the question alone, comes before all lists. So a rule for the question's name is
 * final at once only where no list before its own looks at answers or at name servers.
 *
 * Ignored, and counted by policy_count(): prefixes that cannot be read or have bits behind their
 * length, and CNAMEs to other names of one label that begins with "rpz-".
 *
 * No answer says which name servers a name has, so the caller finds them (policy_servers.h;
 * engine/servers.h does it).
 *
 * Measured with 1,000,000 rules of names: 54 octets a rule of resident memory, all of them the
 * zone's, and 0.4 us a look. Of 1,000,000 rules of IPv4 addresses at random: 65 octets of the zone
 * (two names each), and 16 of the table.
 *
 * Immutable after policy_new(), but for the hits; any thread reads.
 */
#ifndef VOLLEY_ENGINE_POLICY_H
#define VOLLEY_ENGINE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "engine/clients.h"
#include "engine/policy_servers.h"
#include "engine/render.h"
#include "zone/zone.h"

struct policy;

struct policy_list {
	const struct zone *zone;
	/* how often a rule of it changed an answer; any worker counts, atomically. NULL: not
	 * counted */
	uint64_t *hits;
	int ede_code; /* of its answers: RFC 8914 sections 4.16 to 4.19 */
};

/*
 * Local data (NULL: none) and n lists. The zones and hits are borrowed
 * and must outlive the policy. Answers carry slot and gen, of a slot in the cache that stands for
 * policy alone. O(rules with a prefix). 0 or -ENOMEM.
 */
int policy_new(struct policy **out, const struct zone *local, const struct policy_list *lists,
	       size_t n, uint32_t slot, uint32_t gen) __attribute__((warn_unused_result));
void policy_free(struct policy *p);

/* The slot that answers carry. */
uint32_t policy_slot(const struct policy *p);

/* The names below the apex that have records. */
struct policy_counts {
	uint32_t n_rules;   /* these have a trigger and an action that are known */
	uint32_t n_ignored; /* no question triggers these */
};

/* Counts those of a list, or of local data, which ignores none. O(names). */
struct policy_counts policy_count(const struct zone *zone, bool is_list);

/* ---- Which rule ---- */

enum policy_trigger {
	POLICY_BY_LOCAL_DATA,
	POLICY_BY_CLIENT,
	POLICY_BY_NAME,
	POLICY_BY_ADDRESS,
	POLICY_BY_SERVER_NAME,
	POLICY_BY_SERVER_ADDRESS,
};

struct policy_client {
	uint8_t family;         /* AF_INET, AF_INET6; 0: nobody, no rule for clients decides */
	const uint8_t *address; /* network order */
};

/* Of class IN. */
struct policy_question {
	const uint8_t *folded; /* its name */
	unsigned int n_bytes;
	uint16_t qtype;
};

struct policy_hit {
	const struct zone *zone; /* of the rule; NULL: there is none */
	const struct zone_node *node;
	uint64_t *hits;
	int ede_code;
	enum policy_trigger trigger;
	bool is_final;         /* no answer of upstream can change it; also where there is none */
	bool is_waiting;       /* name servers have to be known first */
	unsigned int n_before; /* records of the answer section that lead to the name: aliases */
	unsigned int n_bytes;  /* of the name */
	uint8_t name[NAME_FOLDED_BYTES]; /* that met the rule */
};

/* The rule for the question by itself; false: none. *hit is filled either way. O(lists ×
 * labels). */
bool policy_find(const struct policy *p, const struct policy_client *client,
		 const struct policy_question *q, struct policy_hit *hit);

/*
 * The rule for the question with its answer *a, whose aliases stand in their order, as
 * engine/convert.h writes them. As policy_find(), and it is final. servers: who finds the name
 * servers; NULL: no rule for them decides. Where it says
 * POLICY_SERVERS_WAIT: true, and hit->is_waiting. O(lists × (aliases × labels + addresses)).
 */
bool policy_find_in_answer(const struct policy *p, const struct policy_client *client,
			   const struct policy_question *q, const struct cache_answer *a,
			   const struct policy_servers *servers, struct policy_hit *hit);

/* Whether a rule for this client is in some list: then what is cached for all is not for it. */
bool policy_names_client(const struct policy *p, const struct policy_client *client);

/* Whether such a rule says anything but to pass. */
bool policy_changes(const struct policy_hit *hit);

/* Whether some rule changes what the cache has of upstream, to clients that no rule names. */
bool policy_changes_entry(const struct policy *p, const struct volley_entry *entry);

/*
 * The prefixes of all rules for clients, views 0, into `prefixes`, which has room for cap; how many
 * there are. For the driver, which gives these clients nothing.
 */
size_t policy_clients(const struct policy *p, struct clients_prefix *prefixes, size_t cap);

/* ---- What it says ---- */

enum policy_verdict {
	POLICY_NONE,  /* no rule, or one that says to pass: ask upstream */
	POLICY_LOCAL, /* *a is the answer: local data */
	/* the same, and it is a CNAME: for who asks for more, *alias is where that is */
	POLICY_ALIAS,
	POLICY_FILTERED, /* *a is the answer of a list, with its hit's ede_code */
	/* *alias is what the name stands for; *a is this CNAME alone, not to be cached */
	POLICY_REWRITE,
	POLICY_DROP,     /* no reply */
	POLICY_TCP_ONLY, /* over UDP an empty answer with TC=1; over TCP as POLICY_NONE */
};

/* What a rule says a name stands for. */
struct policy_alias {
	uint8_t target[NAME_FOLDED_BYTES]; /* folded */
	unsigned int n_bytes;              /* of it; 0: there is none */
	uint32_t ttl_s;
	int ede_code;
	bool is_of_list; /* or of local data */
};

/*
 * What the rule says to q, and a hit is counted unless that is to pass. With an answer, a->body
 * lies in r until its next use, and zone_slot and zone_gen say under which slot it may be cached,
 * for good: its TTLs do not age. from: the answer of upstream in which the rule was found (NULL:
 * none); its aliases come first; it may be *a itself, but not lie in r. alias->n_bytes is 0 but for
 * POLICY_ALIAS and POLICY_REWRITE. No allocation.
 */
enum policy_verdict policy_act(const struct policy *p, struct render *r,
			       const struct policy_question *q, const struct policy_hit *hit,
			       const struct cache_answer *from, struct policy_alias *alias,
			       struct cache_answer *a);

/* The same of local data alone: POLICY_NONE, POLICY_LOCAL or POLICY_ALIAS. */
enum policy_verdict policy_answer_local(const struct policy *p, struct render *r,
					const struct policy_question *q, struct policy_alias *alias,
					struct cache_answer *a);

#endif
