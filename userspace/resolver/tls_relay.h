/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS (RFC 7858) for libunbound's queries. Debian builds libunbound without TLS, so libunbound
 * validates and this relay carries its queries.
 *
 *	libunbound ── TCP, loopback ──► a port for each upstream ──► forward_tcp.h, TLS ──► upstream
 *	           ◄── the reply, or SERVFAIL in time ──┘
 *
 * tls_relay_config() gives libunbound a configuration with the relay's ports in place of the
 * upstreams over TLS. Each upstream has its own port, so libunbound measures and avoids each
 * upstream separately, and chooses another by itself when an answer is bogus. Only the ID and the
 * padding (RFC 8467 section 4.1) of a query are changed, and only the ID of a reply.
 *
 *	taken ─► sent, timer at end_ns ─► reply, sent to libunbound: free
 *	  ▲          │                 └─ or SERVFAIL, and libunbound asks the next upstream: free
 *	  └ waiting ◄┘ the connection was closed for the first time; or it was refused, no other
 *	               upstream of the zone is well, and TLS_RELAY_PATIENCE_NS are not over
 *
 * Every query is answered before libunbound gives up on it, because libunbound closes a connection
 * on which a reply comes too late.
 *
 * Only this process may use the ports. They are on a random address of 127.0.0.0/8 (::1 if
 * libunbound may not use IPv4), and a connection is closed unread unless its other end is a
 * descriptor of this process (tls_relay_client.h). If the configuration forbids queries to this
 * host, libunbound may ask this address, but no other loopback address.
 *
 * Each resolver thread has one relay for both of its contexts, on its event base. One thread.
 */
#ifndef VOLLEY_RESOLVER_TLS_RELAY_H
#define VOLLEY_RESOLVER_TLS_RELAY_H

#include <event2/event.h>

#include "resolver/forward_board.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"

#define TLS_RELAY_PATIENCE_NS 750000000ULL
#define TLS_RELAY_TEXT_CAP    320 /* octets of a reason, with the NUL */

struct tap_producer;
struct tls_relay;

/* True if with this configuration libunbound, not the forwarder, asks upstreams over TLS. */
bool tls_relay_is_needed(const struct resolver_config *config);

/* The most descriptors of one relay, without libunbound's own: listeners, accepted connections,
 * connections to upstreams. */
uint64_t tls_relay_fds(const struct resolver_config *config);

/*
 * Makes a relay for the configuration's upstreams over TLS, with open ports. config->upstream_max
 * must be set. Counters and board are the thread's. Returns 0; -ENOMEM; or ERR_CONFIG with a
 * sentence in err of cap octets: a bad address, no certificates, more than UPSTREAMS_MAX upstreams
 * over TLS, or no port.
 */
int tls_relay_new(struct tls_relay **out, const struct resolver_config *config,
		  struct event_base *base, struct resolver_counters *counters,
		  struct forward_board *board, char *err, size_t cap)
	__attribute__((warn_unused_result));

/* Call it after libunbound's contexts were freed. NULL is allowed. */
void tls_relay_free(struct tls_relay *r);

/* As forward_set_tap(). */
void tls_relay_set_tap(struct tls_relay *r, struct tap_producer *producer);

/* The configuration for libunbound, without upstreams over TLS. The relay owns it; it also points
 * into the configuration that tls_relay_new() got. */
const struct resolver_config *tls_relay_config(const struct tls_relay *r);

/* One round: handles timers that have expired, and sends. True if the next round is due at once. */
bool tls_relay_round(struct tls_relay *r, uint64_t now_ns);

/* True if a query is under way, so that the next round is due within DEADLINES_TICK_NS. */
bool tls_relay_is_busy(const struct tls_relay *r);

/*
 * The reason why libunbound got no answer for a folded name: returns an extended error (RFC 8914),
 * and a reason of at most cap octets for the log. DNS_EDE_NETWORK_ERROR if all upstreams of the
 * name over TLS refuse connections or have no trusted certificate; else the code that an upstream
 * gave with its failure. EDNS_NO_EDE: the relay knows no reason, and text is "".
 */
int tls_relay_explain(const struct tls_relay *r, const uint8_t *folded, uint16_t qtype,
		      uint64_t now_ns, char *text, size_t cap);

#endif
