/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of recursion.local-data as a zone of the root. If they do not load, the configuration
 * is refused (config_recursion.c). Control serves the zone that the same function makes
 * (recursion/rpz_manager.c).
 */
#ifndef VOLLEY_CONFIG_LOCAL_DATA_H
#define VOLLEY_CONFIG_LOCAL_DATA_H

#include "zone/zone.h"

#define LOCAL_DATA_TEXT_CAP 560

/* The reason why local data does not load. */
struct local_data_error {
	/* recursion.local-data[at]; -1: all records together, or a file that a record includes */
	int at;
	char sentence[LOCAL_DATA_TEXT_CAP];
};

/*
 * Makes a zone of these records, which NULL ends; the first problem ends the work. A record is one
 * or several lines of a master file, and $INCLUDE reads a file. The caller owns *out; NULL after an
 * error. 0, ERR_ZONE, or -errno if memory or file descriptors are short. *why is filled in after
 * each error. Control's thread.
 */
int local_data_load(struct zone **out, char *const *records, struct local_data_error *why)
	__attribute__((warn_unused_result));

#endif
