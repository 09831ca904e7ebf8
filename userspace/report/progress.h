/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The progress of loads of zones, for systemd, the log and volleyctl. */
#ifndef VOLLEY_REPORT_PROGRESS_H
#define VOLLEY_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zonemgr/zonemgr.h"

/* One load, as it is now. */
struct progress_load {
	enum load_stage stage;
	bool has_percent; /* the stage is reading, and the size of the text is known */
	unsigned int percent;
	uint64_t n_bytes; /* of text that was read */
	uint64_t n_records;
	uint64_t s; /* seconds since the load began */
};

void progress_read(struct progress_load *p, const struct load *load, uint64_t now_ns);

/*
 * Writes the number of zones to load, and the progress of the first zone that does not wait: "2
 * zones to load, example.com.: reading, 43 %, 120000 records, 12 s". False: no zone is being
 * loaded.
 */
bool progress_put(const struct zones *zones, uint64_t now_ns, char *buf, size_t cap);

struct progress {
	uint64_t since_ns; /* 0: no load runs */
	uint64_t logged_ns;
	bool is_told; /* to systemd */
};

/*
 * Call it once a second. If loads take more than some seconds, it reports them in systemd's status
 * and, less often, in the log, and asks systemd for more time.
 */
void progress_tick(struct progress *p, const struct zones *zones, uint64_t now_ns);

#endif
