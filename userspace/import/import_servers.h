/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each server has a table that maps its options to ours. Each function reads import->tree, fills in
 * import->out, and reports options that are not carried over. PATH is the first file.
 */
#ifndef VOLLEY_IMPORT_IMPORT_SERVERS_H
#define VOLLEY_IMPORT_IMPORT_SERVERS_H

#include "import/carry.h"

void import_nsd(struct import *import, const char *path);
void import_knot(struct import *import, const char *path);
void import_named(struct import *import, const char *path);
void import_unbound(struct import *import, const char *path);

#endif
