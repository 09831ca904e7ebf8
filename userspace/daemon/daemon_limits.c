/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clients may be sent, as the daemon has it. */
#include "base/err.h"
#include "base/log.h"
#include "daemon/daemon_internal.h"

int daemon_open_rrl(struct daemon *d)
{
	int err = rate_limits_open(&d->rate_limits, d->is_anonymous ? NULL : &d->maps.limiter);

	if (err)
		return err;
	d->published.limiter = rate_limits_limiter(d->rate_limits);
	return daemon_configure_rrl(d, d->config);
}

int daemon_configure_rrl(struct daemon *d, const struct config *config)
{
	const unsigned int n_cpus = (unsigned int)CPU_COUNT(&d->affinity.allowed);
	int err = rate_limits_configure(d->rate_limits, config,
					config->n_workers ? config->n_workers : n_cpus);

	if (err)
		log_error("rrl: %s", err_text(err));
	return err;
}
