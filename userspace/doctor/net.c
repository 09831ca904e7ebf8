/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of a service address: is it on this host, and is its port free or ours? Pure. */
#include <stdio.h>
#include <string.h>

#include "doctor/finding.h"
#include "iface/addr_here.h"

static void address(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_service *s = c->service;

	if (doctor_is_unknown(f, s->is_here, "addresses"))
		return;
	if (s->is_wildcard && !s->is_here) {
		doctor_fail(f, "this kernel was started without IPv6");
		doctor_fix(f, "take it out of server.listen, or start without ipv6.disable=1");
	} else if (s->is_wildcard) {
		doctor_ok(f, "all addresses, also later ones");
	} else if (s->is_here) {
		doctor_ok(f, "on an interface of this host");
	} else {
		/* volleyd listens, and the driver answers as soon as the host has the address. */
		doctor_fail(f, ADDR_HERE_MISSING);
		doctor_fix(f, "ip address add %.*s dev %s, or take it out of server.listen",
			   (int)strcspn(s->address, "%"), s->address,
			   strchr(s->address, '%') ? strchr(s->address, '%') + 1 : "lo");
	}
}

static void judge_service_port(const struct doctor_case *c, struct doctor_finding *f)
{
	const struct doctor_service *s = c->service;
	int taken = s->udp_taken > s->tcp_taken ? s->udp_taken : s->tcp_taken;

	if (doctor_is_unknown(f, s->udp_taken, "sockets"))
		return;
	if (!taken) {
		doctor_ok(f, c->daemon->pid ? "volleyd listens" : "free");
	} else if (taken == 2) {
		f->level = DOCTOR_UNKNOWN;
		snprintf(f->text, sizeof(f->text),
			 "a process listens there: only root can see whether it is volleyd");
	} else {
		doctor_fail(f, "another process%s%s has the %s port: volleyd does not start",
			    *s->holder ? ", " : "", s->holder,
			    s->udp_taken && s->tcp_taken ? "UDP and TCP" :
			    s->udp_taken                 ? "UDP" :
							   "TCP");
		doctor_fix(f, "ss -lnptu 'sport = :53'; if it is systemd-resolved: "
			      "DNSStubListener=no, or systemctl disable --now systemd-resolved");
	}
}

const struct doctor_check doctor_service_checks[] = {
	{ "address", address },
	{ "port", judge_service_port },
	{ NULL, NULL },
};
