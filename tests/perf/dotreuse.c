/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dotreuse ADDRESS PORT CONNECTIONS SECONDS NAME: short connections over TLS, CONNECTIONS at a
 * time. Each connects, resumes the session of its predecessor, asks for NAME A once, reads the
 * reply and closes. It prints how many connections were answered in a second, how many of all
 * resumed a session, and how many failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_CAP 256
#define QUERY_CAP  300
#define REPLY_CAP  4096

struct place {
	int fd;
	SSL *ssl;
	SSL_SESSION *session; /* of the predecessor */
	bool has_asked;
	int n_read;
	uint8_t reply[REPLY_CAP];
};

static struct sockaddr_in server;
static SSL_CTX *ctx;
static int epoll_fd, query_bytes;
static uint8_t query[QUERY_CAP];
static unsigned long n_done, n_resumed, n_failed;

static void make_query(const char *name)
{
	static const uint8_t header[12] = { 0, 7, 1, 0, 0, 1 };
	uint8_t *out = query + 2 + sizeof(header);

	memcpy(query + 2, header, sizeof(header));
	while (*name) {
		size_t n = strcspn(name, ".");

		*out++ = (uint8_t)n;
		memcpy(out, name, n);
		out += n;
		name += n + (name[n] == '.');
	}
	memcpy(out, "\0\0\1\0\1", 5);
	query_bytes = (int)(out + 5 - query);
	query[1] = (uint8_t)(query_bytes - 2);
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct place *p = SSL_get_app_data(ssl);

	SSL_SESSION_free(p->session);
	p->session = session;
	return 1;
}

static void begin(struct place *p)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = p };

	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (p->fd < 0 ||
	    (connect(p->fd, (struct sockaddr *)&server, sizeof(server)) && errno != EINPROGRESS)) {
		perror("connect");
		exit(1);
	}
	p->ssl = SSL_new(ctx);
	SSL_set_fd(p->ssl, p->fd);
	SSL_set_app_data(p->ssl, p);
	SSL_set_connect_state(p->ssl);
	if (p->session)
		SSL_set_session(p->ssl, p->session);
	p->has_asked = false;
	p->n_read = 0;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, p->fd, &event)) {
		perror("epoll_ctl");
		exit(1);
	}
}

static void again(struct place *p, bool is_ok)
{
	n_done += is_ok;
	n_failed += !is_ok;
	n_resumed += is_ok && SSL_session_reused(p->ssl);
	if (is_ok)
		SSL_shutdown(p->ssl);
	SSL_free(p->ssl);
	close(p->fd);
	begin(p);
}

static bool is_waiting(SSL *ssl, int code)
{
	int why = SSL_get_error(ssl, code);

	return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static void go_on(struct place *p)
{
	int n;

	ERR_clear_error();
	if (!p->has_asked) {
		n = SSL_write(p->ssl, query, query_bytes); /* with the handshake */
		if (n != query_bytes) {
			if (!is_waiting(p->ssl, n))
				again(p, false);
			return;
		}
		p->has_asked = true;
	}
	n = SSL_read(p->ssl, p->reply + p->n_read, REPLY_CAP - p->n_read);
	if (n <= 0) {
		if (!is_waiting(p->ssl, n))
			again(p, false);
		return;
	}
	p->n_read += n;
	if (p->n_read >= 2 && p->n_read >= 2 + (p->reply[0] << 8 | p->reply[1]))
		again(p, true);
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_CAP];
	struct place *places;
	double start, end;
	int n_places;

	if (argc != 6) {
		fprintf(stderr, "usage: dotreuse ADDRESS PORT CONNECTIONS SECONDS NAME\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	server = (struct sockaddr_in){ .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(argv[2])) };
	n_places = atoi(argv[3]);
	if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1 || n_places < 1)
		return 2;
	make_query(argv[5]);
	ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_session_cache_mode(ctx,
				       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
	SSL_CTX_sess_set_new_cb(ctx, on_session);
	epoll_fd = epoll_create1(0);
	places = calloc((size_t)n_places, sizeof(*places));
	start = now_s();
	end = start + atof(argv[4]);
	for (int i = 0; i < n_places; i++)
		begin(&places[i]);
	while (now_s() < end) {
		int n = epoll_wait(epoll_fd, events, EVENTS_CAP, 100);

		for (int i = 0; i < n; i++)
			go_on(events[i].data.ptr);
	}
	printf("%.0f %lu %lu %lu\n", (double)n_done / (now_s() - start), n_done, n_resumed,
	       n_failed);
	return 0;
}
