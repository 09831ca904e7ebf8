/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lock is held to set, to await and to send the text, but not to write it. */
#include "control/metrics.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/affinity.h"
#include "base/kernel.h"
#include "base/sandbox.h"
#include "port/privileged.h"

#define BACKLOG      16
#define LOOK_MS      500             /* between two checks for requests that take too long */
#define MEMORY_BYTES ((size_t)16384) /* of a connection */
#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* one more, for a new connection before the oldest has gone */
#define PLACES (METRICS_CONNECTIONS + 1)

struct connection {
	struct MHD_Connection *is; /* NULL: the place is free */
	uint64_t since_ns;         /* its request or answer has taken time since then */
	bool is_over;              /* shut down, and closed soon */
};

struct metrics {
	struct MHD_Daemon *http;
	metrics_write_fn *write;
	void *user;
	int listen_fd;
	int ask_fd;  /* wakes control's thread */
	int stop_fd; /* wakes the HTTP thread */
	pthread_t thread;
	bool has_thread;
	struct connection connections[PLACES]; /* only for the HTTP thread */

	pthread_mutex_t lock;
	pthread_cond_t written;
	struct MHD_Response *response; /* the last text; NULL: none yet */
	uint64_t written_ns;
	uint64_t n_written;
	bool is_stopping;
};

/* --- Answers: the HTTP thread ----------------------------------------------------------------- */

static enum MHD_Result tell_metrics(struct MHD_Connection *connection, unsigned int status,
				    const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

/* Called with the lock, which is released during the wait. True if there is a fresh text. */
static bool wait_for_text(struct metrics *m)
{
	uint64_t before = m->n_written;
	struct timespec until;

	if (m->response && clock_ns() - m->written_ns < METRICS_FRESH_NS)
		return true;
	eventfd_write(m->ask_fd, 1);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += METRICS_CONTROL_WAIT_S;
	while (m->n_written == before && !m->is_stopping)
		if (pthread_cond_clockwait(&m->written, &m->lock, CLOCK_MONOTONIC, &until))
			break;
	return m->n_written != before && m->response;
}

static enum MHD_Result give_text(struct metrics *m, struct MHD_Connection *connection)
{
	enum MHD_Result result;
	bool is_there;

	pthread_mutex_lock(&m->lock);
	is_there = wait_for_text(m);
	if (is_there)
		result = MHD_queue_response(connection, MHD_HTTP_OK, m->response);
	pthread_mutex_unlock(&m->lock);
	return is_there ?
		       result :
		       tell_metrics(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "volleyd is busy\n");
}

static enum MHD_Result handle_metrics(void *user, struct MHD_Connection *connection,
				      const char *url, const char *method, const char *version,
				      const char *data, size_t *n_data, void **context)
{
	static const char seen;

	(void)version;
	(void)data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return *n_data ?
			       MHD_NO :
			       tell_metrics(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
	if (*n_data)
		return MHD_NO;
	if (!*context) { /* at the first call there is only the header */
		*context = (void *)(uintptr_t)&seen;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics"))
		return tell_metrics(connection, MHD_HTTP_NOT_FOUND, "/metrics is all there is\n");
	return give_text(user, connection);
}

/* --- Time of connections: the HTTP thread ----------------------------------------------------- */

static struct connection *find_connection(struct metrics *m, const struct MHD_Connection *is)
{
	for (size_t i = 0; i < PLACES; i++)
		if (m->connections[i].is == is)
			return &m->connections[i];
	return NULL;
}

/* libmicrohttpd sees the end of the connection and closes it. */
static void shut(struct connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c->is, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info)
		(void)shutdown(info->connect_fd, SHUT_RDWR);
	c->is_over = true;
}

/* If every place is taken, shuts the connection that has taken longest. */
static void shut_oldest(struct metrics *m)
{
	struct connection *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < PLACES; i++) {
		struct connection *c = &m->connections[i];

		if (!c->is || c->is_over)
			continue;
		n++;
		if (!oldest || c->since_ns < oldest->since_ns)
			oldest = c;
	}
	if (n > METRICS_CONNECTIONS)
		shut(oldest);
}

static void on_metrics_connection(void *user, struct MHD_Connection *is, void **context,
				  enum MHD_ConnectionNotificationCode what)
{
	struct metrics *m = user;
	struct connection *c =
		find_connection(m, what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : is);

	(void)context;
	if (!c)
		return;
	*c = (struct connection){ 0 };
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		c->is = is;
		c->since_ns = clock_ns();
		shut_oldest(m);
	}
}

/* The next request of the connection has a time of its own. */
static void on_completed(void *user, struct MHD_Connection *is, void **context,
			 enum MHD_RequestTerminationCode how)
{
	struct connection *c = find_connection(user, is);

	(void)context, (void)how;
	if (c)
		c->since_ns = clock_ns();
}

/* Shuts connections that have taken too long. True if there are connections. */
static bool shut_late(struct metrics *m)
{
	const uint64_t now_ns = clock_ns();
	bool any = false;

	for (size_t i = 0; i < PLACES; i++) {
		struct connection *c = &m->connections[i];

		any |= c->is != NULL;
		if (c->is && !c->is_over &&
		    now_ns - c->since_ns >= METRICS_REQUEST_S * CLOCK_NS_PER_S)
			shut(c);
	}
	return any;
}

/* --- The HTTP thread -------------------------------------------------------------------------- */

static int metrics_timeout_ms(struct MHD_Daemon *http)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(http, &ms) != MHD_YES)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static bool is_metrics_stopping(struct metrics *m)
{
	bool is;

	pthread_mutex_lock(&m->lock);
	is = m->is_stopping;
	pthread_mutex_unlock(&m->lock);
	return is;
}

static void *serve_metrics(void *user)
{
	struct metrics *m = user;
	struct pollfd fds[] = {
		{ .fd = MHD_get_daemon_info(m->http, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		  .events = POLLIN },
		{ .fd = m->stop_fd, .events = POLLIN },
	};

	if (privilege_drop_thread())
		log_warn("metrics: capabilities that are not needed could not be given up");
	sandbox_enter(SANDBOX_LISTENER);
	(void)!affinity_stand_behind(0); /* on failure it has the priority of the other threads */
	while (!is_metrics_stopping(m)) {
		int ms = metrics_timeout_ms(m->http);

		if (shut_late(m) && (ms < 0 || ms > LOOK_MS))
			ms = LOOK_MS;
		poll(fds, 2, ms);
		MHD_run(m->http);
	}
	return NULL;
}

/* --- Open and close --------------------------------------------------------------------------- */

static int open_metrics_socket(const struct port_addr *listen_at)
{
	const int one = 1;
	int fd = socket(listen_at->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    (listen_at->family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))))
		err = -errno;
	if (!err)
		err = port_bind(fd, listen_at);
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_metrics_fds(struct metrics *m, const struct port_addr *listen_at)
{
	m->listen_fd = open_metrics_socket(listen_at);
	if (m->listen_fd < 0)
		return m->listen_fd;
	m->ask_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	m->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return m->ask_fd < 0 || m->stop_fd < 0 ? -errno : 0;
}

/* libmicrohttpd takes over the listening socket. */
static int start_metrics(struct metrics *m)
{
	int err;

	m->http = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, handle_metrics, m, MHD_OPTION_LISTEN_SOCKET,
		m->listen_fd, MHD_OPTION_CONNECTION_LIMIT, PLACES,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, METRICS_CONNECTIONS_IP,
		MHD_OPTION_CONNECTION_TIMEOUT, METRICS_IDLE_S, MHD_OPTION_NOTIFY_CONNECTION,
		on_metrics_connection, m, MHD_OPTION_NOTIFY_COMPLETED, on_completed, m,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, MEMORY_BYTES, MHD_OPTION_END);
	if (!m->http)
		return -ENOMEM;
	m->listen_fd = -1;
	err = pthread_create(&m->thread, NULL, serve_metrics, m);
	if (err)
		return -err;
	m->has_thread = true;
	pthread_setname_np(m->thread, "volley-metrics");
	return 0;
}

static int say_metrics_refused(const struct port_addr *listen_at, int code, char *err,
			       size_t err_cap)
{
	char text[PORT_ADDR_TEXT_CAP];

	snprintf(err, err_cap, "metrics.listen: cannot listen at %s: %s%s",
		 port_addr_text(listen_at, text), err_text(code),
		 code == -EADDRINUSE    ? ": another server has this address and port" :
		 code == -EADDRNOTAVAIL ? ": give an address of this host" :
					  "");
	return code;
}

int metrics_open(struct metrics **out, const struct port_addr *listen_at,
		 metrics_write_fn *write_fn, void *user, char *err, size_t err_cap)
{
	struct metrics *m = calloc(1, sizeof(*m));
	int code;

	*out = NULL;
	if (!m)
		return say_metrics_refused(listen_at, -ENOMEM, err, err_cap);
	m->write = write_fn;
	m->user = user;
	m->listen_fd = m->ask_fd = m->stop_fd = -1;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->written, NULL);
	code = open_metrics_fds(m, listen_at);
	if (!code)
		code = start_metrics(m);
	if (code) {
		metrics_close(m);
		return say_metrics_refused(listen_at, code, err, err_cap);
	}
	*out = m;
	return 0;
}

static void stop_metrics_thread(struct metrics *m)
{
	pthread_mutex_lock(&m->lock);
	m->is_stopping = true;
	pthread_cond_broadcast(&m->written);
	pthread_mutex_unlock(&m->lock);
	eventfd_write(m->stop_fd, 1);
	pthread_join(m->thread, NULL);
}

static void close_metrics_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void metrics_close(struct metrics *m)
{
	if (!m)
		return;
	if (m->has_thread)
		stop_metrics_thread(m);
	if (m->http)
		MHD_stop_daemon(m->http);
	if (m->response)
		MHD_destroy_response(m->response);
	close_metrics_fd(m->listen_fd);
	close_metrics_fd(m->ask_fd);
	close_metrics_fd(m->stop_fd);
	pthread_cond_destroy(&m->written);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* --- The text: control's thread --------------------------------------------------------------- */

int metrics_fd(const struct metrics *m)
{
	return m->ask_fd;
}

/* NULL: no memory. */
static struct MHD_Response *write_response(const struct metrics *m)
{
	struct metrics_text out = { 0 };
	struct MHD_Response *response = NULL;

	m->write(m->user, &out);
	if (!out.is_failed && out.n)
		response = MHD_create_response_from_buffer(out.n, out.text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(out.text);
		return NULL;
	}
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE) ==
	    MHD_YES)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

/* Connections that still send the previous text keep it. */
void metrics_poll(struct metrics *m)
{
	struct MHD_Response *response, *before;
	eventfd_t n;

	eventfd_read(m->ask_fd, &n);
	response = write_response(m);
	pthread_mutex_lock(&m->lock);
	before = m->response;
	m->response = response;
	m->written_ns = clock_ns();
	m->n_written++;
	pthread_cond_broadcast(&m->written);
	pthread_mutex_unlock(&m->lock);
	if (before)
		MHD_destroy_response(before);
}
