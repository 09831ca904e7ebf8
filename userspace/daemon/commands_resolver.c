/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_resolver.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/cache_queries.h"
#include "report/report_lookup.h"
#include "report/report_upstreams.h"

/* Before, neither the resolver's place nor the lists are as they will be. */
static bool is_ready(const struct report_view *v, char *err, size_t err_cap)
{
	if (!v->crew)
		snprintf(err, err_cap,
			 "volleyd is starting and loads its zones: try again when "
			 "volleyctl status says ready");
	return v->crew;
}

int commands_resolver_lookup(void *user, const json_t *args, json_t **result, char *err,
			     size_t err_cap)
{
	struct cache_queries *queries = user;
	const struct report_view *v = report_view_now(&queries->reports);
	struct cache_match match;
	json_t *o;
	int code = cache_match_read_name(&match, json_string_value(json_array_get(args, 0)),
					 json_string_value(json_array_get(args, 1)), err, err_cap);

	(void)result;
	if (code)
		return code;
	if (!is_ready(v, err, err_cap))
		return -EAGAIN;
	o = json_object();
	if (!o)
		return -ENOMEM;
	report_lookup(o, v, &match);
	return cache_queries_add(queries, &match, o, err, err_cap);
}

int commands_resolver_infra(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap)
{
	const struct report_view *v = user;
	struct recursion_report report;

	(void)args;
	if (!is_ready(v, err, err_cap))
		return -EAGAIN;
	recursion_report(v->recursion, &report);
	*result = report_upstreams_all(report.resolver_config, report.resolver);
	return *result ? 0 : -ENOMEM;
}
