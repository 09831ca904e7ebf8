/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone: one version of its whole content, which never changes. A load makes an image of a few
 * flat arrays. An edit (zone/edit.h) makes the next version: it shares the image and keeps the
 * names that differ in an overlay (zone/overlay.h).
 *
 *      buckets ──► nodes (canonical order) ──► rrsets ──► rdata bytes
 *                    │ parent                  (type, n, ttl, offset)
 *                    └──► label bytes
 *
 * A node is a name that exists: an owner of records or an empty non-terminal. It keeps its own
 * label and the index of its parent, so each label is stored once, however deep the tree is. The
 * hash table maps (parent, folded label) to the child. A lookup goes down from the apex one label
 * at a time, and so passes every zone cut and ends at the closest encloser. All references are
 * 32-bit indices and offsets. Nodes stand in canonical order (RFC 4034 section 6.1), which is
 * preorder: the names below a node follow it, and the NSEC of a name names its neighbour.
 *
 * Arguments are uncompressed wire names, folded to lower case (name_fold). Results are wire names
 * in the case of the file below the apex; the apex itself is folded.
 *
 * Threads: any thread may call the functions, which only read, except the functions that make a
 * version or give one back. Returned pointers are valid as long as the version: readers hold it
 * under RCU, the writer gives it back after a grace period.
 */
#ifndef VOLLEY_ZONE_ZONE_H
#define VOLLEY_ZONE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/wire.h"

#define ZONE_NAME_MAX   255 /* octets of a wire name, RFC 1035 section 3.1 */
#define ZONE_DIGEST_LEN 16

struct zone;
struct zone_node;

/* All records of one owner and type; they share the TTL (RFC 2181 section 5.2). */
struct zone_rrset {
	uint32_t rdata; /* offset of the first record in the zone's bytes: see zone_rrset_first() */
	uint32_t ttl;   /* seconds */
	uint16_t type;
	uint16_t n; /* records, at least 1 */
};

/* An error, and where it is. A zone that loads may have warnings. */
struct zone_error {
	char file[256];
	uint32_t line;   /* from 1; 0: the file as a whole */
	uint32_t column; /* from 1, also in the sentence; 0: the line as a whole */
	char sentence[256];
	bool is_of_another; /* the text begins with the SOA of another zone: it is not read further */
	uint32_t n_errors; /* mistakes found in the text, with the one above */
	char more[2048];   /* the others, as many as fit: lines of "file:line: sentence" */
	uint32_t n_warnings;
	char warning[512]; /* the first warning, "file:line: sentence"; "" without one */
};

/* The progress of a load. Other threads may read it while the load runs. */
enum zone_stage {
	ZONE_STAGE_READING,  /* at n_bytes of total_bytes */
	ZONE_STAGE_BUILDING, /* sorting, checking, hashing: takes about as long as reading */
	ZONE_STAGE_DONE,
};

struct zone_progress {
	uint64_t n_bytes;     /* of text read, with included files */
	uint64_t total_bytes; /* of the file; each included file is added when it is opened */
	uint64_t n_records;
	uint32_t stage;    /* enum zone_stage */
	bool has_included; /* other files, with $INCLUDE */
	bool cancel;       /* set by another thread: the load ends soon with -ECANCELED */
	struct stat *st;   /* set before the load: gets the status of the opened file; or NULL */
	/* Set before the load: records outside of the zone are left out, each with a warning. */
	bool skips_outside;
};

/*
 * Reads the master file @path (RFC 1035 section 5, RFC 2308 section 4, RFC 3597) of the zone
 * @origin_text, "example.com" or "example.com.", into a new image *@out that the caller owns.
 *
 * Errors: bad syntax, a class other than IN, meta types, owners outside the zone, no SOA or a
 * second one, a SOA that is not at the apex, no NS at the apex, CNAME beside other data, a second
 * CNAME or DNAME, DNAME beside NS or CNAME or above other names, an RRset of more than 65,535
 * records, a ZONEMD whose digest is wrong, an NSEC3 chain of more than 2500 iterations. Warnings:
 * TTLs that differ within an RRset (the lowest is used), a last line without an end, a DNSKEY
 * without a chain of NSEC or NSEC3, NSEC3 with more than 150 iterations, a ZONEMD that cannot be
 * checked. Duplicates are dropped silently. Names below a zone cut are kept, but only served as
 * glue.
 *
 * Control plane only: reads files, allocates. Returns 0; -ENOENT, ERR_NOT_REGULAR or the like if a
 * file cannot be read; -ENOMEM; ERR_ZONE for bad content. *@err is always filled in; on an error
 * *@out is NULL.
 *
 * @progress, unless NULL, is for other threads: it is set to zero first, except @cancel and
 * @skips_outside, and then kept up to date by relaxed atomic stores.
 */
int zone_load(struct zone **out, const char *origin_text, const char *path,
	      struct zone_progress *progress, struct zone_error *err)
	__attribute__((warn_unused_result));

/*
 * References to versions are counted. The caller that makes a version owns the first one. A thread
 * may call zone_ref() if it has a reference, or in an RCU read section in which it found the
 * version published. zone_unref() gives a reference back; NULL is allowed. The last one frees the
 * version at once, so the caller must have waited for readers without a reference. The image and
 * other shared memory are freed with the last version that uses them. zone_unref() takes a lock for
 * a moment: workers must not call it.
 */
struct zone *zone_ref(struct zone *z);
void zone_unref(struct zone *z);

/* Gives the owner's reference back. */
static inline void zone_free(struct zone *z)
{
	zone_unref(z);
}

/* The apex as a folded wire name; its length in octets goes to *@len. */
const uint8_t *zone_apex(const struct zone *z, unsigned *len);
uint32_t zone_serial(const struct zone *z);
size_t zone_n_records(const struct zone *z);
size_t zone_n_names(const struct zone *z); /* nodes, empty non-terminals included */
size_t zone_memory_bytes(const struct zone *z);
bool zone_is_signed(const struct zone *z); /* there is a DNSKEY at the apex */
/* Fetches the memory for zone_is_signed() and zone_serial(), for walks over many zones. Any zone
 * that is held, or NULL. */
void zone_fetch(const struct zone *z);

/* How a signed zone proves that a name or type does not exist; see zone/denial.h. */
enum zone_chain {
	ZONE_CHAIN_NONE,  /* unsigned, or signed without proofs: the load gives a warning */
	ZONE_CHAIN_NSEC,  /* RFC 4034 section 4 */
	ZONE_CHAIN_NSEC3, /* RFC 5155; the chain that NSEC3PARAM at the apex names */
};

enum zone_chain zone_chain(const struct zone *z);

/*
 * A digest of the content: owners and embedded names folded, records in canonical order. Equal for
 * two files that differ in order, comments, letter case or spelling only, and for a version with
 * the same content that edits made. Any other change makes another digest, also of TTLs, except the
 * TTLs of signatures, which are sent with the TTL of the RRset that they cover. It is no protection
 * against deliberate collisions. O(1).
 */
void zone_digest(const struct zone *z, uint8_t out[static ZONE_DIGEST_LEN]);

/* The SOA RRset (one record), and the TTL of negative answers in seconds: RFC 2308 section 5. */
const struct zone_rrset *zone_soa(const struct zone *z);
uint32_t zone_negative_ttl(const struct zone *z);

enum zone_status {
	ZONE_ANSWER,     /* rrset is the answer; for type ANY it is NULL: all RRsets of node */
	ZONE_CNAME,      /* rrset is the CNAME at node; the query is for another type */
	ZONE_DNAME,      /* rrset is the DNAME at node, which lies above qname */
	ZONE_NODATA,     /* the name exists, this type does not */
	ZONE_NXDOMAIN,   /* node is NULL */
	ZONE_DELEGATION, /* rrset is the NS RRset at cut; qname is at or below it */
};

struct zone_result {
	enum zone_status status;
	bool wildcard; /* node is a wildcard that matches qname: the answer's owner is qname */
	const struct zone_node *node;
	const struct zone_node *cut;      /* the delegation, or NULL */
	const struct zone_node *encloser; /* deepest node at or above qname, or the cut */
	const struct zone_rrset *rrset;
};

/*
 * Looks up @qname (folded, uncompressed wire, @qname_len octets, at or under the apex) as RFC 1034
 * section 4.3.2 and RFC 4592 say. DS at a cut is answered from the parent's side, which is this
 * zone (RFC 4035 section 3.1.4.1). No allocation, no lock, O(labels).
 */
void zone_find(const struct zone *z, const uint8_t *qname, unsigned qname_len, uint16_t qtype,
	       struct zone_result *r);

/* Where a name lies, seen from a zone. */
enum zone_place {
	ZONE_PLACE_OUTSIDE, /* not under the apex */
	ZONE_PLACE_INSIDE,  /* authoritative data */
	ZONE_PLACE_GLUE,    /* at or below a cut */
};

/*
 * Finds the RRset of @type (A or AAAA) of @name (folded wire) for the additional section: glue of a
 * referral, addresses of an NS, MX or SRV target. @name may be any name. Inside the zone wildcards
 * match; the owner of the records is @name. Returns NULL if there is none; *@place, unless NULL,
 * says where the name lies.
 */
const struct zone_rrset *zone_find_address(const struct zone *z, const uint8_t *name,
					   unsigned name_len, uint16_t type,
					   enum zone_place *place);

/* The node of the apex. */
const struct zone_node *zone_apex_node(const struct zone *z);
/*
 * The node with exactly this name (checked wire, any case), without regard to cuts, wildcards and
 * aliases; NULL if there is none, or the name is outside the zone. A node without RRsets is an
 * empty non-terminal. O(labels).
 */
const struct zone_node *zone_node_of(const struct zone *z, const uint8_t *name);

/* The RRsets of @node, by ascending type; *@n may be 0. */
const struct zone_rrset *zone_node_rrsets(const struct zone *z, const struct zone_node *node,
					  unsigned *n);
/* The RRset of @type at @node, or NULL. Without regard to cuts and CNAMEs, unlike zone_find(). */
const struct zone_rrset *zone_node_rrset(const struct zone *z, const struct zone_node *node,
					 uint16_t type);
/* Writes the owner name (wire, the file's case) and returns its length. */
unsigned zone_node_owner(const struct zone *z, const struct zone_node *node,
			 uint8_t out[static ZONE_NAME_MAX]);
/* True below a zone cut: kept as possible glue, not authoritative. */
bool zone_node_is_occluded(const struct zone *z, const struct zone_node *node);

struct zone_rdata {
	const uint8_t *bytes; /* uncompressed wire */
	uint16_t len;
};

/*
 * The records of an RRset, in canonical order, as on the wire: RDLENGTH (2 octets, network order),
 * RDATA.
 *
 *	const uint8_t *at = zone_rrset_first(z, rrset);
 *	for (unsigned i = 0; i < rrset->n; i++)
 *		at = zone_rdata_next(at, &rd);
 */
const uint8_t *zone_rrset_first(const struct zone *z, const struct zone_rrset *rrset);

static inline const uint8_t *zone_rdata_next(const uint8_t *at, struct zone_rdata *rd)
{
	rd->len = wire_load_be16(at);
	rd->bytes = at + 2;
	return rd->bytes + rd->len;
}

/*
 * The type that an RRSIG covers. All RRSIGs of one owner form one RRset of type RRSIG, which is in
 * order of that type, since it is their first field (RFC 4034 section 3.1.1).
 */
static inline uint16_t zone_rrsig_covered(const struct zone_rdata *rd)
{
	if (rd->len < 2)
		return 0;
	return wire_load_be16(rd->bytes);
}

/* The signatures of a node that cover one type. */
struct zone_rrsigs {
	const uint8_t *at;
	uint16_t left; /* records from @at on, of any covered type */
	uint16_t covered;
};

/*
 * Begins a walk over the signatures of @node's RRset of type @covered. They are sent with the TTL
 * of the RRset that they cover (RFC 4034 section 3) and with the same owner: qname, if the node is
 * a wildcard (RFC 4035 section 3.1.3.3). Pure, O(signatures of node).
 */
struct zone_rrsigs zone_rrsigs(const struct zone *z, const struct zone_node *node,
			       uint16_t covered);

/* Writes the next signature to *@rd; false at the end. */
static inline bool zone_rrsigs_next(struct zone_rrsigs *it, struct zone_rdata *rd)
{
	while (it->left) {
		uint16_t covered;

		it->at = zone_rdata_next(it->at, rd);
		it->left--;
		covered = zone_rrsig_covered(rd);
		if (covered == it->covered)
			return true;
		if (covered > it->covered)
			break;
	}
	it->left = 0;
	return false;
}

#endif
