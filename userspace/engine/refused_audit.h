/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit events (base/audit.h) for messages that an engine refuses at once: transfers, NOTIFY and
 * UPDATE from an address that no rule allows, and signatures by unknown keys. Any thread.
 */
#ifndef VOLLEY_ENGINE_REFUSED_AUDIT_H
#define VOLLEY_ENGINE_REFUSED_AUDIT_H

#include "engine/engine_request.h"

/* The request rq, read as q, is refused with this rcode. */
void refused_audit(const struct engine_request *rq, const struct query *q, unsigned int rcode);

#endif
