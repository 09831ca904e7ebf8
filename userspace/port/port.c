/* SPDX-License-Identifier: GPL-2.0-only */
/* What all ports share: their counters and their names. */
#include "port/port.h"

void port_stats_read(const struct port *p, struct port_stats *out)
{
#define PORT_COUNTER(name, text) out->name = port_counter(&p->stats.name);
	PORT_COUNTER_LIST(PORT_COUNTER)
#undef PORT_COUNTER
}

const char *port_kind_text(enum port_kind kind)
{
	static const char *const texts[] = {
#define PORT_KIND(name, text) text,
		PORT_KIND_LIST(PORT_KIND)
#undef PORT_KIND
	};

	return (unsigned int)kind < PORT_N_KINDS ? texts[kind] : "unknown";
}
