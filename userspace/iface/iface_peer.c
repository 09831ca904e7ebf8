/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/iface_peer.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "bpf/vethring.h"

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

void iface_peer_begin(struct iface *iface)
{
	struct vethpeer peer;

	vethpeer_look(&peer, iface->ifindex);
	iface->peer = peer.kind;
	iface->peer_since_ns = clock_ns();
}

bool iface_peer_wants_generic(const struct iface *iface)
{
	return is_auto(iface) && (iface->peer == VETHPEER_BARE || iface->peer == VETHPEER_UNSEEN);
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
	if (iface->has_peer_lost)
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
	else if (iface->is_generic_for_peer)
		say_generic(iface);
	else
		iface_unsay(iface, IFACE_TOPIC_PEER);
}

void iface_peer_wake(const struct iface *iface)
{
	int err = linkinfo_is(&iface->link, "veth") ?
			  vethring_wake(iface->ifindex, iface->link.mac) :
			  0;

	if (err)
		log_warn("%s: waking the other end of the veth pair: %s", iface->config.name,
			 err_text(err));
}

static void look_again(struct iface *iface, uint64_t now_ns)
{
	const enum vethpeer_kind before = iface->peer;
	struct vethpeer peer;

	vethpeer_look(&peer, iface->ifindex);
	if (peer.kind == before || peer.kind == VETHPEER_UNSEEN) /* may be temporary */
		return;
	iface->peer = peer.kind;
	iface->peer_since_ns = now_ns;
	if (is_iface_peer_native(iface) && may_step_down(iface) && peer.kind == VETHPEER_BARE)
		iface->has_peer_lost = true;
	program_set_answers(iface->program, iface_driver_answers(iface));
	if (peer.kind == VETHPEER_BARE)
		iface_peer_wake(iface);
	iface_peer_say(iface);
}

void iface_peer_watch(struct iface *iface, uint64_t now_ns)
{
	/* With DPDK the program is lent and taken back without notice. */
	if (!iface->program || !linkinfo_is(&iface->link, "veth") ||
	    iface->config.xdp == CONFIG_XDP_GENERIC || iface->config.port == CONFIG_PORT_DPDK)
		return;
	look_again(iface, now_ns);
	if (!may_step_down(iface))
		return;
	if (is_iface_peer_native(iface) && iface->peer == VETHPEER_BARE) {
		iface->is_reattach_due = true;
	} else if (iface->is_generic_for_peer && iface->peer == VETHPEER_TAKES &&
		   now_ns - iface->peer_since_ns >= STEADY_NS && !iface->is_reattach_due) {
		log_notice("%s: the other end of the veth pair has an XDP program: native again",
			   iface->config.name);
		iface->has_peer_lost = false;
		iface->is_reattach_due = true;
	}
}
