/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of the daemon, as JSON objects for the control socket. Units are in the names.
 * Each returns a new reference, or NULL when memory is short. Control's thread.
 */
#ifndef VOLLEY_DAEMON_REPORT_H
#define VOLLEY_DAEMON_REPORT_H

#include <jansson.h>

#include "daemon/daemon.h"

json_t *report_status(struct daemon *d);
/* Of addresses: ["ADDRESS@PORT"...]. */
json_t *report_listen(const struct config_addr *listen, uint32_t n);
json_t *report_stats(struct daemon *d);
json_t *report_zones(struct daemon *d, const char *only); /* NULL: all */
json_t *report_cache(struct daemon *d);
json_t *report_ports(struct daemon *d);

#endif
