/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What volleyctl doctor found, for people: a block for the host, each service and each
 * interface. */
#ifndef VOLLEY_DOCTOR_PRINT_H
#define VOLLEY_DOCTOR_PRINT_H

#include <jansson.h>
#include <stdio.h>

/*
 * Writes RESULT, as doctor_run() made it, in lines of at most WIDTH columns but for words that are
 * longer; commands are not wrapped, so that they can be copied. Errors of OUT are for the caller.
 */
void doctor_print(FILE *out, const json_t *result, int width);

#endif
