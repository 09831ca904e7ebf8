/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl doctor: looks at this host and says what is in the way of answering in the driver, and
 * what to type.
 *
 *      gather_*.c ──► facts (facts.h) ──► checks ──► findings ──► JSON ──► text
 *      kernel, /proc, /sys,                           pure        ok, warn,            print.c
 *      ethtool, netlink, the daemon                               fail, unknown
 *
 * What is looked at and what is thought of it are apart: a check sees facts only, so a unit test
 * can show it any host. A fact that could not be had is a negative errno in the fact's own place,
 * and the check says so. The checks are rows of three tables: host.c, nic.c and queues.c, net.c.
 * What is known of drivers is drivers.c.
 *
 * Nothing is changed on the host: no packet is sent, no program is attached, no address is bound.
 * Where it is allowed the XDP program is loaded, to see whether the kernel takes it, and let go at
 * once.
 */
#ifndef VOLLEY_DOCTOR_DOCTOR_H
#define VOLLEY_DOCTOR_DOCTOR_H

#include <jansson.h>

/*
 * Takes the words behind "doctor", N of them ([--config FILE] [IF...]), and looks. SOCKET is the
 * control socket of a daemon that may or may not run. *RESULT is a new object:
 *
 *      {config, daemon:"running|not running|no permission", ok, warnings, failures, unknown,
 *       checks:[{where:"host|IF|ADDRESS@PORT", check, state:"ok|warn|fail|unknown", text, do}...]}
 *
 * Returns 0, -EINVAL when the words are wrong (*RESULT is NULL), or -ENOMEM. One thread.
 */
int doctor_run(const char *socket, int n, char *const *words, json_t **result)
	__attribute__((warn_unused_result));

#endif
