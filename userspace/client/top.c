/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/call.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/top_view.h"
#include "config/value.h"
#include "config/words.h"

#define PERIOD_NS     CLOCK_NS_PER_S
#define WIDTH_DEFAULT 80
#define ROWS_DEFAULT  20
#define ROWS_MAX      1000
/* --once sends three requests. The first begins the stream, the second knows the load, and the
 * third has the answers of one second. */
#define N_LOOKS 3

/* Switch to the alternate screen without a cursor, and back. */
#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[2J"
#define SCREEN_END   "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"

enum { STATUS_DONE, STATUS_REFUSED, STATUS_USAGE };

struct top {
	const struct top_call *call;
	struct top_view view;
	bool is_once;
	unsigned int n_rows; /* 0: as many as fit the terminal */
	int fd;
	json_t *last; /* the last reply, with rates */
};

static volatile sig_atomic_t ends;

static void on_top_signal(int number)
{
	ends |= number != SIGWINCH;
}

/* --- Arguments -------------------------------------------------------------------------------- */

static int read_top_words(struct top *top, int n, char *const *words)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = ROWS_MAX };
	uint64_t rows;

	for (int i = 0; i < n; i++) {
		if (!strcmp(words[i], "--once")) {
			top->is_once = true;
			continue;
		}
		if (i + 1 == n)
			return -EINVAL;
		if (!strcmp(words[i], "--by") && top_view_find(&top->view.kind, words[i + 1])) {
			i++;
			continue;
		}
		if (strcmp(words[i], "-n") != 0 || value_read_number(&key, words[i + 1], &rows))
			return -EINVAL;
		top->n_rows = (unsigned int)rows;
		i++;
	}
	return 0;
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Fetches the next reply, and adds rates. 0, or an exit status after an error message. */
static int look_top(struct top *top, json_t **out)
{
	const struct top_call *call = top->call;
	unsigned int n = top->n_rows      ? top->n_rows :
			 top->view.height ? top->view.height :
					    ROWS_DEFAULT;
	char text[16];
	json_t *args, *reply = NULL;
	int err, status = STATUS_DONE;

	snprintf(text, sizeof(text), "%u", n < ROWS_MAX ? n : ROWS_MAX);
	args = json_pack("[s, s]", "-n", text);
	err = call_run(top->fd, "top", args, call->wait_ms, &reply);
	json_decref(args);
	if (err) {
		fprintf(call->errors, "volleyctl: no reply from volleyd on %s: %s\n", call->socket,
			err_text(err));
		return STATUS_REFUSED;
	}
	*out = json_incref(json_object_get(reply, "result"));
	if (!json_is_object(*out)) {
		const char *error = json_string_value(json_object_get(reply, "error"));

		fprintf(call->errors, "volleyctl: top: %s\n", error ? error : "it failed");
		json_decref(*out);
		status = STATUS_REFUSED;
	}
	json_decref(reply);
	return status;
}

static int refresh_top(struct top *top)
{
	json_t *now;
	int status = look_top(top, &now);

	if (status)
		return status;
	if (top->last)
		top_view_remember(&top->view, top_view_rates(now, top->last));
	json_decref(top->last);
	top->last = now;
	return STATUS_DONE;
}

static int show_once(struct top *top)
{
	const struct timespec pause = { .tv_sec = PERIOD_NS / CLOCK_NS_PER_S };
	int status = refresh_top(top);

	for (int i = 1; i < N_LOOKS && !status; i++) {
		nanosleep(&pause, NULL);
		status = refresh_top(top);
	}
	if (status)
		return status;
	if (!top->call->is_json) {
		top_view_draw(stdout, &top->view, top->last);
		return STATUS_DONE;
	}
	json_dumpf(top->last, stdout, JSON_INDENT(2));
	putchar('\n');
	return STATUS_DONE;
}

/* --- The terminal ----------------------------------------------------------------------------- */

static void measure_top(struct top *top)
{
	struct winsize size;

	top->view.width = WIDTH_DEFAULT;
	top->view.height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	top->view.width = size.ws_col > TOP_WIDTH_MIN ? size.ws_col : TOP_WIDTH_MIN;
	top->view.height = size.ws_row;
}

static void draw(struct top *top)
{
	measure_top(top);
	fputs(SCREEN_HOME, stdout);
	if (top->last && json_object_get(top->last, "per_second"))
		top_view_draw(stdout, &top->view, top->last);
	fflush(stdout);
}

/* False: q was typed. */
static bool obey_top(struct top *top, const char *keys, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++) {
		const char word[2] = { keys[i] };

		if (keys[i] == 'q')
			return false;
		top->view.is_help = keys[i] == '?' && !top->view.is_help;
		if (keys[i] == ' ')
			top->view.is_paused = !top->view.is_paused;
		else
			(void)top_view_find(&top->view.kind, word);
	}
	return true;
}

/* Waits until a key is typed, the window changes its size, or UNTIL_NS. False: the command ends. */
static bool wait_for_keys(struct top *top, uint64_t until_ns, const sigset_t *mask)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now_ns = clock_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec left = { .tv_sec = (time_t)(left_ns / CLOCK_NS_PER_S),
				 .tv_nsec = (long)(left_ns % CLOCK_NS_PER_S) };
	char keys[64];
	ssize_t n;

	if (ppoll(&in, 1, &left, mask) <= 0)
		return !ends;
	n = read(STDIN_FILENO, keys, sizeof(keys));
	return n > 0 && !ends && obey_top(top, keys, n);
}

/* Requests go on during a pause, so that the view is current at once after it. */
static int watch_top(struct top *top, const sigset_t *mask)
{
	uint64_t next_ns = clock_ns();
	int status = STATUS_DONE;

	do {
		if (clock_ns() >= next_ns) {
			struct top_view view = top->view;
			json_t *shown = view.is_paused ? json_incref(top->last) : NULL;

			status = refresh_top(top);
			if (shown && !status) {
				json_decref(top->last);
				top->last = shown;
			}
			next_ns += PERIOD_NS;
			if (next_ns < clock_ns())
				next_ns = clock_ns() + PERIOD_NS;
		}
		if (!status)
			draw(top);
	} while (!status && wait_for_keys(top, next_ns, mask));
	return status;
}

static void catch_top_signals(sigset_t *old)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sigaction action = { .sa_handler = on_top_signal };
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(&ours, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
	/* Signals are delivered only in ppoll(), so that none is missed. */
	sigprocmask(SIG_BLOCK, &ours, old);
}

/* Calls watch_top(), then prints its errors: on the alternate screen they would vanish. */
static int watch_screen(struct top *top, const sigset_t *mask)
{
	const struct top_call *call = top->call;
	struct top_call hidden = *call;
	char *text = NULL;
	size_t n;
	int status;

	hidden.errors = open_memstream(&text, &n);
	if (hidden.errors)
		top->call = &hidden;
	fputs(SCREEN_BEGIN, stdout);
	status = watch_top(top, mask);
	fputs(SCREEN_END, stdout);
	fflush(stdout);
	top->call = call;
	if (hidden.errors && !fclose(hidden.errors))
		fputs(text, call->errors);
	free(text);
	return status;
}

/* No key stops the program: a stopped program does not restore the terminal. */
static int show_live(struct top *top)
{
	struct termios before, raw;
	sigset_t mask;
	int status;

	if (tcgetattr(STDIN_FILENO, &before))
		return show_once(top);
	catch_top_signals(&mask);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	top->view.is_live = true;
	measure_top(top);
	status = watch_screen(top, &mask);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	return status;
}

int top_call(const struct top_call *call, int n, char *const *words)
{
	struct top top = { .call = call, .view.width = WIDTH_DEFAULT };
	int status;

	if (read_top_words(&top, n, words)) {
		fprintf(call->errors,
			"volleyctl: top takes --once, -n and a number from 1 to %d, and --by "
			"clients, names, types, rcodes, zones or limited\n",
			ROWS_MAX);
		return STATUS_USAGE;
	}
	top.fd = call_open(call->socket);
	if (top.fd < 0)
		return top.fd;
	setlocale(LC_CTYPE, "");
	top.view.is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	top.is_once |= call->is_json || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
	status = top.is_once ? show_once(&top) : show_live(&top);
	json_decref(top.last);
	close(top.fd);
	return status;
}
