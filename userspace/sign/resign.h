/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An edit of a signed version that is being completed: what its files share. The base is whole:
 * what was, neighbours in the chain too, is asked there. What is, the view of the edit says, until
 * the next change.
 */
#ifndef VOLLEY_SIGN_RESIGN_H
#define VOLLEY_SIGN_RESIGN_H

#include "sign/signer.h"

/* Names (folded wire), one behind the other. */
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
	struct resign_names names; /* that are to be looked at */
	struct resign_names sign;  /* whose signatures are */
	struct sign_list want, gone;
	size_t n_new, n_gone; /* signatures */
};

/* A name of the chain: with NSEC its owner, with NSEC3 that of the hash. */
struct resign_link {
	const uint8_t *owner; /* folded */
	bool was, is;         /* in it */
	uint16_t n_bitmap;
	const uint8_t *bitmap;
};

int resign_names_add(struct resign_names *names, const uint8_t *name)
	__attribute__((warn_unused_result));

/* The RRset as @list says, or none where that is empty; nothing is done where it is so already. */
int resign_set_rrset(struct resign *r, const uint8_t *owner, uint16_t type, uint32_t ttl,
		     const struct sign_list *list) __attribute__((warn_unused_result));
int resign_remove_rrset(struct resign *r, const uint8_t *owner, uint16_t type)
	__attribute__((warn_unused_result));

/* Gives a name the signatures that it shall have, and no others. */
int resign_sign_name(struct resign *r, const uint8_t *owner) __attribute__((warn_unused_result));

/* The types of a name's data, which are all but RRSIG, NSEC and NSEC3. @node NULL: none. */
void resign_types(const struct zone *z, const struct zone_node *node, struct sign_types *out);

/*
 * Makes the chain that of the links that are in it now, and those of the base that are no link
 * here.
 * @links: in canonical order, each owner once, at least one of them in the chain before and now.
 * Owners whose proofs changed are added to r->sign.
 */
int resign_chain(struct resign *r, const struct resign_link *links, size_t n)
	__attribute__((warn_unused_result));

/* All of it, for the names in r->names. */
int resign_all(struct resign *r) __attribute__((warn_unused_result));

/* Borrows all but its own space. Returns 0, or ERR_LIMIT: another chain is wanted than the base
 * has. */
int resign_init(struct resign *r, struct zone_edit *edit, const struct zone *base,
		const struct sign_keys *keys, const struct sign_options *options, uint64_t now_s,
		struct zone_error *err) __attribute__((warn_unused_result));
void resign_fini(struct resign *r);

#endif
