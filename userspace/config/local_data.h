/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of recursion.local-data as a zone of the root. The configuration is refused where
 * they do not load (config_recursion.c), and control serves what the same function makes of them
 * (policy/policies.c).
 */
#ifndef VOLLEY_CONFIG_LOCAL_DATA_H
#define VOLLEY_CONFIG_LOCAL_DATA_H

#include "zone/zone.h"

#define LOCAL_DATA_TEXT_CAP 560

/* Why local data does not load. */
struct local_data_error {
	/* recursion.local-data[at]; -1: the records as a whole, or a file that one includes */
	int at;
	char sentence[LOCAL_DATA_TEXT_CAP];
};

/*
 * Makes a zone of these records, NULL behind the last; the first problem ends it. A record is one
 * entry of a master file, or several lines of one. *out is the caller's, NULL after an error. 0;
 * ERR_ZONE; or -errno where there is no memory or no file descriptor. *why is filled in after each
 * error. Reads files where a record is $INCLUDE. Control's thread.
 */
int local_data_load(struct zone **out, char *const *records, struct local_data_error *why)
	__attribute__((warn_unused_result));

#endif
