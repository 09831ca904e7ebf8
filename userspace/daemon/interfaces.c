/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/interfaces.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "broker/broker.h"
#include "iface/iface_guard.h"
#include "iface/iface_peer.h"

void interfaces_init(struct interfaces *all, const struct config *config,
		     struct answer_cache *cache, struct heartbeat *heartbeat)
{
	*all = (struct interfaces){ .cache = cache, .heartbeat = heartbeat };
	for (size_t i = 0; i < config->n_interfaces; i++)
		iface_init(&all->at[all->n++], &config->interfaces[i]);
}

static int attach(struct interfaces *all, struct iface *iface)
{
	int err = iface_attach(iface, &all->cache->maps, &all->cache->sizes);

	if (err != -EPROTO && err != ERR_RUNNING)
		return 0;
	/* it would go on answering beside us, from old data; the reason is logged */
	log_error("%s: volleyd cannot run beside the XDP program that is there",
		  iface->config.name);
	return err;
}

/*
 * The heartbeat keeps earlier programs answering until there are workers and ours replace them. A
 * program that has fallen silent stays silent, since its answers may be too old.
 */
static void keep_old_alive(struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++) {
		uint32_t *until_s = all->at[i].program ? program_old_deadline(all->at[i].program) :
							 NULL;

		if (until_s && __atomic_load_n(until_s, __ATOMIC_ACQUIRE) > clock_coarse_s())
			heartbeat_keep_old(all->heartbeat, until_s);
	}
}

/*
 * A volleyd that died during a resize leaves programs with two caches: the newer cache is adopted.
 * That is safe: withdrawals went to both (cache/entry_walk.h), and both share one table of
 * generations.
 */
int interfaces_attach_all(struct interfaces *all)
{
	uint32_t there[CONFIG_INTERFACES_MAX] = { 0 };
	bool is_done[CONFIG_INTERFACES_MAX] = { false };
	size_t i, k, best;
	int err = 0;

	for (i = 0; i < all->n; i++)
		if (all->at[i].config.xdp != CONFIG_XDP_OFF)
			there[i] = program_find(all->at[i].config.name);
	for (k = 0; !err && k < all->n; k++) {
		best = all->n;
		for (i = 0; i < all->n; i++)
			if (!is_done[i] && (best == all->n || there[i] > there[best]))
				best = i;
		is_done[best] = true;
		err = attach(all, &all->at[best]);
	}
	keep_old_alive(all);
	return err;
}

void interfaces_open_ports(struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++)
		iface_open_ports(&all->at[i], all->workers);
}

void interfaces_close(struct interfaces *all, bool keep)
{
	for (size_t i = 0; i < all->n; i++)
		iface_close(&all->at[i], all->workers, keep);
}

void interfaces_update_links(struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++)
		iface_update_link(&all->at[i]);
}

bool interfaces_have_own_programs(const struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].program && !program_is_by_daemon(all->at[i].program))
			return false;
	return true;
}

void interfaces_take_places(struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++)
		iface_take_place(&all->at[i]);
}

static struct iface *find_iface(struct interfaces *all, const char *ifname)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].config.name, ifname))
			return &all->at[i];
	return NULL;
}

void interfaces_clean_others(struct interfaces *all)
{
	struct if_nameindex *names = if_nameindex(), *name;

	for (name = names; name && name->if_name; name++) {
		const struct iface *iface = find_iface(all, name->if_name);

		if ((!iface || !iface->program) && program_clean_up(name->if_name))
			log_notice(
				"%s: an earlier volleyd left its XDP program: it no longer answers",
				name->if_name);
	}
	if_freenameindex(names);
}

/* There are workers. */
static int settle_iface(struct interfaces *all, struct iface *iface)
{
	return iface_settle(iface, all->workers, &all->cache->maps, &all->cache->sizes);
}

/* For an interface that a reload adds or changes. */
static int begin_interface(struct interfaces *all, struct iface *iface)
{
	if (!all->cache->is_anonymous)
		return settle_iface(all, iface);
	iface->wish = IFACE_DETACHED;
	iface_say(iface, IFACE_TOPIC_PROGRAM, true, "no BPF maps; kernel sockets answer");
	return 0;
}

void interfaces_check(struct interfaces *all)
{
	for (size_t i = 0; i < all->n; i++)
		(void)settle_iface(all, &all->at[i]);
}

void interfaces_guard(struct interfaces *all)
{
	struct iface *iface;

	for (iface = all->at; iface < all->at + all->n; iface++) {
		if (iface->wish == IFACE_DETACHED)
			continue;
		iface_peer_watch(iface, clock_ns());
		if (iface->due == IFACE_DUE_REATTACH)
			(void)settle_iface(all, iface);
	}
}

void interfaces_look_at_load(struct interfaces *all)
{
	struct iface *iface;

	for (iface = all->at; iface < all->at + all->n; iface++) {
		overload_look(&iface->overload, iface->config.name, iface->program, clock_ns());
		iface_guard_hits(iface, clock_ns());
	}
}

/* NULL: there are too many. */
static struct iface *add_iface(struct interfaces *all, const struct config_interface *config)
{
	struct iface *iface;

	if (all->n == CONFIG_INTERFACES_MAX)
		return NULL;
	iface = &all->at[all->n++];
	iface_init(iface, config);
	return iface;
}

/* An interface that the configuration does not name gets the defaults. */
static struct iface *add_by_hand(struct interfaces *all, const char *ifname)
{
	struct config_interface config = { .driver_answers = true };
	struct iface *iface = NULL;

	if (strlen(ifname) < sizeof(config.name)) {
		snprintf(config.name, sizeof(config.name), "%s", ifname);
		iface = add_iface(all, &config);
	}
	if (iface)
		iface->wish = IFACE_ADDED;
	return iface;
}

/* After iface_close(). */
static void drop_iface(struct interfaces *all, struct iface *iface)
{
	const struct iface *end = all->at + all->n;

	memmove(iface, iface + 1, (size_t)(end - (iface + 1)) * sizeof(*iface));
	all->n--;
}

/* The wish of `attach`: see enum iface_wish. */
static void wish_attached(struct iface *iface)
{
	iface->due = IFACE_DUE_ATTACH;
	if (iface->config.xdp == CONFIG_XDP_OFF) {
		iface->config.xdp = CONFIG_XDP_AUTO;
		iface->wish = IFACE_SWITCHED_ON;
	} else if (iface->wish == IFACE_DETACHED) {
		iface->wish = IFACE_LISTED;
	}
}

/* The wish of `detach`. is_refused: the kernel keeps the program. */
static void wish_detached(struct interfaces *all, struct iface *iface, bool is_refused)
{
	const enum iface_wish before = iface->wish;

	if (before == IFACE_SWITCHED_ON)
		iface->config.xdp = CONFIG_XDP_OFF;
	iface->wish = before == IFACE_SWITCHED_ON && !is_refused ? IFACE_LISTED : IFACE_DETACHED;
	if (before == IFACE_ADDED && !is_refused)
		drop_iface(all, iface);
}

int interfaces_attach(struct interfaces *all, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(all, ifname);
	int code;

	if (!if_nametoindex(ifname)) {
		snprintf(err, err_cap, "%s: no such interface", ifname);
		return -ENODEV;
	}
	if (all->cache->is_anonymous) {
		snprintf(err, err_cap, "BPF maps could not be made when volleyd started%s",
			 broker_has_xdp() ? ": its log says why" :
					    ": it needs CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN");
		return -EPERM;
	}
	if (!iface)
		iface = add_by_hand(all, ifname);
	if (!iface)
		return ERR_LIMIT;
	if (iface->program || iface->dpdk)
		return 0;
	wish_attached(iface);
	code = settle_iface(all, iface);
	if (code)
		snprintf(err, err_cap, "%s: %s", ifname, iface->note);
	return code;
}

static bool is_by_hand(const struct iface *iface)
{
	return iface->wish == IFACE_ADDED || iface->wish == IFACE_SWITCHED_ON;
}

int interfaces_detach(struct interfaces *all, const char *ifname, char *err, size_t err_cap)
{
	struct iface *iface = find_iface(all, ifname);
	int code = 0;

	if (!iface || (!iface->program && !is_by_hand(iface))) {
		snprintf(err, err_cap, "%s: volleyd has no XDP program there", ifname);
		return -ENOENT;
	}
	if (iface->program)
		code = program_detach(iface->program);
	if (code)
		snprintf(err, err_cap, "%s: %s", ifname, err_text(code));
	iface_close(iface, all->workers, true);
	wish_detached(all, iface, code != 0);
	return code;
}

int interfaces_set_queues(struct interfaces *all, const char *ifname, uint32_t n, char *err,
			  size_t err_cap)
{
	struct iface *iface = find_iface(all, ifname);

	if (!iface) {
		snprintf(err, err_cap, "%s: volleyd does not serve it: volleyctl attach %s", ifname,
			 ifname);
		return -ENOENT;
	}
	if (!all->workers) {
		snprintf(err, err_cap,
			 "volleyd is starting: try again when volleyctl status says ready");
		return -EAGAIN;
	}
	iface->config.n_queues = n;
	iface->retry_at_ns = 0;
	iface_open_ports(iface, all->workers);
	return 0;
}

/* --- Reloads ---------------------------------------------------------------------------------- */

int interfaces_add(struct interfaces *all, const struct config *config, char *err, size_t err_cap)
{
	for (uint32_t i = 0; all->workers && i < config->n_interfaces; i++) {
		const struct config_interface *c = &config->interfaces[i];
		struct iface *iface;
		int code;

		if (find_iface(all, c->name))
			continue;
		iface = add_iface(all, c);
		if (!iface) {
			snprintf(err, err_cap,
				 "interfaces: at most %u, counting those that this reload removes "
				 "and "
				 "those of volleyctl attach",
				 CONFIG_INTERFACES_MAX);
			return ERR_LIMIT;
		}
		code = begin_interface(all, iface);
		if (code == -EPROTO || code == ERR_RUNNING) {
			snprintf(err, err_cap, "%s: %s", c->name, iface->note);
			return code;
		}
	}
	return 0;
}

/* The program is detached first, so that the kernel gets all further packets. */
static void let_go(struct interfaces *all, struct iface *iface)
{
	int code = iface->program ? program_detach(iface->program) : 0;

	if (code)
		log_error("%s: %s", iface->config.name, err_text(code));
	iface_close(iface, all->workers, true);
}

/* Changes by commands are forgotten, but a detached interface stays detached. */
static void begin_anew(struct interfaces *all, struct iface *iface,
		       const struct config_interface *c)
{
	const bool is_wanted = iface->wish != IFACE_DETACHED;

	log_notice("%s: attached anew, as the configuration says", c->name);
	iface_close(iface, all->workers, false);
	iface_init(iface, c);
	if (is_wanted)
		(void)begin_interface(all, iface);
	else
		iface->wish = IFACE_DETACHED;
}

/* The lists belong to the earlier configuration, which will be freed. */
static void take_interface_lists(struct iface *iface, const struct config_interface *c)
{
	iface->config.tunnel_sources = c->tunnel_sources;
	iface->config.cores = c->cores;
	iface->config.device = c->device;
}

void interfaces_settle(struct interfaces *all, const struct config *before,
		       const struct config *after)
{
	if (!all->workers)
		return;
	for (size_t i = all->n; i--;) {
		struct iface *iface = &all->at[i];
		const struct config_interface *was =
			config_find_interface(before, iface->config.name);
		const struct config_interface *is =
			config_find_interface(after, iface->config.name);

		if (!is && iface->wish == IFACE_ADDED)
			continue;
		if (!is) {
			let_go(all, iface);
			drop_iface(all, iface);
		} else if (iface->wish == IFACE_ADDED ||
			   (was && !config_interface_is_same(was, is))) {
			begin_anew(all, iface, is);
		} else {
			take_interface_lists(iface, is);
		}
	}
}

void interfaces_catch_up(struct interfaces *all, const struct config *running,
			 const struct config *wanted)
{
	char err[512];

	if (wanted == running)
		return;
	if (interfaces_add(all, wanted, err, sizeof(err)))
		log_error("%s", err);
	interfaces_settle(all, running, wanted);
}
