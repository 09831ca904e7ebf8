/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration of a resolver: which servers it asks, and how. */
#ifndef VOLLEY_RESOLVER_RESOLVER_CONFIG_H
#define VOLLEY_RESOLVER_RESOLVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESOLVER_THREADS_MAX 16
#define RESOLVER_MEMORIES    2

/* In the order of the choices of recursion.transport. */
enum resolver_transport {
	RESOLVER_UDP, /* and TCP if an answer is truncated */
	RESOLVER_TCP,
	RESOLVER_TLS, /* RFC 7858 */
};

/*
 * One server of a stub or forward zone. Items of one zone differ in the address only, so no zone is
 * of both kinds.
 */
struct resolver_stub {
	const char *zone;    /* text, without quotation marks and backslashes */
	const char *address; /* "192.0.2.1" or "192.0.2.1@5353"; with RESOLVER_TLS as forwards */
	bool is_forward;     /* the server is recursive; else authoritative */
	bool prime;          /* not is_forward: ask it for the NS records, then ask those servers */
	bool first;          /* if no server gives an answer, ask as if the zone were not here */
	/*
	 * RESOLVER_UDP: the transport of all upstreams, or UDP if that is RESOLVER_TLS.
	 * RESOLVER_TLS: with is_forward only.
	 */
	enum resolver_transport transport;
};

/* An option of unbound.conf(5) without a member here: {"serve-expired:", "no"}. */
struct resolver_option {
	const char *name; /* with the colon */
	const char *value;
};

/*
 * Only resolver_start() reads it, so all that it points to may be freed afterwards. Lists of
 * strings end in NULL, and NULL is the empty list. Its booleans are options of their own.
 */
struct resolver_config {
	unsigned int n_threads; /* 1 to RESOLVER_THREADS_MAX */
	const char *root_hints; /* a file; NULL: the built-in hints of libunbound */
	/*
	 * Servers that all questions are forwarded to: "192.0.2.1", "192.0.2.1@5353"; with
	 * RESOLVER_TLS "192.0.2.1@853#name.example", and the certificate must be for that name. At
	 * most 16 with the forwarder, and at most 16 in all over TLS. Empty: iterate.
	 */
	const char *const *forwards;
	bool forward_first;                /* if none of them gives an answer, iterate */
	enum resolver_transport transport; /* to all upstreams */
	const char *tls_bundle; /* a file of trusted certificates; RESOLVER_TLS needs it */
	const struct resolver_stub *stubs;
	size_t n_stubs;
	const char *trust_anchor_file;      /* DS or DNSKEY records; if both are NULL, */
	const char *auto_trust_anchor_file; /* nothing is validated. libunbound writes this one */
	const char *const *insecure;        /* names below which nothing is validated: RFC 7646 */
	bool aggressive_nsec; /* RFC 8198: with NSEC by libunbound, with NSEC3 by denials.h */
	bool caps_for_id;     /* 0x20: draft-vixie-dnsext-dns0x20 */
	const char *const *caps_exempt; /* not for names at or below these */
	bool query_localhost;           /* for labs: upstreams may be on 127.0.0.0/8 and ::1 */
	uint64_t msg_cache_bytes;       /* of each thread, for both its memories */
	uint64_t rrset_cache_bytes;
	/* how long libunbound keeps a negative answer, and an NSEC3 record denies names */
	uint32_t max_negative_ttl_s;
	/*
	 * A server of the root zone on a loopback address of this host, written as a stub's
	 * address. It is asked in place of the root servers (RFC 8806). NULL: the root servers are
	 * asked. Only if nothing is forwarded.
	 */
	const char *root_copy;
	/* Set by the TLS relay: its address, "127.3.5.7" or "::1", which libunbound asks in place
	 * of upstreams over TLS. NULL: there is no relay. */
	const char *tls_relay;
	const char *const *private_addresses; /* prefixes of addresses that no answer may have */
	/*
	 * RFC 6147, by libunbound's module dns64: "64:ff9b::/96"; NULL: none. It applies to all
	 * questions, also with CD, because libunbound's API has no CD.
	 */
	const char *dns64_prefix;
	bool dns64_synthall;                    /* also if there are AAAA records */
	const char *const *outgoing_interfaces; /* source addresses */
	uint16_t port_first;                    /* source ports; 0: all above 1023 */
	uint16_t port_last;
	uint64_t memory_max_bytes; /* of the process, which the server watches; 0: no limit */
	uint32_t max_outstanding;  /* questions, in all */
	uint32_t max_per_client;   /* questions of one prefix; 0: no limit */
	uint8_t client_prefix4;    /* bits */
	uint8_t client_prefix6;
	/*
	 * Questions of each thread that are asked upstream at a time. 0: 16384 with the forwarder,
	 * else 1024, because libunbound uses a socket for each. The second memory has half as many.
	 */
	uint32_t upstream_max;
	uint32_t upstream_qps;        /* of each memory, to the servers of a zone; 0: no limit */
	uint32_t upstream_timeout_ms; /* the longest wait for one reply of a server */
	uint32_t upstream_forget_s;   /* how long libunbound remembers a server's failure */
	/*
	 * How often a server that does not reply is asked the same question again. 0: 5 times by
	 * libunbound; by the forwarder as long as a client waits.
	 */
	uint32_t msg_retry;
	const struct resolver_option *tuning; /* set first; the forwarder ignores them */
	size_t n_tuning;
	const struct resolver_option *options; /* set last */
	size_t n_options;
};

/*
 * Each member of the struct, with the way in which it is sent to the resolver's process
 * (config_wire.c). tests/unit/resolver/test_config_wire.c finds a member that has no row.
 */
#define RESOLVER_CONFIG_MEMBERS(X)      \
	X(PLAIN, n_threads)             \
	X(TEXT, root_hints)             \
	X(TEXTS, forwards)              \
	X(FLAG, forward_first)          \
	X(TRANSPORT, transport)         \
	X(TEXT, tls_bundle)             \
	X(STUBS, stubs)                 \
	X(COUNT, n_stubs)               \
	X(TEXT, trust_anchor_file)      \
	X(TEXT, auto_trust_anchor_file) \
	X(TEXTS, insecure)              \
	X(FLAG, aggressive_nsec)        \
	X(FLAG, caps_for_id)            \
	X(TEXTS, caps_exempt)           \
	X(FLAG, query_localhost)        \
	X(PLAIN, msg_cache_bytes)       \
	X(PLAIN, rrset_cache_bytes)     \
	X(PLAIN, max_negative_ttl_s)    \
	X(TEXT, root_copy)              \
	X(TEXT, tls_relay)              \
	X(TEXTS, private_addresses)     \
	X(TEXT, dns64_prefix)           \
	X(FLAG, dns64_synthall)         \
	X(TEXTS, outgoing_interfaces)   \
	X(PLAIN, port_first)            \
	X(PLAIN, port_last)             \
	X(PLAIN, memory_max_bytes)      \
	X(PLAIN, max_outstanding)       \
	X(PLAIN, max_per_client)        \
	X(PLAIN, client_prefix4)        \
	X(PLAIN, client_prefix6)        \
	X(PLAIN, upstream_max)          \
	X(PLAIN, upstream_qps)          \
	X(PLAIN, upstream_timeout_ms)   \
	X(PLAIN, upstream_forget_s)     \
	X(PLAIN, msg_retry)             \
	X(OPTIONS, tuning)              \
	X(COUNT, n_tuning)              \
	X(OPTIONS, options)             \
	X(COUNT, n_options)

/* True if the forwarder (resolver/forward.h) can do all that the configuration asks for; else
 * libunbound asks. Pure. */
static inline bool forward_suits(const struct resolver_config *c)
{
	bool forwards = c->forwards && c->forwards[0];
	bool validates = c->trust_anchor_file || c->auto_trust_anchor_file;
	bool is_special = c->n_stubs || c->n_options || c->upstream_qps || c->forward_first ||
			  c->dns64_prefix || (c->private_addresses && c->private_addresses[0]) ||
			  (c->outgoing_interfaces && c->outgoing_interfaces[0]);

	return forwards && !validates && !is_special;
}

/* clang-format off */
#define RESOLVER_CONFIG_INIT {                                                              \
	.n_threads = 1, .aggressive_nsec = true,                                            \
	.msg_cache_bytes = 4 << 20, .rrset_cache_bytes = 8 << 20,                           \
	.max_negative_ttl_s = 3600,                                                         \
	.max_outstanding = 131072, .client_prefix4 = 32, .client_prefix6 = 64,              \
	.upstream_timeout_ms = 2000, .upstream_forget_s = 5 }
/* clang-format on */

#endif
