/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What goes over the control socket, as JSON, one object a line; both sides include this.
 *
 *	client/call.h ──► {"v":1,"command":"zone status","args":["example.com"]}\n   ──► control/ctl.h
 *	              ◄── {"ok":true,"result":{...}}\n
 *	              ◄── {"ok":false,"error":"a sentence","code":"ERR_NOT_FOUND"}\n
 *
 * As many requests on a connection as wanted, answered in order. Commands are those of
 * config/words.h.
 */
#ifndef VOLLEY_CONFIG_CTL_PROTOCOL_H
#define VOLLEY_CONFIG_CTL_PROTOCOL_H

#define CTL_VERSION    1
#define CTL_LINE_BYTES 65536 /* the longest request, its newline included; a reply may be any */

#endif
