/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port queues: the kernel takes no queue away that an AF_XDP socket has. So before ethtool -L makes them
 * fewer, volleyd gives up those sockets, and what arrives there meanwhile goes to the kernel's.
 */
#include "daemon/commands_port.h"

#include <errno.h>
#include <stdio.h>

#include "config/value.h"
#include "config/words.h"

int commands_port_set_queues(struct interfaces *all, const json_t *args, char *err, size_t err_cap)
{
	const char *ifname = json_string_value(json_array_get(args, 0));
	const char *text = json_string_value(json_array_get(args, 1));
	const struct words_key *key = words_find_key("interfaces[].queues");
	char accepts[128];
	uint64_t n;

	if (value_read_number(key, text, &n)) {
		words_accepts(key, accepts, sizeof(accepts));
		snprintf(err, err_cap, "%s: give %s", text, accepts);
		return -EINVAL;
	}
	return interfaces_set_queues(all, ifname, (uint32_t)n, err, err_cap);
}
