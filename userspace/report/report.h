/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of the daemon, as JSON objects for the control socket. Units are in the names. Each
 * function returns a new reference, or NULL: no memory. Control's thread.
 */
#ifndef VOLLEY_REPORT_REPORT_H
#define VOLLEY_REPORT_REPORT_H

#include <jansson.h>

#include "report/report_view.h"

/* "starting", "serving" or "stopping". Static. */
const char *report_state_text(enum report_state state);
json_t *report_status(const struct report_view *v);
/* The addresses as ["ADDRESS@PORT"...]. */
json_t *report_listen(const struct config_addr *listen, uint32_t n);
json_t *report_stats(const struct report_view *v);
/* The zone `only`; NULL: all zones. Asks the thread of `transfers` about their primaries. */
json_t *report_zones(struct zones *zones, struct transfers *transfers, const char *only);
json_t *report_cache(const struct report_view *v);
json_t *report_ports(const struct report_view *v);

#endif
