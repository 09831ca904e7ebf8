/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of the workers: each address has a UDP port in each worker and a listener in each
 * worker's TCP port. An address is opened in all workers or in none. Only its worker uses a TCP
 * port, so control opens the listener and hands it to the worker: worker_call().
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "config/addresses.h"
#include "iface/workers.h"
#include "iface/workers_state.h"
#include "port/privileged.h"
#include "port/socket.h"
#include "port/tcp.h"

static bool is_listen_open(const struct workers *workers, const struct port_addr *addr)
{
	for (uint32_t i = 0; i < workers->n_listen; i++)
		if (port_addr_is_same(&workers->listen[i], addr))
			return true;
	return false;
}

/* True if a socket of volleyd has this address already, so that a probe would fail. */
static bool has_ours(const struct workers *workers, const struct port_addr *addr)
{
	for (uint32_t i = 0; i < workers->n_listen; i++) {
		const struct port_addr *own = &workers->listen[i];

		if (own->family == addr->family && own->port == addr->port &&
		    (port_addr_same_host(own, addr) || port_addr_is_wildcard(own) ||
		     port_addr_is_wildcard(addr)))
			return true;
	}
	return false;
}

/* --- Refusals --------------------------------------------------------------------------------- */

static int say_listen_refused(const struct port_addr *addr, const char *what, int code, char *err,
			      size_t err_cap)
{
	char text[PORT_ADDR_TEXT_CAP];

	snprintf(err, err_cap, "%s: cannot listen (%s): %s%s", port_addr_text(addr, text), what,
		 err_text(code),
		 code == -EADDRINUSE ? ": another server has this address and port" :
		 code == -EACCES     ? ": ports below 1024 need CAP_NET_BIND_SERVICE" :
				       "");
	return code;
}

/*
 * Binds a socket without SO_REUSEPORT, which fails if any other socket has the address. With
 * SO_REUSEPORT, two servers of the same user would share the queries unnoticed.
 */
static int probe_listen(const struct port_addr *addr)
{
	const int one = 1;
	int fd = socket(addr->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)) ||
	    (addr->family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one))))
		err = -errno;
	if (!err)
		err = port_bind(fd, addr);
	close(fd);
	return err;
}

/* Probes all addresses before any is opened, because they may overlap. */
static int probe_all(const struct workers *workers, const struct config_addr *listen, uint32_t n,
		     char *err, size_t err_cap)
{
	uint32_t n_left_out = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct port_addr addr = config_port_addr(&listen[i]);
		int code = has_ours(workers, &addr) ? 0 : probe_listen(&addr);

		if (code == -EAFNOSUPPORT && ++n_left_out < n)
			continue;
		if (code)
			return say_listen_refused(&addr, "UDP", code, err, err_cap);
	}
	return 0;
}

/* --- One address ------------------------------------------------------------------------------ */

struct tcp_wish {
	struct port *port;
	const struct port_addr *addr;
	int fd;
};

static int call_listen(void *user)
{
	const struct tcp_wish *wish = user;

	return tcp_listener_add(wish->port, wish->fd);
}

static int call_unlisten(void *user)
{
	const struct tcp_wish *wish = user;

	return tcp_unlisten(wish->port, wish->addr);
}

static int open_udp(struct workers *workers, unsigned int worker, const struct port_addr *addr)
{
	struct socket_config config = { .listen = *addr };
	struct port *port;
	int err = socket_open(&port, &config);

	return err ? err : workers_add_or_close(workers, worker, port);
}

static int open_listener(const struct member *m, const struct port_addr *addr)
{
	int fd = tcp_listener_open(m->tcp, addr);

	return fd < 0 ? fd :
			worker_call(m->worker, call_listen,
				    &(struct tcp_wish){ .port = m->tcp, .fd = fd });
}

static struct port *find_udp(const struct workers *workers, const struct port_addr *addr)
{
	for (size_t i = 0; i < workers->n_ports; i++) {
		struct port *port = workers->ports[i].port;
		struct port_addr bound;

		if (port->kind != PORT_SOCKET)
			continue;
		socket_port_addr(port, &bound);
		if (port_addr_is_same(&bound, addr))
			return port;
	}
	return NULL;
}

/* Closes what is open of an address. */
static void close_address(struct workers *workers, const struct port_addr *addr)
{
	struct port *udp;

	while ((udp = find_udp(workers, addr)))
		workers_remove(workers, udp);
	for (unsigned int i = 0; i < workers->n; i++) {
		struct member *m = &workers->members[i];

		(void)worker_call(m->worker, call_unlisten,
				  &(struct tcp_wish){ .port = m->tcp, .addr = addr });
		tcp_set_name(m->tcp);
	}
}

/* After an error, the sockets that were opened stay open. */
static int open_address(struct workers *workers, const struct port_addr *addr, const char **what)
{
	int code = 0;

	for (unsigned int i = 0; !code && i < workers->n; i++) {
		struct member *m = &workers->members[i];

		*what = "UDP";
		code = open_udp(workers, i, addr);
		if (code)
			break;
		*what = "TCP";
		code = open_listener(m, addr);
		tcp_set_name(m->tcp);
	}
	return code;
}

/* --- All of them ------------------------------------------------------------------------------ */

static int open_new_listen(struct workers *workers, const struct config_addr *listen, uint32_t n,
			   char *err, size_t err_cap)
{
	for (uint32_t i = 0; i < n; i++) {
		struct port_addr addr = config_port_addr(&listen[i]);
		const char *what;
		int code;

		if (is_listen_open(workers, &addr))
			continue;
		workers->listen[workers->n_listen++] = addr;
		code = open_address(workers, &addr, &what);
		if (code == -EAFNOSUPPORT)
			workers->n_listen--; /* nothing was opened */
		else if (code)
			return say_listen_refused(&addr, what, code, err, err_cap);
	}
	return 0;
}

int workers_listen(struct workers *workers, const struct config_addr *listen, uint32_t n, char *err,
		   size_t err_cap)
{
	const uint32_t n_before = workers->n_listen;
	struct port_addr *room = realloc(workers->listen, (n_before + n + 1) * sizeof(*room));
	int code;

	if (!room) {
		snprintf(err, err_cap, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	workers->listen = room;
	code = probe_all(workers, listen, n, err, err_cap);
	if (!code)
		code = open_new_listen(workers, listen, n, err, err_cap);
	while (code && workers->n_listen > n_before)
		close_address(workers, &workers->listen[--workers->n_listen]);
	return code;
}

static bool is_one_of(const struct config_addr *listen, uint32_t n, const struct port_addr *addr)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct port_addr one = config_port_addr(&listen[i]);

		if (port_addr_is_same(&one, addr))
			return true;
	}
	return false;
}

void workers_stop_elsewhere(const struct workers *workers, const struct config_addr *listen,
			    uint32_t n)
{
	for (size_t i = 0; i < workers->n_ports; i++) {
		const struct workers_port *at = &workers->ports[i];
		struct port_addr bound;

		if (at->port->kind != PORT_SOCKET)
			continue;
		socket_port_addr(at->port, &bound);
		if (!is_one_of(listen, n, &bound))
			port_retire(at->port);
	}
}

void workers_listen_only(struct workers *workers, const struct config_addr *listen, uint32_t n)
{
	uint32_t n_left = 0;

	for (uint32_t i = 0; i < workers->n_listen; i++) {
		if (is_one_of(listen, n, &workers->listen[i]))
			workers->listen[n_left++] = workers->listen[i];
		else
			close_address(workers, &workers->listen[i]);
	}
	workers->n_listen = n_left;
}

bool workers_listens_elsewhere(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n)
{
	for (uint32_t i = 0; i < workers->n_listen; i++)
		if (!is_one_of(listen, n, &workers->listen[i]))
			return true;
	return false;
}

uint32_t workers_n_listen_with(const struct workers *workers, const struct config_addr *listen,
			       uint32_t n)
{
	uint32_t n_all = workers->n_listen;

	for (uint32_t i = 0; i < n; i++) {
		const struct port_addr addr = config_port_addr(&listen[i]);

		n_all += !is_listen_open(workers, &addr);
	}
	return n_all;
}
