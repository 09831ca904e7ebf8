/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/dnstap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/wire.h"
#include "dns/proto.h"
#include "dnstap.pb-c.h"
#include "tap/record_writer.h"

#define QUEUE_BYTES (8u << 20)
#define EXTRA_BYTES 1024u /* of a message beside its octets, identity and version */

struct dnstap {
	struct dnstap_config config;
	struct tap_writer *out;
	struct dnstap_sink *sink;
};

/* --- What an event is ------------------------------------------------------------------------- */

/* An answer with RA that is not from our own zones: its client uses us as a resolver. */
static bool is_recursive(const struct tap_event *e)
{
	struct tap_view view;

	return e->n_reply && tap_view_read(&view, tap_event_reply(e), e->n_reply) &&
	       (view.flags & (DNS_FLAG_RA | DNS_FLAG_AA)) == DNS_FLAG_RA;
}

/* True for an UPDATE, no matter which part of volleyd answers it. */
static bool is_update(const struct tap_event *e)
{
	const uint8_t *msg = e->n_reply ? tap_event_reply(e) : tap_event_query(e);
	const size_t n = e->n_reply ? e->n_reply : e->n_query;

	return n >= DNS_HEADER_BYTES && (wire_load_be16(msg + DNS_FLAGS_AT) & DNS_OPCODE_MASK) ==
						(DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT);
}

uint32_t dnstap_kinds(const struct tap_event *e)
{
	enum dnstap_kind query = is_recursive(e) ? DNSTAP_CLIENT_QUERY : DNSTAP_AUTH_QUERY;

	if (e->way == TAP_FORWARDER)
		query = DNSTAP_FORWARDER_QUERY;
	else if (is_update(e))
		query = DNSTAP_UPDATE_QUERY;
	/* Each response kind follows its query kind. */
	return (e->n_query ? 1u << query : 0) | (e->n_reply ? 2u << query : 0);
}

bool dnstap_wants_queries(const struct dnstap_config *config)
{
	return config->messages & (1u << DNSTAP_AUTH_QUERY | 1u << DNSTAP_CLIENT_QUERY |
				   1u << DNSTAP_FORWARDER_QUERY | 1u << DNSTAP_UPDATE_QUERY);
}

bool dnstap_wants_forwarders(const struct dnstap_config *config)
{
	return config->messages & (1u << DNSTAP_FORWARDER_QUERY | 1u << DNSTAP_FORWARDER_RESPONSE);
}

/* --- Messages --------------------------------------------------------------------------------- */

static const Dnstap__Message__Type types[] = {
#define DNSTAP_TYPE(name, schema) [name] = DNSTAP__MESSAGE__TYPE__##schema,
	DNSTAP_KIND_LIST(DNSTAP_TYPE)
#undef DNSTAP_TYPE
};

static const Dnstap__SocketProtocol protocols[] = {
	[TAP_UDP] = DNSTAP__SOCKET_PROTOCOL__UDP,
	[TAP_TCP] = DNSTAP__SOCKET_PROTOCOL__TCP,
	[TAP_TLS] = DNSTAP__SOCKET_PROTOCOL__DOT,
};

static ProtobufCBinaryData octets_of_dnstap(const void *octets, size_t n)
{
	return (ProtobufCBinaryData){ .len = n, .data = (uint8_t *)(uintptr_t)octets };
}

static bool is_dnstap_known(const uint8_t address[16])
{
	static const uint8_t none[16];

	return memcmp(address, none, sizeof(none)) != 0;
}

static void put_dnstap_addresses(Dnstap__Message *m, const struct tap_event *e)
{
	const size_t bytes = e->family == AF_INET ? 4 : 16;

	m->has_socket_family = m->has_query_address = true;
	m->socket_family = e->family == AF_INET ? DNSTAP__SOCKET_FAMILY__INET :
						  DNSTAP__SOCKET_FAMILY__INET6;
	m->query_address = octets_of_dnstap(e->peer, bytes);
	m->has_query_port = e->peer_port != 0;
	m->query_port = ntohs(e->peer_port);
	m->has_response_address = is_dnstap_known(e->local);
	m->response_address = octets_of_dnstap(e->local, bytes);
	m->has_response_port = e->local_port != 0;
	m->response_port = ntohs(e->local_port);
	m->has_socket_protocol = true;
	m->socket_protocol = protocols[e->transport];
}

static void put_query(Dnstap__Message *m, const struct tap_event *e)
{
	m->has_query_message = true;
	m->query_message = octets_of_dnstap(tap_event_query(e), e->n_query);
}

static void put_response(Dnstap__Message *m, const struct tap_event *e)
{
	m->has_response_message = true;
	m->response_message = octets_of_dnstap(tap_event_reply(e), e->n_reply);
	m->has_response_time_sec = m->has_response_time_nsec = e->answered_ns != 0;
	m->response_time_sec = e->answered_ns / CLOCK_NS_PER_S;
	m->response_time_nsec = (uint32_t)(e->answered_ns % CLOCK_NS_PER_S);
}

size_t dnstap_encode(const struct dnstap_config *config, const struct tap_event *e,
		     enum dnstap_kind kind, uint8_t *out, size_t cap)
{
	Dnstap__Dnstap d = DNSTAP__DNSTAP__INIT;
	Dnstap__Message m = DNSTAP__MESSAGE__INIT;

	d.type = DNSTAP__DNSTAP__TYPE__MESSAGE;
	d.message = &m;
	d.has_identity = *config->identity;
	d.identity = octets_of_dnstap(config->identity, strlen(config->identity));
	d.has_version = *config->version;
	d.version = octets_of_dnstap(config->version, strlen(config->version));
	m.type = types[kind];
	put_dnstap_addresses(&m, e);
	m.has_query_time_sec = m.has_query_time_nsec = e->asked_ns != 0;
	m.query_time_sec = e->asked_ns / CLOCK_NS_PER_S;
	m.query_time_nsec = (uint32_t)(e->asked_ns % CLOCK_NS_PER_S);
	if ((kind - DNSTAP_AUTH_QUERY) % 2)
		put_response(&m, e);
	else
		put_query(&m, e);
	if (dnstap__dnstap__get_packed_size(&d) > cap)
		return 0;
	return dnstap__dnstap__pack(&d, out);
}

/* --- The queue -------------------------------------------------------------------------------- */

/* The addresses of an upstream, and our own towards it, identify no client. */
static void shorten(struct tap_event *e, const struct tap_prefix *prefix)
{
	if (e->way == TAP_FORWARDER)
		return;
	tap_shorten(e->peer, e->family, prefix);
	tap_shorten_subnet(e->octets, e->n_query, prefix);
	tap_shorten_subnet(e->octets + e->n_query, e->n_reply, prefix);
}

void dnstap_put(struct dnstap *d, struct tap_event *e)
{
	const uint32_t kinds = dnstap_kinds(e) & d->config.messages;
	const size_t most = EXTRA_BYTES + e->n_query + e->n_reply;

	if (!kinds)
		return;
	shorten(e, &d->config.prefix);
	for (unsigned int kind = 0; kind < DNSTAP_N_KINDS; kind++) {
		uint8_t *room = kinds >> kind & 1 ? tap_writer_reserve(d->out, most) : NULL;
		size_t bytes =
			room ? dnstap_encode(&d->config, e, (enum dnstap_kind)kind, room, most) : 0;

		if (bytes)
			tap_writer_commit(d->out, bytes);
	}
}

void dnstap_kick(struct dnstap *d)
{
	tap_writer_kick(d->out);
}

void dnstap_counters(const struct dnstap *d, uint64_t *written, uint64_t *lost)
{
	*written = tap_writer_written(d->out);
	*lost = tap_writer_lost(d->out);
}

bool dnstap_is_connected(const struct dnstap *d)
{
	return dnstap_sink_is_open(d->sink);
}

void dnstap_reopen(struct dnstap *d)
{
	dnstap_sink_reopen(d->sink);
	dnstap_kick(d);
}

int dnstap_open(struct dnstap **out, const struct dnstap_config *config)
{
	struct dnstap *d = calloc(1, sizeof(*d));
	struct tap_sink sink;
	int err;

	if (!d)
		return -ENOMEM;
	d->config = *config;
	err = dnstap_sink_new(&d->sink, &sink, &d->config, &d->out);
	if (!err)
		err = tap_writer_open(&d->out, &sink, QUEUE_BYTES, "volley-dnstap");
	if (err)
		free(d);
	else
		*out = d;
	return err;
}

void dnstap_close(struct dnstap *d, uint64_t *written, uint64_t *lost)
{
	if (!d)
		return;
	tap_writer_close(d->out, written, lost);
	free(d);
}
