/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/tls_relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/wire.h"
#include "dns/edns.h"
#include "resolver/context.h"
#include "resolver/resolver_counters.h"
#include "resolver/tls_relay_state.h"

#define REFUSED_AGAIN_NS 250000000ULL
#define SILENT_AGAIN_NS  CLOCK_NS_PER_S
#define LINE_NS          1500000000ULL /* less than LIBUNBOUND_MORE_MS in tls_relay_config.c */
#define BUSY_AGAIN_NS    20000000ULL
#define REASON_NS        (10 * CLOCK_NS_PER_S) /* how long a reason is valid */

static struct relayed *relayed_of(struct forward_query *query)
{
	return caa_container_of(query, struct relayed, query);
}

/* --- Reasons ---------------------------------------------------------------------------------- */

/* FNV-1a over the folded name and the type. It does not resist deliberate collisions. */
static uint64_t hash_of_tls_relay(const uint8_t *name, size_t n_bytes, uint16_t qtype)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ qtype;

	for (size_t i = 0; i < n_bytes; i++) {
		bool is_upper = name[i] >= 'A' && name[i] <= 'Z';

		hash = (hash ^ (is_upper ? name[i] | 0x20 : name[i])) * 0x100000001b3ULL;
	}
	return hash;
}

static void note_reason(struct tls_relay *r, const struct relayed *q, int ede_code, uint64_t now_ns)
{
	const uint8_t *name = q->bytes + DNS_HEADER_BYTES;
	size_t n_bytes = q->question_bytes - DNS_QUESTION_FIXED_BYTES;
	uint64_t hash = hash_of_tls_relay(name, n_bytes, wire_load_be16(name + n_bytes));

	r->reasons[hash % RELAY_REASONS] = (struct relay_reason){ hash, now_ns, ede_code };
}

static uint16_t set_of_tls_relay(const struct tls_relay *r, const uint8_t *folded, uint16_t qtype)
{
	const uint8_t *parent = qtype == DNS_TYPE_DS ? name_parent(folded) : NULL;
	uint8_t name[NAME_FOLDED_BYTES];

	if (!parent)
		return r->sets[nameset_place(&r->zones, folded)];
	name_fold(name, parent, name_bytes(parent));
	return r->sets[nameset_place(&r->zones, name)];
}

/* The error of the first upstream's connection, if all of the set refuse; NULL: one may be
 * reachable. */
static const char *refusal(const struct tls_relay *r, uint16_t set, unsigned int *upstream)
{
	const char *why = NULL;

	for (unsigned int i = 0; i < r->upstreams.n; i++) {
		if (!(set >> i & 1))
			continue;
		if (!r->refused_since_ns[i])
			return NULL;
		if (!why)
			*upstream = i;
		if (!why)
			why = r->tcp.connections[i].why;
	}
	return why;
}

int tls_relay_explain(const struct tls_relay *r, const uint8_t *folded, uint16_t qtype,
		      uint64_t now_ns, char *text, size_t cap)
{
	uint64_t hash = hash_of_tls_relay(folded, name_bytes(folded), qtype);
	const struct relay_reason *reason = &r->reasons[hash % RELAY_REASONS];
	unsigned int upstream = 0;
	const char *why = refusal(r, set_of_tls_relay(r, folded, qtype), &upstream);

	*text = 0;
	if (why) {
		snprintf(text, cap, "no upstream over TLS can be reached: %s: %s",
			 r->upstreams.all[upstream].name, why);
		return DNS_EDE_NETWORK_ERROR;
	}
	if (reason->hash != hash || !reason->at_ns || now_ns - reason->at_ns > REASON_NS)
		return EDNS_NO_EDE;
	snprintf(text, cap, "the upstream's own reason: extended error %d", reason->ede_code);
	return reason->ede_code;
}

/* --- Queries ---------------------------------------------------------------------------------- */

static void arm_tls_relay(struct tls_relay *r, struct relayed *q, uint64_t at_ns)
{
	deadlines_remove(&q->timer);
	deadlines_add(&r->timers, &q->timer, at_ns < q->end_ns ? at_ns : q->end_ns);
}

static void wait_tls_relay_until(struct tls_relay *r, struct relayed *q, uint64_t at_ns)
{
	q->is_waiting = true;
	arm_tls_relay(r, q, at_ns);
}

/* Takes the query off its connection. */
static void land(struct tls_relay *r, struct relayed *q)
{
	if (!q->query.channel)
		return;
	forward_queries_remove(&q->query);
	r->upstreams.all[q->query.upstream].n_in_flight--;
}

static void put_tls_relay(struct tls_relay *r, struct relayed *q)
{
	land(r, q);
	deadlines_remove(&q->timer);
	cds_list_del(&q->on_list);
	cds_list_add(&q->on_list, &r->free);
	r->n_used--;
}

/* Sends SERVFAIL to a query whose question ends at n_bytes. */
static void refuse_tls_relay(struct relay_client *client, const uint8_t *query, size_t n_bytes)
{
	uint8_t msg[FORWARD_QUERY_MAX];
	uint16_t kept = DNS_FLAG_RD | DNS_FLAG_CD;

	memcpy(msg, query, n_bytes);
	wire_store_be16(msg + DNS_FLAGS_AT,
			(uint16_t)((wire_load_be16(query + DNS_FLAGS_AT) & kept) | DNS_FLAG_QR |
				   DNS_FLAG_RA | DNS_RCODE_SERVFAIL));
	wire_store_be16(msg + DNS_ANCOUNT_AT, 0);
	wire_store_be16(msg + DNS_NSCOUNT_AT, 0);
	wire_store_be16(msg + DNS_ARCOUNT_AT, 0);
	relay_client_reply(client, msg, n_bytes);
}

static void fail_tls_relay(struct tls_relay *r, struct relayed *q)
{
	wire_store_be16(q->bytes + DNS_ID_AT, q->id);
	refuse_tls_relay(q->client, q->bytes, (size_t)DNS_HEADER_BYTES + q->question_bytes);
	put_tls_relay(r, q);
}

/* True if libunbound can ask another upstream that is well. */
static bool has_better(const struct tls_relay *r, uint8_t upstream)
{
	for (unsigned int i = 0; i < r->upstreams.n; i++)
		if (r->peers[upstream] >> i & 1 && !r->refused_since_ns[i] &&
		    !r->upstreams.all[i].n_silent)
			return true;
	return false;
}

/* The upstream cannot be reached. It may be restarting, so without a better one the query waits. */
static void on_refused(struct tls_relay *r, struct relayed *q, uint64_t now_ns)
{
	uint64_t *since_ns = &r->refused_since_ns[q->query.upstream];

	if (!*since_ns)
		*since_ns = now_ns;
	if (has_better(r, q->query.upstream) || now_ns - *since_ns >= TLS_RELAY_PATIENCE_NS)
		fail_tls_relay(r, q);
	else
		wait_tls_relay_until(r, q, now_ns + REFUSED_AGAIN_NS);
}

/* True if the upstream is silent, another is well, and this is not the one query in a second that
 * tests it. */
static bool is_passed_over(const struct tls_relay *r, uint8_t upstream, uint64_t now_ns)
{
	const struct upstream *u = &r->upstreams.all[upstream];

	return u->n_silent && (u->n_in_flight || now_ns - u->backed_off_ns < SILENT_AGAIN_NS) &&
	       has_better(r, upstream);
}

static void send_tls_relay_query(struct tls_relay *r, struct relayed *q, uint64_t now_ns)
{
	struct upstream *u = &r->upstreams.all[q->query.upstream];
	struct forward_channel *channel;

	q->is_waiting = false;
	if (forward_tcp_is_full(&r->tcp, q->query.upstream)) {
		wait_tls_relay_until(r, q, now_ns + BUSY_AGAIN_NS);
		return;
	}
	if (is_passed_over(r, q->query.upstream, now_ns)) {
		fail_tls_relay(r, q);
		return;
	}
	channel = forward_tcp_channel(&r->tcp, q->query.upstream, now_ns);
	if (!channel) {
		on_refused(r, q, now_ns);
		return;
	}
	forward_queries_add(&r->queries, &q->query, channel, &r->random);
	wire_store_be16(q->bytes + DNS_ID_AT, q->query.id);
	forward_tcp_add(&r->tcp, channel, q->bytes, q->n_bytes);
	forward_tap_query(&r->tap, &q->query, q->bytes, q->n_bytes, now_ns);
	q->query.sent_ns = now_ns;
	u->n_sent++;
	u->n_in_flight++;
	arm_tls_relay(r, q, q->end_ns);
}

/* Octets of the query's only question; 0: the query is malformed. */
static size_t question_bytes(const uint8_t *bytes, size_t n)
{
	int n_name = name_check(bytes + DNS_HEADER_BYTES, n - DNS_HEADER_BYTES);
	size_t n_bytes = n_name > 0 ? (size_t)n_name + DNS_QUESTION_FIXED_BYTES : 0;

	if (wire_load_be16(bytes + DNS_QDCOUNT_AT) != 1 || DNS_HEADER_BYTES + n_bytes > n)
		return 0;
	return n_bytes;
}

static bool on_query(void *ctx, struct relay_client *client, const uint8_t *bytes, size_t n)
{
	struct tls_relay *r = ctx;
	size_t n_question = question_bytes(bytes, n);
	uint64_t now_ns = clock_ns();
	struct relayed *q;

	if (!n_question)
		return false;
	if (cds_list_empty(&r->free)) {
		refuse_tls_relay(client, bytes, DNS_HEADER_BYTES + n_question);
		return true;
	}
	q = cds_list_entry(r->free.next, struct relayed, on_list);
	cds_list_del(&q->on_list);
	q->query = (struct forward_query){ .upstream = client->upstream, .is_used = true };
	q->client = client;
	q->end_ns = now_ns + r->wait_ns;
	q->was_in_line = false;
	q->was_lost = false;
	q->id = wire_load_be16(bytes + DNS_ID_AT);
	q->question_bytes = (uint16_t)n_question;
	memcpy(q->bytes, bytes, n);
	q->n_bytes = (uint16_t)padding_add_query(q->bytes, n, sizeof(q->bytes));
	cds_list_add(&q->on_list, &client->queries);
	deadlines_add(&r->timers, &q->timer, q->end_ns);
	r->n_used++;
	send_tls_relay_query(r, q, now_ns);
	return true;
}

static void on_client_closed(void *ctx, struct relay_client *client)
{
	struct tls_relay *r = ctx;

	while (!cds_list_empty(&client->queries))
		put_tls_relay(r, cds_list_entry(client->queries.next, struct relayed, on_list));
}

/* --- Replies ---------------------------------------------------------------------------------- */

static uint8_t fold_tls_relay(uint8_t octet)
{
	return octet >= 'A' && octet <= 'Z' ? octet | 0x20 : octet;
}

/* True if the message is a reply to the query. libunbound checks the letter case. Length octets are
 * no letters. */
static bool is_tls_relay_reply(const struct relayed *q, const uint8_t *msg, size_t n)
{
	size_t n_name = q->question_bytes - DNS_QUESTION_FIXED_BYTES;
	const uint8_t *theirs = msg + DNS_HEADER_BYTES, *ours = q->bytes + DNS_HEADER_BYTES;
	uint16_t flags = wire_load_be16(msg + DNS_FLAGS_AT);

	if (!(flags & DNS_FLAG_QR) || flags & DNS_OPCODE_MASK)
		return false;
	if (!wire_load_be16(msg + DNS_QDCOUNT_AT)) /* an error that is only a header */
		return n == DNS_HEADER_BYTES && flags & DNS_RCODE_MASK;
	if (wire_load_be16(msg + DNS_QDCOUNT_AT) != 1 ||
	    n < (size_t)DNS_HEADER_BYTES + q->question_bytes)
		return false;
	for (size_t i = 0; i < n_name; i++)
		if (fold_tls_relay(theirs[i]) != fold_tls_relay(ours[i]))
			return false;
	return !memcmp(theirs + n_name, ours + n_name, DNS_QUESTION_FIXED_BYTES);
}

static bool is_tls_relay_answer(const struct forward_reply *reply)
{
	return !reply->is_referral &&
	       (reply->rcode == DNS_RCODE_NOERROR || reply->rcode == DNS_RCODE_NXDOMAIN ||
		reply->rcode == DNS_RCODE_YXDOMAIN);
}

static bool on_tls_relay_message(void *ctx, struct forward_channel *channel, uint8_t *msg, size_t n,
				 uint64_t now_ns)
{
	struct tls_relay *r = ctx;
	struct upstream *u = &r->upstreams.all[channel->upstream];
	struct forward_query *query =
		forward_queries_find(&r->queries, channel, wire_load_be16(msg + DNS_ID_AT));
	struct relayed *q = query ? relayed_of(query) : NULL;
	struct forward_reply reply;

	if (!q || !is_tls_relay_reply(q, msg, n)) {
		resolver_count(&r->counters->unmatched);
		return false;
	}
	upstream_on_reply(&r->upstreams, u, now_ns > query->sent_ns ? now_ns - query->sent_ns : 1,
			  now_ns);
	r->refused_since_ns[channel->upstream] = 0;
	if (forward_message_read(&reply, msg, n)) {
		resolver_count(&r->counters->malformed);
		upstream_on_outcome(u, false, now_ns);
		fail_tls_relay(r, q);
		return true;
	}
	forward_tap_reply(&r->tap, query, msg, n);
	upstream_on_outcome(u, is_tls_relay_answer(&reply), now_ns);
	if (!is_tls_relay_answer(&reply) && reply.ede_code != EDNS_NO_EDE)
		note_reason(r, q, reply.ede_code, now_ns);
	wire_store_be16(msg + DNS_ID_AT, q->id);
	relay_client_reply(q->client, msg, reply.end);
	put_tls_relay(r, q);
	return true;
}

/* Queries on a connection that an upstream closed are sent again on a new one, once for each query
 * (RFC 7766 section 6.2.4). */
static void on_tls_relay_broken(void *ctx, struct forward_channel *channel, enum forward_break how,
				uint64_t now_ns)
{
	struct tls_relay *r = ctx;

	if (how == FORWARD_REFUSED && channel->n_queries)
		upstream_on_silence(&r->upstreams.all[channel->upstream], now_ns, now_ns);
	while (!cds_list_empty(&channel->queries)) {
		struct relayed *q = relayed_of(
			cds_list_entry(channel->queries.next, struct forward_query, on_channel));

		land(r, q);
		if (how == FORWARD_REFUSED || q->was_lost) {
			on_refused(r, q, now_ns);
			continue;
		}
		q->was_lost = true;
		wait_tls_relay_until(r, q, now_ns);
	}
}

/* --- Rounds ----------------------------------------------------------------------------------- */

static void on_tls_relay_timer(struct tls_relay *r, struct relayed *q, uint64_t now_ns)
{
	struct forward_channel *channel = q->query.channel;
	uint64_t sent_ns = q->query.sent_ns;

	CDS_INIT_LIST_HEAD(&q->timer.node); /* for a later deadlines_remove() */
	if (now_ns < q->end_ns) {
		send_tls_relay_query(r, q, now_ns);
		return;
	}
	if (channel && !q->was_in_line &&
	    now_ns - r->upstreams.all[q->query.upstream].heard_ns < UPSTREAM_LINE_NS) {
		q->was_in_line = true;
		q->end_ns = now_ns + LINE_NS;
		arm_tls_relay(r, q, q->end_ns);
		return;
	}
	land(r, q);
	if (channel)
		upstream_on_silence(&r->upstreams.all[q->query.upstream], sent_ns, now_ns);
	fail_tls_relay(r, q);
	if (channel)
		forward_tcp_on_silence(&r->tcp, channel, now_ns);
}

static void expire_tls_relay(struct tls_relay *r, uint64_t now_ns)
{
	struct cds_list_head over;

	CDS_INIT_LIST_HEAD(&over);
	deadlines_expire(&r->timers, now_ns, &over);
	while (!cds_list_empty(&over)) {
		struct deadline *first = cds_list_entry(over.next, struct deadline, node);

		cds_list_del(&first->node);
		on_tls_relay_timer(r, caa_container_of(first, struct relayed, timer), now_ns);
	}
}

bool tls_relay_round(struct tls_relay *r, uint64_t now_ns)
{
	bool is_broken;

	expire_tls_relay(r, now_ns);
	is_broken = forward_tcp_end_round(&r->tcp, now_ns);
	forward_board_put(r->board, &r->upstreams, &r->tcp);
	return is_broken;
}

bool tls_relay_is_busy(const struct tls_relay *r)
{
	return r->n_used;
}

/* --- Beginning and end ------------------------------------------------------------------------ */

static int init_tls_relay_upstreams(struct tls_relay *r, const struct resolver_config *c, char *err,
				    size_t cap)
{
	const struct upstreams_config upstreams = {
		.addresses = r->addresses,
		.has_names = true,
		.allow_localhost = c->query_localhost,
		.wait_max_ms = c->upstream_timeout_ms,
		.window_max = FORWARD_TCP_IN_FLIGHT,
	};
	int code = relay_config_collect(r, c, err, cap);

	if (!code)
		code = upstreams_init(&r->upstreams, &upstreams, err, cap);
	return code ? code : upstreams_tls_new(&r->tls, c->tls_bundle, err, cap);
}

static int init_queries(struct tls_relay *r, const struct resolver_config *config)
{
	uint32_t n = 2 * config->upstream_max;

	CDS_INIT_LIST_HEAD(&r->free);
	deadlines_init(&r->timers, clock_ns());
	r->all = calloc(n, sizeof(*r->all));
	if (!r->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		cds_list_add_tail(&r->all[i].on_list, &r->free);
	return forward_queries_init(&r->queries, n);
}

static int init_tcp(struct tls_relay *r, const struct resolver_config *config,
		    struct event_base *base)
{
	const struct forward_tcp_config tcp = {
		.upstreams = &r->upstreams,
		.base = base,
		.events = { r, on_tls_relay_message, on_tls_relay_broken },
		.silence_ns = 2 * r->wait_ns,
		.tls = r->tls,
		.from = config->outgoing_interfaces,
		.n_sent = &r->counters->queries_tcp,
		.n_tls_failed = &r->counters->tls_failed,
	};

	return forward_tcp_init(&r->tcp, &tcp);
}

/* True if libunbound cannot ask over IPv4: it may not, or has no address for it. */
static bool is_without_ip4(const struct resolver_config *c)
{
	bool has_ip4 = !c->outgoing_interfaces || !c->outgoing_interfaces[0];

	for (const char *const *from = c->outgoing_interfaces; from && *from; from++)
		has_ip4 |= !strchr(*from, ':');
	for (size_t i = 0; i < c->n_tuning; i++)
		if (!strcmp(c->tuning[i].name, "do-ip4:"))
			has_ip4 &= !strcmp(c->tuning[i].value, "yes");
	for (size_t i = 0; i < c->n_options; i++)
		if (!strcmp(c->options[i].name, "do-ip4:"))
			has_ip4 &= !strcmp(c->options[i].value, "yes");
	return !has_ip4;
}

static int init_clients(struct tls_relay *r, const struct resolver_config *config,
			struct event_base *base, char *err, size_t cap)
{
	const struct relay_clients_config clients = {
		.base = base,
		.events = { r, on_query, on_client_closed },
		.random = &r->random,
		.n_upstreams = r->upstreams.n,
		.query_max = FORWARD_QUERY_MAX,
		.is_ip6 = is_without_ip4(config),
	};
	int code = relay_clients_init(&r->clients, &clients);

	if (!code || code == -ENOMEM)
		return code;
	snprintf(err, cap,
		 "cannot open a loopback port for libunbound's queries to upstreams over TLS: %s",
		 err_text(code));
	return ERR_CONFIG;
}

int tls_relay_new(struct tls_relay **out, const struct resolver_config *config,
		  struct event_base *base, struct resolver_counters *counters,
		  struct forward_board *board, char *err, size_t cap)
{
	struct tls_relay *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return -ENOMEM;
	r->counters = counters;
	r->board = board;
	r->wait_ns = config->upstream_timeout_ms * CLOCK_NS_PER_MS;
	random_init(&r->random);
	code = init_tls_relay_upstreams(r, config, err, cap);
	if (!code)
		code = relay_config_zones(r, config);
	if (!code)
		code = init_queries(r, config);
	if (!code)
		code = init_tcp(r, config, base);
	if (!code)
		code = init_clients(r, config, base, err, cap);
	if (!code)
		code = relay_config_make(r, config);
	if (code) {
		tls_relay_free(r);
		return code;
	}
	forward_board_init(r->board, &r->upstreams,
			   &(struct forward_ways){ .tcp_only = true, .has_tls = true });
	forward_board_put(r->board, &r->upstreams, &r->tcp);
	*out = r;
	return 0;
}

void tls_relay_set_tap(struct tls_relay *r, struct tap_producer *producer)
{
	r->tap = (struct forward_tap){ producer, &r->upstreams, true };
}

void tls_relay_free(struct tls_relay *r)
{
	if (!r)
		return;
	relay_clients_fini(&r->clients);
	if (r->tcp.base)
		forward_tcp_fini(&r->tcp);
	SSL_CTX_free(r->tls);
	forward_queries_fini(&r->queries);
	relay_config_fini(r);
	free(r->all);
	free(r);
}

const struct resolver_config *tls_relay_config(const struct tls_relay *r)
{
	return &r->libunbound.config;
}
