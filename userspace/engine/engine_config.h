/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of an engine: its answers, the server's identity, and recursion. */
#ifndef VOLLEY_ENGINE_ENGINE_CONFIG_H
#define VOLLEY_ENGINE_ENGINE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#define ENGINE_MAX_UDP_BYTES 1232 /* fits every path; DNS flag day 2020 */

#define ENGINE_NSID_MAX 128
#define ENGINE_TEXT_MAX 255 /* of one string in a TXT record */

/* The answer to ANY: RFC 8482 section 4.1. The choices are in the order of their words. */
enum engine_any {
	ENGINE_ANY_MINIMAL, /* one RRset of the name */
	ENGINE_ANY_FULL,    /* all of them */
};

struct engine_config {
	uint16_t max_udp_bytes; /* largest UDP reply, 512 to VOLLEY_UDP_MAX; sent in OPT */
	bool minimal_responses; /* omit records that a client does not need */
	enum engine_any any;
};

/* clang-format off */
#define ENGINE_CONFIG_INIT { .max_udp_bytes = ENGINE_MAX_UDP_BYTES }
/* clang-format on */

/*
 * What the server says of itself to a client that asks. Never changed once published. It is put
 * into each reply when that is written, never into the cache.
 */
struct engine_identity {
	char version[ENGINE_TEXT_MAX + 1]; /* CH TXT version.bind, version.server; "": REFUSED */
	char name[ENGINE_TEXT_MAX + 1]; /* CH TXT id.server, hostname.bind (RFC 4892); likewise */
	uint8_t nsid[ENGINE_NSID_MAX];  /* RFC 5001 */
	uint16_t nsid_bytes;            /* 0: the option is ignored */
};

struct special;

/* How questions are asked upstream, and how answers are used. Never changed once published. */
struct engine_recursion {
	/* Answers are cached under this zone's slot and generation; slot 0: not cached. */
	uint32_t zone_slot;
	uint32_t zone_gen;
	uint32_t max_ttl_s;          /* upper limit of TTLs; 0: nothing is cached */
	uint32_t min_ttl_s;          /* lower limit of TTLs, but for errors */
	uint32_t max_negative_ttl_s; /* for NXDOMAIN and NODATA: RFC 2308 section 5 */
	uint32_t timeout_ms;         /* then SERVFAIL */
	/* RFC 8767: how long after its end an answer is given if upstream fails; 0: not at all. */
	uint32_t stale_s;
	/* upstream has so long before that; section 5 says 1800 */
	uint32_t stale_wait_ms;
	uint32_t stale_ttl_s; /* of such a stale answer */
	bool cuts; /* a name that is proved not to exist denies those below it: RFC 8020 */
	/* with DNS64, PTR records may be made below a name that does not exist: RFC 6147 section
	 * 5.3.1 */
	bool dns64;
	bool prefetch; /* an answer asked for shortly before it expires is fetched anew */
	/*
	 * CD goes upstream, and nothing is validated here. So an answer to a question with CD may
	 * be one that upstream withholds from a question without CD.
	 */
	bool keeps_cd;
	/* names answered here, not upstream; NULL: none. Lives as long as this is published */
	const struct special *special;
};

/* clang-format off */
#define ENGINE_RECURSION_INIT {                                                              \
	.max_ttl_s = 86400, .max_negative_ttl_s = 3600, .timeout_ms = 5000,                  \
	.stale_wait_ms = 1800, .stale_ttl_s = 30, .cuts = true, .prefetch = true }
/* clang-format on */

#endif
