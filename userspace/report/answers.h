/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of this daemon's answers by response code, type, family and zone. They come from the
 * driver (struct volley_cpu), the workers' engines and the transfer thread.
 *
 *	each interface's program ─► less the counts of an earlier daemon ─┐
 *	programs that are gone ───► their counts at the last read ────────┼─► sums ─► metrics, stats
 *	each engine ──────────────────────────────────────────────────────┤
 *	the transfer thread ──────────────────────────────────────────────┘
 *
 * The sum of each breakdown is the number of answers, and no counter ever falls. Answers of the
 * transfer thread (to transfers, NOTIFY and UPDATE that are allowed, and signed questions) have the
 * way "transfer" and the zone "none". A transfer is one answer. Answers that a program gives
 * between the last read and its end are not counted.
 *
 * Zones: up to 1,022 zones have a counter of their own (cache_zone_counter()); if there are more
 * zones, the busiest have one (daemon/zone_places.h). Answers of the other zones count as "other",
 * answers of no zone of ours (upstream, REFUSED, blocks, RPZ) as "none". When a zone is
 * removed or loses its counter, its answers move to "gone". So "other" never jumps, and its rate is
 * right.
 */
#ifndef VOLLEY_REPORT_ANSWERS_H
#define VOLLEY_REPORT_ANSWERS_H

#include <jansson.h>
#include <stddef.h>

#include "control/metrics_text.h"
#include "xdp/abi.h"

struct answers;
struct report_view;

/* NULL: no memory. */
struct answers *answers_new(void);
void answers_free(struct answers *answers); /* NULL is allowed */

/*
 * Reads all counters. Call it once before the first answer: earlier counts of an adopted program do
 * not belong to this daemon. The functions below call it. Control's thread calls all of these.
 */
void answers_read(const struct report_view *v);

/*
 * The names of the zones that had a counter of their own at the last answers_read(); returns their
 * number. They are valid until the next call of another function.
 */
#define ANSWERS_ZONES_MAX (VOLLEY_COUNT_ZONES - VOLLEY_COUNT_FIRST_ZONE)
size_t answers_zones(const struct answers *answers, const char *names[ANSWERS_ZONES_MAX]);

/* Writes a family of metrics for each dimension. */
void answers_metrics(const struct report_view *v, struct metrics_text *out);

/*
 * {total, by_rcode:{NOERROR...}, by_qtype:{A...}, by_opcode:{QUERY...}, by_family:{ipv4, ipv6},
 * by_way:[{transport, way, answers}...], by_zone:[{zone, answers}...]}, without zeros. A new
 * reference.
 */
json_t *answers_report(const struct report_view *v);

#endif
