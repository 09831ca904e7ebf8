/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer while it is rendered (engine/render.h), for the sources that write parts of it. */
#ifndef VOLLEY_ENGINE_RENDER_STATE_H
#define VOLLEY_ENGINE_RENDER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/name.h"
#include "dns/query.h"
#include "dns/writer.h"
#include "engine/engine_config.h"
#include "zone/denial.h"
#include "zone/set.h"
#include "zone/zone.h"

#define RENDER_CHAIN_MAX   16 /* CNAMEs and DNAMEs that are followed at most */
#define RENDER_TARGETS_MAX 64 /* names whose addresses are added as optional ones */
#define RENDER_OPT_BYTES   39 /* OPT with a cookie */
#define RENDER_OPT_MAX     (RENDER_OPT_BYTES + 4 + ENGINE_NSID_MAX + 6) /* NSID, keepalive */

/* Goes up when the same zone and settings begin to give other octets: engine_config_digest(). */
#define RENDER_RULES 3

/* A name that a record of the answer or authority section refers to. */
struct render_target {
	const uint8_t *name;
	uint16_t type; /* SVCB or HTTPS: add these and the addresses; 0: add addresses only */
};

/* A record set that a step of the chain needs as a proof: dnssec_note_proofs(). */
struct render_proof {
	const struct zone *zone;
	const struct zone_node *node;
	const struct zone_rrset *rrset;
};

#define RENDER_PROOFS_MAX ((RENDER_CHAIN_MAX + 1) * ZONE_PROOFS_MAX)

/*
 * Room for one answer. It belongs to the engine, so nothing of it is on the stack. Its booleans are
 * facts that do not depend on each other.
 */
struct render {
	const struct engine_config *config;
	const struct zone_set *set;
	uint16_t qtype;
	bool dnssec_ok;
	bool stream;  /* nothing optional is left out */
	bool partial; /* something optional was left out, or would have been over UDP */

	/* How far the chain of aliases has come. */
	const struct zone_member *first; /* the zone that answers for the question itself */
	const struct zone_member *member;
	const struct zone *zone;
	const uint8_t *name; /* its records are looked for; in the zone's letter case */
	unsigned int n_steps;
	const struct zone_rrset *dnames[RENDER_CHAIN_MAX + 1]; /* in the answer already */
	unsigned int n_dnames;
	bool crossed; /* another zone was read; its content may change on its own */
	/*
	 * The answer does not come from our zones: an alias leads out of them, or the name is below
	 * a cut. Its rest is the answer for chain[n_steps]; n_steps is 0 if that is the question's
	 * own name.
	 */
	bool leads_out;
	uint16_t flags;

	/* How the question's name was found. */
	struct render_origin {
		const struct zone *zone;
		const struct zone_node *encloser; /* the deepest node at or above it */
		bool is_wildcard;                 /* the wildcard below the encloser was found */
		enum zone_status status;
	} origin;

	/*
	 * A question that is at most so many octets shorter or longer, with an answer that is
	 * otherwise the same, has room for the same records. is_exact: some records did not fit,
	 * and their size is not known.
	 */
	uint32_t shorter, longer;
	bool is_exact;

	/* What the additional section is about, and what it must not repeat. */
	struct render_target targets[RENDER_TARGETS_MAX];
	unsigned int n_targets;
	/* sets of these types at `name`: A, AAAA, SVCB, HTTPS */
	const struct zone_rrset *answered[4];
	unsigned int n_answered;

	struct render_proof proofs[RENDER_PROOFS_MAX];
	unsigned int n_proofs;

	uint32_t short_at; /* writer.at and the number of records after the last required one */
	uint16_t n_short;

	uint8_t chain[RENDER_CHAIN_MAX + 1][NAME_FOLDED_BYTES] __attribute__((aligned(8)));
	uint8_t dname[DNS_NAME_MAX]; /* `name`, if a DNAME made it */
	struct writer writer;
	uint8_t body[DNS_MESSAGE_MAX];
};

/* Notes that records are chosen by whether the message, now `at` octets, has at most `limit`. */
static inline void render_note_room(struct render *r, uint32_t at, uint32_t limit)
{
	if (at <= limit && limit - at < r->longer)
		r->longer = limit - at;
	if (at > limit && at - limit - 1 < r->shorter)
		r->shorter = at - limit - 1;
}

/* The additional section: addresses of the names in RDATA of the answer and authority sections. */

/* True if an additional section may have RRsets of this type. */
bool additional_has_type(uint16_t type);

/*
 * The offset in RDATA of this type of a name whose addresses the client may need, or -1: RFC 1035
 * section 3.3.9 and 3.3.11, RFC 1183 section 1, RFC 2230 section 3.1, RFC 2782, RFC 9460 section
 * 2.2.
 */
int additional_target_offset(uint16_t type);

/* Notes the names in rrset whose addresses the client may need. Only NS, MX, KX, AFSDB, SRV, SVCB
 * and HTTPS have them. */
void additional_note(struct render *r, const struct zone_rrset *rrset);

/* Marks the end of the required part, then adds the addresses of the noted names that fit. */
void additional_optional(struct render *r);

/*
 * Adds the addresses of a referral's name servers: first the required ones, then the others that
 * fit. Marks the end of the required part between them. cut is the owner of ns. ERR_SPACE: the
 * required ones do not fit.
 */
int additional_referral(struct render *r, const uint8_t *cut, const struct zone_rrset *ns)
	__attribute__((warn_unused_result));

/*
 * What a signed zone adds for a query with DO: signatures beside each RRset, and the records that
 * prove what an answer denies (RFC 4035 section 3.1, RFC 5155 section 7.2).
 *
 * A chain of aliases may come from several wildcards before it ends at a name that does not exist,
 * and each of these steps has its own proofs. They belong into the authority section, which begins
 * when the answer section is complete. So they are noted at each step and written at the end.
 */

/*
 * Adds an RRset of node to the writer's current section and, for a query with DO, its signatures
 * behind it, all with this owner and TTL. node is NULL for glue, which has no signatures.
 * ERR_SPACE: the records before stay.
 */
int dnssec_add_rrset(struct render *r, const struct zone_node *node, const uint8_t *owner,
		     const struct zone_rrset *rrset, uint32_t ttl)
	__attribute__((warn_unused_result));

/* Notes the proofs for the chain's step that r->zone answered with `found`. */
void dnssec_note_proofs(struct render *r, const struct zone_result *found);

/* Writes the noted proofs, each record once, to the authority section. Errors: ERR_SPACE,
 * ERR_RDATA. */
int dnssec_add_proofs(struct render *r) __attribute__((warn_unused_result));

#endif
