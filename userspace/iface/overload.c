/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "iface/overload.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

#define SAID_NS  (3 * CLOCK_NS_PER_S)
#define QUIET_NS (10 * CLOCK_NS_PER_S) /* an overload that comes and goes is then logged once */

static uint64_t read_shed(const struct program *program, uint32_t queue)
{
	return __atomic_load_n(&program_queue(program, queue)->shed, __ATOMIC_RELAXED);
}

/* Returns the number of queries dropped since the last look. */
static uint64_t check_queues(struct overload *o, const struct program *program, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - o->looked_at_ns, more, n = 0;
	struct overload_queue *q;
	uint32_t queue;

	for (queue = 0; queue < VOLLEY_QUEUES; queue++) {
		q = &o->queues[queue];
		more = read_shed(program, queue) - q->n_shed;
		if (!more)
			continue;
		q->n_shed += more;
		q->per_s = (more * CLOCK_NS_PER_S + passed_ns - 1) / passed_ns;
		q->last_ns = now_ns;
		n += more;
	}
	return n;
}

void overload_begin(struct overload *o, const struct program *program, uint64_t now_ns)
{
	uint32_t queue;

	*o = (struct overload){ .program_id = program ? program_id(program) : 0,
				.looked_at_ns = now_ns };
	for (queue = 0; program && queue < VOLLEY_QUEUES; queue++)
		o->queues[queue].n_shed = read_shed(program, queue);
}

static void log_overload(struct overload *o, const char *ifname, uint64_t now_ns)
{
	if (!o->began_ns) {
		o->began_ns = now_ns;
		log_warn("%s: overload: more queries come than workers answer, the driver drops "
			 "the rest, first of the networks that send most",
			 ifname);
	} else if (now_ns - o->last_ns > QUIET_NS) {
		log_notice("%s: overload is over: %llu queries were dropped in %llu s", ifname,
			   (unsigned long long)o->n_shed,
			   (unsigned long long)((o->last_ns - o->began_ns) / CLOCK_NS_PER_S + 1));
		o->began_ns = 0;
		o->n_shed = 0;
	}
}

void overload_look(struct overload *o, const char *ifname, const struct program *program,
		   uint64_t now_ns)
{
	uint64_t n;

	if (!program || o->program_id != program_id(program) || now_ns <= o->looked_at_ns) {
		overload_begin(o, program, now_ns);
		return;
	}
	n = check_queues(o, program, now_ns);
	o->looked_at_ns = now_ns;
	o->n_shed += n;
	if (n)
		o->last_ns = now_ns;
	if (n || o->began_ns)
		log_overload(o, ifname, now_ns);
}

bool overload_text(const struct overload *o, const char *ifname, uint32_t queue,
		   char text[OVERLOAD_TEXT_CAP])
{
	const struct overload_queue *q = &o->queues[queue];

	if (!q->per_s || o->looked_at_ns - q->last_ns > SAID_NS)
		return false;
	snprintf(text, OVERLOAD_TEXT_CAP,
		 "%s: queue %u: overload: %llu queries/s are dropped, first of the networks that "
		 "send most",
		 ifname, queue, (unsigned long long)q->per_s);
	return true;
}
