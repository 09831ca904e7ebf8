/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration as YAML in blocks, as people write it. */
#ifndef VOLLEY_IMPORT_YAML_H
#define VOLLEY_IMPORT_YAML_H

#include <jansson.h>
#include <stdio.h>

/*
 * Writes the object ROOT, whose values are texts, lists and objects. What YAML would read otherwise
 * stands in quotes. Errors of OUT are for the caller to look up.
 */
void import_yaml_put(FILE *out, const json_t *root);

#endif
