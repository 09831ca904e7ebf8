/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Periodic checks of an interface in use, for changes that the kernel does not notify. */
#include "base/clock.h"
#include "base/log.h"
#include "iface/iface.h"
#include "link/vlans.h"

static bool is_watch_native(const struct iface *iface)
{
	return program_mode(iface->program) == PROGRAM_NATIVE;
}

/* --- Frames ----------------------------------------------------------------------------------- */

static void watch_frames(struct iface *iface, uint64_t now_ns)
{
	struct volley_cpu sum;
	uint64_t n_rx = 0;

	if (link_count_rx(iface->ifindex, &n_rx) || program_counters(iface->program, &sum))
		return;
	switch (unseen_take(&iface->unseen, n_rx, sum.received, now_ns)) {
	case UNSEEN_LOST:
		log_notice("%s: frames come in, and its driver shows none of them to the XDP "
			   "program: it is attached anew",
			   iface->config.name);
		iface_need(iface, IFACE_DUE_RENEWAL);
		break;
	case UNSEEN_STILL:
		iface_say(
			iface, IFACE_TOPIC_UNSEEN, true,
			"its driver shows no frame to the XDP program, and attaching it anew has "
			"not helped: kernel sockets answer; xdp: generic works without the driver");
		break;
	case UNSEEN_NONE:
		iface_unsay(iface, IFACE_TOPIC_UNSEEN);
		break;
	default:
		break;
	}
}

/* --- MTU -------------------------------------------------------------------------------------- */

/*
 * With an MTU above LINK_MTU_ONE_BUFFER most drivers refuse a program. Some allow a larger MTU
 * later, and then drop each larger frame: virtio_net, seen with Linux 6.1 to 7.3.
 */
static bool fits_watch(uint32_t mtu)
{
	return mtu <= LINK_MTU_ONE_BUFFER;
}

/* True if the driver may decide otherwise with this MTU: a native program may no longer fit, or a
 * generic one may become native. */
static bool is_mtu_crossed(const struct iface *iface, uint32_t mtu)
{
	if (fits_watch(mtu) == fits_watch(iface->attach_mtu))
		return false;
	if (is_watch_native(iface))
		return !fits_watch(mtu);
	return fits_watch(mtu) && *program_generic_reason(iface->program);
}

static void watch_mtu(struct iface *iface, uint32_t mtu)
{
	if (!is_mtu_crossed(iface, mtu)) {
		iface_unsay(iface, IFACE_TOPIC_MTU);
	} else if (program_is_by_daemon(iface->program)) {
		log_notice("%s: its MTU is %u: the XDP program is attached again",
			   iface->config.name, mtu);
		iface_need(iface, IFACE_DUE_REATTACH);
	} else {
		iface_say(iface, IFACE_TOPIC_MTU, true,
			  "MTU %u: while the XDP program is there its driver may drop frames of "
			  "more than %u octets, and volleyd did not attach it, so it stays: ip "
			  "link set dev %s mtu 1500, or ip link set dev %s xdp off",
			  mtu, LINK_MTU_ONE_BUFFER, iface->config.name, iface->config.name);
	}
}

void iface_watch_driver(struct iface *iface)
{
	const uint64_t now_ns = clock_ns();
	struct link link;

	/* With DPDK the program is lent and taken back without notice. */
	if (!iface->program || iface->config.port == CONFIG_PORT_DPDK ||
	    !unseen_is_due(&iface->unseen, now_ns) || link_read(&link, iface->config.name))
		return;
	watch_mtu(iface, link.mtu);
	/* The driver may drop a larger frame before the program runs. */
	if (is_watch_native(iface) && fits_watch(link.mtu))
		watch_frames(iface, now_ns);
	else
		iface->unseen = (struct unseen){ .is_begun = true, .looked_at_ns = now_ns };
}

/* --- Tags ------------------------------------------------------------------------------------- */

void iface_watch_tags(struct iface *iface)
{
	char vlan[IF_NAMESIZE];
	bool is_generic;

	if (!iface->program)
		return;
	is_generic = !is_watch_native(iface);
	iface_mute(iface, IFACE_MUTE_TAGS,
		   vlans_are_taken_out(&iface->link, iface->config.name) &&
			   vlans_find(&iface->link, vlan));
	if (iface->mute & IFACE_MUTE_TAGS &&
	    !(is_generic && iface->config.port == CONFIG_PORT_SOCKET))
		iface_say(iface, IFACE_TOPIC_TAGS, true,
			  "the card takes VLAN tags out of frames, and replies to queries of %s "
			  "would leave untagged: kernel sockets answer %s; ethtool -K %s rxvlan "
			  "off",
			  vlan, is_generic ? "what the program does not" : "all",
			  iface->config.name);
	else
		iface_unsay(iface, IFACE_TOPIC_TAGS);
}
