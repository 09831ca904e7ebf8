/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event: one query and its reply, for dnstap and the query log. It lies in a ring of octets, so
 * it has no pointers:
 *
 *      struct tap_event │ query: n_query octets │ reply: n_reply octets
 *
 * Addresses are whole here. The writers shorten them (tap_shorten()) before they leave the process.
 */
#ifndef VOLLEY_TAP_EVENT_H
#define VOLLEY_TAP_EVENT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part that answered, in the words of the query log. */
#define TAP_WAY_LIST(X)                                                          \
	X(TAP_DRIVER, "driver")       /* the XDP program */                      \
	X(TAP_WORKER, "worker")       /* a worker, at once */                    \
	X(TAP_UPSTREAM, "upstream")   /* a worker, after an upstream's answer */ \
	X(TAP_TRANSFER, "transfer")   /* the transfer thread */                  \
	X(TAP_FORWARDER, "forwarder") /* an upstream that Volley asked */

enum tap_way {
#define TAP_WAY(name, text) name,
	TAP_WAY_LIST(TAP_WAY) TAP_N_WAYS
#undef TAP_WAY
};

#define TAP_TRANSPORT_LIST(X) X(TAP_UDP, "udp") X(TAP_TCP, "tcp") X(TAP_TLS, "tls")

enum tap_transport {
#define TAP_TRANSPORT(name, text) name,
	TAP_TRANSPORT_LIST(TAP_TRANSPORT) TAP_N_TRANSPORTS
#undef TAP_TRANSPORT
};

struct tap_event {
	uint64_t asked_ns;    /* since 1970: when the query came; 0: not known */
	uint64_t answered_ns; /* since 1970: when its reply was ready; 0: there is none yet */
	uint32_t query_bytes; /* length of the query on the wire; 0: not known */
	uint32_t n_query;     /* octets of it in the event; 0: none */
	uint32_t n_reply;
	uint8_t way;       /* enum tap_way */
	uint8_t transport; /* enum tap_transport */
	uint8_t family;    /* AF_INET or AF_INET6 */
	bool is_rebuilt;   /* the query was rebuilt from the reply: tap_event_rebuild() */
	/* a random number that both events of a query share; 0: one event has query and reply */
	uint32_t lot;
	__be16 peer_port;  /* of the side that asks */
	__be16 local_port; /* of the side that answers; 0: not known */
	uint8_t peer[16];  /* in network order; IPv4 in the first 4 octets */
	uint8_t local[16]; /* all zeros: not known */
	uint8_t octets[];
};

#define TAP_MESSAGE_MAX 65535u
#define TAP_EVENT_MAX   (sizeof(struct tap_event) + 2 * TAP_MESSAGE_MAX)

static inline size_t tap_event_bytes(const struct tap_event *e)
{
	return sizeof(*e) + e->n_query + e->n_reply;
}

static inline const uint8_t *tap_event_query(const struct tap_event *e)
{
	return e->octets;
}

static inline const uint8_t *tap_event_reply(const struct tap_event *e)
{
	return e->octets + e->n_query;
}

/* What the log and its filters need of a reply. */
struct tap_view {
	const uint8_t *name; /* of the question, as it came; NULL: there is none */
	size_t name_bytes;
	uint16_t qtype, qclass;
	uint16_t flags; /* second 16 bits of the header */
	uint16_t rcode; /* with the upper bits of OPT */
	bool has_edns, dnssec_ok;
	int ede; /* the first extended error (RFC 8914); -1: none */
};

/* Reads a message. False: its header is incomplete. If it is malformed after the question, OPT
 * counts as absent. Pure; any thread. */
bool tap_view_read(struct tap_view *view, const uint8_t *msg, size_t n);

/*
 * Rebuilds the query from its reply, as far as possible: ID, opcode, RD, CD, the question, and an
 * OPT record with DO if the reply has OPT. Other options and the client's payload size are lost. At
 * most `cap` octets; 0: no room, or the reply has no question. Pure; any thread.
 */
size_t tap_event_rebuild(uint8_t *out, size_t cap, const uint8_t *reply, size_t n);

/* The OPT record of an unchecked message, and its options. All are pure; any thread. */

struct tap_options {
	const uint8_t *msg;
	uint32_t ttl; /* OPT's: upper bits of the rcode, version, flags (RFC 6891 section 6.1.3) */
	size_t at, end;
};

/* Finds OPT in a message of n octets. False: it has none, or is malformed before it. */
bool tap_options_find(struct tap_options *o, const uint8_t *msg, size_t n);

/* The next option: its code, the offset of its value in the message, and the value's octets. False:
 * there are no more. */
bool tap_options_next(struct tap_options *o, uint16_t *code, size_t *at, size_t *bytes);

/* The packets of an event over UDP. IP and UDP headers are rebuilt, because driver and ports keep
 * only addresses, ports and messages. Pure; any thread. */

#define TAP_PACKET_HEADERS_MAX 48u /* IPv6 and UDP */

/*
 * The IP packet of the event's query or reply, in at most cap octets, with correct checksums (RFC
 * 791, RFC 8200, RFC 768): TTL or hop limit 64, ID 0, DF. Returns its length; 0: the event is not
 * UDP, does not have the message, or there is no room.
 */
size_t tap_packet_make(uint8_t *out, size_t cap, const struct tap_event *e, bool is_reply);

/* Removes from addresses the bits that tell a client from its neighbours. Pure; any thread. */

/* How many bits stay: 0 to 32 of IPv4, 0 to 128 of IPv6. */
struct tap_prefix {
	uint8_t bits4, bits6;
};

/* Clears the bits after the prefix in an address (4 octets of AF_INET, 16 of AF_INET6). */
void tap_shorten(uint8_t *address, uint8_t family, const struct tap_prefix *prefix);

/* Does the same to the client subnet (RFC 7871) in the OPT record of a message of n octets. The
 * message keeps its length; its source prefix length becomes at most the prefix's. */
void tap_shorten_subnet(uint8_t *msg, size_t n, const struct tap_prefix *prefix);

#endif
