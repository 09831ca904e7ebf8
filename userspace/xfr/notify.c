/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xfr/notify.h"

#include "base/err.h"
#include "base/wire.h"
#include "dns/rdata.h"

#define FLAGS (DNS_OPCODE_NOTIFY << DNS_OPCODE_SHIFT)

int notify_build(uint8_t *buf, size_t cap, uint16_t id, const uint8_t *zone, const uint8_t *soa,
		 uint16_t soa_bytes, uint32_t soa_ttl)
{
	size_t zone_bytes = name_bytes(zone);
	struct wire_writer w;

	wire_writer_init(&w, buf, cap);
	wire_write_be16(&w, id);
	wire_write_be16(&w, FLAGS | DNS_FLAG_AA);
	wire_write_be16(&w, 1);
	wire_write_be16(&w, 0);
	wire_write_be32(&w, 0);
	wire_write_bytes(&w, zone, zone_bytes);
	wire_write_be16(&w, DNS_TYPE_SOA);
	wire_write_be16(&w, DNS_CLASS_IN);
	if (w.error)
		return w.error;
	if (!soa || wire_writer_left(&w) < 2u + DNS_RR_FIXED_BYTES + soa_bytes)
		return (int)w.at;
	wire_write_be16(&w, DNS_POINTER_BITS << 8 | DNS_HEADER_BYTES);
	wire_write_be16(&w, DNS_TYPE_SOA);
	wire_write_be16(&w, DNS_CLASS_IN);
	wire_write_be32(&w, soa_ttl);
	wire_write_be16(&w, soa_bytes);
	wire_write_bytes(&w, soa, soa_bytes);
	wire_store_be16(buf + DNS_ANCOUNT_AT, 1);
	return (int)w.at;
}

/* Looks for a SOA of the zone in the answer section, and ignores all other records. */
static int read_notify_serial(struct notify *n, struct xfr_message *m)
{
	struct xfr_record r;

	while (xfr_message_next(m, &r)) {
		if (r.section != XFR_ANSWER || n->has_serial || r.type != DNS_TYPE_SOA ||
		    r.class != DNS_CLASS_IN || !name_equal(r.owner, n->zone) ||
		    rdata_check(r.type, r.rdata, r.rdata_bytes))
			continue;
		n->has_serial = true;
		n->serial = xfr_soa_serial(r.rdata, r.rdata_bytes);
	}
	return m->error;
}

int notify_parse(struct notify *n, const uint8_t *msg, size_t len)
{
	struct xfr_message m;
	struct xfr_question q;

	*n = (struct notify){ 0 };
	if (xfr_message_open(&m, msg, len) || m.flags & DNS_FLAG_QR)
		return ERR_CLOSED;
	n->id = m.id;
	n->flags = m.flags;
	if (m.opcode != DNS_OPCODE_NOTIFY)
		return ERR_TYPE;
	if (m.count[XFR_QUESTION] != 1 || xfr_message_question(&m, &q))
		return ERR_FORMAT;
	if (q.type != DNS_TYPE_SOA || q.class != DNS_CLASS_IN)
		return ERR_TYPE;
	n->zone_bytes = q.name_bytes;
	name_fold(n->zone, q.name, q.name_bytes);
	return read_notify_serial(n, &m);
}

int notify_match(const uint8_t *msg, size_t len, uint16_t id, const uint8_t *zone)
{
	struct xfr_message m;
	struct xfr_question q;

	if (xfr_message_open(&m, msg, len) || !(m.flags & DNS_FLAG_QR) || m.id != id ||
	    m.opcode != DNS_OPCODE_NOTIFY)
		return ERR_FORMAT;
	/* Some servers send errors without the question. */
	if (!m.count[XFR_QUESTION])
		return m.rcode;
	if (m.count[XFR_QUESTION] != 1 || xfr_message_question(&m, &q) || q.type != DNS_TYPE_SOA ||
	    q.class != DNS_CLASS_IN || !name_equal(q.name, zone))
		return ERR_FORMAT;
	return m.rcode;
}
