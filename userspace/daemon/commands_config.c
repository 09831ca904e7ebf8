/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "config/settings.h"
#include "daemon/daemon.h"
#include "daemon/zone_service.h"
#include "report/new_start.h"

#define EFFECTIVE_ITEMS_MAX 10000 /* of a list: some 25 values each */

/* The configuration's file as an absolute path. A new reference. */
static json_t *put_config_command_file(const struct config *config)
{
	char *path = realpath(config->path, NULL);
	json_t *file = json_string(path ? path : config->path);

	free(path);
	return file;
}

/* --- show ------------------------------------------------------------------------------------- */

static int add_defaults(json_t *o, json_t *tree, char *err, size_t err_cap)
{
	json_t *origins;
	int code;

	if (settings_n_items(tree) > EFFECTIVE_ITEMS_MAX) {
		snprintf(err, err_cap, "--effective shows lists of at most %d items: leave it out",
			 EFFECTIVE_ITEMS_MAX);
		return -E2BIG;
	}
	code = settings_fill(tree, &origins);
	if (!code && json_object_set_new(o, "origins", origins))
		code = -ENOMEM;
	return code;
}

int commands_config_show(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct zone_service *s = user;
	const struct config *config = zone_service_config(s);
	const char *option = ctl_arg(args, 0);
	json_t *tree, *o, *warnings = json_array();
	int code;

	if (option && strcmp(option, "--effective") != 0) {
		snprintf(err, err_cap, "%s: config show takes no argument but --effective", option);
		json_decref(warnings);
		return -EINVAL;
	}
	code = settings_read(&tree, config->text, config->n_text, NULL);
	if (code) {
		json_decref(warnings);
		return code;
	}
	new_start_append(s->config, config, warnings);
	o = json_pack("{s:o, s:o, s:o}", "file", put_config_command_file(s->config), "warnings",
		      warnings, "config", tree);
	if (!o)
		return -ENOMEM;
	if (option)
		code = add_defaults(o, tree, err, err_cap);
	*result = code ? NULL : o;
	if (code)
		json_decref(o);
	return code;
}

/* --- diff ------------------------------------------------------------------------------------- */

/* Compares NEW with BEFORE. */
static int compare_config_command(json_t *changes, const struct config *before, const json_t *new,
				  const uint8_t key[SIPHASH_KEY_BYTES], enum settings_which which)
{
	json_t *old;
	int code = settings_read(&old, before->text, before->n_text, key);

	if (code)
		return code;
	code = settings_compare(changes, old, new, which);
	json_decref(old);
	return code;
}

/* Keys that need a start are compared with the configuration of the start. */
static int compare_both(const struct zone_service *s, json_t *changes, const struct config *config)
{
	uint8_t key[SIPHASH_KEY_BYTES];
	json_t *new;
	int code;

	if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EAGAIN;
	code = settings_read(&new, config->text, config->n_text, key);
	if (code)
		return code;
	code = compare_config_command(changes, zone_service_config(s), new, key,
				      SETTINGS_BY_RELOAD);
	if (!code)
		code = compare_config_command(changes, s->config, new, key, SETTINGS_BY_START);
	json_decref(new);
	return code;
}

int commands_config_examine(struct zone_service *s, int fd, const char *from, json_t **result,
			    char *err, size_t err_cap)
{
	json_t *changes = json_array(), *warnings = json_array();
	struct config *config;
	int code;

	runner_read_config(s->runner, fd); /* it opens files that the text names */
	code = config_load_as(&config, fd, from, s->config->path, err, err_cap);
	if (!code) {
		code = new_start_check(s->config, zone_service_config(s), config, err, err_cap);
		if (!code)
			code = signing_check(s->zones, config, s->config->storage, err, err_cap);
		if (!code)
			code = check_beside(config, warnings, err, err_cap);
		if (!code)
			code = compare_both(s, changes, config);
		config_free(config);
	}
	*result = json_pack("{s:o, s:o, s:o}", "file", put_config_command_file(s->config),
			    "changes", changes, "warnings", warnings);
	if (!code && !*result)
		return -ENOMEM;
	if (code) {
		json_decref(*result);
		*result = NULL;
	}
	return code;
}

int commands_config_diff(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct zone_service *s = user;
	int fd = ctl_take_file_or_tell(s->ctl, err, err_cap), code;

	if (fd < 0)
		return fd;
	code = commands_config_examine(s, fd, ctl_arg(args, 0), result, err, err_cap);
	close(fd);
	return code;
}
