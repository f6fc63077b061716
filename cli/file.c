/* Files that are written. A temporary file in the folder of the name takes what is written, and is renamed at
 * the end: a reader sees the old file or the whole new one, and nothing that goes wrong on the way costs the
 * old one. It has the mode (and, where that is allowed, the owner) of the file that it replaces. A signal
 * that ends the process removes it first, and does what else was asked for; only SIGKILL, or a crash, can
 * leave one behind. */
#include "cli/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/place.h"

/* ---- signals ---- */

/* They are blocked in every thread but this one, which may do what a handler may not, and needs no global
 * variable. */
static void *watch(void *data)
{
	struct kr_files *files = data;
	int number;

	if (sigwait(&files->endings, &number) != 0)
		return NULL;
	pthread_mutex_lock(&files->lock); /* nothing is made or renamed from now on */
	for (size_t i = 0; i < KR_FILES_MOST; i++)
		if (files->temporaries[i])
			(void)unlink(files->temporaries[i]);
	if (files->last)
		files->last(files->last_data);
	(void)signal(number, SIG_DFL);
	(void)pthread_sigmask(SIG_UNBLOCK, &files->endings, NULL);
	(void)raise(number);
	return NULL;
}

/* Without a watcher a signal ends the process as ever. */
void kr_files_watch(struct kr_files *files)
{
	static const int endings[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction now;

	if (files->watched)
		return;
	for (size_t i = 0; i < KR_COUNT(endings); i++)
		/* nohup ignores SIGHUP */
		if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			(void)sigaddset(&files->endings, endings[i]);
	(void)pthread_sigmask(SIG_BLOCK, &files->endings, NULL);
	files->watched = pthread_create(&files->watcher, NULL, watch, files) == 0;
	if (!files->watched)
		(void)pthread_sigmask(SIG_UNBLOCK, &files->endings, NULL);
}

void kr_files_at_signal(struct kr_files *files, void (*last)(void *data), void *data)
{
	pthread_mutex_lock(&files->lock);
	files->last = last;
	files->last_data = data;
	pthread_mutex_unlock(&files->lock);
}

void kr_files_done(struct kr_files *files)
{
	if (files->watched) {
		(void)pthread_cancel(files->watcher);
		(void)pthread_join(files->watcher, NULL);
		(void)pthread_sigmask(SIG_UNBLOCK, &files->endings, NULL);
	}
	(void)pthread_mutex_destroy(&files->lock);
}

/* Puts `new` in the place of `old`. */
static void note_temporary(struct kr_files *files, const char *old, const char *new)
{
	for (size_t i = 0; i < KR_FILES_MOST; i++)
		if (files->temporaries[i] == old) {
			files->temporaries[i] = new;
			return;
		}
}

/* ---- opening ---- */

static bool fail(struct kr_file *f, const char *what)
{
	int error = errno;

	kr_file_drop(f);
	f->failed = true;
	kr_fail("%s: cannot %s: %s", f->path, what, strerror(error));
	return false;
}

/* As the file that is replaced, or as the system makes new ones. Where that is not to be had it stays
 * private. */
static void set_mode(int fd, const struct kr_file_place *place)
{
	mode_t mask = umask(0), mode = 0666 & ~mask;

	(void)umask(mask);
	if (place->exists)
		mode = place->info.st_mode &
			(fchown(fd, place->info.st_uid, place->info.st_gid) == 0 ? 07777 : 0777);
	(void)fchmod(fd, mode);
}

static FILE *make_temporary(struct kr_file *f, const struct kr_file_place *place)
{
	size_t folder = (size_t)(strrchr(place->target, '/') - place->target) + 1,
	       size = folder + sizeof ".krait-XXXXXX";
	char *name = malloc(size);
	int fd = -1;

	f->target = strdup(place->target);
	pthread_mutex_lock(&f->files->lock);
	if (f->target && name) {
		(void)snprintf(name, size, "%.*s.krait-XXXXXX", (int)folder, place->target);
		fd = mkstemp(name);
	}
	if (fd >= 0)
		note_temporary(f->files, NULL, name);
	pthread_mutex_unlock(&f->files->lock);
	if (fd < 0) {
		free(name);
		return NULL;
	}
	f->temporary = name;
	set_mode(fd, place);
	FILE *file = fdopen(fd, "w");
	if (!file)
		(void)close(fd);
	return file;
}

static FILE *open_descriptor(int descriptor)
{
	int fd = descriptor == STDOUT_FILENO ? -1 : dup(descriptor);

	return descriptor == STDOUT_FILENO ? stdout : fd < 0 ? NULL : fdopen(fd, "w");
}

bool kr_file_open(struct kr_file *f, const struct kr_args *args, const char *path)
{
	struct kr_file_place place;

	*f = (struct kr_file){.path = path, .files = args->files};
	if (!path)
		return true;
	if (strcmp(path, "-") == 0)
		f->file = stdout;
	else if (!kr_file_place_find(path, &place))
		return fail(f, "create");
	else if (place.descriptor >= 0)
		f->file = open_descriptor(place.descriptor);
	else if (place.exists && !S_ISREG(place.info.st_mode))
		f->file = fopen(path, "w");
	else if (!place.exists ||
		access(place.target, W_OK) == 0) /* one that is not to be written is not replaced, either */
		f->file = make_temporary(f, &place);
	return f->file || fail(f, "create");
}

/* ---- writing and closing ---- */

bool kr_file_write(struct kr_file *f, const struct kr_str *text)
{
	if (!f->file)
		return !f->failed;
	if (f->file == stdout)
		return kr_print(text);
	errno = ENOMEM;
	if (!text->failed && fwrite(kr_str_text(text), 1, text->n, f->file) == text->n &&
		fflush(f->file) == 0)
		return true;
	return fail(f, "write");
}

void kr_file_put(struct kr_file *f, struct kr_str *text)
{
	(void)kr_file_write(f, text);
	kr_str_done(text);
}

/* The temporary file takes its name, or is removed. */
static bool settle(struct kr_file *f, bool complete)
{
	bool done = true;

	if (f->temporary) {
		pthread_mutex_lock(&f->files->lock);
		done = complete ? rename(f->temporary, f->target) == 0 : unlink(f->temporary) == 0;
		if (done || !complete)
			note_temporary(f->files, f->temporary, NULL);
		pthread_mutex_unlock(&f->files->lock);
	}
	if (done || !complete) {
		free(f->temporary);
		free(f->target);
		f->temporary = f->target = NULL;
	}
	return done;
}

bool kr_file_close(struct kr_file *f)
{
	FILE *file = f->file;

	f->file = NULL;
	if (!file || file == stdout)
		return !f->failed;
	return (fclose(file) == 0 && settle(f, true)) || fail(f, "write");
}

void kr_file_drop(struct kr_file *f)
{
	if (f->file && f->file != stdout)
		(void)fclose(f->file);
	f->file = NULL;
	(void)settle(f, false);
}

bool kr_file_save(const struct kr_args *args, const char *path, const struct kr_str *text)
{
	struct kr_file file;

	if (!kr_file_open(&file, args, path ? path : "-"))
		return false;
	bool written = kr_file_write(&file, text);
	return kr_file_close(&file) && written;
}

/* ---- what may be written ---- */

/* A file of the command line. */
struct named {
	/* NULL: an operand; `path` NULL: a standard stream, which `option` names */
	const char *path, *option;
	bool written;
	struct kr_file_place place;
};

/* What is written, with standard output and error. */
struct outputs {
	struct named at[KR_FILES_MOST];
	uint32_t n;
};

static bool is_folder(const struct named *named)
{
	return named->place.exists && S_ISDIR(named->place.info.st_mode);
}

/* Finds the place; false for what nothing can be mistaken for: devices, pipes, what is not there. */
static bool locate(struct named *named)
{
	bool stream = strcmp(named->path, "-") == 0;

	if (stream)
		kr_file_place_of(named->written ? STDOUT_FILENO : STDIN_FILENO, &named->place);
	else if (!kr_file_place_find(named->path, &named->place))
		return false; /* opening it will say what is wrong */
	return !named->place.exists || S_ISREG(named->place.info.st_mode) ||
		(is_folder(named) && !named->written);
}

/* Would `a`, which is written, spoil `b`? Two descriptors may share a file: `2>&1`. That standard error goes
 * to an input cannot be told but there. */
static bool clash(const struct named *a, const struct named *b)
{
	if (a->place.descriptor == STDERR_FILENO && !b->written)
		return false;
	if (is_folder(b))
		return kr_file_place_within(b->path, &a->place);
	return kr_file_place_same(&a->place, &b->place) &&
		!(b->written && a->place.descriptor >= 0 && b->place.descriptor >= 0);
}

/* "option '--dot'", "the input", "standard output" */
static void add_role(const struct named *named, char out[64])
{
	const char *format = !named->path ? "%s" : named->option ? "option '--%s'" : "the %s";

	(void)snprintf(out, 64, format, named->option ? named->option : named->written ? "output" : "input");
}

static int refuse(const struct named *a, const struct named *b)
{
	char writer[64], role[64];

	add_role(a, writer);
	add_role(b, role);
	if (!b->path || b->written)
		return kr_usage("%s would overwrite the file of %s; expected another file", writer, role);
	if (b->option)
		return kr_usage("%s would overwrite %s'%s' of %s; expected another file", writer,
			is_folder(b) ? "a file of " : "", b->path, role);
	return kr_usage("%s would overwrite %s%s '%s'; expected another file", writer,
		is_folder(b) ? "a file of " : "", role, b->path);
}

/* Holds a file against what is written, and keeps it if it is, too. */
static int add(struct outputs *out, struct named *named)
{
	if (named->path && !locate(named))
		return KR_EXIT_SATISFIED;
	for (uint32_t i = 0; i < out->n; i++)
		if (clash(&out->at[i], named))
			return named->path && named->written ? refuse(named, &out->at[i])
							     : refuse(&out->at[i], named);
	if (named->written && out->n < KR_FILES_MOST)
		out->at[out->n++] = *named;
	return KR_EXIT_SATISFIED;
}

static int add_operands(const struct kr_args *args, bool written, struct outputs *out)
{
	const struct kr_command *command = args->command;
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0;
		command->operands == KR_WORDS_FILE && i < args->operands.n && exit == KR_EXIT_SATISFIED;
		i++) {
		struct named named = {.path = args->operands.at[i],
			.written = command->written > 0 && i >= command->written};
		if (named.written == written)
			exit = add(out, &named);
	}
	return exit;
}

static int add_options(const struct kr_args *args, bool written, struct outputs *out)
{
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0; i < args->given.n && exit == KR_EXIT_SATISFIED; i++) {
		const struct kr_option *o = args->given.at[i].option;
		struct named named = {.path = args->given.at[i].value,
			.option = o->name,
			.written = o->words == KR_WORDS_WRITTEN};
		/* the last one counts; `satisfied` of --claim is no file's name */
		bool file = named.written ? named.path == kr_args_value(args, o->name)
					  : o->words == KR_WORDS_FILE ||
				(o->words == KR_WORDS_CLAIM && !kr_word_find(o->words, named.path, NULL));
		if (file && named.written == written)
			exit = add(out, &named);
	}
	return exit;
}

static int add_stream(int descriptor, const char *name, struct outputs *out)
{
	struct named named = {.option = name, .written = true};

	kr_file_place_of(descriptor, &named.place);
	return named.place.exists && S_ISREG(named.place.info.st_mode) ? add(out, &named) : KR_EXIT_SATISFIED;
}

static int check(const struct kr_args *args, struct outputs *out)
{
	int exit;

	if ((exit = add_stream(STDOUT_FILENO, "standard output", out)) ||
		(exit = add_stream(STDERR_FILENO, "standard error", out)) ||
		(exit = add_options(args, true, out)) || (exit = add_operands(args, true, out)) ||
		out->n == 0)
		return exit;
	exit = add_options(args, false, out);
	return exit ? exit : add_operands(args, false, out);
}

int kr_files_init(struct kr_files *files, const struct kr_args *args)
{
	struct outputs out = {.n = 0};
	int exit = check(args, &out);

	*files = (struct kr_files){.watched = false};
	(void)sigemptyset(&files->endings);
	(void)pthread_mutex_init(&files->lock, NULL);
	for (uint32_t i = 0; i < out.n && exit == KR_EXIT_SATISFIED; i++)
		if (out.at[i].place.descriptor < 0)
			kr_files_watch(files);
	return exit;
}
