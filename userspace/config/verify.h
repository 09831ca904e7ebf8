/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command of the operator that must accept a new version of a zone before it is served.
 *
 *      snapshot ─► text in memory ─► its standard input
 *                                    exit status 0: accepted
 *      time limit ─► SIGKILL to its group
 *
 * The command gets the zone from the snapshot that will be served. So it verifies exactly that,
 * even if the file changes meanwhile.
 */
#ifndef VOLLEY_CONFIG_VERIFY_H
#define VOLLEY_CONFIG_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone/zone.h"

struct verify {
	char **argv;        /* ended by NULL; NULL: no command, and each version is accepted */
	uint32_t timeout_s; /* at least 1 */
};

/* 0 or -ENOMEM. */
int verify_copy(struct verify *to, const struct verify *from) __attribute__((warn_unused_result));
void verify_fini(struct verify *verify);
bool verify_equal(const struct verify *a, const struct verify *b);

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
 * line of its standard error; -ECANCELED soon after *cancel became true; or -errno, also with a
 * sentence, if it could not be run.
 */
int verify_run(const struct verify *verify, const struct zone *zone, const char *name,
	       const char *file, const bool *cancel, char *why, size_t why_cap)
	__attribute__((warn_unused_result));

#endif
