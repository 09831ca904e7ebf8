/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The AF_XDP sockets of an interface. The modes that are tried for the socket of a queue, in order:
 *
 *                      zero-copy: auto        zero-copy: on      zero-copy: off
 *      native program  zero-copy, copy        zero-copy          copy
 *      generic one     copy                   none               copy
 *
 * If none of them works, the kernel's sockets answer. With port: socket they always do.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "iface/cores.h"
#include "iface/iface.h"
#include "iface/iface_guard.h"
#include "broker/network.h"
#include "link/netdev.h"
#include "port/xsk.h"

#define BUSY_POLL_US 20u
#define FRAMES_MIN   1024u
#define RETRY_MAX_S  64u

/* --- One queue -------------------------------------------------------------------------------- */

static int open_mode(const struct iface *iface, uint32_t queue, enum xsk_mode mode,
		     struct port **port)
{
	const struct config_interface *c = &iface->config;
	struct xsk_config config = {
		.ifname = c->name,
		.queue = queue,
		.xsks_map_fd = program_xsks_fd(iface->program),
		.xdp_flags = program_xdp_flags(iface->program),
		.mode = mode,
		.n_frames = c->n_umem_frames,
		.ring_cap = c->ring_size,
		.busy_poll_us = c->busy_poll_budget ? BUSY_POLL_US : 0,
		.busy_poll_budget = c->busy_poll_budget,
		.credit = program_queue(iface->program, queue),
		.tunnels = { .kinds = c->tunnels, .gue_port = c->net_gue_port },
		.open_socket = network_open_xsk,
	};
	int err = xsk_open(port, &config);

	/* RLIMIT_MEMLOCK: a smaller UMEM is better than none. */
	while (err == -ENOBUFS && config.n_frames > FRAMES_MIN) {
		config.n_frames /= 2;
		if (config.ring_cap > config.n_frames / 2)
			config.ring_cap = config.n_frames / 2;
		err = xsk_open(port, &config);
		if (!err)
			log_notice("%s: queue %u: %u frames: no more may be locked (CAP_IPC_LOCK "
				   "or RLIMIT_MEMLOCK)",
				   c->name, queue, config.n_frames);
	}
	return err;
}

/* True for errors that zero-copy and copy mode have in common. */
static bool is_of_both_modes(int err)
{
	return err == -EBUSY || err == -ENETDOWN || err == -ENODEV || err == -EPERM ||
	       err == -ENOBUFS;
}

/* A network driver without XDP_REDIRECT drops frames that the program hands to a copy socket. */
static bool can_redirect(const struct iface *iface)
{
	uint64_t features;

	if (program_mode(iface->program) == PROGRAM_GENERIC)
		return true;
	(void)netdev_xdp_features(iface->ifindex, &features);
	return features & NETDEV_XDP_REDIRECT;
}

/* If zero-copy fails on one queue, it is not tried on others, because each try pins memory. */
static int open_steps(struct iface *iface, uint32_t queue, struct port **port)
{
	const enum config_zero_copy wish = iface->config.zero_copy;
	const bool is_generic = program_mode(iface->program) == PROGRAM_GENERIC;
	int err = is_generic || iface_guard_zerocopy(iface) ? -EOPNOTSUPP : iface->zerocopy_err;

	if (wish != CONFIG_ZERO_COPY_OFF && !err) {
		err = open_mode(iface, queue, XSK_ZEROCOPY, port);
		if (!err || is_of_both_modes(err))
			return err;
		iface->zerocopy_err = err;
	}
	if (wish == CONFIG_ZERO_COPY_ON)
		return err;
	return can_redirect(iface) ? open_mode(iface, queue, XSK_COPY, port) : -ENOTSUP;
}

static int add_queue(struct iface *iface, struct workers *workers, uint32_t queue)
{
	const struct config_interface *c = &iface->config;
	const int cpu = queue < c->n_cores ? c->cores[queue] : WORKER_CPU_ANY;
	const unsigned int worker =
		workers_for_queue(workers, queue, cpu, cores_link_node(c->name));
	struct port *port;
	int err;

	cores_prefer_memory(workers_node(workers, worker));
	err = open_steps(iface, queue, &port);
	cores_prefer_memory(CORES_NODE_ANY);
	if (err)
		return err;
	err = workers_add(workers, worker, port);
	if (err) {
		port_close(port);
		return err;
	}
	iface->ports[queue] = port;
	iface->n_queues++;
	leaving_open(&iface->leaving.queues[queue], clock_ns());
	return 0;
}

static void close_queues(struct iface *iface, struct workers *workers, uint32_t first, uint32_t end)
{
	bool any = false;

	for (uint32_t queue = first; queue < end; queue++) {
		if (!iface->ports[queue])
			continue;
		any = true;
		(void)bpf_map_delete_elem(program_xsks_fd(iface->program), &queue);
	}
	/* A running program may still see the socket. After a grace period none does. */
	if (any)
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	for (uint32_t queue = first; queue < end; queue++) {
		if (!iface->ports[queue])
			continue;
		workers_remove(workers, iface->ports[queue]);
		iface->ports[queue] = NULL;
		iface->n_queues--;
	}
}

void iface_close_ports(struct iface *iface, struct workers *workers, uint32_t first)
{
	close_queues(iface, workers, first, VOLLEY_QUEUES);
}

static void close_stuck(struct iface *iface, struct workers *workers, uint64_t now_ns)
{
	for (uint32_t queue = 0; queue < VOLLEY_QUEUES; queue++)
		if (iface->ports[queue] && iface_guard_is_stuck(iface, queue, now_ns))
			close_queues(iface, workers, queue, queue + 1);
	iface_guard_say_stuck(iface, now_ns);
}

/* --- All of them ------------------------------------------------------------------------------ */

/* In native mode a bond's frames have the number of a member, so its own sockets get none. */
static bool can_have_sockets(const struct iface *iface)
{
	return !link_is(&iface->link, "bond") || program_mode(iface->program) == PROGRAM_GENERIC;
}

/* A socket sends only by the transmit queue with its number. */
static bool has_too_few_tx(const struct iface *iface)
{
	return iface->link.n_tx_queues && iface->link.n_tx_queues < iface->link.n_queues;
}

static uint32_t n_iface_port_wanted(const struct iface *iface)
{
	uint32_t n = iface->link.n_queues;

	if (!can_have_sockets(iface) || iface->mute & IFACE_MUTE_TAGS)
		return 0;
	if (iface->config.n_queues && iface->config.n_queues < n)
		n = iface->config.n_queues;
	if (has_too_few_tx(iface) && iface->link.n_tx_queues < n)
		n = iface->link.n_tx_queues;
	return n < VOLLEY_QUEUES ? n : VOLLEY_QUEUES;
}

static bool is_same_link(const struct link *a, const struct link *b)
{
	return a->ifindex == b->ifindex && a->is_up == b->is_up && a->mtu == b->mtu &&
	       a->n_queues == b->n_queues && a->n_tx_queues == b->n_tx_queues &&
	       a->n_queues_max == b->n_queues_max && a->master == b->master;
}

/* True if failed queues are due: at once after a change of the interface, else ever less often. */
static bool is_iface_port_due(struct iface *iface, bool has_changed, uint64_t now_ns)
{
	if (has_changed)
		iface->retry_s = 0;
	else if (now_ns < iface->retry_at_ns)
		return false;
	iface->retry_s = !iface->retry_s              ? 1 :
			 iface->retry_s < RETRY_MAX_S ? 2 * iface->retry_s :
							RETRY_MAX_S;
	iface->retry_at_ns = now_ns + iface->retry_s * CLOCK_NS_PER_S;
	return true;
}

static const char *reason_text(const struct iface *iface, int err)
{
	const bool is_wished = iface->config.zero_copy == CONFIG_ZERO_COPY_ON;

	if (err == -ENETDOWN)
		return "the interface is down";
	if (err == -EBUSY)
		return "another program has the queue";
	if (is_wished && program_mode(iface->program) == PROGRAM_GENERIC)
		return "zero-copy: on needs native XDP";
	if (is_wished && err == -EOPNOTSUPP)
		return "the driver has no zero-copy: say zero-copy: auto";
	if (err == -ENOTSUP && !can_redirect(iface))
		return "the driver has no XDP_REDIRECT";
	return err_text(err);
}

/* True if the queue has no socket but could have one. */
static bool is_missing(const struct iface *iface, uint32_t queue)
{
	return !iface->ports[queue] && !iface_guard_is_barred(iface, queue, clock_ns());
}

static uint32_t count_iface_port_missing(const struct iface *iface, uint32_t n)
{
	uint32_t n_missing = 0;

	for (uint32_t queue = 0; queue < n; queue++)
		n_missing += is_missing(iface, queue);
	return n_missing;
}

/* Writes the missing queues below n: "2", "1, 3" ... */
static void list_missing(const struct iface *iface, uint32_t n, char *buf, size_t cap)
{
	size_t len = 0;

	*buf = 0;
	for (uint32_t queue = 0; queue < n && len < cap; queue++)
		if (is_missing(iface, queue))
			len += (size_t)snprintf(buf + len, cap - len, "%s%u", len ? ", " : "",
						queue);
}

static void say_iface_port_missing(struct iface *iface, uint32_t n, int err)
{
	char queues[64];

	list_missing(iface, n, queues, sizeof(queues));
	iface_say(iface, IFACE_TOPIC_QUEUES, true,
		  "queue%s %s: no AF_XDP socket (%s); kernel sockets answer",
		  count_iface_port_missing(iface, n) > 1 ? "s" : "", queues,
		  reason_text(iface, err));
}

static void say_mode(struct iface *iface)
{
	const bool could = iface->config.zero_copy == CONFIG_ZERO_COPY_AUTO &&
			   program_mode(iface->program) == PROGRAM_NATIVE;

	const char *quirk = iface_guard_zerocopy(iface);

	if (!iface->n_queues || iface->is_zerocopy || !could || !(quirk || iface->zerocopy_err))
		iface_unsay(iface, IFACE_TOPIC_MODE);
	else if (quirk)
		iface_say(
			iface, IFACE_TOPIC_MODE, false,
			"no zero-copy (%s): frames are copied; zero-copy: on uses it nevertheless",
			quirk);
	else
		iface_say(iface, IFACE_TOPIC_MODE, false, "no zero-copy (%s): frames are copied",
			  iface->zerocopy_err == -EOPNOTSUPP ? "the driver has none" :
							       err_text(iface->zerocopy_err));
}

static void open_missing(struct iface *iface, struct workers *workers, uint32_t n)
{
	const uint32_t n_before = iface->n_queues;
	int err = 0, one;

	for (uint32_t queue = 0; queue < n; queue++) {
		one = !is_missing(iface, queue) ? 0 : add_queue(iface, workers, queue);
		if (one)
			err = one;
	}
	if (err) {
		say_iface_port_missing(iface, n, err);
	} else {
		iface_unsay(iface, IFACE_TOPIC_QUEUES);
		iface->retry_at_ns = 0;
	}
	iface->is_zerocopy = true;
	for (uint32_t queue = 0; queue < n; queue++)
		iface->is_zerocopy &= !iface->ports[queue] || xsk_is_zerocopy(iface->ports[queue]);
	if (iface->n_queues != n_before)
		log_info("%s: AF_XDP on %u queue(s), %s", iface->config.name, iface->n_queues,
			 iface->is_zerocopy ? "zero-copy" : "copy");
}

/* Remarks how receive queues fit the workers. Interrupts are not looked at. */
static void say_cores(struct iface *iface, const struct workers *workers, uint32_t n)
{
	const struct link *link = &iface->link;
	const char *name = iface->config.name;

	for (uint32_t queue = 0; queue < iface->config.n_cores && queue < n; queue++)
		if (!workers_has_cpu(workers, iface->config.cores[queue])) {
			iface_say(iface, IFACE_TOPIC_CORES, false,
				  "cores: no worker is on processor %u of queue %u: "
				  "server.workers are too few",
				  iface->config.cores[queue], queue);
			return;
		}
	if (n && n < link->n_queues && n == link->n_tx_queues)
		iface_say(iface, IFACE_TOPIC_CORES, false,
			  "AF_XDP on %u of %u queues: the others receive and have no transmit "
			  "queue, so kernel sockets answer them",
			  n, link->n_queues);
	else if (n && n < link->n_queues)
		iface_say(iface, IFACE_TOPIC_CORES, false,
			  "AF_XDP on %u of %u queues: kernel sockets answer the others", n,
			  link->n_queues);
	else if (n > workers_n(workers))
		iface_say(iface, IFACE_TOPIC_CORES, false,
			  "%u queues share %u worker(s): volleyctl port queues %s %u and then "
			  "ethtool -L %s for as many, or more server.workers",
			  n, workers_n(workers), name, workers_n(workers), name);
	else if (n && n < workers_n(workers) && link->n_queues < link->n_queues_max)
		iface_say(iface, IFACE_TOPIC_CORES, false,
			  "%u queue(s) for %u workers, and there could be %u (ethtool -L %s)", n,
			  workers_n(workers), link->n_queues_max, name);
	else
		iface_unsay(iface, IFACE_TOPIC_CORES);
}

void iface_open_ports(struct iface *iface, struct workers *workers)
{
	const struct link before = iface->link;
	const uint64_t now_ns = clock_ns();
	uint32_t n;

	iface_watch_tags(iface);
	if (iface->config.port == CONFIG_PORT_DPDK) {
		/* It is away: the one attempt is for when it comes. */
		if (!iface->ifindex && !iface->dpdk)
			return;
		iface_take_place(iface); /* the program is about to be lent */
		iface_open_dpdk(iface, workers);
		return;
	}
	if (!iface->program || iface->config.port == CONFIG_PORT_SOCKET)
		return;
	if (link_read(&iface->link, iface->config.name)) {
		iface->link = before;
		return; /* it is gone: other code notices that */
	}
	iface->link.n_tx_queues = iface_guard_tx_queues(iface, &before);
	/* A veth runs the program only on queues that existed when it was attached. */
	if (iface->link.n_queues > before.n_queues && link_is(&iface->link, "veth") &&
	    program_mode(iface->program) == PROGRAM_NATIVE)
		iface_need(iface, IFACE_DUE_RENEWAL);
	if (!is_same_link(&before, &iface->link))
		leaving_forgive(&iface->leaving);
	close_stuck(iface, workers, now_ns);
	n = n_iface_port_wanted(iface);
	/* The sockets use the old MTU as the limit of replies. */
	iface_close_ports(iface, workers, iface->link.mtu == before.mtu ? n : 0);
	if (count_iface_port_missing(iface, n) &&
	    is_iface_port_due(iface, !is_same_link(&before, &iface->link), now_ns))
		open_missing(iface, workers, n);
	else if (!count_iface_port_missing(iface, n))
		iface_unsay(iface, IFACE_TOPIC_QUEUES);
	say_mode(iface);
	say_cores(iface, workers, n);
}
