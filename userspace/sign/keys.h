/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys that sign a zone, and their files in the format of BIND's tools: K<zone>+<alg>+<tag>.key
 * and .private. The .private file has the times of the key (Created, Publish, Activate, Inactive,
 * Delete). It has mode 0600 from its first octet.
 *
 *      created ─► published ─► active ─► retired (signs no more) ─► removed
 *
 * A key of another algorithm than the others is active before it is published, and removed before
 * it is retired, because its signatures must outlast its DNSKEY record.
 *
 * Times are seconds since 1970; 0 is not known yet. Any thread may read keys; no thread may read
 * while another changes them.
 */
#ifndef VOLLEY_SIGN_KEYS_H
#define VOLLEY_SIGN_KEYS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

#define SIGN_KEYS_MAX      16
#define SIGN_DNSKEY_MAX    600 /* octets of rdata: RSA of 4096 bits, and some */
#define SIGN_SIGNATURE_MAX 512
#define SIGN_DNSKEY_ZONE   0x0100 /* RFC 4034 section 2.1.1 */
#define SIGN_DNSKEY_SEP    0x0001

enum sign_algorithm { /* RFC 8624 */
		      SIGN_RSASHA256 = 8,
		      SIGN_ECDSAP256SHA256 = 13,
		      SIGN_ECDSAP384SHA384 = 14,
		      SIGN_ED25519 = 15,
};

enum sign_role {
	SIGN_ZSK, /* signs all but the DNSKEY, CDS and CDNSKEY RRsets */
	SIGN_KSK, /* signs these three */
	SIGN_CSK, /* signs all */
};

/* Where a key's role comes from. */
enum sign_origin {
	SIGN_OURS,           /* made here, or its file was written here */
	SIGN_GIVEN,          /* from another signer, whose files tell the role */
	SIGN_GIVEN_BY_FLAGS, /* the same, but the files tell only the flags */
};

struct sign_key {
	enum sign_role role;
	enum sign_origin origin;
	uint8_t algorithm; /* enum sign_algorithm */
	uint16_t tag;      /* RFC 4034 appendix B */
	uint8_t dnskey[SIGN_DNSKEY_MAX];
	uint16_t dnskey_bytes;
	EVP_PKEY *pkey;
	uint64_t created_s, published_s, active_s, retired_s, removed_s;
	/* For a KSK or CSK: when its DS may go to the parent; when the parent's servers had it. */
	uint64_t cds_s, ds_seen_s;
};

struct sign_keys {
	uint8_t apex[DNS_NAME_MAX + 1]; /* folded wire */
	size_t n;
	struct sign_key keys[SIGN_KEYS_MAX];
};

/* What a key does at a time. Pure. If a key was made while the clock was ahead, some of its times
 * up to its making may still be to come: they count as past. */
bool sign_key_is_published(const struct sign_key *key, uint64_t now_s);
bool sign_key_is_in_cds(const struct sign_key *key,
			uint64_t now_s); /* until the parent has the DS */
bool sign_key_signs(const struct sign_key *key, uint16_t type, uint64_t now_s);

/* True if the RRset of this type is made from the keys. */
static inline bool sign_is_key_type(uint16_t type)
{
	return type == DNS_TYPE_DNSKEY || type == DNS_TYPE_CDS || type == DNS_TYPE_CDNSKEY;
}

/* Sets the key from a private key. Takes @pkey if it returns 0. */
int sign_key_set(struct sign_key *key, enum sign_role role, enum sign_algorithm algorithm,
		 EVP_PKEY *pkey) __attribute__((warn_unused_result));

/* The tag that the key has with these flags (RFC 4034 appendix B). Pure. */
uint16_t sign_key_tag_with(const struct sign_key *key, uint16_t flags);

/* Makes a new key in the set; only created_s is set. ERR_LIMIT, -ENOMEM, -EIO (OpenSSL). */
int sign_keys_make(struct sign_keys *keys, enum sign_role role, enum sign_algorithm algorithm,
		   uint64_t now_s, struct sign_key **out) __attribute__((warn_unused_result));
/* Removes a key from the set; its files stay. */
void sign_keys_forget(struct sign_keys *keys, struct sign_key *key);
void sign_keys_fini(struct sign_keys *keys);
/* A copy that shares the private keys. 0 or -ENOMEM. */
int sign_keys_copy(struct sign_keys *to, const struct sign_keys *from)
	__attribute__((warn_unused_result));

/*
 * Reads all keys of the zone in @folder; if there are none, that is no error. A revoked key is left
 * out. Refuses with a message in @err: a private file that others may read (-EPERM), one that
 * cannot be read, is no key, is of another algorithm, or does not fit its .key file or its name
 * (ERR_FORMAT, -errno), too many keys (ERR_LIMIT), a folder in which the zone's keys may be in
 * another form (-ENOKEY).
 */
int sign_keys_read(struct sign_keys *keys, const uint8_t *apex, const char *folder, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));
/* Writes a key's files, or its changed times, as a whole or not at all. Makes the folder (0700). 0
 * or -errno. */
int sign_key_write(const struct sign_keys *keys, const struct sign_key *key, const char *folder)
	__attribute__((warn_unused_result));

/* Removes a key's files; missing files are no error. 0 or -errno. */
int sign_key_erase(const struct sign_keys *keys, const struct sign_key *key, const char *folder)
	__attribute__((warn_unused_result));

/* Signs @n octets. Returns the length of the signature or -EIO. *@ctx is NULL at first and kept for
 * the key's next signature; free it with EVP_PKEY_CTX_free(). */
int sign_key_sign(const struct sign_key *key, EVP_PKEY_CTX **ctx, const uint8_t *data, size_t n,
		  uint8_t out[static SIGN_SIGNATURE_MAX]) __attribute__((warn_unused_result));

/* The rdata of the key's DS, and of its CDS, with SHA-256 (RFC 4509): 36 octets. 0 or -EIO. */
#define SIGN_DS_BYTES 36
int sign_key_ds(const struct sign_keys *keys, const struct sign_key *key,
		uint8_t out[static SIGN_DS_BYTES]) __attribute__((warn_unused_result));

/*
 * Keys of other signers (BIND, ldns, PowerDNS), which an operator puts into the folder so that the
 * DS at the parent stays valid. Their files have no "Role:" line, may have no times, and may have
 * times for plans of the other signer (docs/decisions/0059-keys-of-other-signers.md).
 */

/*
 * Sets the role of @key, whose private key is set, and its origin:
 *
 *      NAME.state (BIND)           "KSK: yes", "ZSK: yes"; both: a CSK
 *      NAME.key                    the flags of its DNSKEY record, which may have any form that a
 *                                  master file allows
 *      NAME                        without a .key file: the tag in the name tells the flags
 *
 * @path is the NAME.private that it was read from. 0; -EOWNERDEAD: the key is revoked (RFC 5011),
 * so it must not be used; or a negative code with a sentence in @err. Reads files.
 */
int key_given_role(const uint8_t *apex, struct sign_key *key, const char *path, char *err,
		   size_t err_cap) __attribute__((warn_unused_result));

/*
 * Plans the given keys of the set from @now_s on, so that the parent's DS stays valid: a key with
 * the SEP flag and no ZSK beside it signs all (a CSK); keys without times begin now if no other key
 * of their role has begun; the planned end of a KSK or CSK is not kept, since the key must stay
 * until its successor's DS is known. True if it has changed a key: its files have to be written.
 * @note gets a sentence if there is something to tell, else "".
 */
bool key_given_adopt(struct sign_keys *keys, uint64_t now_s, char *note, size_t note_cap);

#endif
