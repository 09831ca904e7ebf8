/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of other signers (BIND, ldns, PowerDNS), which an operator puts into the folder so that the
 * DS at the parent stays valid. Their files have no "Role:" line, may have no times, and may have
 * times for plans of the other signer (docs/decisions/0059-keys-of-other-signers.md).
 */
#ifndef VOLLEY_SIGN_KEY_GIVEN_H
#define VOLLEY_SIGN_KEY_GIVEN_H

#include "sign/keys.h"

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
