/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the names are in rdata, for who copies it from one message into another: octets, character strings,
 * names, octets. Other types, and those that a use does not look into, are octets as a whole.
 */
#ifndef VOLLEY_DNS_RDLAYOUT_H
#define VOLLEY_DNS_RDLAYOUT_H

#include <stdint.h>

#include "dns/proto.h"

/* Each looks into the types of the one before, and some more. */
enum rdlayout_use {
	RDLAYOUT_SEND, /* whose names may be sent compressed: RFC 1035, as RFC 3597 section 4 keeps it */
	RDLAYOUT_RECEIVE, /* may come compressed: RFC 3597 section 4 (SIG and NXT are gone) */
	RDLAYOUT_ALL,     /* have names */
};

struct rdlayout {
	uint8_t front_bytes;
	uint8_t n_strings; /* character strings behind the front: RFC 1035 section 3.3 */
	uint8_t n_names;
	uint8_t tail_bytes;
};

/* Pure. No names: the data is octets, whatever its type. */
static inline struct rdlayout rdlayout_of(uint16_t type, enum rdlayout_use use)
{
	const struct rdlayout none = { 0 };

	switch (type) {
	case DNS_TYPE_NS:
	case DNS_TYPE_MD:
	case DNS_TYPE_MF:
	case DNS_TYPE_CNAME:
	case DNS_TYPE_MB:
	case DNS_TYPE_MG:
	case DNS_TYPE_MR:
	case DNS_TYPE_PTR:
		return (struct rdlayout){ .n_names = 1 };
	case DNS_TYPE_MINFO:
		return (struct rdlayout){ .n_names = 2 };
	case DNS_TYPE_MX:
		return (struct rdlayout){ .front_bytes = 2, .n_names = 1 };
	case DNS_TYPE_SOA:
		return (struct rdlayout){ .n_names = 2, .tail_bytes = 20 };
	case DNS_TYPE_RP:
		return use >= RDLAYOUT_RECEIVE ? (struct rdlayout){ .n_names = 2 } : none;
	case DNS_TYPE_AFSDB:
	case DNS_TYPE_RT:
		return use >= RDLAYOUT_RECEIVE ?
			       (struct rdlayout){ .front_bytes = 2, .n_names = 1 } :
			       none;
	case DNS_TYPE_PX:
		return use >= RDLAYOUT_RECEIVE ?
			       (struct rdlayout){ .front_bytes = 2, .n_names = 2 } :
			       none;
	case DNS_TYPE_SRV:
		return use >= RDLAYOUT_RECEIVE ?
			       (struct rdlayout){ .front_bytes = 6, .n_names = 1 } :
			       none;
	case DNS_TYPE_NAPTR:
		return use >= RDLAYOUT_RECEIVE ?
			       (struct rdlayout){ .front_bytes = 4, .n_strings = 3, .n_names = 1 } :
			       none;
	case DNS_TYPE_DNAME:
		return use >= RDLAYOUT_ALL ? (struct rdlayout){ .n_names = 1 } : none;
	case DNS_TYPE_KX:
		return use >= RDLAYOUT_ALL ? (struct rdlayout){ .front_bytes = 2, .n_names = 1 } :
					     none;
	default:
		return none;
	}
}

#endif
