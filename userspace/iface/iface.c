/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/iface.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "iface/dpdk_iface.h"
#include "iface/iface_guard.h"
#include "iface/iface_peer.h"
#include "iface/neighbours.h"
#include "link/netdev.h"

void iface_init(struct iface *iface, const struct config_interface *config)
{
	*iface = (struct iface){ .config = *config, .due = IFACE_DUE_ATTACH };
}

/* --- What the kernel says of the interface ---------------------------------------------------- */

void iface_update_link(struct iface *iface)
{
	struct link link;
	uint8_t mac[6] = { 0 };

	if (!iface->program && !iface->dpdk)
		return;
	/* The interface is gone, or the kernel is slow: keep the known values. */
	if (link_read(&link, iface->config.name))
		return;
	if (link.is_ethernet)
		link_host_mac(&link, mac);
	if (iface->dpdk)
		dpdk_iface_set_mtu(iface->dpdk, link.mtu);
	if (!iface->program)
		return;
	program_set_mac(iface->program, mac);
	program_set_mtu(iface->program, link.mtu);
}

bool iface_is_sound(const struct iface *iface)
{
	struct link link;
	int err = link_find(&link, iface->config.name);

	if (err || link.ifindex != iface->ifindex)
		return err_is_exhausted(err);
	return !iface->program || program_is_attached(iface->program);
}

/* An interface on top of another one has no native XDP, and may see fewer packets. */
static void say_kind(struct iface *iface, const struct link *link)
{
	char other[IF_NAMESIZE];

	if (link_is(link, "vlan") && !if_indextoname(link->parent, other)) {
		iface_say(iface, IFACE_TOPIC_KIND, false,
			  "is a VLAN of an interface in another network namespace: a volleyd there "
			  "can answer in its driver");
	} else if (link_is(link, "vlan")) {
		iface_say(iface, IFACE_TOPIC_KIND, false,
			  "is a VLAN of %s: name %s in its place, whose program understands tags",
			  other, other);
	} else if (link_is(link, "bridge")) {
		iface_say(
			iface, IFACE_TOPIC_KIND, false,
			"is a bridge: name its ports in its place, whose programs answer for it in "
			"their drivers");
	} else if (link_is(link, "bond")) {
		iface_say(
			iface, IFACE_TOPIC_KIND, false,
			"is a bond: the kernel gives none of its frames to AF_XDP in native mode, "
			"so "
			"kernel sockets answer what the driver does not know; name its members in "
			"its place, or say xdp: generic");
	} else {
		iface_unsay(iface, IFACE_TOPIC_KIND);
	}
}

/* --- Program ---------------------------------------------------------------------------------- */

static int refuse_iface(struct iface *iface, int code, const char *sentence)
{
	const size_t name_len = strlen(iface->config.name);

	/* A network driver, too, may return -EBUSY: then it is not asked every second. */
	if ((code == -EBUSY || code == -EPROTO) && !program_is_welcome(iface->config.name))
		iface->due = IFACE_DUE_WHEN_FREE;
	if (code == ERR_BROKER) /* the next one may be there already */
		iface->due = IFACE_DUE_ATTACH;
	if (code == -ENODEV)
		iface->state = IFACE_GONE;
	if (!strncmp(sentence, iface->config.name, name_len) &&
	    !strncmp(sentence + name_len, ": ", 2))
		sentence += name_len + 2;
	/* With these two codes volleyd does not start. */
	iface_say(iface, IFACE_TOPIC_PROGRAM, true, "%s%s", sentence,
		  code == -EPROTO || code == ERR_RUNNING ? "" : "; kernel sockets answer");
	return code;
}

static int refuse_fatal(struct iface *iface)
{
	iface_guard_say_fatal(iface);
	return refuse_iface(iface, -EOPNOTSUPP, "no native XDP");
}

static void say_program(struct iface *iface)
{
	const struct program *program = iface->program;
	const char *reason = program_generic_reason(program);
	char tag[PROGRAM_TAG_CAP];

	if (program_mode(program) == PROGRAM_GENERIC && *reason)
		iface_say(iface, IFACE_TOPIC_PROGRAM, false, "no native XDP (%s): generic", reason);
	else if (program_origin(program) == PROGRAM_ADOPTED && !program_is_our_build(program))
		iface_say(iface, IFACE_TOPIC_PROGRAM, false,
			  "its XDP program is of another build than this volleyd (tag %s), and %s: "
			  "ip link set dev %s xdp off, and volleyd attaches its own",
			  program_tag_text(program, tag),
			  program_is_by_daemon(program) ? "could not be replaced" :
							  "not volleyd's to replace",
			  iface->config.name);
	else
		iface_unsay(iface, IFACE_TOPIC_PROGRAM);
	log_info("%s: XDP program %u, tag %s, %s, %s", iface->config.name, program_id(program),
		 program_tag_text(program, tag), program_mode_text(program_mode(program)),
		 program_origin_text(program_origin(program)));
}

static bool is_forwarding(const char *path)
{
	FILE *file = fopen(path, "re");
	bool is = file && fgetc(file) != '0';

	if (file)
		(void)fclose(file);
	return is;
}

void iface_watch_neighbours(struct iface *iface)
{
	int n;

	if (!iface->program || iface->config.return_path != CONFIG_RETURN_FIB)
		return;
	n = neighbours_use(iface->config.name, iface->ifindex, program_hops(iface->program));
	if (n < 0)
		iface_say(iface, IFACE_TOPIC_NEIGHBOURS, true,
			  "the kernel cannot be told which next hops are in use (%s): with "
			  "return-path: fib the driver does not notice when one gets another MAC "
			  "address",
			  err_text(n));
	else
		iface_unsay(iface, IFACE_TOPIC_NEIGHBOURS);
}

/* Sets the options for tunnels and return paths. */
static void set_ways(struct iface *iface)
{
	const struct config_interface *c = &iface->config;
	bool is_fib = c->return_path == CONFIG_RETURN_FIB;

	program_set_tunnel_sources(iface->program, c->tunnel_sources, c->n_tunnel_sources);
	program_set_ways(iface->program, c->tunnels, c->net_gue_port, is_fib);
	iface_unsay(iface, IFACE_TOPIC_RETURN);
	if (is_fib && !(is_forwarding("/proc/sys/net/ipv4/conf/lo/forwarding") &&
			is_forwarding("/proc/sys/net/ipv6/conf/lo/forwarding")))
		iface_say(iface, IFACE_TOPIC_RETURN, true,
			  "return-path: fib needs net.ipv4.conf.lo.forwarding=1 and "
			  "net.ipv6.conf.lo.forwarding=1 to ask the routing table: without them "
			  "kernel sockets answer");
}

/* Call after the program was attached: begins to watch it, sets the remarks, and lets it answer. */
static void begin_iface(struct iface *iface)
{
	iface->state = IFACE_UP;
	iface->unseen = (struct unseen){ 0 };
	iface->attach_mtu = iface->link.mtu;
	overload_begin(&iface->overload, iface->program, clock_ns());
	say_program(iface);
	if (iface->mute & IFACE_MUTE_FATAL)
		iface_guard_say_fatal(iface);
	else
		iface_unsay(iface, IFACE_TOPIC_QUIRK);
	say_kind(iface, &iface->link);
	iface_update_link(iface);
	/* this program, or one before it, may have answered until now */
	if (iface->peer == VETHPEER_BARE)
		iface_peer_wake(iface);
	iface_peer_say(iface);
	iface_watch_tags(iface);
	set_ways(iface);
}

int iface_attach(struct iface *iface, struct object_maps *maps, const struct cache_sizes *sizes)
{
	struct program_want want = {
		.ifname = iface->config.name,
		.native_only = iface->config.xdp == CONFIG_XDP_NATIVE,
		.generic_only = iface->config.xdp == CONFIG_XDP_GENERIC,
		.driver_answers = iface->config.driver_answers,
		.sizes = *sizes,
	};
	uint64_t features;
	char err[512];
	int code;

	iface->due = IFACE_DUE_NOTHING;
	iface->state = IFACE_DOWN;
	iface->maps = maps;
	if (dpdk_iface_is_owned(&iface->config)) {
		code = iface_attach_dpdk(iface, err, sizeof(err));
		return code ? refuse_iface(iface, code, err) : 0;
	}
	code = link_read(&iface->link, iface->config.name);
	iface->ifindex = iface->link.ifindex;
	if (code == -ENODEV)
		return refuse_iface(iface, code, "no such interface");
	if (iface->config.xdp == CONFIG_XDP_OFF)
		return 0;
	if (!code && !iface->link.is_ethernet)
		return refuse_iface(iface, -EOPNOTSUPP, "its frames are not Ethernet");
	iface_guard_note_pairs(iface);
	iface_mute(iface, IFACE_MUTE_FATAL, iface_guard_is_native_fatal(iface));
	if (iface->mute & IFACE_MUTE_FATAL && want.native_only)
		return refuse_fatal(iface);
	want.generic_only |= iface_peer_begin(iface) || iface->mute & IFACE_MUTE_FATAL;
	/* An adopted program may be native; begin_iface() switches safe answers on. */
	want.driver_answers &= !iface->mute;
	(void)netdev_xdp_features(iface->ifindex, &features);
	want.takes_frags = features & NETDEV_XDP_RX_SG;
	code = program_open(&iface->program, maps, &want, err, sizeof(err));
	if (code) {
		iface->program = NULL;
		return refuse_iface(iface, code, err);
	}
	begin_iface(iface);
	return 0;
}

void iface_take_place(struct iface *iface)
{
	int err = iface->program ? program_take_place(iface->program) : 0;

	if (err)
		iface_say(iface, IFACE_TOPIC_PROGRAM, true,
			  "putting the XDP program in the place of an earlier one: %s; kernel "
			  "sockets answer",
			  err_text(err));
	if (err == ERR_BROKER) /* one of the two is there: the next broker finds out which */
		iface_need(iface, IFACE_DUE_REATTACH);
}

/* --- Kernel and wish -------------------------------------------------------------------------- */

static void leave_iface(struct iface *iface, struct workers *workers, bool keep)
{
	iface_close_dpdk(iface, workers);
	iface_close_ports(iface, workers, 0);
	program_close(iface->program, keep);
	iface->program = NULL;
	iface->ifindex = 0;
	iface_guard_reset(iface);
	iface->zerocopy_err = 0;
	iface->retry_at_ns = 0;
	iface->state = IFACE_DOWN;
	for (int i = 0; i < IFACE_N_TOPICS; i++)
		iface_unsay(iface, (enum iface_topic)i);
}

void iface_close(struct iface *iface, struct workers *workers, bool keep)
{
	leave_iface(iface, workers, keep);
	iface->peer_step = IFACE_PEER_FREE;
	iface->due = IFACE_DUE_ATTACH;
}

/* Finds out if the interface came or went, or if a program has gone: its own or a foreign one. */
static void look_at_iface(struct iface *iface, struct workers *workers)
{
	if (iface->ifindex && !iface_is_sound(iface)) {
		log_warn("%s: the interface or its XDP program is gone", iface->config.name);
		iface_close(iface, workers, false);
	} else if (!iface->ifindex) {
		iface->due = if_nametoindex(iface->config.name) ? IFACE_DUE_ATTACH :
								  IFACE_DUE_NOTHING;
	} else if (iface->due == IFACE_DUE_WHEN_FREE && program_is_welcome(iface->config.name)) {
		iface->due = IFACE_DUE_ATTACH;
	}
}

static void renew_program(struct iface *iface, const struct object_maps *maps)
{
	int err = program_renew(iface->program, maps);

	iface->due = IFACE_DUE_NOTHING;
	if (err)
		log_warn("%s: the XDP program cannot be attached again: %s: some frames do not "
			 "reach it",
			 iface->config.name, err_text(err));
}

int iface_settle(struct iface *iface, struct workers *workers, struct object_maps *maps,
		 const struct cache_sizes *sizes)
{
	int code;

	if (iface->wish == IFACE_DETACHED)
		return 0;
	if (iface->due < IFACE_DUE_ATTACH)
		look_at_iface(iface, workers);
	if (iface->due < IFACE_DUE_ATTACH) {
		iface_open_ports(iface, workers);
		iface_watch_driver(iface);
		iface_watch_neighbours(iface);
	}
	if (iface->due == IFACE_DUE_RENEWAL)
		renew_program(iface, maps);
	if (iface->due == IFACE_DUE_REATTACH)
		leave_iface(iface, workers, false);
	if (iface->due < IFACE_DUE_ATTACH)
		return 0;
	code = iface_attach(iface, maps, sizes);
	if (code)
		return code;
	iface_open_ports(iface, workers);
	iface_take_place(iface);
	return 0;
}
