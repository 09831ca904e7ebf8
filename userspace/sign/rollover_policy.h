/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a rollover goes by, and what a step of it changes. */
#ifndef VOLLEY_SIGN_ROLLOVER_POLICY_H
#define VOLLEY_SIGN_ROLLOVER_POLICY_H

#include "sign/keys.h"

/* Seconds. */
struct rollover_policy {
	bool single_key; /* a CSK */
	enum sign_algorithm algorithm;
	uint32_t zsk_lifetime_s; /* 0: never by itself */
	uint32_t ksk_lifetime_s; /* of a CSK, too */
	uint32_t dnskey_ttl_s;
	uint32_t zone_ttl_s; /* the longest TTL in the zone: sign_ttl_max() */
	uint32_t propagation_s;
	uint32_t parent_ttl_s;
	uint32_t parent_propagation_s;
	/* When last all of the zone was found to be as its keys say (sign_renew()); 0: not yet. */
	uint64_t renewed_s;
};

/* What a step changed: one bit for each key by its number in the set. */
struct rollover_actions {
	uint32_t write; /* its files are to be written, before the zone is signed with it */
	uint32_t erase; /* it is of no use any more: its files, and it from the set */
	bool renew;     /* the zone is not known to be as the keys say now: sign_renew() */
};

#endif
