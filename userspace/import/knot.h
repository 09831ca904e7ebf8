/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The zones of knot.conf(5), for knot.c. */
#ifndef VOLLEY_IMPORT_KNOT_H
#define VOLLEY_IMPORT_KNOT_H

#include "import/carry.h"

/* The item ID in the sections of this name, or NULL. */
struct import_node *import_knot_item(const struct import *import, const char *section,
				     const char *id);

/* Carries over a zone with its template's options, after keys, remotes and policies. */
void import_knot_zone(struct import *import, struct import_node *item);

#endif
