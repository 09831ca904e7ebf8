/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS (RFC 7858) for questions that libunbound asks: Debian builds libunbound without TLS, so
 * libunbound validates and this relay carries its queries.
 *
 *	libunbound ── TCP, loopback ──► a port for each upstream ──► forward_tcp.h: one connection over TLS ──► upstream
 *	           ◄── the reply, or SERVFAIL in time ──┘
 *
 * tls_relay_config() gives libunbound a configuration that names the relay's ports in place of the
 * upstreams over TLS. Each upstream has a port of its own, so what libunbound measures and avoids
 * is that upstream alone, and it chooses another one by itself when an answer is bogus. A query
 * goes on as it came but for its ID and its padding (RFC 8467 section 4.1); a reply comes back as
 * it was but for its ID.
 *
 *	taken ─► sent, timer at the end of its time ─► reply ─► to libunbound: free
 *	  ▲          │ connection closed, once          └─ or its end: SERVFAIL to libunbound, which asks the next upstream
 *	  └ waiting ◄┘ refused, while no other upstream of its zones is well, for TLS_RELAY_PATIENCE_NS
 *
 * Every query is answered before libunbound gives it up: libunbound closes a connection on which a
 * reply comes too late.
 *
 * Who may use the ports: this process alone. They are on an address of 127.0.0.0/8 that is chosen
 * at random (::1 where libunbound may not use IPv4), and a connection is closed unread unless its
 * other end is a descriptor of this process (tls_relay_client.h). Where the configuration forbids
 * to ask this machine, libunbound may ask this one address, and no other of the loopback.
 *
 * One relay for each resolver thread, for both of its contexts, all on the thread's event base. One
 * thread, but for tls_relay_upstream() and tls_relay_read().
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

/* Whether libunbound, and not the forwarder, asks upstreams over TLS with this configuration. */
bool tls_relay_is_needed(const struct resolver_config *config);

/* Descriptors of one relay at most, besides those of libunbound: listeners, libunbound's
 * connections, upstreams. */
uint64_t tls_relay_fds(const struct resolver_config *config);

/*
 * A relay for the upstreams over TLS that the configuration names; its ports are open. upstream_max
 * is set there. The counters are the thread's. 0; ERR_CONFIG with a sentence in err of cap octets:
 * an address, the certificates, more than UPSTREAMS_MAX upstreams over TLS, no port; -ENOMEM.
 */
int tls_relay_new(struct tls_relay **out, const struct resolver_config *config,
		  struct event_base *base, struct resolver_counters *counters, char *err,
		  size_t cap) __attribute__((warn_unused_result));

/* After libunbound's contexts. NULL is allowed. */
void tls_relay_free(struct tls_relay *r);

/* As forward_set_tap(). */
void tls_relay_set_tap(struct tls_relay *r, struct tap_producer *producer);

/* The configuration for libunbound: nothing in it is over TLS. The relay's, and as long as it and
 * what tls_relay_new() got. */
const struct resolver_config *tls_relay_config(const struct tls_relay *r);

/* One round: looks after what is over its time, and sends. Whether there is more to do at once. */
bool tls_relay_round(struct tls_relay *r, uint64_t now_ns);

/* Whether something is under way, so that the next round is due within DEADLINES_TICK_NS. */
bool tls_relay_is_busy(const struct tls_relay *r);

/*
 * Why libunbound got no answer for a folded name, where the relay knows: an extended error (RFC
 * 8914) and a reason of at most cap octets for the log. DNS_EDE_NETWORK_ERROR where all upstreams
 * of the name over TLS refuse connections or have no certificate that is trusted; or the code that
 * an upstream gave with its failure. EDNS_NO_EDE: the relay knows no reason, and text is "".
 */
int tls_relay_explain(const struct tls_relay *r, const uint8_t *folded, uint16_t qtype,
		      uint64_t now_ns, char *text, size_t cap);

/* Upstream i: its address and name, which never change, and what is known of it; NULL: there are
 * not so many. Any thread. */
const struct upstream *tls_relay_upstream(const struct tls_relay *r, unsigned int i);
void tls_relay_read(const struct tls_relay *r, unsigned int i, struct forward_seen *out);
unsigned int tls_relay_n_upstreams(const struct tls_relay *r);

#endif
