/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/inquiry.h"

#include <string.h>
#include <sys/socket.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/padding.h"
#include "engine/block_lookup.h"
#include "transfer/handout.h"
#include "transfer/questions.h"
#include "transfer/server.h"
#include "transfer/told.h"
#include "transfer/updates.h"
#include "xfr/notify.h"

struct port_addr inquiry_peer(uint8_t family, const uint8_t bytes[16], __be16 net_port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct port_addr addr = { .family = family, .port = net_port };

	if (family == AF_INET6 && !memcmp(bytes, mapped, sizeof(mapped))) {
		addr.family = AF_INET;
		memcpy(addr.bytes, bytes + sizeof(mapped), 4);
	} else {
		memcpy(addr.bytes, bytes, family == AF_INET ? 4 : 16);
	}
	return addr;
}

/* ---- Replies ------------------------------------------------------------------------------------ */

static void send_reply(struct inquiry *i, const uint8_t *out, size_t n)
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

	send_reply(i, out, bytes > 0 ? (size_t)bytes : 0);
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

/* ---- What it may be ----------------------------------------------------------------------------- */

static void refuse_notify(struct inquiry *i, const uint8_t *zone, enum dns_rcode rcode)
{
	const struct told who = told_of(i, zone);

	transfer_count(i->t, notify_refused);
	told_refused(AUDIT_NOTIFY_REFUSED, &who, rcode,
		     rcode == DNS_RCODE_NOTAUTH ? "the zone has no primaries here" :
						  "neither a primary nor in allow-notify");
	inquiry_refuse(i, DNS_FLAG_AA, rcode);
}

static void take_notify(struct inquiry *i)
{
	struct transfer *t = i->t;
	struct transfer_zone *zone;
	struct notify n;
	int err = notify_parse(&n, i->msg, i->n);

	if (err) {
		inquiry_refuse(i, 0, err == ERR_TYPE ? DNS_RCODE_NOTIMP : DNS_RCODE_FORMERR);
		return;
	}
	zone = transfer_zones_find(&t->zones, n.zone);
	if (!zone || !zone->secondary) {
		refuse_notify(i, n.zone, DNS_RCODE_NOTAUTH);
		return;
	}
	if (!rules_are_primary(t, zone, &i->who) &&
	    !rules_allow(t, &zone->config.allow_notify, &i->who)) {
		refuse_notify(i, n.zone, DNS_RCODE_REFUSED);
		return;
	}
	transfer_count(t, notify_in);
	inquiry_refuse(i, DNS_FLAG_AA, DNS_RCODE_NOERROR);
	secondary_notified(t, zone, &i->who.addr, n.has_serial ? &n.serial : NULL);
}

/* The serial number that an IXFR begins with: that of the SOA in its authority section (RFC 1995). */
static bool read_serial(const struct inquiry *i, uint32_t *serial)
{
	struct xfr_question question;
	struct xfr_message m;
	struct xfr_record r;

	if (xfr_message_open(&m, i->msg, i->n) || xfr_message_question(&m, &question))
		return false;
	r.owner_bytes = 0;
	while (xfr_message_next(&m, &r)) {
		if (r.section != XFR_AUTHORITY || r.type != DNS_TYPE_SOA || r.rdata_bytes < 22)
			continue;
		*serial = xfr_soa_serial(r.rdata, r.rdata_bytes);
		return true;
	}
	return false;
}

static void refuse_transfer(struct inquiry *i, enum dns_rcode rcode)
{
	const struct told who = told_of(i, i->q.folded);

	transfer_count(i->t, out_refused);
	told_refused(AUDIT_TRANSFER_REFUSED, &who, rcode,
		     rcode == DNS_RCODE_NOTAUTH ? "not a zone of ours" : "not in allow-transfer");
	inquiry_refuse(i, 0, rcode);
}

static void take_transfer(struct inquiry *i)
{
	struct transfer *t = i->t;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, i->q.folded);
	uint32_t serial = 0;

	if (i->q.qtype == DNS_TYPE_AXFR && !i->conn) {
		inquiry_refuse(i, 0, DNS_RCODE_NOTIMP);
		return;
	}
	if (!zone || !rules_allow(t, &zone->config.allow_transfer, &i->who)) {
		refuse_transfer(i, zone ? DNS_RCODE_REFUSED : DNS_RCODE_NOTAUTH);
		return;
	}
	if (i->q.qtype == DNS_TYPE_IXFR && !read_serial(i, &serial)) {
		inquiry_refuse(i, 0, DNS_RCODE_FORMERR);
		return;
	}
	if (i->conn)
		handout_begin(i, zone, serial);
	else
		handout_datagram(i, zone, serial);
}

size_t inquiry_datagram_size(const struct inquiry *i)
{
	size_t most = i->t->env.engine_config->max_udp_bytes, size = query_udp_size(&i->q);

	if (size > most)
		size = most;
	return size < i->cap ? size : i->cap;
}

/* What fits the client, and leaves room for the signature. */
static size_t question_cap(const struct inquiry *i)
{
	size_t cap = i->conn ? i->cap : inquiry_datagram_size(i), room = tsig_room(&i->tsig);

	return cap > room ? cap - room : 0;
}

/* Who may have all of a zone may ask for its SOA, whoever else may ask: secondaries do so first. */
static const struct transfer_zone *zone_of_secondary(const struct inquiry *i)
{
	const struct transfer_zone *zone;

	if (i->q.qtype != DNS_TYPE_SOA || i->q.qclass != DNS_CLASS_IN)
		return NULL;
	zone = transfer_zones_find(&i->t->zones, i->q.folded);
	return zone && rules_allow(i->t, &zone->config.allow_transfer, &i->who) ? zone : NULL;
}

/* For who asks how long the connection may be idle: RFC 7828. */
static uint16_t idle_100ms(const struct inquiry *i)
{
	const struct primary_settings *settings = i->t->primary->settings;
	const uint32_t idle = 10 * (settings ? settings->idle_s : SERVER_IDLE_S);

	return idle < UINT16_MAX ? (uint16_t)idle : UINT16_MAX;
}

static void take_question(struct inquiry *i)
{
	const struct transfer_zone *zone = zone_of_secondary(i);
	struct primary *p = i->t->primary;
	struct engine_request rq = {
		.msg = i->msg,
		.len = i->n,
		.stream = i->conn,
		.idle_100ms = idle_100ms(i),
		.family = i->who.addr.family,
		.client = i->who.addr.bytes,
		.sees_zones = zone,
		.now_ns = i->t->now.ns,
		.now_s = i->t->now.coarse_s,
		.wall_s = (uint32_t)i->t->now.wall_s,
	};
	size_t n;

	/* A worker knows by a client's address alone who may see a zone. */
	if (!zone && i->conn && questions_ask(i, rq.idle_100ms, question_cap(i)))
		return;
	rq.has_expire = zone && secondary_expire_left(i->t, zone, &rq.expire_s);
	rcu_thread_online();
	n = engine_answer(p->engine, &rq, p->out, question_cap(i));
	rcu_thread_offline();
	if (n == ENGINE_CLOSE) {
		conn_end(i->conn);
		return;
	}
	inquiry_reply(i, p->out, n);
}

static bool is_transfer(const struct query *q)
{
	return q->qclass == DNS_CLASS_IN &&
	       (q->qtype == DNS_TYPE_AXFR || q->qtype == DNS_TYPE_IXFR);
}

bool inquiry_is_last(const uint8_t *msg, size_t n)
{
	struct query q;
	enum query_verdict verdict = query_parse(&q, msg, n);

	return verdict == QUERY_NOTIMP || (verdict == QUERY_OK && is_transfer(&q));
}

static void take(struct inquiry *i)
{
	if (i->q.opcode == DNS_OPCODE_NOTIFY)
		take_notify(i);
	else if (i->q.opcode == DNS_OPCODE_UPDATE)
		updates_take(i);
	else if (is_transfer(&i->q))
		take_transfer(i);
	else
		take_question(i);
}

/* ---- Blocks ------------------------------------------------------------------------------------- */

/*
 * Whether a block drops or refuses it: then an engine says so. What a worker has handed over was let through there, but
 * not what follows on a connection.
 */
static bool is_blocked(const struct inquiry *i, enum query_verdict verdict)
{
	struct blocks_verdict v = { 0 };
	const struct blocks *b;

	if (!i->conn)
		return false;
	rcu_thread_online();
	b = rcu_dereference(i->t->env.published->blocks);
	if (b && b->kinds)
		v = blocks_judge(b, i->who.addr.family, i->who.addr.bytes,
				 verdict == QUERY_OK ? &i->q : NULL, i->t->now.coarse_s);
	rcu_thread_offline();
	return v.action == VOLLEY_BLOCK_DROP || v.action == VOLLEY_BLOCK_REFUSE;
}

/* ---- Signature ---------------------------------------------------------------------------------- */

/* Nobody behind this needs the record any more, and an engine would say that it has no keys. */
static void cut_tsig(struct inquiry *i, size_t body_bytes)
{
	uint16_t n = wire_load_be16(i->msg + DNS_ARCOUNT_AT);

	wire_store_be16(i->msg + DNS_ARCOUNT_AT, (uint16_t)(n - 1));
	i->n = body_bytes;
	i->who.key = i->tsig.key;
}

static void check_tsig(struct inquiry *i)
{
	size_t body_bytes;
	enum tsig_verdict verdict = tsig_verify_request(&i->tsig, i->t->book->keys, i->msg, i->n,
							i->t->now.wall_s, &body_bytes);

	if (verdict != TSIG_NONE && verdict != TSIG_OK) {
		transfer_count(i->t, tsig_bad);
		told_tsig(i, verdict);
		inquiry_refuse(i, 0, tsig_rcode(verdict));
		return;
	}
	if (verdict == TSIG_OK)
		cut_tsig(i, body_bytes);
	take(i);
}

/* Before the TSIG is cut off: it is told as it came. */
static void open_answer(struct inquiry *i)
{
	const struct handover_item *item = i->item;
	const struct port_addr local =
		i->conn ? i->conn->local :
			  inquiry_peer(item->family, item->local, item->local_port);
	const struct answered_ends ends = {
		.peer = &i->who.addr,
		.local = &local,
		.transport = !i->conn        ? TAP_UDP :
			     i->conn->is_tls ? TAP_TLS :
					       TAP_TCP,
	};

	answered_begin(i->t, &i->answered, &ends, &i->q, i->msg, i->n);
}

void inquiry_handle(struct inquiry *i)
{
	enum query_verdict verdict = query_parse(&i->q, i->msg, i->n);

	if (verdict == QUERY_IGNORE) {
		send_reply(i, NULL, 0);
		return;
	}
	open_answer(i);
	/* Whatever is wrong with it, the engine has the words for it. */
	if ((verdict == QUERY_OK || verdict == QUERY_NOTIMP) && !is_blocked(i, verdict))
		check_tsig(i);
	else
		take_question(i);
	tsig_fini(&i->tsig);
	answered_fini(&i->answered);
}
