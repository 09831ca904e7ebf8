/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a resolver asks upstream, and whom. */
#ifndef VOLLEY_RESOLVER_RESOLVER_CONFIG_H
#define VOLLEY_RESOLVER_RESOLVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESOLVER_THREADS_MAX 16
#define RESOLVER_MEMORIES    2

struct tap;

enum resolver_transport {
	RESOLVER_UDP, /* and TCP where an answer is truncated */
	RESOLVER_TCP,
	RESOLVER_TLS, /* RFC 7858 */
};

/*
 * A zone that is asked at servers of its own. Those of one zone and kind say the same but for the
 * address, and no zone is of both kinds.
 */
struct resolver_stub {
	const char *zone;    /* text, without quotation marks and backslashes */
	const char *address; /* "192.0.2.1" or "192.0.2.1@5353"; with RESOLVER_TLS as forwards */
	bool is_forward;     /* a recursive server; else an authoritative one */
	bool prime; /* not is_forward: ask there for the NS records, and go on with those */
	bool first; /* where no server gives an answer, ask as if the zone were not here */
	/*
	 * RESOLVER_UDP: as that of all upstreams; where that is RESOLVER_TLS, UDP. RESOLVER_TLS:
	 * with is_forward only.
	 */
	enum resolver_transport transport;
};

/* An option of unbound.conf(5) that has no member here: {"serve-expired:", "no"}. */
struct resolver_option {
	const char *name; /* with the colon */
	const char *value;
};

/*
 * Read by resolver_start() only, so all that it points to may go afterwards. Lists of strings end
 * in NULL, and NULL is the empty list.
 */
struct resolver_config {
	unsigned int n_threads; /* 1 to RESOLVER_THREADS_MAX */
	const char *root_hints; /* a file; NULL: those that libunbound brings */
	/*
	 * Where all is forwarded to: "192.0.2.1", "192.0.2.1@5353"; with RESOLVER_TLS
	 * "192.0.2.1@853#name.example", and the certificate must be for that name. There are
	 * 16 at most that the forwarder asks, and 16 in all that are asked over TLS. Empty:
	 * iterate.
	 */
	const char *const *forwards;
	bool forward_first;                /* where none of them gives an answer, iterate */
	enum resolver_transport transport; /* to all upstreams */
	const char *tls_bundle; /* a file of trusted certificates; RESOLVER_TLS needs it */
	const struct resolver_stub *stubs;
	size_t n_stubs;
	const char *trust_anchor_file;      /* DS or DNSKEY records; NULL and the next NULL: */
	const char *auto_trust_anchor_file; /* nothing is validated. This one is written to */
	const char *const *insecure;        /* names below which nothing is validated: RFC 7646 */
	bool qname_minimisation;            /* RFC 9156 */
	bool aggressive_nsec; /* RFC 8198: with NSEC by libunbound, with NSEC3 by denials.h */
	bool caps_for_id;     /* 0x20: draft-vixie-dnsext-dns0x20 */
	const char *const *caps_exempt; /* not for these names and those below */
	bool query_localhost;           /* for labs: upstreams may be on 127.0.0.0/8 and ::1 */
	uint64_t msg_cache_bytes;       /* of each thread: both its memories */
	uint64_t rrset_cache_bytes;
	/*
	 * How long libunbound keeps an answer; the forwarder keeps none. An NSEC3 record denies
	 * other names for max_negative_ttl_s at most.
	 */
	uint32_t max_ttl_s;
	uint32_t min_ttl_s;
	uint32_t max_negative_ttl_s;
	/*
	 * Where an authority of the root zone is, on a loopback address of this host, as a stub's
	 * address: it is asked in the place of the root servers (RFC 8806). NULL: these are asked.
	 * Only where nothing is forwarded.
	 */
	const char *root_copy;
	/* The relay's own: "127.3.5.7" or "::1", which libunbound asks in the place of upstreams
	 * over TLS. NULL: there is none. */
	const char *tls_relay;
	const char *const *private_addresses; /* prefixes that no answer may have */
	const char *const *private_domains;   /* but for names at or below these */
	/*
	 * RFC 6147, by libunbound's module dns64: "64:ff9b::/96"; NULL: none. It is for all
	 * questions, those with CD as well: libunbound's API has no CD.
	 */
	const char *dns64_prefix;
	bool dns64_synthall;                    /* also where there are AAAA records */
	const char *const *outgoing_interfaces; /* addresses that are asked from */
	uint16_t port_first;                    /* ports that are asked from; 0: all above 1023 */
	uint16_t port_last;
	uint32_t max_outstanding; /* questions, in all */
	uint32_t max_per_client;  /* questions of one prefix; 0: no limit */
	uint8_t client_prefix4;   /* bits */
	uint8_t client_prefix6;
	/*
	 * Questions of each thread that are with upstreams at a time; 0: 16384 where they are only
	 * forwarded, else 1024, since each has a socket then: of the second memory, half as many.
	 */
	uint32_t upstream_max;
	uint32_t upstream_qps;        /* of each memory, for the servers of a zone; 0: no limit */
	uint32_t upstream_timeout_ms; /* longest wait for one reply of a server */
	uint32_t upstream_forget_s;   /* so long libunbound remembers a server's failure */
	/*
	 * A server that does not reply to a question is asked again so often for it; 0: 5 times by
	 * libunbound, by the forwarder as long as somebody waits.
	 */
	uint32_t msg_retry;
	const struct resolver_option
		*tuning; /* what the forwarder does without; set before the next */
	size_t n_tuning;
	const struct resolver_option *options; /* set last */
	size_t n_options;
	struct tap *
		/* is told of queries to upstreams, until resolver_stop() has returned; NULL: nobody
		 * is */
		tap;
};

/* clang-format off */
#define RESOLVER_CONFIG_INIT {                                                              \
	.n_threads = 1, .qname_minimisation = true, .aggressive_nsec = true,                \
	.msg_cache_bytes = 4 << 20, .rrset_cache_bytes = 8 << 20,                           \
	.max_ttl_s = 86400, .max_negative_ttl_s = 3600,                                     \
	.max_outstanding = 131072, .client_prefix4 = 32, .client_prefix6 = 64,              \
	.upstream_timeout_ms = 2000, .upstream_forget_s = 5 }
/* clang-format on */

#endif
