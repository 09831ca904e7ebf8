/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol of the control socket: JSON, one object on each line. Both sides include this.
 *
 *	client/call.h ──► {"v":1,"command":"zone status","args":["example.com"]}\n ──► control/ctl.h
 *	              ◄── {"ok":true,"result":{...}}\n
 *	              ◄── {"ok":false,"error":"a sentence","code":"ERR_NOT_FOUND"}\n
 *
 * A connection may have any number of requests, which are answered in order. config/words.h has the
 * commands.
 */
#ifndef VOLLEY_CONFIG_CTL_PROTOCOL_H
#define VOLLEY_CONFIG_CTL_PROTOCOL_H

#define CTL_VERSION    1
#define CTL_LINE_BYTES 65536 /* the longest request, with its newline; replies have no limit */

#endif
