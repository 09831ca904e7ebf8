/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which messages the transfer thread gets: transfers, NOTIFY and UPDATE (RFC 5936, 1995, 1996,
 * 2136), and each message with a TSIG by a known key (RFC 8945). The rules of all zones are joined:
 * a message that no rule allows is refused at once. For the others, the transfer thread applies the
 * rules of their own zones, and checks their signatures.
 *
 *	address ─► may it do this for some zone, signed or not? ─┬─► ENGINE_HANDOVER
 *	TSIG ────► is the key's name one of ours? ───────────────┘
 *
 * A rule with a prefix and a key lets the prefix through; a rule with a key alone lets the key
 * through; a rule with TLS lets messages through that came over TLS.
 *
 * Immutable after handover_rules_new(); any thread reads.
 */
#ifndef VOLLEY_ENGINE_HANDOVER_RULES_H
#define VOLLEY_ENGINE_HANDOVER_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/query.h"
#include "limits/clients.h"

/* Permissions, as the views of a struct clients_prefix: bits beyond those of the cache. */
#define HANDOVER_TRANSFER (1u << 8)
#define HANDOVER_NOTIFY   (1u << 9)
#define HANDOVER_UPDATE   (1u << 10)
/* The same for clients over TLS, by rules that ask for it: a shift of these bits. */
#define HANDOVER_TLS_SHIFT 3

struct handover_rules;

/*
 * n prefixes, in any order; they may be equal or nested, and their permissions are joined. keys:
 * n_keys names, folded wire, in any order; copied. 0, -ENOMEM, or -EINVAL for an invalid prefix.
 */
int handover_rules_new(struct handover_rules **out, const struct clients_prefix *prefixes, size_t n,
		       const uint8_t *const *keys, size_t n_keys)
	__attribute__((warn_unused_result));
void handover_rules_free(struct handover_rules *rules); /* NULL is allowed */

/* True if the client with this address, over TLS or not, may try one of the things in `what`. As
 * clients_views(). */
bool handover_allows(const struct handover_rules *rules, uint8_t family, const uint8_t *address,
		     bool is_tls, uint32_t what);

/* Reads the name of the key in the TSIG of q, which was read from msg, folded. Returns its number
 * of octets; 0: there is no TSIG. */
unsigned int handover_key_name(uint8_t name[NAME_FOLDED_BYTES], const uint8_t *msg,
			       const struct query *q);

/* True if q, read from msg, has a TSIG by one of the keys. */
bool handover_knows_key(const struct handover_rules *rules, const uint8_t *msg,
			const struct query *q);

#endif
