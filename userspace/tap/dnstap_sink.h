/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame Streams to a collector (both sides shake hands) or a file (they cannot). libfstrm makes the
 * frames; reading and writing is done here, so that a collector that takes nothing keeps nobody
 * from ending.
 */
#ifndef VOLLEY_TAP_DNSTAP_SINK_H
#define VOLLEY_TAP_DNSTAP_SINK_H

#include "tap/dnstap_config.h"
#include "tap/record_writer.h"

struct dnstap_sink;

/*
 * Makes *sink for tap_writer_open(), whose close() frees it. `config` and `out`, where the output's
 * pointer is going to be, are the caller's for as long. 0 or -ENOMEM.
 */
int dnstap_sink_new(struct dnstap_sink **to, struct tap_sink *sink,
		    const struct dnstap_config *config, struct tap_writer *const *out)
	__attribute__((warn_unused_result));

/* Whether there is a collector now, or the file. Any thread. */
bool dnstap_sink_is_open(const struct dnstap_sink *sink);

#endif
