/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drain: an operator takes this host out of service (volleyctl drain). Queries are answered as
 * before, but volleyctl health says that the host is not healthy, so that the program that
 * announces its addresses withdraws them.
 *
 * A file beside the control socket keeps the state, so that a restart of the daemon does not bring
 * the host back. After a reboot /run is empty, and the host is in service again.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_DRAIN_H
#define VOLLEY_CONTROL_DRAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define DRAIN_SUFFIX  ".drained"
#define DRAIN_WHY_CAP 256

struct drain {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(DRAIN_SUFFIX)];
	bool is_on;
	char why[DRAIN_WHY_CAP]; /* "": no reason was given */
};

/* Reads the state that an earlier daemon with the control socket SOCKET has left. */
void drain_open(struct drain *drain, const char *socket);

/*
 * Takes the host out for the reason WHY (NULL: none; a longer text is cut, control characters
 * become spaces), or brings it back. 0, or -errno if the file could not be written or removed: then
 * the state holds only until this daemon ends.
 */
int drain_set(struct drain *drain, bool is_on, const char *why) __attribute__((warn_unused_result));

/* "drained", "drained: new kernel", or "" if the host is in service. Returns buf. */
const char *drain_text(const struct drain *drain, char *buf, size_t cap);

/* `drain [on [WHY] | off]`: the run() of a struct ctl_command; the user is a struct drain. */
int drain_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
