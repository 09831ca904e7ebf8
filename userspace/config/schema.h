/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of keys as a JSON schema (draft 2020-12). With it an editor completes volley.yaml and
 * marks mistakes in it.
 *
 * The schema accepts each file that volleyd accepts, also as one of several files: so no key of the
 * top level is required. It checks single keys only. volleyd --check also finds keys that do not
 * fit together, and numbers with a unit ("7M") that are out of bounds. Values may be YAML's numbers
 * and booleans, or texts.
 */
#ifndef VOLLEY_CONFIG_SCHEMA_H
#define VOLLEY_CONFIG_SCHEMA_H

#include <jansson.h>

/* A new reference; NULL: no memory. Pure; any thread. */
json_t *schema_make(void);

#endif
