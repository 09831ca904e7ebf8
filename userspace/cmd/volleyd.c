/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volleyd: reads the command line and the configuration, then runs the daemon. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "config/config.h"
#include "config/help.h"
#include "config/settings.h"
#include "daemon/daemon.h"

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };
/*
 * Blocks of this size and more are mappings of their own, so free() returns them to the system.
 * Without this the C library raises the limit with each block freed, up to 32 MiB, and memory freed
 * after a load would stay between the arrays of the zone.
 */
#define MAPPED_BYTES (128 * 1024)

enum { OPT_CHECK = 256, OPT_STRICT, OPT_ZONES, OPT_KEEP, OPT_SCHEMA, OPT_VERSION, OPT_HELP };

enum task { TASK_SERVE, TASK_CHECK, TASK_SCHEMA };

struct options {
	const char *config;
	enum task task;
	bool is_strict;
	bool with_zones;
	bool keep;
	bool is_verbose;
};

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },  { "check", no_argument, NULL, OPT_CHECK },
	{ "strict", no_argument, NULL, OPT_STRICT }, { "zones", no_argument, NULL, OPT_ZONES },
	{ "keep", no_argument, NULL, OPT_KEEP },     { "schema", no_argument, NULL, OPT_SCHEMA },
	{ "verbose", no_argument, NULL, 'v' },       { "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },     { NULL, 0, NULL, 0 },
};

static int put_schema(void)
{
	json_t *schema = schema_make();
	int err = schema ? json_dumpf(schema, stdout, JSON_INDENT(1)) : -1;

	json_decref(schema);
	return err || puts("") < 0 || fflush(stdout) ? EXIT_FAILED : EXIT_OK;
}

/* -1 to go on, otherwise the exit status. */
static int read_volleyd_options(struct options *options, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "c:v", long_options, NULL)) != -1) {
		switch (c) {
		case 'c':
			options->config = optarg;
			break;
		case OPT_CHECK:
			options->task = TASK_CHECK;
			break;
		case OPT_STRICT:
			options->is_strict = true;
			break;
		case OPT_ZONES:
			options->with_zones = true;
			break;
		case OPT_KEEP:
			options->keep = true;
			break;
		case OPT_SCHEMA:
			options->task = TASK_SCHEMA;
			break;
		case 'v':
			options->is_verbose = true;
			break;
		case OPT_VERSION:
			puts("volleyd " VOLLEY_VERSION);
			libraries_put(stdout);
			return EXIT_OK;
		case OPT_HELP:
			help_put_volleyd(stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	if ((options->is_strict || options->with_zones) && options->task != TASK_CHECK) {
		fprintf(stderr, "volleyd: %s is for --check\n",
			options->is_strict ? "--strict" : "--zones");
		return EXIT_USAGE;
	}
	if (optind == argc)
		return options->task == TASK_SCHEMA ? put_schema() : -1;
	fprintf(stderr, "volleyd: %s: not an option: give a configuration by -c FILE\n",
		argv[optind]);
	return EXIT_USAGE;
}

/* Otherwise the first opened file could get descriptor 2, and the log would be written to it. */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

static int check_volleyd(struct config *config, const struct options *options)
{
	unsigned int n_warnings = 0;
	int code = check_run(config, options->with_zones, &n_warnings);

	config_free(config);
	if (code)
		return EXIT_FAILED;
	if (n_warnings)
		printf("%s: volleyd would start, but see the warnings\n", options->config);
	else
		printf("%s: the configuration is right\n", options->config);
	return n_warnings && options->is_strict ? EXIT_FAILED : EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options = { .config = VOLLEY_CONFIG };
	struct config *config;
	char err[512];
	int code;

	hold_standard_files();
	code = read_volleyd_options(&options, argc, argv);
	if (code >= 0)
		return code;
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	log_open("volleyd", options.is_verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	code = config_load(&config, options.config, err, sizeof(err));
	if (code) {
		log_error("%s", err);
		return code == ERR_CONFIG ? EXIT_USAGE : EXIT_FAILED;
	}
	log_set_format(config->log_format);
	if (!options.is_verbose)
		log_set_level(config->log_level);
	if (options.task == TASK_CHECK)
		return check_volleyd(config, &options);
	code = daemon_run(config, options.keep);
	log_close();
	return code ? EXIT_FAILED : EXIT_OK;
}
