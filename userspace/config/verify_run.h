/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the command of zones[].verify for a new version of a zone.
 *
 *      snapshot ─► text in memory ─► its standard input
 *                                    exit status 0: accepted
 *      time limit ─► SIGKILL to its group
 *
 * The command gets the zone from the snapshot that will be served. So it verifies exactly that,
 * even if the file changes meanwhile. The runner starts the command (config/runner.h).
 */
#ifndef VOLLEY_CONFIG_VERIFY_RUN_H
#define VOLLEY_CONFIG_VERIFY_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "config/runner.h"
#include "config/verify.h"
#include "zone/zone.h"

/*
 * Runs the command for `zone`, of that name and from that file, and waits for it; any thread. The
 * command gets the zone as a master file on its standard input, which is a file: it can be read
 * again from /dev/stdin. Standard output is dropped. The command has a process group of its own,
 * which is killed before this returns. Its environment is PATH and
 *
 *      VOLLEY_ZONE    the name, absolute: "example.com."
 *      VOLLEY_SERIAL  of the new version
 *      VOLLEY_FILE    the path of the file that was read, which may have changed since
 *
 * Returns 0 if it accepts the zone; ERR_VERIFY if not, with a sentence in `why` that has the first
 * line of its standard error; -ECANCELED soon after *cancel became true; or a negative code, also
 * with a sentence, if it could not be run: without a runner (NULL), or as runner_verify().
 */
int verify_run(struct runner *runner, const struct verify *verify, const struct zone *zone,
	       const char *name, const char *file, const bool *cancel, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
