/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages of tap/dnstap.proto, as protoc-c has written them. */
#include "dnstap.pb-c.c"
