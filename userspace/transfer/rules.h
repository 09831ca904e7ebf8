/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of zones: which client may transfer, notify and update. The workers' rules
 * (engine/handover_rules.h) are made of them.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_RULES_H
#define VOLLEY_TRANSFER_RULES_H

#include "config/config.h"
#include "port/addr.h"
#include "transfer/transfer_thread.h"
#include "xfr/tsig_signature.h"

/* The client that asks. */
struct rules_client {
	struct port_addr addr;      /* an IPv4-mapped IPv6 address as IPv4 */
	const struct tsig_key *key; /* the key of t->remotes that signed; NULL: none */
	bool is_tls;
	bool is_xot; /* TLS 1.3 or later, which zone transfers need: RFC 9103 section 7.1 */
};

/* True if the client meets one of the rules: its prefix, its key and TLS, if the rule has them. */
bool rules_allow(const struct transfer *t, const struct config_rules *rules,
		 const struct rules_client *client);
/* True if the client is one of the zone's primaries: by its address, and by its key if that primary
 * has one. */
bool rules_are_primary(const struct transfer *t, const struct transfer_zone *zone,
		       const struct rules_client *client);
/* Soon makes the workers' rules anew: only a few times if 10,000 zones come together. */
void rules_change(struct transfer *t);
/* Takes the rules from the workers. */
void rules_close(struct transfer *t);
int rules_open(struct transfer *t) __attribute__((warn_unused_result));

#endif
