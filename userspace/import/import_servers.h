/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table for each server from its options to ours. Each reads import->tree and fills in
 * import->out; what is left out is said. PATH is the first file.
 */
#ifndef VOLLEY_IMPORT_IMPORT_SERVERS_H
#define VOLLEY_IMPORT_IMPORT_SERVERS_H

#include "import/carry.h"

void import_nsd(struct import *import, const char *path);
void import_knot(struct import *import, const char *path);
void import_named(struct import *import, const char *path);
void import_unbound(struct import *import, const char *path);

#endif
