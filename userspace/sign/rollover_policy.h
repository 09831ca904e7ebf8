/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy of a rollover, and what a step of it changes. */
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
	/* When sign_renew() last found all of the zone as its keys say; 0: not yet. */
	uint64_t renewed_s;
};

/* What a step changed. Bit i is key i of the set. */
struct rollover_actions {
	uint32_t write; /* write its files before it signs the zone */
	uint32_t erase; /* erase its files and remove it from the set */
	bool renew;     /* the zone may differ from what the keys say: sign_renew() */
};

#endif
