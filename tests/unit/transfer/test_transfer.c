/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transfer thread beside control, which is this test, and another name server, which is this
 * test, too: so it is known who speaks next, whatever the time. Nothing is waited for but what has
 * to come.
 */
#include "tests/unit/zone/zone_text.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "config/addresses.h"
#include "port/tcp.h"
#include "transfer/primary_state.h"
#include "transfer/secondary.h"
#include "transfer/transfer.h"
#include "transfer/transfer_thread.h"
#include "worker/handover_queue.h"
#include "worker/worker.h"
#include "xfr/xfr_out.h"

#define PATIENCE_S 60
#define DAY_LONG   "$TTL 300\n@ IN SOA ns host 7 86400 86400 604800 60\n@ NS ns\nns A 192.0.2.1\n"
#define SERIAL     7u

struct scene {
	struct engine_config engine_config;
	struct engine_data published;
	struct transfer *t;
	struct zone *zone;
	unsigned int n_events; /* zones and updates that came */
	/* The other server. */
	int tcp, udp; /* at one port */
	struct config_addr address;
	struct config_remote remote;
	struct config config;
	struct sockaddr_in asker; /* by UDP */
	size_t n_msg;
	uint8_t msg[65536];
};

static char remote_name[] = "other";
static char *remotes[] = { remote_name, NULL };
static const struct config_zone secondary_config = {
	.primaries = remotes,
	.ixfr = true,
	.retry_min_s = 3600,
	.retry_max_s = 3600,
};
static const struct config_zone primary_config = { .notify = remotes };

static const uint8_t *name(const char *text)
{
	static uint8_t names[4][NAME_FOLDED_BYTES];
	static unsigned int turn;
	uint8_t *out = names[turn++ % 4];

	wire_of(out, text);
	return out;
}

/* --- The scene -------------------------------------------------------------------------------- */

static bool bind_both(struct scene *s)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(addr);

	s->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->tcp, (struct sockaddr *)&addr, n), 0);
	assert_int_equal(getsockname(s->tcp, (struct sockaddr *)&addr, &n), 0);
	assert_int_equal(listen(s->tcp, 8), 0);
	s->address = (struct config_addr){ .family = AF_INET, .net_port = addr.sin_port };
	memcpy(s->address.addr, &addr.sin_addr, 4);
	return !bind(s->udp, (struct sockaddr *)&addr, n);
}

static void configure(struct scene *s)
{
	char err[256];

	assert_int_equal(transfer_configure(s->t, &s->config, err, sizeof(err)), 0);
}

static void on_event(void *user, struct transfer_event *event)
{
	struct scene *s = user;

	s->n_events += event->kind == TRANSFER_ZONE || event->kind == TRANSFER_UPDATE;
	zone_builder_free(event->builder);
}

static struct scene *begin_with(enum config_tls tls, struct tcp_intake *intake,
				struct handover *handover)
{
	struct scene *s = calloc(1, sizeof(*s));
	const struct transfer_env env = { .published = &s->published,
					  .engine_config = &s->engine_config,
					  .intake = intake,
					  .handover = handover };

	assert_non_null(s);
	s->engine_config = (struct engine_config)ENGINE_CONFIG_INIT;
	while (!bind_both(s)) {
		close(s->tcp);
		close(s->udp);
	}
	s->remote = (struct config_remote){
		.name = remote_name, .addresses = &s->address, .n_addresses = 1, .tls = tls
	};
	s->config = (struct config){ .remotes = &s->remote,
				     .n_remotes = 1,
				     .n_transfers = 10,
				     .n_transfers_out = 10,
				     .tcp_idle_s = 30 };
	s->zone = zone_of("z", DAY_LONG);
	assert_int_equal(transfer_new(&s->t, &env, on_event, s), 0);
	configure(s);
	return s;
}

static struct scene *begin(enum config_tls tls)
{
	return begin_with(tls, NULL, NULL);
}

/* transfer_stop() was called. */
static void end(struct scene *s)
{
	transfer_free(s->t);
	zone_set_free(s->published.set);
	zone_free(s->zone);
	close(s->tcp);
	close(s->udp);
	free(s);
}

/* --- Control ---------------------------------------------------------------------------------- */

static void put(struct scene *s, const char *zone, const struct config_zone *config)
{
	assert_int_equal(transfer_put_zone(s->t, name(zone), config, NULL), 0);
}

static void wait_for_event(struct scene *s)
{
	struct pollfd p = { .fd = transfer_fd(s->t), .events = POLLIN };

	for (unsigned int n = s->n_events; s->n_events == n; transfer_poll(s->t))
		assert_int_equal(poll(&p, 1, PATIENCE_S * 1000), 1);
}

/* It is served from now on. */
static void publish(struct scene *s)
{
	const struct zone_member member = { .apex = name("z"), .apex_len = 3, .zone = s->zone };
	struct zone_set *set;

	assert_int_equal(zone_set_new(&set, &member, 1), 0);
	rcu_set_pointer(&s->published.set, set);
}

/* What was called before has run. */
static void let_run(struct scene *s)
{
	struct transfer_status status;

	(void)!transfer_status(s->t, name("z"), &status);
}

struct telling {
	struct call call; /* first */
	struct port_addr from;
};

static void run_told(struct transfer *t, struct call *call)
{
	const struct telling *telling = (const struct telling *)call;
	struct transfer_zone *zone = transfer_zones_find(&t->zones, name("z"));
	const uint32_t serial = SERIAL;

	secondary_notified(t, zone, &telling->from, &serial);
}

/* A NOTIFY with the serial number of the zone, as peer_request.c has checked it. */
static void tell(struct scene *s, struct port_addr from)
{
	struct telling telling = { .call.run = run_told, .from = from };

	call_wait(s->t, &telling.call);
}

/* --- The other server ------------------------------------------------------------------------- */

static int take_connection(struct scene *s)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct pollfd p = { .fd = s->tcp, .events = POLLIN };
	int fd;

	assert_int_equal(poll(&p, 1, PATIENCE_S * 1000), 1);
	fd = accept(s->tcp, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	return fd;
}

/* The next request, on a connection of its own. */
static int take_request(struct scene *s, uint16_t qtype)
{
	int fd = take_connection(s);
	uint8_t prefix[2];

	assert_int_equal(recv(fd, prefix, 2, MSG_WAITALL), 2);
	s->n_msg = wire_load_be16(prefix);
	assert_int_equal(recv(fd, s->msg, s->n_msg, MSG_WAITALL), s->n_msg);
	assert_int_equal(wire_load_be16(s->msg + DNS_HEADER_BYTES + 3), qtype); /* behind "z." */
	return fd;
}

/* The same by UDP. */
static void take_datagram(struct scene *s, uint16_t qtype)
{
	struct pollfd p = { .fd = s->udp, .events = POLLIN };

	assert_int_equal(poll(&p, 1, PATIENCE_S * 1000), 1);
	assert_true(recv(s->udp, s->msg, sizeof(s->msg), 0) > DNS_HEADER_BYTES + 5);
	assert_int_equal(wire_load_be16(s->msg + DNS_HEADER_BYTES + 3), qtype);
}

/* All of the zone, and the end of the connection. */
static void give_zone(struct scene *s, int fd)
{
	const struct xfr_out_request request = { .qname = name("z"),
						 .id = wire_load_be16(s->msg),
						 .qtype = DNS_TYPE_AXFR };
	struct xfr_out *out = malloc(sizeof(*out));
	uint8_t msg[2 + 512];
	int n;

	assert_non_null(out);
	xfr_out_axfr(out, &request, s->zone);
	n = xfr_out_next(out, msg + 2, sizeof(msg) - 2, (uint64_t)time(NULL));
	assert_true(n > 0 && xfr_out_is_done(out));
	wire_store_be16(msg, (uint16_t)n);
	assert_int_equal(send(fd, msg, 2 + (size_t)n, MSG_NOSIGNAL), 2 + n);
	xfr_out_fini(out);
	free(out);
	close(fd);
}

/* --- A refresh by hand while control settles what came ---------------------------------------- */

/* A zone has come, and control has it. @told: meanwhile a NOTIFY has said that there is this
 * one. */
static struct scene *begin_settling(bool told)
{
	struct scene *s = begin(CONFIG_TLS_OFF);
	int fd;

	put(s, "z", &secondary_config);
	fd = take_request(s, DNS_TYPE_AXFR);
	if (told)
		tell(s, (struct port_addr){ .family = AF_INET });
	give_zone(s, fd);
	wait_for_event(s);
	return s;
}

/* What was told has come, and so is asked for no more; but who asks for a refresh gets one. */
static void refresh_is_kept_beside_a_notify(void **state)
{
	struct scene *s = begin_settling(true);

	(void)state;
	publish(s);
	assert_int_equal(transfer_refresh(s->t, name("z"), false), 0);
	transfer_settled(s->t, name("z"), 0);
	take_datagram(s, DNS_TYPE_SOA);
	transfer_stop(s->t);
	end(s);
}

static void refresh_of_all_is_kept(void **state)
{
	struct scene *s = begin_settling(true);

	(void)state;
	publish(s);
	assert_int_equal(transfer_refresh(s->t, name("z"), true), 0);
	transfer_settled(s->t, name("z"), 0);
	close(take_request(s, DNS_TYPE_AXFR));
	transfer_stop(s->t);
	end(s);
}

/* The round of the zone has failed, and the error contains `why`. The other server closes each
 * connection without a reply, in general before it has read the request: then the kernel resets it.
 */
static void wait_failed(struct scene *s, const char *zone, const char *why)
{
	struct pollfd p = { .fd = s->tcp, .events = POLLIN };
	struct transfer_status status;

	do {
		if (poll(&p, 1, 1) > 0)
			close(take_connection(s));
		assert_int_equal(transfer_status(s->t, name(zone), &status), 0);
	} while (!*status.error || status.is_running);
	assert_non_null(strstr(status.error, why));
}

/* The other server has not answered lately: another zone has found that out. */
static void make_shunned(struct scene *s)
{
	put(s, "y", &secondary_config);
	close(take_request(s, DNS_TYPE_AXFR));
	wait_failed(s, "y", "");
}

static void refresh_asks_who_did_not_answer(void **state)
{
	struct scene *s = begin_settling(false);

	(void)state;
	make_shunned(s);
	assert_int_equal(transfer_refresh(s->t, name("z"), false), 0);
	transfer_settled(s->t, name("z"), 0);
	close(take_request(s, DNS_TYPE_AXFR));
	transfer_stop(s->t);
	end(s);
}

/* Who speaks is there again; it is asked at once, and for the zone that it spoke of. */
static void notify_asks_who_did_not_answer(void **state)
{
	struct scene *s = begin(CONFIG_TLS_OFF);

	(void)state;
	make_shunned(s);
	put(s, "z", &secondary_config);
	wait_failed(s, "z", "has not answered lately");
	tell(s, config_port_addr(&s->address));
	close(take_request(s, DNS_TYPE_AXFR));
	transfer_stop(s->t);
	end(s);
}

/* --- A NOTIFY over TLS that is answered behind a reload --------------------------------------- */

/* A certificate that nobody asks for. */
static SSL_CTX *make_tls(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();

	assert_true(ctx && key && x);
	assert_true(X509_set_pubkey(x, key) && X509_gmtime_adj(X509_getm_notBefore(x), 0) &&
		    X509_gmtime_adj(X509_getm_notAfter(x), 86400) &&
		    X509_sign(x, key, EVP_sha256()));
	assert_int_equal(SSL_CTX_use_certificate(ctx, x), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	X509_free(x);
	EVP_PKEY_free(key);
	return ctx;
}

static SSL *take_tls(struct scene *s, SSL_CTX *ctx)
{
	SSL *ssl = SSL_new(ctx);

	assert_non_null(ssl);
	assert_int_equal(SSL_set_fd(ssl, take_connection(s)), 1);
	assert_int_equal(SSL_accept(ssl), 1);
	return ssl;
}

/* NOTIFY is short: it comes in one piece. */
static void take_notify(struct scene *s, SSL *ssl)
{
	int n = SSL_read(ssl, s->msg, sizeof(s->msg));

	assert_true(n > 2 + DNS_HEADER_BYTES);
	assert_int_equal(wire_load_be16(s->msg), n - 2);
	s->n_msg = (size_t)n;
}

static void answer_notify(struct scene *s, SSL *ssl)
{
	s->msg[2 + DNS_FLAGS_AT] |= 0x80; /* QR */
	assert_int_equal(SSL_write(ssl, s->msg, (int)s->n_msg), s->n_msg);
}

/* Has the other side closed the connection, or does it within so long? */
static bool is_closed(SSL *ssl, unsigned int ms)
{
	const struct timeval wait = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	uint8_t byte;
	int n;

	assert_int_equal(setsockopt(SSL_get_fd(ssl), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)),
			 0);
	n = SSL_read(ssl, &byte, 1);
	assert_true(n <= 0);
	return SSL_get_error(ssl, n) != SSL_ERROR_WANT_READ;
}

static void end_tls(SSL_CTX *ctx, SSL *ssl)
{
	close(SSL_get_fd(ssl));
	SSL_free(ssl);
	SSL_CTX_free(ctx);
}

/*
 * The book in which its peer stands has gone: a connection that was kept there would be nobody's,
 * and open for ever. Where the answer was not read before the thread stops, this shows nothing.
 */
static void connection_goes_with_its_book(void **state)
{
	struct scene *s = begin(CONFIG_TLS_OPPORTUNISTIC);
	SSL_CTX *ctx = make_tls();
	SSL *ssl;

	(void)state;
	put(s, "z", &primary_config);
	transfer_published(s->t, name("z"));
	ssl = take_tls(s, ctx);
	take_notify(s, ssl);
	configure(s);
	let_run(s);
	answer_notify(s, ssl);
	(void)is_closed(ssl, 3000); /* for the answer to be read */
	transfer_stop(s->t);
	assert_true(is_closed(ssl, 1000));
	end_tls(ctx, ssl);
	end(s);
}

/* --- The end of the listeners ----------------------------------------------------------------- */

static void write_pem(SSL_CTX *ctx, char *certificate, char *key)
{
	FILE *file = fdopen(mkstemp(certificate), "w");

	assert_true(file && PEM_write_X509(file, SSL_CTX_get0_certificate(ctx)));
	fclose(file);
	file = fdopen(mkstemp(key), "w");
	assert_true(file && PEM_write_PrivateKey(file, SSL_CTX_get0_privatekey(ctx), NULL, NULL, 0,
						 NULL, NULL));
	fclose(file);
}

static bool can_connect(const struct config_addr *to)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = to->net_port };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_there;

	memcpy(&addr.sin_addr, to->addr, 4);
	is_there = !connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	close(fd);
	return is_there;
}

/* Listens for TLS at an address of this process; the files are the caller's to unlink. */
static SSL_CTX *listen_tls(struct scene *s, struct config_addr *at, char *certificate, char *key)
{
	SSL_CTX *ctx = make_tls();

	*at = (struct config_addr){ .family = AF_INET, .net_port = htons(8853) };
	memcpy(at->addr, (uint8_t[]){ 127, 77, (uint8_t)(getpid() >> 8), (uint8_t)getpid() }, 4);
	write_pem(ctx, certificate, key);
	s->config.tls_certificate = certificate;
	s->config.tls_key = key;
	s->config.tls_listen = at;
	s->config.n_tls_listen = 1;
	configure(s);
	return ctx;
}

/* The next volleyd listens at the same address: nothing is to come to a socket that nobody reads
 * any more. */
static void nobody_listens_behind_the_stop(void **state)
{
	char certificate[] = "/tmp/volley-cert-XXXXXX", key[] = "/tmp/volley-key-XXXXXX";
	struct scene *s = begin(CONFIG_TLS_OPPORTUNISTIC);
	struct config_addr at;
	SSL_CTX *ctx = listen_tls(s, &at, certificate, key);

	(void)state;
	assert_true(can_connect(&at));
	configure(s);
	let_run(s);
	assert_true(can_connect(&at));
	transfer_stop(s->t);
	assert_false(can_connect(&at));
	unlink(certificate);
	unlink(key);
	SSL_CTX_free(ctx);
	end(s);
}

static int n_tickets;

static int on_ticket(SSL *ssl, SSL_SESSION *session)
{
	(void)ssl, (void)session;
	n_tickets++;
	return 0;
}

static void send_all(int fd, BIO *from)
{
	uint8_t part[4096];
	int n;

	while ((n = BIO_read(from, part, sizeof(part))) > 0)
		assert_int_equal(send(fd, part, (size_t)n, 0), n);
}

/* Octets of the socket for OpenSSL. */
static void receive_some(int fd, BIO *to)
{
	uint8_t part[4096];
	ssize_t n = recv(fd, part, sizeof(part), 0);

	assert_true(n > 0);
	assert_int_equal(BIO_write(to, part, (int)n), n);
}

static const uint8_t notify_q[] = { 0, 19, 0, 7, 0x20, 0,   0, 1, 0, 0, 0,
				    0, 0,  0, 0, 1,    'q', 0, 0, 6, 0, 1 };

#define NOTIFY_BYTES 21

static void send_part(SSL *ssl, int fd, unsigned int from, unsigned int to)
{
	if (from < to)
		assert_int_equal(SSL_write(ssl, notify_q + from, (int)(to - from)), to - from);
	send_all(fd, SSL_get_wbio(ssl));
}

/*
 * Its last flight and the first octets of a NOTIFY, which is refused, go out together, and the rest
 * when session tickets have come. Whether the reply has come.
 */
static bool ask_behind(SSL *ssl, int fd, unsigned int n_first)
{
	uint8_t reply[64];
	int n;

	while (SSL_connect(ssl) != 1) {
		send_all(fd, SSL_get_wbio(ssl));
		receive_some(fd, SSL_get_rbio(ssl));
	}
	send_part(ssl, fd, 0, n_first);
	while (n_first < NOTIFY_BYTES && SSL_read(ssl, reply, sizeof(reply)) <= 0 && n_tickets < 2)
		receive_some(fd, SSL_get_rbio(ssl));
	send_part(ssl, fd, n_first, NOTIFY_BYTES);
	while ((n = SSL_read(ssl, reply, sizeof(reply))) <= 0)
		receive_some(fd, SSL_get_rbio(ssl));
	return n >= 14 && reply[3] == 7 && reply[4] & 0x80;
}

/* A client that waits for a ticket before it asks, or before it has asked the whole question, gets
 * it. */
static const struct {
	const char *name;
	unsigned int n_first; /* octets that come along with the handshake */
} ticket_rows[] = {
	{ "all of the question", NOTIFY_BYTES },
	{ "a part of it", 9 },
	{ "nothing of it", 0 },
};

static void ask_with_tickets(const struct config_addr *at, unsigned int n_first)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = at->net_port };
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval patience = { .tv_sec = 20 };

	n_tickets = 0;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(ctx, on_ticket);
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	BIO_set_mem_eof_return(SSL_get_rbio(ssl), -1);
	memcpy(&to.sin_addr, at->addr, 4);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_true(ask_behind(ssl, fd, n_first));
	assert_int_equal(n_tickets, 2);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
}

/* Each message is its own reply. */
static void answer_all(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		       uint64_t now_ns)
{
	(void)ctx, (void)port, (void)now_ns;
	for (unsigned int i = 0; i < n; i++)
		msgs[i].data[DNS_FLAGS_AT] |= 0x80; /* QR */
}

static struct worker *start_worker(struct tcp_intake *intake, struct port **port)
{
	const struct worker_config config = { .cpu = WORKER_CPU_ANY, .handle = answer_all };
	struct worker *worker = NULL;

	assert_int_equal(tcp_open(port, &(struct tcp_config){ .intake = intake }), 0);
	assert_int_equal(worker_start(&worker, &config), 0);
	assert_int_equal(worker_port_add(worker, *port), 0);
	return worker;
}

/* On the way from the handshake to a worker, what OpenSSL has read of a question is not lost, nor
 * are session tickets. */
static void a_question_behind_the_handshake(void **state)
{
	char certificate[] = "/tmp/volley-cert-XXXXXX", key[] = "/tmp/volley-key-XXXXXX";
	struct tcp_intake *intake = NULL;
	struct config_addr at;
	struct worker *worker;
	struct scene *s;
	struct port *port;

	(void)state;
	assert_int_equal(tcp_intake_new(&intake), 0);
	s = begin_with(CONFIG_TLS_OPPORTUNISTIC, intake, NULL);
	worker = start_worker(intake, &port);
	SSL_CTX_free(listen_tls(s, &at, certificate, key));
	for (size_t i = 0; i < sizeof(ticket_rows) / sizeof(ticket_rows[0]); i++) {
		print_message("%s\n", ticket_rows[i].name);
		ask_with_tickets(&at, ticket_rows[i].n_first);
	}
	transfer_stop(s->t);
	worker_stop(worker);
	port_close(port);
	tcp_intake_free(intake);
	unlink(certificate);
	unlink(key);
	end(s);
}

/* --- Updates that control has not answered ---------------------------------------------------- */

#define UPDATE_HEAD  19 /* header and zone section */
#define UPDATE_BYTES 65500u

static unsigned int count_replies(struct port *p, uint64_t now_ns, const struct port_reply *replies,
				  unsigned int n)
{
	(void)now_ns;
	p->stats.tx += n;
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(replies[i].data[DNS_FLAGS_AT + 1] & 0x0f, DNS_RCODE_SERVFAIL);
	return n;
}

/* Adds one record of 64 KiB to the zone: as many as may wait fill HANDOVER_PENDING_BYTES. */
static bool put_update(struct handover *handover, struct handover_way *way, struct port *port)
{
	static uint8_t update[UPDATE_BYTES] = { 0,   7, 0x28, 0, 0, 1, 0, 0,   0, 1,    0, 0, 1,
						'z', 0, 0,    6, 0, 1, 1, 'z', 0, 0xff, 0, 0, 1 };
	const size_t rdata_at = UPDATE_HEAD + 3 + 10;
	struct port_msg m = { .data = update,
			      .len = sizeof(update),
			      .cap = 512,
			      .family = AF_INET,
			      .peer = { 192, 0, 2, 1 } };

	wire_store_be16(update + rdata_at - 2, (uint16_t)(sizeof(update) - rdata_at));
	port->stats.deferred++;
	return handover_put(handover, way, port, &m, true);
}

static void updates_of_control_leave_the_handover(void **state)
{
	static const struct port_ops ops = { .reply = count_replies };
	struct config_rule all = { .has_prefix = true, .prefix = { .family = AF_INET } };
	struct config_zone config = { .allow_update = { .rules = &all, .n = 1 } };
	struct port port = { .ops = &ops };
	struct handover_way *way = NULL;
	struct handover *handover = NULL;
	struct worker_source source;
	struct pollfd pollfd;
	struct scene *s;

	(void)state;
	assert_int_equal(handover_new(&handover), 0);
	assert_int_equal(handover_way_new(&way, NULL, NULL), 0);
	source = handover_source(way);
	s = begin_with(CONFIG_TLS_OFF, NULL, handover);
	put(s, "z", &config);
	publish(s);
	for (unsigned int i = 0; i < UPDATES_MAX; i++)
		assert_true(put_update(handover, way, &port));
	while (s->n_events < UPDATES_MAX)
		wait_for_event(s);
	/* One more than control takes: it gets an answer. */
	assert_true(put_update(handover, way, &port));
	pollfd = (struct pollfd){ .fd = source.fd, .events = POLLIN };
	assert_int_equal(poll(&pollfd, 1, PATIENCE_S * 1000), 1);
	source.ready(source.ctx, 1);
	assert_int_equal(port.stats.tx, 1);
	transfer_stop(s->t);
	handover_way_free(way);
	end(s);
	handover_free(handover);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refresh_is_kept_beside_a_notify),
		cmocka_unit_test(refresh_of_all_is_kept),
		cmocka_unit_test(refresh_asks_who_did_not_answer),
		cmocka_unit_test(notify_asks_who_did_not_answer),
		cmocka_unit_test(connection_goes_with_its_book),
		cmocka_unit_test(nobody_listens_behind_the_stop),
		cmocka_unit_test(a_question_behind_the_handshake),
		cmocka_unit_test(updates_of_control_leave_the_handover),
	};

	(void)signal(SIGPIPE, SIG_IGN); /* of TLS */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
