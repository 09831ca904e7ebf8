/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volleyctl: sends a command to a running volleyd over its control socket and prints the reply.
 * config/words.c has the commands and their arguments. The daemon runs them, except doctor, which
 * looks at the host itself (doctor/doctor.h), and import, which is a script (cmd/volleyctl.h).
 * top, capture and lists ask the daemon again and again (client/call.h).
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "client/call.h"
#include "client/result_text.h"
#include "cmd/volleyctl.h"
#include "config/help.h"
#include "config/value.h"
#include "config/words.h"
#include "doctor/doctor.h"

#define WAIT_S_DEFAULT 60
#define WAIT_S_HEALTH  5    /* the caller needs a quick answer */
#define WAIT_S_TOP     5    /* keys are not read meanwhile */
#define WAIT_S_BATCH   3600 /* for some hundred zones; their files may be large */
#define WAIT_S_CAPTURE 5    /* packets are not written meanwhile */
#define WIDTH_DEFAULT  80

enum exit_code { EXIT_DONE, EXIT_REFUSED, EXIT_USAGE, EXIT_NO_DAEMON };

struct options {
	const char *socket;
	int wait_s; /* 0: not given */
	bool is_json;
	bool is_lines; /* JSON, an object on each line */
	bool has_progress;
	/* sentences about failures: standard error, or with is_json a text for the JSON output */
	FILE *errors;
	char code[LIST_CODE_CAP]; /* of the daemon's error; "": it sent none */
};

enum { OPT_VERSION = 256, OPT_HELP, OPT_MAN, OPT_LINES };

static const struct option long_options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "wait", required_argument, NULL, 'w' },
	{ "progress", no_argument, NULL, 'p' },
	{ "json-lines", no_argument, NULL, OPT_LINES },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "man", required_argument, NULL, OPT_MAN }, /* for the Makefile: fills a template */
	{ NULL, 0, NULL, 0 },
};

static int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	fprintf(stderr, "volleyctl: the output cannot be written: %s\n", err_text(-errno));
	return EXIT_REFUSED;
}

static int fill_man(const char *path)
{
	FILE *in = fopen(path, "r");
	int ret = in ? help_fill_man(stdout, in, VOLLEY_VERSION) : -errno;

	if (in)
		fclose(in);
	if (!ret)
		return finish_output();
	fprintf(stderr, "volleyctl: %s: %s\n", path, err_text(ret));
	return EXIT_REFUSED;
}

static int refuse_usage(FILE *errors)
{
	fputs("volleyctl: see volleyctl --help\n", errors);
	return EXIT_USAGE;
}

static bool read_wait(const char *text, int *wait_s)
{
	static const struct words_key key = { .type = WORDS_SECONDS, .min = 1, .max = 86400 };
	uint64_t value;

	if (value_read_number(&key, text, &value)) {
		fprintf(stderr, "volleyctl: --wait takes 1 to 86400 seconds, not \"%s\"\n", text);
		return false;
	}
	*wait_s = (int)value;
	return true;
}

/* Returns -1 to go on, otherwise the exit code. */
static int read_volleyctl_options(int argc, char **argv, struct options *options)
{
	for (;;) {
		switch (getopt_long(argc, argv, "+s:jw:ph", long_options, NULL)) {
		case -1:
			return -1;
		case 's':
			options->socket = optarg;
			break;
		case 'j':
			options->is_json = true;
			break;
		case OPT_LINES:
			options->is_json = options->is_lines = true;
			break;
		case 'p':
			options->has_progress = true;
			break;
		case 'w':
			if (!read_wait(optarg, &options->wait_s))
				return EXIT_USAGE;
			break;
		case OPT_VERSION:
			puts("volleyctl " VOLLEY_VERSION);
			return finish_output();
		case 'h':
		case OPT_HELP:
			help_put_volleyctl(stdout);
			return finish_output();
		case OPT_MAN:
			return fill_man(optarg);
		default:
			return refuse_usage(stderr);
		}
	}
}

/* Also accepts --json and --json-lines after the command, where many users type them. */
static int take_json(int argc, char **argv, struct options *options)
{
	int n = 0;

	for (int i = 0; i < argc; i++) {
		const bool is_lines = !strcmp(argv[i], "--json-lines");

		if (!is_lines && strcmp(argv[i], "--json") != 0)
			argv[n++] = argv[i];
		else
			options->is_json = true;
		options->is_lines |= is_lines;
	}
	return n;
}

/* Names a refused command. "zone" alone is the first word of several commands. */
static void refuse_command(FILE *errors, int argc, char **argv)
{
	const char *meant = help_find_meant(argc, argv);

	if (argc == 1 && help_put_commands_of(errors, argv[0]))
		return;
	fprintf(errors, "volleyctl: there is no command \"%s%s%s\"", argv[0], argc > 1 ? " " : "",
		argc > 1 ? argv[1] : "");
	if (meant)
		fprintf(errors, ", did you mean \"%s\"?", meant);
	fputc('\n', errors);
	if (argc > 1)
		(void)help_put_commands_of(errors, argv[0]);
}

static const struct words_command *read_command(FILE *errors, int argc, char **argv, int *n_words)
{
	const struct words_command *command = words_find_command(argc, argv, n_words);
	int n_args = argc - *n_words;

	if (!argc)
		fputs("volleyctl: which command?\n", errors);
	else if (!command)
		refuse_command(errors, argc, argv);
	else if (n_args < (int)command->min_args || n_args > (int)command->max_args)
		fprintf(errors, "usage: volleyctl %s%s%s\n", command->name,
			*command->args ? " " : "", command->args);
	else
		return command;
	return NULL;
}

/* Sentences and results name files, also in logs, so their names are made absolute. */
static char *make_absolute(const char *path)
{
	char *folder, *out = NULL;

	if (*path == '/')
		return strdup(path);
	folder = getcwd(NULL, 0);
	if (folder && asprintf(&out, "%s/%s", folder, path) < 0)
		out = NULL;
	free(folder);
	return out;
}

/* True if argument i is the name of a file. */
static bool is_file(const char *command, int i)
{
	return !i && passed_file_is_of(command);
}

static bool is_await(const json_t *args)
{
	const char *arg = json_string_value(json_array_get(args, 0));

	return arg && !strcmp(arg, "--await");
}

/* True if there is no limit of time for the command. */
static bool is_long(const char *command, const json_t *args)
{
	return is_await(args) || !strcmp(command, "zone reload") || !strcmp(command, "zone add") ||
	       !strcmp(command, "zone remove") || !strcmp(command, "zone flush") ||
	       !strcmp(command, "cache dump") || !strcmp(command, "cache load") ||
	       !strcmp(command, "cache resize");
}

static json_t *make_volleyctl_args(const struct words_command *command, int n, char **words)
{
	json_t *args = json_array();

	for (int i = 0; i < n && args; i++) {
		char *text = is_file(command->name, i) ? make_absolute(words[i]) : strdup(words[i]);

		if (!text || json_array_append_new(args, json_string(text))) {
			json_decref(args);
			args = NULL;
		}
		free(text);
	}
	return args;
}

static int print_result(const struct options *options, const char *command, const json_t *result)
{
	int ret;

	if (options->is_json)
		ret = json_dumpf(result, stdout,
				 options->is_lines ? JSON_COMPACT : JSON_INDENT(2)) ||
				      putchar('\n') < 0 ?
			      -EIO :
			      0;
	else
		ret = result_text(stdout, command, result);
	if (ret) {
		fprintf(options->errors, "volleyctl: the result cannot be shown: %s\n",
			err_text(ret));
		return EXIT_REFUSED;
	}
	return finish_output();
}

/* Several names of zone add or zone remove: the others are done if one is refused. */
static int print_reply_done(const struct options *options, const char *command,
			    const json_t *result)
{
	const bool has_names = !strcmp(command, "zone add") || !strcmp(command, "zone remove");
	int ret = print_result(options, command, result);

	if (!ret && has_names && json_array_size(json_object_get(result, "failed")))
		return EXIT_REFUSED;
	return ret;
}

static int print_reply(struct options *options, const char *command, const json_t *reply)
{
	const char *code = json_string_value(json_object_get(reply, "code"));
	const char *error = json_string_value(json_object_get(reply, "error"));

	if (json_is_true(json_object_get(reply, "ok")))
		return print_reply_done(options, command, json_object_get(reply, "result"));
	fprintf(options->errors, "volleyctl: %s: %s\n", command, error ? error : "it failed");
	snprintf(options->code, sizeof(options->code), "%s", code ? code : "");
	return call_is_usage(options->code) ? EXIT_USAGE : EXIT_REFUSED;
}

static int say_no_daemon(const struct options *options, int err)
{
	const char *socket = options->socket;

	if (err == -EACCES || err == -EPERM)
		fprintf(options->errors,
			"volleyctl: no permission for %s: run as root, or in the socket's group\n",
			socket);
	else if (err == -ENOENT || err == -ECONNREFUSED)
		fprintf(options->errors,
			"volleyctl: no volleyd listens on %s: start one with\n"
			"  volleyd -c /etc/volley/volley.yaml\n"
			"or name the socket of another with -s\n",
			socket);
	else
		fprintf(options->errors, "volleyctl: cannot connect to %s: %s\n", socket,
			err_text(err));
	return EXIT_NO_DAEMON;
}

/* "stop" is done when the daemon has ended: then the connection ends. */
static int wait_for_stop(int fd, const struct options *options)
{
	int wait_s = options->wait_s ? options->wait_s : WAIT_S_DEFAULT;

	if (!call_wait_end(fd, wait_s * 1000))
		return EXIT_DONE;
	fprintf(options->errors, "volleyctl: volleyd has not stopped after %d s\n", wait_s);
	return EXIT_REFUSED;
}

static int send_and_receive(const struct options *options, int fd, const char *command,
			    const json_t *args, int file, json_t **reply)
{
	const struct await_call await = {
		.socket = options->socket,
		.wait_s = options->wait_s,
		.is_shown = (!strcmp(command, "zone reload") || is_await(args)) &&
			    (options->has_progress || isatty(STDERR_FILENO)),
		.zone = json_array_size(args) && !is_await(args) ? args : NULL,
	};
	int wait_ms = (options->wait_s ? options->wait_s : WAIT_S_DEFAULT) * 1000;
	int ret = call_send(fd, command, args, file, wait_ms);

	*reply = NULL;
	if (!ret && is_long(command, args))
		ret = await_call(&await, fd);
	return ret ? ret : call_receive(fd, wait_ms, reply);
}

/* If it returns EXIT_DONE, *FD is open and *REPLY is a new reference. FILE: to send, or -1. */
static int get_reply(const struct options *options, const char *command, const json_t *args,
		     int file, int *fd, json_t **reply)
{
	int ret;

	*fd = call_open(options->socket);
	if (*fd < 0)
		return say_no_daemon(options, *fd);
	ret = send_and_receive(options, *fd, command, args, file, reply);
	if (!ret)
		return EXIT_DONE;
	fprintf(options->errors, "volleyctl: no reply from volleyd on %s: %s\n", options->socket,
		err_text(ret));
	close(*fd);
	return EXIT_REFUSED;
}

static bool is_ok(const json_t *reply)
{
	return json_is_true(json_object_get(reply, "ok"));
}

/* Opens the file of a command. EXIT_DONE, or the fault is told. */
static int open_volleyctl_file(struct options *options, struct passed_file *file,
			       const char *command, const json_t *args)
{
	char err[1024];

	if (!passed_file_open(file, command, json_string_value(json_array_get(args, 0)), err,
			      sizeof(err)))
		return EXIT_DONE;
	fprintf(options->errors, "volleyctl: %s: %s\n", command, err);
	return EXIT_REFUSED;
}

/* Closes it; if the command is done, puts a dump in place. EXIT_DONE, or the fault is told. */
static int close_volleyctl_file(struct options *options, struct passed_file *file,
				const char *command, bool is_done)
{
	char err[1024];

	if (!passed_file_close(file, is_done, err, sizeof(err)))
		return EXIT_DONE;
	fprintf(options->errors, "volleyctl: %s: %s\n", command, err);
	return EXIT_REFUSED;
}

static int run_volleyctl_command(struct options *options, const char *command, const json_t *args)
{
	struct passed_file file;
	json_t *reply = NULL;
	int fd, ret = open_volleyctl_file(options, &file, command, args), closed;

	if (ret)
		return ret;
	ret = get_reply(options, command, args, file.fd, &fd, &reply);
	closed = close_volleyctl_file(options, &file, command, !ret && is_ok(reply));
	if (ret)
		return ret;
	ret = closed ? closed : print_reply(options, command, reply);
	if (!ret && !strcmp(command, "stop"))
		ret = wait_for_stop(fd, options);
	json_decref(reply);
	close(fd);
	return ret;
}

/* --- Lists ------------------------------------------------------------------------------------ */

static bool is_for_names(const json_t *args)
{
	for (size_t i = 0; i < json_array_size(args); i++)
		if (!strcmp(json_string_value(json_array_get(args, i)), "--names"))
			return true;
	return false;
}

static int run_list(struct options *options, const char *command, const json_t *args)
{
	const struct list_call call = {
		.socket = options->socket,
		.wait_ms = (options->wait_s ? options->wait_s : WAIT_S_DEFAULT) * 1000,
		.form = options->is_lines  ? LIST_JSON_LINES :
			options->is_json   ? LIST_JSON :
			is_for_names(args) ? LIST_NAMES :
					     LIST_TEXT,
		.out = stdout,
		.errors = options->errors,
		.code = options->code,
	};
	int code;

	signal(SIGPIPE, SIG_IGN);
	code = list_call(&call, command, args);
	return code < 0 ? say_no_daemon(options, code) : code;
}

/* --- Another configuration -------------------------------------------------------------------- */

/* Asks with the descriptor of the new text. *REPLY is a new reference if it returns EXIT_DONE. */
static int ask_about(const struct options *options, const char *command, const json_t *args,
		     int file, json_t **reply)
{
	int fd, ret = get_reply(options, command, args, file, &fd, reply);

	if (!ret)
		close(fd);
	return ret;
}

/*
 * Waits until zones and lists are loaded, and adds the parts that are not in force to the result.
 * EXIT_DONE: all is in force.
 */
static int await_loads(struct options *options, json_t *result, const char *file)
{
	json_t *args = json_pack("[s]", "--await"), *reply, *failed;
	int ret = ask_about(options, "config apply", args, -1, &reply);

	json_decref(args);
	if (ret)
		return ret;
	failed = json_object_get(json_object_get(reply, "result"), "failed");
	if (json_array_size(failed)) {
		json_object_set(result, "failed", failed);
		if (!options->is_json)
			fprintf(options->errors,
				"volleyctl: config apply: the new configuration is in force and is in %s, "
				"but what stands at \"failed\" is not\n",
				file);
		ret = EXIT_REFUSED;
	}
	json_decref(reply);
	return ret;
}

/* If volleyd accepts the text in memory, STAGED, which has the same text, replaces FILE. */
static int apply_staged(struct options *options, const json_t *args, int text, const char *staged,
			const char *file, json_t **reply)
{
	char err[1024];
	int ret = ask_about(options, "config apply", args, text, reply);

	if (ret || !is_ok(*reply)) {
		unlink(staged);
		return ret;
	}
	if (!config_file_replace(staged, file, err, sizeof(err)))
		return EXIT_DONE;
	fprintf(options->errors, "volleyctl: config apply: %s\n", err);
	json_decref(*reply);
	return EXIT_REFUSED;
}

/* Holds the lock of FILE meanwhile. EXIT_DONE: *REPLY is a new reference. */
static int apply_to(struct options *options, const json_t *args, int text, const char *file,
		    json_t **reply)
{
	char err[1024], *staged;
	int lock = config_file_lock(file, err, sizeof(err)), ret = EXIT_REFUSED;

	if (lock >= 0 && !config_file_stage(&staged, text, file, err, sizeof(err))) {
		ret = apply_staged(options, args, text, staged, file, reply);
		free(staged);
	} else {
		fprintf(options->errors, "volleyctl: config apply: %s\n", err);
	}
	if (lock >= 0)
		config_file_unlock(lock);
	return ret;
}

/* The result is printed in any case; the status tells whether all of it is in force. */
static int apply_and_await(struct options *options, const json_t *args, int text, const char *file)
{
	json_t *reply;
	int ret = apply_to(options, args, text, file, &reply), failed;

	if (ret)
		return ret;
	failed = is_ok(reply) ? await_loads(options, json_object_get(reply, "result"), file) :
				EXIT_DONE;
	ret = print_reply(options, "config apply", reply);
	json_decref(reply);
	return ret ? ret : failed;
}

/* Asks `config diff` first: its result names the configuration's file. */
static int run_volleyctl_config_apply(struct options *options, const json_t *args)
{
	struct passed_file text;
	json_t *reply;
	const char *file;
	int ret = open_volleyctl_file(options, &text, "config apply", args);

	if (ret)
		return ret;
	ret = ask_about(options, "config diff", args, text.fd, &reply);
	if (!ret) {
		file = json_string_value(json_object_get(json_object_get(reply, "result"), "file"));
		ret = is_ok(reply) && file ? apply_and_await(options, args, text.fd, file) :
					     print_reply(options, "config apply", reply);
		json_decref(reply);
	}
	(void)close_volleyctl_file(options, &text, "config apply", false);
	return ret;
}

/* --- Without a daemon ------------------------------------------------------------------------- */

static int terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_col < WIDTH_DEFAULT)
		return WIDTH_DEFAULT;
	return size.ws_col;
}

static int run_doctor(struct options *options, int n, char **words)
{
	json_t *result;
	int ret = doctor_run(options->socket, n, words, &result), code;

	if (ret == -EINVAL) {
		fputs("usage: volleyctl doctor [--config FILE] [IF...]\n", options->errors);
		return EXIT_USAGE;
	}
	if (ret) {
		fprintf(options->errors, "volleyctl: doctor: %s\n", err_text(ret));
		return EXIT_REFUSED;
	}
	code = json_integer_value(json_object_get(result, "failures")) ? EXIT_REFUSED : EXIT_DONE;
	if (options->is_json) {
		json_dumpf(result, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		doctor_print(stdout, result, terminal_width());
	}
	json_decref(result);
	ret = finish_output();
	return ret ? ret : code;
}

static int run_health(struct options *options, int n, char **words)
{
	int wait_s = options->wait_s ? options->wait_s : WAIT_S_HEALTH;
	int code = (int)health_call(stdout, options->socket, wait_s * 1000, options->is_json, n,
				    words);
	int ret = finish_output();

	return ret ? ret : code;
}

static int run_top(struct options *options, int n, char **words)
{
	const struct top_call call = { .socket = options->socket,
				       .wait_ms = (options->wait_s ? options->wait_s : WAIT_S_TOP) *
						  1000,
				       .is_json = options->is_json,
				       .errors = options->errors };
	int code = top_call(&call, n, words), ret;

	if (code < 0)
		return say_no_daemon(options, code);
	ret = finish_output();
	return ret ? ret : code;
}

static int run_capture(struct options *options, int n, char **words)
{
	const struct capture_call call = {
		.socket = options->socket,
		.wait_ms = (options->wait_s ? options->wait_s : WAIT_S_CAPTURE) * 1000,
		.is_json = options->is_json,
		.errors = options->errors
	};
	int code = capture_call(&call, n, words);

	if (code < 0)
		return say_no_daemon(options, code);
	return code ? code : finish_output();
}

static int run_import(struct options *options, int n, char **words)
{
	return import_script_run(options->errors, n, words) ? EXIT_REFUSED : EXIT_DONE;
}

static int run_volleyctl_batch(const struct options *options, const char *command, int n,
			       char **words)
{
	const struct batch_call call = {
		.socket = options->socket,
		.wait_ms = (options->wait_s ? options->wait_s : WAIT_S_BATCH) * 1000,
		.is_json = options->is_json,
		.errors = stderr
	};
	int code = batch_call(&call, command, n, words);

	return code < 0 ? say_no_daemon(options, code) : code;
}

static int run_zone_check(struct options *options, int n, char **words)
{
	char err[4096];
	json_t *result;
	int code = zone_check_file(words[0], words[1], &result, err, sizeof(err)), ret;

	(void)n; /* two */
	if (code) {
		fprintf(options->errors, "volleyctl: zone check: %s\n", err);
		return EXIT_REFUSED;
	}
	ret = print_result(options, "zone check", result);
	json_decref(result);
	return ret;
}

/* "help", "help zone", "help zone reload". */
static int run_help(FILE *errors, int argc, char **argv)
{
	const struct words_command *command;
	int n_words;

	if (!argc) {
		help_put_volleyctl(stdout);
		return finish_output();
	}
	command = words_find_command(argc, argv, &n_words);
	if (command && n_words == argc) {
		help_put_command(stdout, command);
		return finish_output();
	}
	if (argc == 1 && help_put_commands_of(stdout, argv[0]))
		return finish_output();
	refuse_command(errors, argc, argv);
	return refuse_usage(errors);
}

/* They need no daemon, or do more than ask it once and print the answer. */
static const struct {
	const char *name;
	int (*run)(struct options *options, int n, char **words);
} own_commands[] = {
	{ "doctor", run_doctor },   { "health", run_health }, { "top", run_top },
	{ "capture", run_capture }, { "import", run_import }, { "zone check", run_zone_check },
};

static int run_volleyctl(struct options *options, int argc, char **argv)
{
	const struct words_command *command;
	int n_words, code;
	json_t *args;

	if (argc && !strcmp(argv[0], "help"))
		return run_help(options->errors, argc - 1, argv + 1);
	command = read_command(options->errors, argc, argv, &n_words);
	if (!command)
		return refuse_usage(options->errors);
	for (size_t i = 0; i < sizeof(own_commands) / sizeof(own_commands[0]); i++)
		if (!strcmp(command->name, own_commands[i].name))
			return own_commands[i].run(options, argc - n_words, argv + n_words);
	if ((!strcmp(command->name, "zone add") || !strcmp(command->name, "zone remove")) &&
	    batch_call_is(argc - n_words, argv + n_words))
		return run_volleyctl_batch(options, command->name, argc - n_words, argv + n_words);
	args = make_volleyctl_args(command, argc - n_words, argv + n_words);
	if (!args) {
		fputs("volleyctl: an argument is not UTF-8\n", options->errors);
		return EXIT_USAGE;
	}
	if (!strcmp(command->name, "config apply"))
		code = run_volleyctl_config_apply(options, args);
	else if (!strcmp(command->name, "zone list") ||
		 (!strcmp(command->name, "zone status") && !json_array_size(args)))
		code = run_list(options, command->name, args);
	else
		code = run_volleyctl_command(options, command->name, args);
	json_decref(args);
	return code;
}

/* --- Errors as JSON --------------------------------------------------------------------------- */

/*
 * {"error": "zone status: other.test: no such zone", "code": "ERR_NOT_FOUND"}; "code" only if the
 * daemon gave one.
 */
static void print_error(const struct options *options, char *text)
{
	static const char name[] = "volleyctl: ";
	const char *sentence = strncmp(text, name, sizeof(name) - 1) ? text :
								       text + sizeof(name) - 1;
	json_t *error = json_object();

	for (size_t n = strlen(text); n && text[n - 1] == '\n'; n--)
		text[n - 1] = 0;
	json_object_set_new(error, "error", json_string(sentence));
	if (*options->code)
		json_object_set_new(error, "code", json_string(options->code));
	json_dumpf(error, stdout, options->is_lines ? JSON_COMPACT : JSON_INDENT(2));
	putchar('\n');
	json_decref(error);
}

static int run_with_json(struct options *options, int argc, char **argv)
{
	char *text = NULL;
	size_t n;
	int code, ret;

	options->errors = open_memstream(&text, &n);
	if (!options->errors) {
		options->errors = stderr;
		return run_volleyctl(options, argc, argv);
	}
	code = run_volleyctl(options, argc, argv);
	if (fclose(options->errors) || !n) {
		free(text);
		return code;
	}
	print_error(options, text);
	free(text);
	ret = finish_output();
	return ret ? ret : code;
}

int main(int argc, char **argv)
{
	struct options options = { .socket = getenv(WORDS_SOCKET_ENV), .errors = stderr };
	int code = read_volleyctl_options(argc, argv, &options);

	if (code >= 0)
		return code;
	if (!options.socket || !*options.socket)
		options.socket = WORDS_SOCKET_PATH;
	argv += optind;
	argc = take_json(argc - optind, argv, &options);
	return options.is_json ? run_with_json(&options, argc, argv) :
				 run_volleyctl(&options, argc, argv);
}
