/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl doctor: checks this host, reports what keeps the driver from answering, and says what
 * to type.
 *
 *      gather_*.c ──► facts (facts.h) ──► checks ──► findings ──► JSON ──► text
 *      kernel, /proc, /sys,                           pure        ok, warn,            print.c
 *      ethtool, netlink, the daemon                               fail, unknown
 *
 * Facts and checks are separate: a check sees only facts, so a unit test can show it any host. If a
 * fact could not be read, its field is a negative errno, and the check reports this. The checks are
 * the rows of three tables, in host.c, in nic.c with queues.c, and in net.c. drivers.c has what is
 * known of drivers.
 *
 * Doctor changes nothing on the host: it sends no packet, attaches no program and binds no address.
 * If it may, it loads the XDP program, to see whether the kernel accepts it, and unloads it at
 * once.
 */
#ifndef VOLLEY_DOCTOR_DOCTOR_H
#define VOLLEY_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdio.h>

/*
 * Runs the checks. WORDS are the N arguments after "doctor" ([--config FILE] [IF...]). SOCKET is
 * the control socket of a daemon that may or may not run. *RESULT is a new object:
 *
 *      {config, daemon:"running|not running|no permission", ok, warnings, failures, unknown,
 *       checks:[{where:"host|IF|ADDRESS@PORT", check, state:"ok|warn|fail|unknown", text, do}...]}
 *
 * Returns 0, -EINVAL if the arguments are wrong (*RESULT is NULL), or -ENOMEM. One thread.
 */
int doctor_run(const char *socket, int n, char *const *words, json_t **result)
	__attribute__((warn_unused_result));

/* Prints doctor's findings: a block for the host, each service and each interface. */

/*
 * Writes the RESULT of doctor_run() in lines of at most WIDTH columns. A longer word gets a line of
 * its own; commands are not wrapped, so that they can be copied. The caller checks OUT for errors.
 */
void doctor_print(FILE *out, const json_t *result, int width);

#endif
