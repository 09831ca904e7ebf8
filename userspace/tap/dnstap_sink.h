/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frame Streams to a collector, with a handshake, or to a file, without one. libfstrm makes the
 * frames. Reading and writing is done here, so that a collector that takes nothing cannot block the
 * end of the thread.
 */
#ifndef VOLLEY_TAP_DNSTAP_SINK_H
#define VOLLEY_TAP_DNSTAP_SINK_H

#include "tap/dnstap_config.h"
#include "tap/record_writer.h"

struct dnstap_sink;

/* Makes *sink for tap_writer_open(); its close() frees it. `config` and `out`, which will point to
 * the output, must live as long. 0 or -ENOMEM. */
int dnstap_sink_new(struct dnstap_sink **to, struct tap_sink *sink,
		    const struct dnstap_config *config, struct tap_writer *const *out)
	__attribute__((warn_unused_result));

/*
 * If the file's path no longer leads to the open file, because that was renamed or removed, the
 * output's thread ends the stream and begins another at its next tick(). Any thread.
 */
void dnstap_sink_reopen(struct dnstap_sink *sink);

/* True if a collector is connected or the file is open. Any thread. */
bool dnstap_sink_is_open(const struct dnstap_sink *sink);

#endif
