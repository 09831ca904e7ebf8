/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/iface_peer.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "broker/maps.h"
#include "broker/network.h"

/* Age of the other end's program before native mode is tried again: attaching loses frames. */
#define STEADY_NS (3 * CLOCK_NS_PER_S)

static bool is_iface_peer_native(const struct iface *iface)
{
	return program_mode(iface->program) == PROGRAM_NATIVE;
}

static bool is_auto(const struct iface *iface)
{
	return iface->config.xdp == CONFIG_XDP_AUTO;
}

static void note_peer(struct iface *iface, enum vethpeer_kind kind, uint64_t now_ns)
{
	iface->peer = kind;
	iface->peer_since_ns = now_ns;
	iface_mute(iface, IFACE_MUTE_PEER, kind == VETHPEER_BARE);
}

bool iface_peer_begin(struct iface *iface)
{
	struct vethpeer peer = { .kind = VETHPEER_NONE };

	/* A card is not asked. Without a number, the kernel has not said what the link is. */
	if (!iface->ifindex || link_is(&iface->link, "veth"))
		network_look_at_peer(&peer, iface->config.name, iface->ifindex);
	note_peer(iface, peer.kind, clock_ns());
	if (!is_auto(iface) || iface->mute & IFACE_MUTE_FATAL ||
	    (peer.kind != VETHPEER_BARE && peer.kind != VETHPEER_UNSEEN))
		iface->peer_step = IFACE_PEER_FREE;
	else if (iface->peer_step == IFACE_PEER_FREE)
		iface->peer_step = IFACE_PEER_GENERIC;
	return iface->peer_step != IFACE_PEER_FREE;
}

/* True if volleyd may replace the native program by a generic one. */
static bool may_step_down(const struct iface *iface)
{
	return is_auto(iface) && program_is_by_daemon(iface->program);
}

static void say_native(struct iface *iface)
{
	const char *name = iface->config.name;

	if (iface->peer != VETHPEER_BARE || may_step_down(iface))
		iface_unsay(iface, IFACE_TOPIC_PEER);
	else
		iface_say(iface, IFACE_TOPIC_PEER, true,
			  "the other end of the veth pair has no XDP program, and without one "
			  "natively "
			  "sent answers do not leave: workers answer; give it one, such as "
			  "xdp_pass.bpf.o, "
			  "or %s%s%s",
			  is_auto(iface) ? "take this one off, and volleyd attaches a generic one: "
					   "ip link set dev " :
					   "say xdp: auto for ",
			  name, is_auto(iface) ? " xdp off" : "");
}

static void say_generic(struct iface *iface)
{
	if (iface->peer_step == IFACE_PEER_LOST)
		iface_say(
			iface, IFACE_TOPIC_PEER, true,
			"the other end of the veth pair has lost its XDP program: generic until it "
			"has "
			"one again");
	else if (iface->peer == VETHPEER_BARE)
		iface_say(iface, IFACE_TOPIC_PEER, false,
			  "the other end of the veth pair has no XDP program, and without one "
			  "natively "
			  "sent answers do not leave: generic");
	else if (iface->peer == VETHPEER_UNSEEN)
		iface_say(
			iface, IFACE_TOPIC_PEER, false,
			"the other end of the veth pair cannot be seen from here, and without an "
			"XDP "
			"program there natively sent answers do not leave: generic; if it has one, "
			"say "
			"xdp: native for %s",
			iface->config.name);
	else
		iface_unsay(iface, IFACE_TOPIC_PEER);
}

void iface_peer_say(struct iface *iface)
{
	if (is_iface_peer_native(iface))
		say_native(iface);
	else if (iface->peer_step != IFACE_PEER_FREE)
		say_generic(iface);
	else
		iface_unsay(iface, IFACE_TOPIC_PEER);
}

void iface_peer_wake(const struct iface *iface)
{
	int err = link_is(&iface->link, "veth") ?
			  maps_wake_veth(iface->config.name, iface->link.mac) :
			  0;

	if (err)
		log_warn("%s: waking the other end of the veth pair: %s", iface->config.name,
			 err_text(err));
}

static void look_again(struct iface *iface, uint64_t now_ns)
{
	const enum vethpeer_kind before = iface->peer;
	struct vethpeer peer;

	network_look_at_peer(&peer, iface->config.name, iface->ifindex);
	if (peer.kind == before || peer.kind == VETHPEER_UNSEEN) /* may be temporary */
		return;
	note_peer(iface, peer.kind, now_ns);
	if (is_iface_peer_native(iface) && may_step_down(iface) && peer.kind == VETHPEER_BARE)
		iface->peer_step = IFACE_PEER_LOST;
	if (peer.kind == VETHPEER_BARE)
		iface_peer_wake(iface);
	iface_peer_say(iface);
}

void iface_peer_watch(struct iface *iface, uint64_t now_ns)
{
	/* With DPDK the program is lent and taken back without notice. */
	if (!iface->program || !link_is(&iface->link, "veth") ||
	    iface->config.xdp == CONFIG_XDP_GENERIC || iface->config.port == CONFIG_PORT_DPDK)
		return;
	look_again(iface, now_ns);
	if (!may_step_down(iface))
		return;
	if (is_iface_peer_native(iface) && iface->peer == VETHPEER_BARE) {
		iface_need(iface, IFACE_DUE_REATTACH);
	} else if (iface->peer_step != IFACE_PEER_FREE && iface->peer == VETHPEER_TAKES &&
		   now_ns - iface->peer_since_ns >= STEADY_NS && iface->due != IFACE_DUE_REATTACH) {
		log_notice("%s: the other end of the veth pair has an XDP program: native again",
			   iface->config.name);
		iface->peer_step = IFACE_PEER_FREE;
		iface_need(iface, IFACE_DUE_REATTACH);
	}
}
