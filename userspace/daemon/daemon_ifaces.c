/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's interfaces: attached at the start, by a command, or when they come back. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/privilege.h"
#include "bpf/services.h"
#include "daemon/daemon_internal.h"
#include "iface/dpdk_iface.h"
#include "iface/iface_guard.h"
#include "iface/iface_peer.h"

static int attach(struct daemon *d, struct iface *iface)
{
	int err = iface_attach(iface, &d->maps, &d->sizes);

	if (err != -EPROTO && err != ERR_RUNNING)
		return 0;
	/* it would go on answering beside us, from old data; why has been said */
	log_error("%s: not started beside what is there", iface->config.name);
	return err;
}

/*
 * Programs that ours are to replace answer on until there are workers; for the heartbeat. Not those that have fallen
 * silent, since what they have may be of another time.
 */
static void keep_old_alive(struct daemon *d)
{
	uint32_t *until_s;

	pthread_mutex_lock(&d->alive_lock);
	for (size_t i = 0; i < d->n_ifaces; i++) {
		until_s = d->ifaces[i].program ? program_old_deadline(d->ifaces[i].program) : NULL;
		if (until_s && __atomic_load_n(until_s, __ATOMIC_ACQUIRE) > clock_coarse_s())
			d->alive_old[d->n_alive_old++] = until_s;
	}
	pthread_mutex_unlock(&d->alive_lock);
}

/*
 * A volleyd that died while it gave its interfaces another cache leaves two: the newer one first. What
 * was withdrawn was withdrawn from both (cache/sweep.h), and both have one table of generations.
 */
int daemon_attach_all(struct daemon *d)
{
	uint32_t there[CONFIG_INTERFACES_MAX] = { 0 };
	bool is_done[CONFIG_INTERFACES_MAX] = { false };
	size_t i, k, best;
	int err = 0;

	for (i = 0; i < d->n_ifaces; i++)
		if (d->ifaces[i].config.xdp != CONFIG_XDP_OFF)
			there[i] = program_find(d->ifaces[i].config.name);
	for (k = 0; !err && k < d->n_ifaces; k++) {
		best = d->n_ifaces;
		for (i = 0; i < d->n_ifaces; i++)
			if (!is_done[i] && (best == d->n_ifaces || there[i] > there[best]))
				best = i;
		is_done[best] = true;
		err = attach(d, &d->ifaces[best]);
	}
	keep_old_alive(d);
	return err;
}

void daemon_take_places(struct daemon *d)
{
	for (size_t i = 0; i < d->n_ifaces; i++)
		iface_take_place(&d->ifaces[i]);
}

static struct iface *find_iface(struct daemon *d, const char *ifname)
{
	size_t i;

	for (i = 0; i < d->n_ifaces; i++)
		if (!strcmp(d->ifaces[i].config.name, ifname))
			return &d->ifaces[i];
	return NULL;
}

void daemon_clean_others(struct daemon *d)
{
	struct if_nameindex *names = if_nameindex(), *name;

	for (name = names; name && name->if_name; name++) {
		const struct iface *iface = find_iface(d, name->if_name);

		if ((!iface || !iface->program) && program_clean_up(name->if_name))
			log_notice("%s: an earlier volleyd left its XDP program: it answers no "
				   "more",
				   name->if_name);
	}
	if_freenameindex(names);
}

/* While there are workers; a crew that is yet to come opens all at once. */
static int attach_and_open(struct daemon *d, struct iface *iface)
{
	int code = iface_attach(iface, &d->maps, &d->sizes);

	if (code || !d->crew)
		return code;
	iface_open_ports(iface, d->crew);
	iface_take_place(iface);
	return 0;
}

/* The same for one that a reload brings or changes. */
static int begin(struct daemon *d, struct iface *iface)
{
	if (!d->is_anonymous)
		return attach_and_open(d, iface);
	iface->wanted = false;
	iface_say(iface, IFACE_TOPIC_PROGRAM, true, "no BPF maps; kernel sockets answer");
	return 0;
}

static void renew(struct daemon *d, struct iface *iface)
{
	int err = program_renew(iface->program, &d->maps);

	iface->is_renewal_due = false;
	if (err)
		log_warn("%s: attaching the XDP program anew: %s; some frames do not come to it",
			 iface->config.name, err_text(err));
}

static void reattach(struct daemon *d, struct iface *iface)
{
	const bool has_peer_lost = iface->has_peer_lost;

	iface_close(iface, d->crew, false);
	iface->has_peer_lost = has_peer_lost;
	(void)attach_and_open(d, iface);
}

/* Has the interface come, gone, lost its program, or lost the one that was in the way? */
static void check(struct daemon *d, struct iface *iface)
{
	bool is_sound = iface->ifindex && iface_is_sound(iface);

	if (!iface->wanted)
		return;
	if (is_sound && !iface_is_cleared(iface)) {
		iface_open_ports(iface, d->crew);
		iface_watch_driver(iface);
		iface_watch_neighbours(iface);
		if (iface->is_renewal_due)
			renew(d, iface);
		if (iface->is_reattach_due)
			reattach(d, iface);
		return;
	}
	if (!iface->ifindex && !if_nametoindex(iface->config.name))
		return;
	if (iface->ifindex && !is_sound) {
		log_warn("%s: the interface or its XDP program is gone", iface->config.name);
		iface_close(iface, d->crew, false);
	}
	(void)attach_and_open(d, iface);
}

void daemon_check_ifaces(struct daemon *d)
{
	for (size_t i = 0; i < d->n_ifaces; i++)
		check(d, &d->ifaces[i]);
}

void daemon_guard_ifaces(struct daemon *d)
{
	struct iface *iface;

	for (iface = d->ifaces; iface < d->ifaces + d->n_ifaces; iface++) {
		if (!iface->wanted)
			continue;
		iface_peer_watch(iface, clock_ns());
		if (iface->is_reattach_due)
			reattach(d, iface);
	}
}

void daemon_look_at_load(struct daemon *d)
{
	struct iface *iface;

	for (iface = d->ifaces; iface < d->ifaces + d->n_ifaces; iface++) {
		overload_look(&iface->overload, iface->config.name, iface->program, clock_ns());
		iface_guard_hits(iface, clock_ns());
	}
}

/* NULL: there are too many. */
static struct iface *add_iface(struct daemon *d, const struct config_interface *config)
{
	struct iface *iface;

	if (d->n_ifaces == CONFIG_INTERFACES_MAX)
		return NULL;
	iface = &d->ifaces[d->n_ifaces++];
	iface_init(iface, config);
	return iface;
}

/* As an interface that the configuration does not know gets its defaults. */
static struct iface *add_by_hand(struct daemon *d, const char *ifname)
{
	struct config_interface config = { .driver_answers = true };
	struct iface *iface = NULL;

	if (strlen(ifname) < sizeof(config.name)) {
		snprintf(config.name, sizeof(config.name), "%s", ifname);
		iface = add_iface(d, &config);
	}
	if (iface)
		iface->is_added = true;
	return iface;
}

/* Behind iface_close(). */
static void drop_iface(struct daemon *d, struct iface *iface)
{
	const struct iface *end = d->ifaces + d->n_ifaces;

	memmove(iface, iface + 1, (size_t)(end - (iface + 1)) * sizeof(*iface));
	d->n_ifaces--;
}

/* What a command has brought goes with a command; what the configuration says of it holds again. */
static void take_back(struct daemon *d, struct iface *iface)
{
	if (iface->is_added) {
		drop_iface(d, iface);
		return;
	}
	iface->config.xdp = CONFIG_XDP_OFF;
	iface->is_switched_on = false;
}

int daemon_attach(struct daemon *d, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(d, ifname);
	int code;

	if (!if_nametoindex(ifname)) {
		snprintf(err, err_cap, "%s: no such interface", ifname);
		return -ENODEV;
	}
	if (d->is_anonymous) {
		snprintf(err, err_cap, "BPF maps could not be made when volleyd started%s",
			 privilege_has_xdp() ? ": its log says why" :
					       ": it needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN");
		return -EPERM;
	}
	if (!iface)
		iface = add_by_hand(d, ifname);
	if (!iface)
		return ERR_LIMIT;
	iface->wanted = true;
	if (iface->program)
		return 0;
	if (iface->config.xdp == CONFIG_XDP_OFF) {
		iface->config.xdp = CONFIG_XDP_AUTO;
		iface->is_switched_on = true;
	}
	code = attach_and_open(d, iface);
	if (code)
		snprintf(err, err_cap, "%s: %s", ifname, iface->note);
	return code;
}

int daemon_detach(struct daemon *d, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(d, ifname);
	bool is_by_hand = iface && (iface->is_added || iface->is_switched_on);
	int code = 0;

	if (!iface || (!iface->program && !is_by_hand)) {
		snprintf(err, err_cap, "%s: nothing of ours is attached", ifname);
		return -ENOENT;
	}
	if (iface->program)
		code = program_detach(iface->program);
	if (code)
		snprintf(err, err_cap, "%s: %s", ifname, err_text(code));
	iface_close(iface, d->crew, true);
	if (is_by_hand && !code)
		take_back(d, iface);
	else
		iface->wanted = false;
	return code;
}

int daemon_set_queues(struct daemon *d, const char *ifname, uint32_t n, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(d, ifname);

	if (!iface) {
		snprintf(err, err_cap, "%s: volleyd does not serve it: volleyctl attach %s", ifname,
			 ifname);
		return -ENOENT;
	}
	if (!d->crew) {
		snprintf(err, err_cap,
			 "volleyd is starting: try again when volleyctl status says ready");
		return -EAGAIN;
	}
	iface->config.n_queues = n;
	iface->retry_at_ns = 0;
	iface_open_ports(iface, d->crew);
	return 0;
}

/* --- Reloads ------------------------------------------------------------------------------------- */

int daemon_add_ifaces(struct daemon *d, const struct config *config, char *err, size_t err_cap)
{
	for (uint32_t i = 0; d->crew && i < config->n_interfaces; i++) {
		const struct config_interface *c = &config->interfaces[i];
		struct iface *iface;
		int code;

		if (find_iface(d, c->name))
			continue;
		iface = add_iface(d, c);
		if (!iface) {
			snprintf(
				err, err_cap,
				"interfaces: at most %u, with those that go and those of volleyctl attach",
				CONFIG_INTERFACES_MAX);
			return ERR_LIMIT;
		}
		code = begin(d, iface);
		if (code == -EPROTO || code == ERR_RUNNING) {
			snprintf(err, err_cap, "%s: %s", c->name, iface->note);
			return code;
		}
	}
	return 0;
}

/* The program goes first, so that all that still comes is the kernel's. */
static void let_go(struct daemon *d, struct iface *iface)
{
	int code = iface->program ? program_detach(iface->program) : 0;

	if (code)
		log_error("%s: %s", iface->config.name, err_text(code));
	iface_close(iface, d->crew, true);
}

/* What a command has said of it is forgotten, but for a detach. */
static void begin_anew(struct daemon *d, struct iface *iface, const struct config_interface *c)
{
	const bool is_wanted = iface->wanted || iface->is_added;

	log_notice("%s: attached anew, as the configuration says", c->name);
	iface_close(iface, d->crew, false);
	iface_init(iface, c);
	iface->wanted = is_wanted;
	if (is_wanted)
		(void)begin(d, iface);
}

/* The lists are of the configuration that is going. */
static void take_lists(struct iface *iface, const struct config_interface *c)
{
	iface->config.tunnel_sources = c->tunnel_sources;
	iface->config.cores = c->cores;
	iface->config.device = c->device;
}

void daemon_settle_ifaces(struct daemon *d, const struct config *before, const struct config *after)
{
	if (!d->crew)
		return;
	for (size_t i = d->n_ifaces; i--;) {
		struct iface *iface = &d->ifaces[i];
		const struct config_interface *was =
			config_find_interface(before, iface->config.name);
		const struct config_interface *is =
			config_find_interface(after, iface->config.name);

		if (!is && iface->is_added)
			continue;
		if (!is) {
			let_go(d, iface);
			drop_iface(d, iface);
		} else if (iface->is_added || (was && !config_interface_is_same(was, is))) {
			begin_anew(d, iface, is);
		} else {
			take_lists(iface, is);
		}
	}
}

void daemon_catch_up_ifaces(struct daemon *d)
{
	const struct config *config = catalogs_config(d->catalogs);
	char err[512];

	if (config == d->config)
		return;
	if (daemon_add_ifaces(d, config, err, sizeof(err)))
		log_error("%s", err);
	daemon_settle_ifaces(d, d->config, config);
}

/* --- Services ------------------------------------------------------------------------------------ */

static int update_services_of(struct daemon *d, struct volley_state *state)
{
	const struct config *config = catalogs_config(d->catalogs);
	bool has_tunnels = false;
	int err;

	for (uint32_t i = 0; i < config->n_interfaces; i++)
		has_tunnels |= config->interfaces[i].tunnels != 0;
	err = services_update_ends(state, config->listen, config->n_listen, has_tunnels);
	d->ends_overflow = err == -ENOSPC;
	if (err)
		log_warn("ends of tunnels: %s", err_text(err));
	return services_update(state, config->listen, config->n_listen, &d->n_services);
}

void daemon_update_services(struct daemon *d)
{
	const struct config *config = catalogs_config(d->catalogs);
	int err = 0;
	size_t i;

	for (i = 0; i < 2 && d->alive[i]; i++)
		err = update_services_of(d, d->alive[i]);
	if (!err)
		err = dpdk_iface_update_services(config->listen, config->n_listen);
	d->services_overflow = err == -ENOSPC;
	if (err)
		log_warn("service addresses: %s: the driver knows %u of them", err_text(err),
			 d->n_services);
}
