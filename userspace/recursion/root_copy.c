/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recursion/root_copy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "port/socket.h"
#include "port/tcp.h"
#include "worker/responder.h"
#include "worker/worker.h"
#include "zone/set.h"
#include "zone/zone.h"

/* An address for this purpose alone: the resolver may ask no other address of 127.0.0.0/8. */
#define ADDRESS4 "127.88.0.6"
#define ADDRESS6 "::1"

#define RETRY_NS   (60 * CLOCK_NS_PER_S)
#define PORT_TRIES 16  /* the port that UDP gets may be taken for TCP */
#define TCP_CONNS  64  /* from the resolver alone, for answers that do not fit into UDP */
#define WORKER_ID  999 /* in the thread's name only */

struct root_copy {
	struct engine_data *data;
	struct recursion *recursion;
	struct engine *engine;
	struct responder *responder;
	struct querier *no_resolver; /* NULL: this authority asks no upstream */
	struct port *udp, *tcp;
	struct worker *worker;
	bool is_open;
	bool is_asked;
	int family;
	uint64_t retry_ns;
	char address[PORT_ADDR_TEXT_CAP];
	char problem[512];
};

/* --- The authority ---------------------------------------------------------------------------- */

/* Without a copy it does not answer: a resolver that asks the root servers will soon start. */
static void handle_root_copy(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
			     uint64_t now_ns)
{
	struct root_copy *copy = ctx;

	if (rcu_dereference(copy->data->set)) {
		responder_handle(copy->responder, msgs, n, port, now_ns);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		msgs[i].len = 0;
}

static void port_gone(void *ctx, struct port *port)
{
	struct root_copy *copy = ctx;

	responder_port_gone(copy->responder, port);
}

/* Opens both with the same port number. */
static int open_root_copy_ports(struct root_copy *copy, struct port_addr *addr)
{
	const struct tcp_config tcp = { .n_conns_max = TCP_CONNS,
					.pool_bytes = TCP_POOL_BYTES_MIN };
	int err = -EADDRINUSE;

	for (int i = 0; i < PORT_TRIES && err == -EADDRINUSE; i++) {
		struct socket_config udp = { .listen = *addr };

		err = socket_open(&copy->udp, &udp);
		if (err)
			return err;
		socket_port_addr(copy->udp, &udp.listen);
		err = tcp_open(&copy->tcp, &tcp);
		if (!err)
			err = tcp_listen(copy->tcp, &udp.listen);
		if (!err) {
			tcp_set_name(copy->tcp);
			*addr = udp.listen;
			return 0;
		}
		port_close(copy->udp);
		port_close(copy->tcp);
		copy->udp = copy->tcp = NULL;
	}
	return err;
}

/* Sockets can bind although no loopback interface is up; then no question would arrive. */
static int check_route(const struct port_addr *addr)
{
	struct sockaddr_storage ss;
	socklen_t n = port_addr_to_sockaddr(addr, &ss);
	int fd = socket(addr->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = connect(fd, (struct sockaddr *)&ss, n) ? -errno : 0;
	close(fd);
	return err;
}

static int start_worker(struct root_copy *copy)
{
	const struct engine_config engine = ENGINE_CONFIG_INIT;
	struct responder_config responder = { .resolver = &copy->no_resolver };
	struct worker_config worker = { .id = WORKER_ID,
					.cpu = WORKER_CPU_ANY,
					.handle = handle_root_copy,
					.port_gone = port_gone,
					.ctx = copy };
	struct worker_source source;
	int err = engine_new(&copy->engine, &engine, NULL, copy->data);

	responder.engine = copy->engine;
	if (!err)
		err = responder_new(&copy->responder, &responder);
	if (err)
		return err;
	source = responder_source(copy->responder);
	worker.sources = &source;
	worker.n_sources = 1;
	err = worker_start(&copy->worker, &worker);
	if (!err)
		err = worker_port_add(copy->worker, copy->udp);
	return err ? err : worker_port_add(copy->worker, copy->tcp);
}

static void close_all_root_copy(struct root_copy *copy)
{
	worker_stop(copy->worker);
	responder_free(copy->responder);
	engine_free(copy->engine);
	port_close(copy->udp);
	port_close(copy->tcp);
	copy->worker = NULL;
	copy->responder = NULL;
	copy->engine = NULL;
	copy->udp = copy->tcp = NULL;
	copy->is_open = false;
}

static int open_all_root_copy(struct root_copy *copy, int family)
{
	struct port_addr addr;
	int err = port_addr_from_text(&addr, family == AF_INET ? ADDRESS4 : ADDRESS6, 0);

	if (!err)
		err = open_root_copy_ports(copy, &addr);
	if (!err)
		err = check_route(&addr);
	if (!err)
		err = start_worker(copy);
	if (err) {
		close_all_root_copy(copy);
		return err;
	}
	port_addr_text(&addr, copy->address);
	copy->family = family;
	copy->is_open = true;
	return 0;
}

/* --- The resolver ----------------------------------------------------------------------------- */

/* A family that the resolver's sockets have. */
static int choose_family(const struct config_recursion *config)
{
	bool has_ip4 = !config->outgoing_interface;

	for (char **at = config->outgoing_interface; at && *at; at++)
		has_ip4 |= !strchr(*at, ':');
	return config->do_ip4 && has_ip4 ? AF_INET : AF_INET6;
}

static void fail_root_copy(struct root_copy *copy, uint64_t now_ns, const char *why)
{
	snprintf(copy->problem, sizeof(copy->problem), "%s", why);
	log_warn("recursion.root-copy: %s", why);
	copy->retry_ns = now_ns + RETRY_NS;
}

static void tell_root_copy(const struct root_copy *copy)
{
	if (copy->is_asked)
		log_info("recursion.root-copy: the resolver asks the copy at %s", copy->address);
	else
		log_warn("recursion.root-copy: there is no copy: the root servers are asked");
}

static void choose_root(struct root_copy *copy, bool has_copy, uint64_t now_ns)
{
	char err[512] = "";

	if (has_copy == copy->is_asked)
		return;
	if (recursion_set_root_copy(copy->recursion, has_copy ? copy->address : NULL, err,
				    sizeof(err))) {
		fail_root_copy(copy, now_ns, err);
		return;
	}
	copy->is_asked = has_copy;
	*copy->problem = '\0';
	tell_root_copy(copy);
}

void root_copy_poll(struct root_copy *copy, uint64_t now_ns)
{
	bool has_copy = copy->data->set;
	int family, err;

	if ((!has_copy && !copy->is_asked) || (*copy->problem && now_ns < copy->retry_ns))
		return;
	family = choose_family(recursion_config(copy->recursion));
	if (copy->is_open && copy->family != family) {
		choose_root(copy, false, now_ns);
		if (copy->is_asked)
			return;
		close_all_root_copy(copy);
	}
	if (has_copy && !copy->is_open) {
		err = open_all_root_copy(copy, family);
		if (err) {
			fail_root_copy(copy, now_ns, err_text(err));
			return;
		}
	}
	choose_root(copy, has_copy, now_ns);
}

void root_copy_report(const struct root_copy *copy, struct root_copy_report *out)
{
	const struct zone_set *set = copy->data->set;
	struct zone_set_place first = { 0 };

	*out = (struct root_copy_report){ .problem = *copy->problem ? copy->problem : NULL };
	if (!copy->is_asked || !set)
		return;
	out->address = copy->address;
	out->serial = zone_serial(zone_set_zone(zone_set_next(set, &first)));
}

/* --- From start to end ------------------------------------------------------------------------ */

int root_copy_new(struct root_copy **out, struct engine_data *data, struct recursion *recursion)
{
	struct root_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	copy->data = data;
	copy->recursion = recursion;
	*out = copy;
	return 0;
}

void root_copy_free(struct root_copy *copy)
{
	if (!copy)
		return;
	close_all_root_copy(copy);
	free(copy);
}
