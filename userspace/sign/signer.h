/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the signer's files share: a signature's rdata, a name's types, and which RRsets are signed.
 */
#ifndef VOLLEY_SIGN_SIGNER_H
#define VOLLEY_SIGN_SIGNER_H

#include "dns/name.h"
#include "sign/sign.h"
#include "zone/nsec3_chain.h"

#define SIGN_TYPES_MAX 256 /* of one name */
#define SIGN_RRSIG_MAX (18 + 255 + SIGN_SIGNATURE_MAX)
#define SIGN_NSEC_MAX  (255 + 34 * 256) /* octets: a name and all windows */

/* True for sign_is_own_type(), and for a digest of the whole zone, which would be wrong for another
 * version. */
bool sign_is_left_out(uint16_t type, bool is_apex);
struct signer;

/* Rdata, each with its length as in a zone. All zeros is an empty list. */
struct sign_list {
	uint8_t *bytes;
	size_t n_bytes, cap;
	uint16_t n;
};

/* sign_list_add() appends; sign_list_insert() uses the canonical place, and adds nothing twice. 0
 * or -ENOMEM. */
int sign_list_add(struct sign_list *list, const uint8_t *rdata, size_t n)
	__attribute__((warn_unused_result));
int sign_list_insert(struct sign_list *list, const uint8_t *rdata, size_t n)
	__attribute__((warn_unused_result));
bool sign_list_has(const struct sign_list *list, const struct zone_rdata *rd);
/* Sets the list to the zone's SOA record with this serial number. 0 or -ENOMEM. */
int sign_list_soa(struct sign_list *list, const struct zone *z, uint32_t serial)
	__attribute__((warn_unused_result));
void sign_list_clear(struct sign_list *list); /* keeps its memory */
void sign_list_free(struct sign_list *list);

/* The DNSKEY, CDS or CDNSKEY RRset, which may be empty. 0, -ENOMEM, -EIO. */
int sign_list_keys(struct sign_list *list, const struct signer *s, uint16_t type)
	__attribute__((warn_unused_result));

/* Work space that is made once: a signature's input is as long as its RRset. */
struct signer {
	const struct sign_keys *keys;
	const struct sign_options *options;
	uint64_t now_s;
	uint8_t *data;
	size_t data_cap;
	EVP_PKEY_CTX *ctx[SIGN_KEYS_MAX]; /* of each key, after its first signature */
};

void signer_init(struct signer *s, const struct sign_keys *keys, const struct sign_options *options,
		 uint64_t now_s);
void signer_fini(struct signer *s);

/* An RRset to be signed: its records as on the wire, each with its length, in canonical order. */
struct sign_rrset {
	const uint8_t *owner; /* wire, any case */
	uint16_t type;
	uint16_t n;
	uint32_t ttl;
	const uint8_t *records;
};

/* Octets of n records, including their lengths. */
size_t sign_records_bytes(const uint8_t *records, unsigned int n);

/* Writes the rdata of the RRSIG by @key. Returns its length, -ENOMEM or -EIO. */
int signer_sign(struct signer *s, const struct sign_key *key, const struct sign_rrset *rrset,
		uint8_t out[static SIGN_RRSIG_MAX]) __attribute__((warn_unused_result));

/* True if a present signature is by @key and good until after the next renewal. */
bool signer_keeps(const struct signer *s, const struct sign_key *key,
		  const struct zone_rdata *rrsig);

/* A name of a signed version whose signatures may be taken over. NULL: none. */
struct sign_old {
	const struct zone *z;
	const struct zone_node *node;
};

struct sign_old sign_old_of(const struct zone *z, const uint8_t *owner);

/* True if the old name has the same RRset, including the TTL. */
bool sign_is_as_before(const struct sign_old *old, const struct sign_rrset *rrset);

/* Adds to @list the signatures that the RRset shall have: for each key that signs, that of @old if
 * it is still good, else a new one. *@n_new counts the new ones. 0, -ENOMEM, -EIO. */
int signer_sign_rrset(struct signer *s, const struct sign_rrset *rrset, const struct sign_old *old,
		      struct sign_list *list, size_t *n_new) __attribute__((warn_unused_result));

/* 0 if there are keys that sign now, for all types; else ERR_ZONE with @err. */
int signer_check(const struct signer *s, struct zone_error *err)
	__attribute__((warn_unused_result));

/* True if this RRset of a name is signed. @cut: the name is a zone cut. RFC 4035 section 2.2. */
static inline bool sign_is_signed(uint16_t type, bool cut)
{
	if (type == DNS_TYPE_RRSIG)
		return false;
	return !cut || type == DNS_TYPE_DS || type == DNS_TYPE_NSEC;
}

/* Types in ascending order, each once. */
struct sign_types {
	uint16_t n;
	uint16_t type[SIGN_TYPES_MAX];
};

/* Adds a type. Types for which there is no room are left out; no real name has so many. */
void sign_types_add(struct sign_types *types, uint16_t type);
bool sign_types_have(const struct sign_types *types, uint16_t type);

/* The types in a name's proof. @data: its RRsets that are no proofs, at a zone cut only NS and DS
 * of them (RFC 4035 section 2.3). RRSIG is added if something is signed, and NSEC itself. */
void sign_types_of_proof(struct sign_types *types, const struct sign_types *data, bool is_apex,
			 bool nsec3);

/* Rdata of NSEC (RFC 4034 section 4.1), NSEC3 and NSEC3PARAM (RFC 5155). They return octets. */
#define SIGN_NSEC3_OPT_OUT   0x01 /* the flag */
#define SIGN_NSEC3_FIXED_MAX (5 + 255 + 1 + NSEC3_HASH_BYTES)
size_t sign_put_nsec(uint8_t out[static SIGN_NSEC_MAX], const uint8_t *next,
		     const struct sign_types *types);
size_t sign_put_nsec3(uint8_t out[static SIGN_NSEC3_FIXED_MAX + SIGN_NSEC_MAX],
		      const struct sign_options *options, const struct nsec3_label *next,
		      const uint8_t *bitmap, size_t n);
size_t sign_put_nsec3param(uint8_t out[static 5 + 255], const struct sign_options *options);
void sign_nsec3_params(const struct sign_options *options, struct nsec3_params *out);
/* The owner of the NSEC3 record of a hash. */
void sign_nsec3_owner(const struct nsec3_label *hash, const uint8_t *apex,
		      uint8_t out[static NAME_FOLDED_BYTES]);

/*
 * The types of a name as a bitmap (RFC 4034 section 4.1.2); @types ascending. Returns its octets.
 */
size_t sign_put_bitmap(uint8_t *out, const uint16_t *types, size_t n);

/*
 * Signs some thousand RRsets at a time. Signing takes longer than all other work on an RRset, so
 * several threads do it. The output has the order of the input.
 *
 *      sign_batch_add() ─► batch ─ full ─► threads sign ─► emit() for each, by the caller's thread
 */

struct sign_batch;

/* Receives an RRset and its signatures, none if it is not signed. A result other than 0 ends the
 * batch and is returned. */
typedef int sign_emit_fn(void *user, const struct sign_rrset *rrset, const struct sign_list *sigs);

/* Borrows keys and options. At most @n_threads sign, including the caller's; the others run on its
 * processors with its priority. NULL: no memory. */
struct sign_batch *sign_batch_new(const struct sign_keys *keys, const struct sign_options *options,
				  uint64_t now_s, unsigned int n_threads, sign_emit_fn *emit,
				  void *user);
void sign_batch_free(struct sign_batch *batch); /* NULL is allowed */

/* Copies the RRset. @old: as for signer_sign_rrset(); NULL: the RRset is not to be signed. 0,
 * -ENOMEM, -EIO, or emit's error. */
int sign_batch_add(struct sign_batch *batch, const struct sign_rrset *rrset,
		   const struct sign_old *old) __attribute__((warn_unused_result));
/* Signs and emits the rest. Returns the same errors. */
int sign_batch_flush(struct sign_batch *batch) __attribute__((warn_unused_result));

#endif
