/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones of knot.conf(5), for knot.c. */
#ifndef VOLLEY_IMPORT_KNOT_H
#define VOLLEY_IMPORT_KNOT_H

#include "import/carry.h"

/* The item ID of the sections of this name; NULL: none. */
struct import_node *import_knot_item(const struct import *import, const char *section,
				     const char *id);

/* One zone, with what its template has. Keys, remotes and policies are there. */
void import_knot_zone(struct import *import, struct import_node *item);

#endif
