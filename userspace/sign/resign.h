/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signing an edit of a signed version: what the files of this step share. The base version is
 * complete: it tells what was, also the neighbours in the chain. The edit's view tells what is, and
 * is valid until the next change.
 */
#ifndef VOLLEY_SIGN_RESIGN_H
#define VOLLEY_SIGN_RESIGN_H

#include "sign/signer.h"

/* Names (folded wire), one after the other. */
struct resign_names {
	uint8_t *bytes;
	size_t n_bytes, cap;
};

struct resign {
	struct zone_edit *edit;
	const struct zone *base;
	struct signer signer;
	struct zone_error *err;
	struct nsec3_params params;
	struct resign_names names; /* to be looked at */
	struct resign_names sign;  /* whose signatures are to be looked at */
	struct sign_list want, gone;
	size_t n_new, n_gone; /* signatures added and removed */
};

/* A name of the chain: with NSEC the owner, with NSEC3 the owner of the hash. */
struct resign_link {
	const uint8_t *owner; /* folded */
	bool was, is;         /* in the chain of the base; in the new chain */
	uint16_t n_bitmap;
	const uint8_t *bitmap;
};

int resign_names_add(struct resign_names *names, const uint8_t *name)
	__attribute__((warn_unused_result));

/* Sets the RRset to @list, or removes it if @list is empty. Does nothing if it is equal already. */
int resign_set_rrset(struct resign *r, const uint8_t *owner, uint16_t type, uint32_t ttl,
		     const struct sign_list *list) __attribute__((warn_unused_result));
int resign_remove_rrset(struct resign *r, const uint8_t *owner, uint16_t type)
	__attribute__((warn_unused_result));

/* Sets a name's signatures to those that it shall have. */
int resign_sign_name(struct resign *r, const uint8_t *owner) __attribute__((warn_unused_result));

/* The types of a name's data: all but RRSIG, NSEC and NSEC3. @node NULL: none. */
void resign_types(const struct zone *z, const struct zone_node *node, struct sign_types *out);

/*
 * Changes the chain to the links that are in it now, and the names of the base's chain that are no
 * links. @links: in canonical order, each owner once, with at least one that was in the chain and
 * is in it now. Adds owners whose proofs changed to r->sign.
 */
int resign_chain(struct resign *r, const struct resign_link *links, size_t n)
	__attribute__((warn_unused_result));

/* All steps, for the names in r->names. */
int resign_all(struct resign *r) __attribute__((warn_unused_result));

/* Borrows everything but its own work space. Returns 0, or ERR_LIMIT if the options ask for another
 * chain than the base has. */
int resign_init(struct resign *r, struct zone_edit *edit, const struct zone *base,
		const struct sign_keys *keys, const struct sign_options *options, uint64_t now_s,
		struct zone_error *err) __attribute__((warn_unused_result));
void resign_fini(struct resign *r);

#endif
