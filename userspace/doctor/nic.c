/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of an interface: link, driver, XDP, MTU and offloads. Pure. */
#include <errno.h>
#include <string.h>

#include "doctor/drivers.h"
#include "doctor/finding.h"
#include "iface/quirks.h"
#include "link/netdev.h"

/* A driver reserves these parts of a page before and behind the frame: XDP_PACKET_HEADROOM and
 * skb_shared_info. */
#define XDP_HEADROOM    256
#define XDP_SHARED_INFO 320
#define ETH_HEADER      14
#define VLAN_TAGS       8

#define SEE_HOST "see program-load of the host" /* the fault is not the interface's */

static bool is_nic_there(const struct doctor_case *c)
{
	return c->nic->ifindex > 0;
}

static bool wants_nic_xdp(const struct doctor_case *c)
{
	return is_nic_there(c) && c->want->xdp != CONFIG_XDP_OFF;
}

static bool is_veth(const struct doctor_case *c)
{
	return !strcmp(c->nic->kind, "veth") || !strcmp(c->nic->driver, "veth");
}

static void link_state(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!is_nic_there(c)) {
		doctor_fail(f, "there is no such interface");
		doctor_fix(f, "ip link");
	} else if (!nic->is_up) {
		doctor_fail(f, "the interface is down");
		doctor_fix(f, "ip link set dev %s up", nic->name);
	} else if (!nic->has_carrier) {
		doctor_fail(f, "no carrier: check the cable, the switch port and the other end");
		doctor_fix(f, "ethtool %s", nic->name);
	} else {
		doctor_ok(f, "up, MTU %d", nic->mtu);
	}
}

static void kind(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!wants_nic_xdp(c))
		return;
	if (!strcmp(nic->kind, "vlan")) {
		doctor_warn(f, "a VLAN interface has generic XDP only. On the device below it, "
			       "Volley reads the tags itself");
		doctor_fix(f, "interfaces: [{name: %s}] instead, and ethtool -K %s rxvlan off",
			   *nic->lower ? nic->lower : "DEVICE",
			   *nic->lower ? nic->lower : "DEVICE");
	} else if (!strcmp(nic->kind, "bond")) {
		doctor_warn(f,
			    "a bond has native XDP, but no AF_XDP zero-copy, and only one receive "
			    "queue for AF_XDP");
		doctor_fix(f, "name the devices below it, ls /sys/class/net/%s/lower_*", nic->name);
	} else if (!strcmp(nic->kind, "bridge") || !strcmp(nic->kind, "dummy") ||
		   !strcmp(nic->kind, "macvlan") || !strcmp(nic->kind, "ipvlan")) {
		doctor_warn(f, "a %s has generic XDP only", nic->kind);
		doctor_fix(f, "name the device by which packets arrive");
	}
}

static void driver(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!is_nic_there(c) || !*nic->driver)
		return;
	doctor_ok(f, "%s%s%s%s%s", nic->driver, *nic->version ? " " : "", nic->version,
		  *nic->firmware ? ", firmware " : "", nic->firmware);
}

/* Looks up known faults of this driver with this kernel. */
static void driver_faults(const struct doctor_case *c, struct doctor_finding *f)
{
	bool zero_copy = doctor_wants_xsk(c->want) && c->want->zero_copy != CONFIG_ZERO_COPY_OFF;
	const struct doctor_fault *fault;

	if (!wants_nic_xdp(c) || !*c->nic->driver)
		return;
	fault = doctor_fault_find(c->nic->driver, c->host->kernel, zero_copy);
	if (!fault) {
		if (doctor_driver_find(c->nic->driver))
			doctor_ok(f, "no fault of %s with this kernel is known", c->nic->driver);
		return;
	}
	if (fault->level == DOCTOR_FAIL)
		doctor_fail(f, "%s, Linux %s: %s (%s)", fault->driver, c->host->release,
			    fault->text, fault->source);
	else
		doctor_warn(f, "%s, Linux %s: %s (%s)", fault->driver, c->host->release,
			    fault->text, fault->source);
	doctor_fix(f, "%s", fault->fix);
}

/* As the kernel reports it, or by the table of drivers: 1, 0, or -ENODATA: not known. */
static int has_native(const struct doctor_case *c)
{
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);

	if (c->nic->xdp_features >= 0)
		return (c->nic->xdp_features & NETDEV_XDP_BASIC) != 0;
	if (!d)
		return -ENODATA;
	return !doctor_is_before(c->host->kernel, d->native[0], d->native[1], 0);
}

/* True if the check program-load failed. Then no interface can have the program. */
static bool does_not_load(const struct doctor_case *c)
{
	return c->host->load.is_tried && c->host->load.err;
}

static void native_xdp(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;
	int native;

	if (!wants_nic_xdp(c) || c->want->xdp == CONFIG_XDP_GENERIC)
		return;
	native = has_native(c);
	if (native == 1 && nic->xdp_program != DOCTOR_NO_PROGRAM && nic->xdp_generic > 0) {
		doctor_warn(f, "the driver has native XDP, but the attached program is generic, "
			       "several times slower");
		doctor_fix(f, "volleyctl status; dmesg says why the driver refused");
	} else if (native == 1 && does_not_load(c)) {
		doctor_warn(f, "the driver has native XDP, but the XDP program does not load");
		doctor_fix(f, SEE_HOST);
	} else if (native == 1) {
		doctor_ok(f, "the driver has native XDP");
	} else if (native == -ENODATA) {
		f->level = DOCTOR_UNKNOWN;
		strcpy(f->text, "this kernel (before 6.3) and the table of drivers do not say "
				"whether the driver has native XDP");
	} else {
		doctor_refuse(f, c->want, "the driver of %s%s%s has no native XDP", nic->name,
			      *nic->driver ? ", " : "", nic->driver);
		doctor_fix(f, c->want->xdp == CONFIG_XDP_NATIVE ?
				      "xdp: auto for generic XDP, or another card or kernel" :
				      "another card or kernel");
	}
}

static void zero_copy(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);
	const char *quirk = quirks_zerocopy(c->nic->driver);
	bool has;

	if (!wants_nic_xdp(c) || !doctor_wants_xsk(c->want) ||
	    c->want->zero_copy == CONFIG_ZERO_COPY_OFF || c->want->xdp == CONFIG_XDP_GENERIC)
		return;
	if (c->nic->xdp_features < 0 && !d)
		return;
	has = c->nic->xdp_features >= 0 ?
		      (c->nic->xdp_features & NETDEV_XDP_ZEROCOPY) != 0 :
		      d->zero[0] && !doctor_is_before(c->host->kernel, d->zero[0], d->zero[1], 0);
	if (has && quirk && c->want->zero_copy == CONFIG_ZERO_COPY_ON) {
		doctor_warn(f, "zero-copy: on, but %s", quirk);
		doctor_fix(f, "zero-copy: auto for %s", c->nic->name);
	} else if (has && quirk) {
		doctor_ok(f, "not used, because %s: misses are copied once", quirk);
	} else if (has) {
		doctor_ok(f, "the driver has zero-copy: AF_XDP works without copies");
	} else if (c->want->zero_copy == CONFIG_ZERO_COPY_ON) {
		doctor_fail(
			f, "zero-copy: on, but the driver %s has none: misses go to kernel sockets",
			c->nic->driver);
		doctor_fix(f, "zero-copy: auto for %s", c->nic->name);
	} else {
		doctor_ok(f, "the driver has no AF_XDP zero-copy: misses are copied once");
	}
}

static void judge_redirect(const struct doctor_case *c, struct doctor_finding *f)
{
	if (!wants_nic_xdp(c) || !doctor_wants_xsk(c->want) || c->nic->xdp_features < 0)
		return;
	if (!(c->nic->xdp_features & NETDEV_XDP_BASIC) ||
	    c->nic->xdp_features & NETDEV_XDP_REDIRECT)
		return;
	doctor_warn(f,
		    "the driver has native XDP, but cannot redirect to AF_XDP: misses are lost or "
		    "served by kernel sockets");
	doctor_fix(f, "port: socket for %s", c->nic->name);
}

static void no_program(const struct doctor_case *c, struct doctor_finding *f)
{
	if (does_not_load(c)) {
		doctor_warn(f, "none is attached, and volleyd's program does not load");
		doctor_fix(f, SEE_HOST);
	} else if (c->daemon->err) {
		doctor_ok(f, "none is attached: volleyd will load its own");
	} else {
		doctor_warn(f, "volleyd runs, but has no XDP program here");
		doctor_fix(f, "volleyctl attach %s", c->nic->name);
	}
}

static void program(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!wants_nic_xdp(c) || doctor_is_unknown(f, nic->xdp_program, "XDP program"))
		return;
	if (nic->xdp_program == DOCTOR_NO_PROGRAM) {
		no_program(c, f);
	} else if (nic->xdp_program == DOCTOR_VOLLEY) {
		doctor_ok(f, "Volley, id %u, %s", nic->xdp_id,
			  nic->xdp_generic > 0 ? "generic" : "native");
	} else if (nic->xdp_program == DOCTOR_EARLIER) {
		doctor_ok(f,
			  "the program of another version of volleyd is attached (id %u): the next "
			  "volleyd replaces it",
			  nic->xdp_id);
	} else if (nic->xdp_program == DOCTOR_OTHER_ABI) {
		doctor_fail(f,
			    "a Volley program of another version is attached (id %u): volleyd does "
			    "not start",
			    nic->xdp_id);
		doctor_fix(f, "ip link set dev %s xdp off", nic->name);
	} else {
		doctor_fail(f,
			    "another XDP program is attached (id %u%s%s), and none can be attached "
			    "beside it: kernel sockets answer",
			    nic->xdp_id, *nic->xdp_name ? ", " : "", nic->xdp_name);
		doctor_fix(f, "ip link set dev %s xdp off, or load it by xdp-loader", nic->name);
	}
}

/* --- MTU -------------------------------------------------------------------------------------- */

static int max_mtu(const struct doctor_case *c)
{
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);

	if (d && d->max_mtu)
		return d->max_mtu;
	return c->host->page_bytes - XDP_HEADROOM - XDP_SHARED_INFO - ETH_HEADER - VLAN_TAGS;
}

/* True if the driver gives a program frames in several buffers: bpf/tiny_programs.h. */
static bool takes_frags(const struct doctor_case *c)
{
	return c->nic->xdp_features >= 0 && c->nic->xdp_features & NETDEV_XDP_RX_SG;
}

static void mtu(const struct doctor_case *c, struct doctor_finding *f)
{
	int max = max_mtu(c), peer_max;

	if (!wants_nic_xdp(c) || c->want->xdp == CONFIG_XDP_GENERIC || !has_native(c))
		return;
	/* veth_xdp_set() */
	peer_max = c->host->page_bytes - XDP_HEADROOM - XDP_SHARED_INFO - ETH_HEADER;
	if (takes_frags(c) && c->nic->mtu > max) {
		doctor_ok(
			f,
			"%d: large frames come in several buffers, and kernel sockets answer those",
			c->nic->mtu);
	} else if (is_veth(c) && c->nic->peer.mtu > peer_max && !takes_frags(c)) {
		doctor_refuse(f, c->want,
			      "the other end has MTU %d: veth accepts an XDP program only up to "
			      "MTU %d",
			      c->nic->peer.mtu, peer_max);
		doctor_fix(f, "ip link set dev PEER mtu 1500, in the peer's network namespace");
	} else if (c->nic->mtu > max) {
		doctor_refuse(
			f, c->want,
			"MTU %d: a frame must fit one buffer, so the driver accepts an XDP program "
			"only up to about MTU %d",
			c->nic->mtu, max);
		doctor_fix(f, "ip link set dev %s mtu %d", c->nic->name, max > 1500 ? 1500 : max);
	} else {
		doctor_ok(f, "%d, each frame fits one buffer", c->nic->mtu);
	}
}

/* --- Offloads --------------------------------------------------------------------------------- */

static void lro(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_features *features = &c->nic->features;
	const struct doctor_driver *d = doctor_driver_find(c->nic->driver);
	bool hw = features->gro_hw > 0;

	if (!wants_nic_xdp(c) || (features->lro < 0 && features->gro_hw < 0))
		return;
	if (features->lro <= 0 && !hw) {
		doctor_ok(f, "off: each packet is a frame");
		return;
	}
	if (d && d->drops_lro && !features->gro_hw_fixed) {
		doctor_ok(f, "on: %s switches it off when a program is attached", d->name);
		return;
	}
	if (d && d->drops_lro) {
		doctor_refuse(
			f, c->want,
			"hardware GRO is on and cannot be switched off: %s accepts no XDP program",
			d->name);
		doctor_fix(
			f,
			"guest_csum=off,guest_tso4=off,guest_tso6=off,guest_ecn=off,guest_ufo=off "
			"at the hypervisor");
		return;
	}
	if (d && d->refuses_lro)
		doctor_refuse(f, c->want, "%s is on: %s accepts no XDP program until it is off",
			      hw ? "hardware GRO" : "LRO", d->name);
	else
		doctor_warn(f, "%s is on: XDP cannot read packets that the card has joined",
			    hw ? "hardware GRO" : "LRO");
	doctor_fix(f, "ethtool -K %s lro off rx-gro-hw off", c->nic->name);
}

/* True if the program is or will be generic. */
static bool is_nic_generic(const struct doctor_case *c)
{
	if (c->nic->xdp_program == DOCTOR_VOLLEY)
		return c->nic->xdp_generic > 0;
	return c->want->xdp == CONFIG_XDP_GENERIC || !has_native(c);
}

/*
 * If the card removes a tag, the answer has none (link/vlans.h). Only for a generic program does
 * the kernel put the tag back into the answer. With veth the tag stays in the frame.
 */
static void vlan_offload(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_features *features = &c->nic->features;
	const char *name = c->nic->name;

	if (!wants_nic_xdp(c) || features->rx_vlan < 0 || is_veth(c))
		return;
	if (!features->rx_vlan) {
		doctor_ok(f, "off: VLAN tags are in the frame");
		return;
	}
	if (!*c->nic->vlan) {
		doctor_ok(f, "on, and %s has no VLAN interface", name);
		return;
	}
	if (is_nic_generic(c) && !doctor_wants_xsk(c->want)) {
		doctor_ok(f, "on: the kernel puts the tag into a generic program's answers");
		return;
	}
	doctor_warn(f,
		    "the card removes VLAN tags from frames, and %s is a VLAN of %s: kernel "
		    "sockets answer %s, because other replies would have no tag",
		    c->nic->vlan, name,
		    is_nic_generic(c) ? "all that the program does not" : "all");
	if (features->rx_vlan_fixed > 0)
		doctor_fix(f, "xdp: generic and port: socket for %s: the card cannot keep the tags",
			   name);
	else
		doctor_fix(f, "ethtool -K %s rxvlan off", name);
}

/* GRO gives a veth end its NAPI; scripts/lab.sh explains why. */
static void veth_gro(const struct doctor_case *c, struct doctor_finding *f)
{
	if (!wants_nic_xdp(c) || !is_veth(c) || c->nic->features.gro < 0)
		return;
	if (!c->nic->features.gro) {
		doctor_warn(f,
			    "GRO is off: without it a veth end has no NAPI of its own, and drops "
			    "frames from XDP when it has no program");
		doctor_fix(f, "ethtool -K %s gro on", c->nic->name);
	} else {
		doctor_ok(f, "on: this end has its own NAPI");
	}
}

static void veth_peer(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_peer *peer = &c->nic->peer;

	if (!wants_nic_xdp(c) || !is_veth(c) ||
	    doctor_is_unknown(f, peer->mtu, "the other end of the veth pair"))
		return;
	if (peer->has_xdp) {
		doctor_ok(f, "the other end has an XDP program, so it accepts frames from XDP_TX");
		return;
	}
	if (c->want->xdp == CONFIG_XDP_GENERIC) {
		doctor_ok(f, "the other end accepts frames from a generic program");
		return;
	}
	doctor_warn(f,
		    "the other end has no XDP program, so it drops frames from a native program's "
		    "XDP_TX, with GRO or without: %s",
		    c->want->xdp == CONFIG_XDP_NATIVE ? "workers answer instead of the driver" :
							"XDP is generic");
	doctor_fix(f,
		   "ip link set dev PEER xdpdrv obj xdp_pass.bpf.o sec xdp, in the peer's network "
		   "namespace%s",
		   c->want->xdp == CONFIG_XDP_NATIVE ? "; or xdp: auto" : "");
}

static void threaded_napi(const struct doctor_case *c, struct doctor_finding *f)
{
	if (!wants_nic_xdp(c) || !is_veth(c) ||
	    doctor_is_unknown(f, c->nic->threaded, "threaded NAPI"))
		return;
	if (c->nic->threaded) {
		doctor_ok(f, "on: a thread of its own receives; bind it to one processor (taskset "
			     "-p), because the driver counts a flood on each processor to which it "
			     "moves");
		return;
	}
	doctor_warn(f, "off: the sender's processor does the receiving work, too");
	doctor_fix(f, "echo 1 >/sys/class/net/%s/threaded", c->nic->name);
}

static void busy_poll(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!wants_nic_xdp(c) || !c->want->busy_poll_budget ||
	    doctor_is_unknown(f, nic->defer_hard_irqs, "napi_defer_hard_irqs"))
		return;
	if (nic->defer_hard_irqs > 0 && nic->gro_flush_ns > 0) {
		doctor_ok(f, "interrupts wait while the worker polls");
		return;
	}
	/* The values are those of Linux, Documentation/networking/napi.rst, "IRQ mitigation". */
	doctor_warn(f,
		    "busy-poll is on, but interrupts are not deferred: they go on while the worker "
		    "polls");
	doctor_fix(f,
		   "echo 2 >/sys/class/net/%s/napi_defer_hard_irqs; "
		   "echo 200000 >/sys/class/net/%s/gro_flush_timeout",
		   nic->name, nic->name);
}

static void pause_frames(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_nic *nic = c->nic;

	if (!wants_nic_xdp(c) || nic->pause_tx < 0)
		return;
	if (!nic->pause_tx) {
		doctor_ok(f, "the card does not pause its switch");
		return;
	}
	doctor_warn(f,
		    "under a flood the card sends pause frames: the switch port stops, and queries "
		    "that Volley would shed wait or are lost there");
	doctor_fix(f, "ethtool -A %s rx off tx off", nic->name);
}

/* xdp/fib.h: the lookup has the loopback interface as input, which must forward. */
static void return_path(const struct doctor_case *c, struct doctor_finding *f)
{
	int v4 = c->host->forwarding4, v6 = c->host->forwarding6;

	if (!wants_nic_xdp(c) || c->want->return_path != CONFIG_RETURN_FIB)
		return;
	if (v4 && v6) {
		doctor_ok(f, "replies leave by the routing table");
		return;
	}
	doctor_fail(f,
		    "return-path: fib, but the kernel does not tell the next hop while "
		    "net.ipv%s.conf.lo.forwarding is 0: the driver answers no query of that family",
		    v4 ? "6" : "4");
	doctor_fix(f, "sysctl -w net.ipv4.conf.lo.forwarding=1 net.ipv6.conf.lo.forwarding=1");
}

const struct doctor_check doctor_nic_checks[] = {
	{ "link", link_state },
	{ "kind", kind },
	{ "driver", driver },
	{ "driver-known", driver_faults },
	{ "native-xdp", native_xdp },
	{ "redirect", judge_redirect },
	{ "zero-copy", zero_copy },
	{ "xdp-program", program },
	{ "mtu", mtu },
	{ "lro", lro },
	{ "vlan-offload", vlan_offload },
	{ "veth-gro", veth_gro },
	{ "veth-peer", veth_peer },
	{ "threaded-napi", threaded_napi },
	{ "busy-poll", busy_poll },
	{ "flow-control", pause_frames },
	{ "return-path", return_path },
	{ NULL, NULL },
};
