/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl zone check: reads a zone file as volleyd would, without a daemon. The caller's process
 * opens it and the files that it includes, so it shows no line of a file that the caller may not
 * read.
 */
#ifndef VOLLEY_CMD_ZONE_CHECK_H
#define VOLLEY_CMD_ZONE_CHECK_H

#include <jansson.h>
#include <stddef.h>

/*
 * Reads FILE as the zone NAME. 0: *RESULT is a new object with valid, serial, records, warnings,
 * and the first warning. Otherwise a negative code, and in err a line with file, line and sentence
 * for each mistake, up to 20.
 */
int zone_check_file(const char *name, const char *file, json_t **result, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
