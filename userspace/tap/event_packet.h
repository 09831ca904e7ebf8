/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of an event over UDP, with IP and UDP headers made anew: what the driver and the
 * ports keep are addresses, ports and messages. Pure; any thread.
 */
#ifndef VOLLEY_TAP_EVENT_PACKET_H
#define VOLLEY_TAP_EVENT_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"

#define TAP_PACKET_HEADERS_MAX 48u /* IPv6 and UDP */

/*
 * The IP packet of the event's query, or of its reply, in at most cap octets, with right checksums
 * (RFC 791, RFC 8200, RFC 768): TTL or hop limit 64, ID 0, DF. Its length; 0: the event is not of
 * UDP, the message is not here, or there is no room.
 */
size_t tap_packet_make(uint8_t *out, size_t cap, const struct tap_event *e, bool is_reply);

#endif
