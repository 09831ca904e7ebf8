/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Audit events (base/audit.h) for messages that an engine refuses at once: transfers, NOTIFY and
 * UPDATE that no rule allows this address, and signatures by keys that we do not know. Any thread
 * that answers.
 */
#ifndef VOLLEY_ENGINE_REFUSED_AUDIT_H
#define VOLLEY_ENGINE_REFUSED_AUDIT_H

#include "engine/engine_request.h"

/* The request rq, read as q, is refused with this response code. */
void refused_audit(const struct engine_request *rq, const struct query *q, unsigned int rcode);

#endif
