/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/inquiry.h"

#include <string.h>
#include <sys/socket.h>

#include "base/wire.h"
#include "dns/padding.h"
#include "transfer/conn.h"
#include "transfer/primary_state.h"
#include "xfr/xfr_message.h"

struct port_addr inquiry_peer(uint8_t family, const uint8_t bytes[16], __be16 net_port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (family == AF_INET6 && !memcmp(bytes, mapped, sizeof(mapped)))
		return port_addr_make(AF_INET, bytes + sizeof(mapped), net_port);
	return port_addr_make(family, bytes, net_port);
}

void inquiry_send(struct inquiry *i, const uint8_t *out, size_t n)
{
	answered_reply(i->t, &i->answered, out, n);
	if (i->conn && n)
		conn_send(i->conn, out, n);
	if (i->item)
		handover_reply(i->item, out, n);
	i->item = NULL;
}

bool inquiry_is_padded(const struct inquiry *i)
{
	return i->is_padded || (i->who.is_tls && i->q.edns.padding_asked);
}

void inquiry_reply(struct inquiry *i, uint8_t *out, size_t n)
{
	int bytes;

	if (n && inquiry_is_padded(i))
		n = padding_add(out, n, i->cap, tsig_room(&i->tsig));
	bytes = n ? tsig_sign(&i->tsig, out, n, i->cap, i->t->now.wall_s) : 0;

	inquiry_send(i, out, bytes > 0 ? (size_t)bytes : 0);
	if (bytes < 0 && i->conn)
		conn_end(i->conn);
}

/* As the engine says it (RFC 8914). Where the signature is what is wrong, its own record says so. */
static int words_for(const struct empty_reply *r)
{
	if (r->tsig->verdict != TSIG_OK && r->tsig->verdict != TSIG_NONE)
		return EDNS_NO_EDE;
	switch (r->rcode) {
	case DNS_RCODE_REFUSED:
		return DNS_EDE_PROHIBITED;
	case DNS_RCODE_NOTAUTH:
		return DNS_EDE_NOT_AUTHORITATIVE;
	case DNS_RCODE_NOTIMP:
		return DNS_EDE_NOT_SUPPORTED;
	default:
		return EDNS_NO_EDE;
	}
}

/* Where it has no room beside a signature, which counts for more, there is none. */
static size_t add_opt(uint8_t *out, size_t n, const struct empty_reply *r, const struct transfer *t)
{
	struct edns_reply opt = EDNS_REPLY_INIT;
	size_t room = tsig_room(r->tsig);
	struct wire_writer w;

	opt.udp_size = t->env.engine_config->max_udp_bytes;
	opt.dnssec_ok = r->edns->dnssec_ok;
	opt.ede_code = words_for(r);
	if (n + edns_reply_bytes(&opt) + room > r->cap)
		return n;
	wire_writer_init(&w, out + n, r->cap - n);
	if (edns_reply_write(&w, &opt))
		return n;
	wire_store_be16(out + DNS_ARCOUNT_AT, 1);
	return n + w.at;
}

size_t inquiry_write_empty(struct transfer *t, const struct empty_reply *r)
{
	uint8_t *out = t->primary->out;
	int n = xfr_reply(out, r->cap, r->request, r->n, r->flags, r->rcode);

	if (n <= 0)
		return 0;
	return r->edns->present ? add_opt(out, (size_t)n, r, t) : (size_t)n;
}

void inquiry_refuse(struct inquiry *i, uint16_t flags, enum dns_rcode rcode)
{
	const struct empty_reply reply = {
		.request = i->msg,
		.n = i->n,
		.edns = &i->q.edns,
		.tsig = &i->tsig,
		.flags = flags,
		.rcode = rcode,
		.cap = i->conn ? i->cap : inquiry_datagram_size(i),
	};

	inquiry_reply(i, i->t->primary->out, inquiry_write_empty(i->t, &reply));
}

size_t inquiry_datagram_size(const struct inquiry *i)
{
	size_t most = i->t->env.engine_config->max_udp_bytes, size = query_udp_size(&i->q);

	if (size > most)
		size = most;
	return size < i->cap ? size : i->cap;
}
