/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the operator in the place of upstream, for clients that recurse: local data, and block
 * lists in the form of response policy zones (draft-vixie-dnsop-dns-rpz-00). The engine looks here
 * after the cache and our zones. The answers are cached as any other answer, so a rule costs a
 * cache hit nothing.
 *
 *   question ─► rpz_find() ─ a rule that no answer can outdo ──────────────────────► its action
 *                            └─ else ─► upstream ─► rpz_find_in_answer() ─ a rule ─► its action
 *                                                                          └─ none ───► is cached
 *
 * Local data is a zone of the root with all local records; a list is a zone of its origin.
 * zone_load() reads both. The owner of a rule, without the origin, is its trigger:
 *
 *	NAME                          the question's name, or one that the answer's aliases lead to
 *	NAME.rpz-nsdname              a name server of the name
 *	LENGTH.ADDRESS.rpz-ip         an address in the answer
 *	LENGTH.ADDRESS.rpz-client-ip  the client
 *	LENGTH.ADDRESS.rpz-nsip       an address of a name server of the name
 *
 * NAME may be a wildcard. ADDRESS has its octets from the last to the first (IPv6: its groups, with
 * "zz" for the longest run of zeros). The CNAME of the owner is the action; without a CNAME the
 * owner's records are the answer:
 *
 *	CNAME .              NXDOMAIN            CNAME rpz-passthru.  as if no list were there
 *	CNAME *.             NODATA              CNAME rpz-drop.      no reply
 *	CNAME NAME.          go on with NAME     CNAME rpz-tcp-only.  TC=1 over UDP
 *	CNAME *.NAME.        with QUESTION.NAME  CNAME to itself      as rpz-passthru
 *	other records        these records
 *
 * If several rules apply, these points decide, in this order (precedence: section 3 of the draft):
 *
 *	1. the name that stands earlier in the chain of aliases; the question is the first
 *	2. the list that stands earlier in the configuration
 *	3. within a list: rpz-client-ip (only for the question), NAME, rpz-ip (only for the last
 *	   name of the chain), rpz-nsdname, rpz-nsip
 *	4. the exact name before a wildcard; the longest prefix; of two addresses the lower one; of
 *	   two name servers the one that comes first in the canonical order (RFC 4034 section 6.1)
 *
 * Local data applies only to the question's name, and comes before all lists. So a rule for the
 * question's name is final at once only if no earlier list looks at answers or at name servers.
 *
 * Ignored, and counted by rpz_count(): a prefix that cannot be read or has bits after its
 * length, and a CNAME to another name of one label that begins with "rpz-".
 *
 * An answer does not name the name servers, so the caller finds them (rpz_servers.h, servers.h).
 *
 * Measured with 1,000,000 rules of names: 54 octets a rule of resident memory, all in the zone, and
 * 0.4 us a lookup. With 1,000,000 rules of random IPv4 addresses: 65 octets in the zone (two names
 * each), and 16 in the table.
 *
 * Immutable after rpz_new() except for the hits; any thread reads.
 */
#ifndef VOLLEY_RPZ_RPZ_H
#define VOLLEY_RPZ_RPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/name.h"
#include "limits/clients.h"
#include "rpz/rpz_servers.h"
#include "zone/zone.h"

struct rpz;

struct rpz_list {
	const struct zone *zone;
	/* how often a rule of the list changed an answer; any worker, atomically. NULL: no count */
	uint64_t *hits;
	int ede_code; /* of the list's answers: RFC 8914 sections 4.16 to 4.19 */
};

/*
 * Makes a rule set of local data (NULL: none) and n lists. The zones and the counters of hits are
 * borrowed and must outlive the rule set. Answers carry slot and gen; this slot of the cache is for
 * the rule set alone. O(rules with a prefix). 0 or -ENOMEM.
 */
int rpz_new(struct rpz **out, const struct zone *local, const struct rpz_list *lists, size_t n,
	    uint32_t slot, uint32_t gen) __attribute__((warn_unused_result));
void rpz_free(struct rpz *p);

/* The slot that answers carry. */
uint32_t rpz_slot(const struct rpz *p);

/* Counts of the names below the apex that have records. */
struct rpz_counts {
	uint32_t n_rules;   /* with a known trigger and a known action */
	uint32_t n_ignored; /* no question can trigger these */
};

/* Counts the rules of a list, or of local data, which ignores none. O(names). */
struct rpz_counts rpz_count(const struct zone *zone, bool is_list);

/* ---- Which rule ---- */

enum rpz_trigger {
	RPZ_BY_LOCAL_DATA,
	RPZ_BY_CLIENT,
	RPZ_BY_NAME,
	RPZ_BY_ADDRESS,
	RPZ_BY_SERVER_NAME,
	RPZ_BY_SERVER_ADDRESS,
};

struct rpz_client {
	uint8_t family;         /* AF_INET, AF_INET6; 0: no client, no rule for clients decides */
	const uint8_t *address; /* network order */
};

/* A question of class IN. */
struct rpz_question {
	const uint8_t *folded; /* its name */
	unsigned int n_bytes;
	uint16_t qtype;
};

struct rpz_hit {
	const struct zone *zone; /* of the rule; NULL: there is no rule */
	const struct zone_node *node;
	uint64_t *hits;
	int ede_code;
	enum rpz_trigger trigger;
	bool is_final;         /* no answer of upstream can change the hit, or that there is none */
	bool is_waiting;       /* the name servers must be known first */
	unsigned int n_before; /* records of the answer section before the name: aliases */
	unsigned int n_bytes;  /* of the name */
	uint8_t name[NAME_FOLDED_BYTES]; /* the name that met the rule */
};

/* Finds the rule for the question without an answer; false: none. *hit is filled in both cases.
 * O(lists × labels). */
bool rpz_find(const struct rpz *p, const struct rpz_client *client, const struct rpz_question *q,
	      struct rpz_hit *hit);

/*
 * Finds the rule for the question with its answer *a, whose aliases stand in their order, as
 * cache/convert.h writes them. Returns as rpz_find(), and the result is final. `servers` finds
 * the name servers; NULL: no rule for name servers decides. If it returns RPZ_SERVERS_WAIT, the
 * result is true with hit->is_waiting. O(lists × (aliases × labels + addresses)).
 */
bool rpz_find_in_answer(const struct rpz *p, const struct rpz_client *client,
			const struct rpz_question *q, const struct cache_answer *a,
			const struct rpz_servers *servers, struct rpz_hit *hit);

/* True if a list has a rule for this client: then the answers cached for all are not for it. */
bool rpz_names_client(const struct rpz *p, const struct rpz_client *client);

/* True if the rule of *hit does anything but pass. */
bool rpz_changes(const struct rpz_hit *hit);

/* True if a rule changes this cached answer of upstream, for clients that no rule names. */
bool rpz_changes_entry(const struct rpz *p, const struct volley_entry *entry);

/*
 * Copies at most cap prefixes of the rules for clients, with views 0. Returns how many there are.
 * The driver needs them: it answers none of these clients.
 */
size_t rpz_clients(const struct rpz *p, struct clients_prefix *prefixes, size_t cap);

/*
 * Finds the rule that has made a reply, for the query log. A reply of the cache or the driver comes
 * without a note of its rule, so the rule is derived from the reply and the rule set:
 *
 *      the SOA record of a list in the authority section ──────► that list: NXDOMAIN or no data
 *      else a rule for the client or the name of the question,
 *      and the reply has the form that the rule's action makes ─► that rule
 *
 * A rule for addresses, for name servers, or for a later name of a chain is not found if it gives
 * other records or an alias.
 *
 * Pure, in a QSBR read section.
 */

struct rpz_said {
	uint8_t list[NAME_FOLDED_BYTES]; /* its name, folded */
	bool is_local_data;              /* the rule is local data, and `list` has no meaning */
	const char *action; /* "nxdomain", "nodata", "data", "cname" or "tcp-only"; static */
};

/* `reply` is a whole message of n octets to this client. False: no rule is known to have changed
 * it. O(lists × labels). */
bool rpz_said(const struct rpz *p, const struct rpz_client *client, const uint8_t *reply, size_t n,
	      struct rpz_said *out);

#endif
