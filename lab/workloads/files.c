/* The metadata of a file system as JuiceFS keeps it: `i/INODE` is an inode (its kind, links, parent),
 * `d/PARENT/NAME` an entry of a directory (its inode), `next` where the next inodes come from, of which a
 * client takes some at a time. Programs look paths up, as a file system does, and check what POSIX asks for;
 * a directory is removed only if a range over its entries is empty. What is in no lock at that moment is
 * where databases go wrong: a file created in a directory that goes.
 *
 * An audit reads everything: each entry has an inode, each inode as many entries as links, and directories
 * are a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/workloads/workload.h"

enum { ROOT = 1, BATCH = 16, DEPTH = 2, LINKS_MOST = 40, INODES = 400000 };
enum program { CREATE, MKDIR, LINK, UNLINK, RMDIR, RENAME, LOOKUP, READDIR, TAKE, AUDIT, PROGRAMS };
/* In plan->at: the entry and the directory that it is in; the same of a second one; how many directories are
 * still to be walked down, and the first of them; what is made or moved. */
enum { NAME, PARENT, OTHER_NAME, OTHER, DOWN, FIRST, INO };
/* In plan->stage. */
enum { AT_ENTRY, AT_INODE, LOOKED_UP, KNOWN, CHECKED, DONE };
enum { FROM, TO }; /* in plan->kept: inodes that this client may use */

static const struct kr_parameter parameters[] = {
	{"dirs", "directories at the start", 4, 1, 50},
	{"names", "names in a directory", 6, 2, 50},
	{"audit", "percent of the transactions that are audits", 10, 0, 100},
	{0},
};

/* An inode is a number, too: its parent, its links (of a file), and whether it is a directory. */
struct inode {
	int64_t parent, links;
	bool dir;
};

static int64_t number_of(struct inode i) { return (i.parent * 50 + i.links) * 2 + i.dir - KR_PACKED_MOST; }

static struct inode inode_of(int64_t value)
{
	int64_t n = kr_unpacked(value) + KR_PACKED_MOST;

	return (struct inode){n / 100, n / 2 % 50, n % 2};
}

static bool initial(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out)
{
	int dirs = (int)kr_job_parameter(work, "dirs");
	int64_t dir = kr_packed(0, number_of((struct inode){ROOT, 1, true}));
	char key[KL_KEY];
	bool fine = kr_rows_add(mem, out, "next", kr_packed(0, ROOT + 1 + dirs)) &&
		kr_rows_add(mem, out, "i/000001", dir);

	for (int i = 0; i < dirs && i < kr_job_parameter(work, "names") && fine; i++) {
		(void)snprintf(key, sizeof key, "i/%06d", ROOT + 1 + i);
		fine = kr_rows_add(mem, out, key, dir);
		(void)snprintf(key, sizeof key, "d/%06d/%02d", ROOT, i);
		fine = fine && kr_rows_add(mem, out, key, kr_packed(0, ROOT + 1 + i));
	}
	return fine;
}

/* ---- steps ---- */

static void read_entry(struct kr_plan *p, int64_t dir, int64_t name)
{
	(void)kr_plan_add(p, KL_READ, "d/%06lld/%02lld", (long long)dir, (long long)name);
}

static void read_inode(struct kr_plan *p, int64_t ino)
{
	(void)kr_plan_add(p, KL_READ, "i/%06lld", (long long)ino);
}

static void put_entry(struct kr_plan *p, int64_t dir, int64_t name, int64_t ino)
{
	struct kr_step *step = kr_plan_add(p, KL_WRITE, "d/%06lld/%02lld", (long long)dir, (long long)name);

	step->op.value = kr_plan_packed(p, ino);
}

static void drop_entry(struct kr_plan *p, int64_t dir, int64_t name)
{
	(void)kr_plan_add(p, KL_DELETE, "d/%06lld/%02lld", (long long)dir, (long long)name);
}

static void put_inode(struct kr_plan *p, int64_t ino, struct inode inode)
{
	struct kr_step *step = kr_plan_add(p, KL_WRITE, "i/%06lld", (long long)ino);

	step->op.value = kr_plan_packed(p, number_of(inode));
}

static void drop_inode(struct kr_plan *p, int64_t ino)
{
	(void)kr_plan_add(p, KL_DELETE, "i/%06lld", (long long)ino);
}

/* One link less; the last one takes the inode with it. */
static void drop_link(struct kr_plan *p, int64_t ino, struct inode inode)
{
	inode.links--;
	if (inode.links > 0)
		put_inode(p, ino, inode);
	else
		drop_inode(p, ino);
}

static int64_t some_name(struct kr_plan *p)
{
	return (int64_t)kr_plan_below(p, (uint64_t)kr_job_parameter(p->work, "names"));
}

/* ---- programs ---- */

/* The directory is known: what every program reads next. */
static void look_up(struct kr_plan *p)
{
	p->stage = LOOKED_UP;
	if (p->program == READDIR) {
		kr_plan_prefix(p, 0, "d/%06lld/", (long long)p->at[PARENT]);
		p->stage = DONE;
		return;
	}
	p->at[NAME] = some_name(p);
	if (p->program == RENAME || p->program == LINK) {
		p->at[OTHER] = kr_plan_chance(p, 50) ? p->at[PARENT] : ROOT;
		p->at[OTHER_NAME] = some_name(p);
		if (kr_plan_chance(p, 50)) { /* down instead of up */
			int64_t parent = p->at[PARENT];

			p->at[PARENT] = p->at[OTHER];
			p->at[OTHER] = parent;
		}
		read_entry(p, p->at[OTHER], p->at[OTHER_NAME]);
	}
	read_entry(p, p->at[PARENT], p->at[NAME]);
}

static void audit(struct kr_plan *p)
{
	p->program = AUDIT;
	p->reads_only = p->audits = true;
	p->stage = DONE;
	kr_plan_prefix(p, 0, "d/");
	kr_plan_prefix(p, 0, "i/");
}

static void plan(struct kr_plan *p)
{
	static const uint8_t shares[] = {28, 18, 10, 10, 8, 12, 8, 6};
	uint64_t at = kr_plan_below(p, 100);

	if (kr_plan_chance(p, kr_job_parameter(p->work, "audit"))) {
		audit(p);
		return;
	}
	while (at >= shares[p->program])
		at -= shares[p->program++];
	if (p->program <= MKDIR && p->kept[FROM] == p->kept[TO]) {
		p->program = TAKE;
		p->stage = LOOKED_UP;
		(void)kr_plan_add(p, KL_READ, "next");
		return;
	}
	if (p->program <= MKDIR)
		p->at[INO] = p->kept[FROM]++;
	p->reads_only = p->program == LOOKUP || p->program == READDIR;
	p->at[PARENT] = ROOT;
	p->at[DOWN] = (int64_t)kr_plan_below(p, DEPTH + 1);
	if (p->at[DOWN] > 0)
		read_entry(p, ROOT, some_name(p));
	else
		look_up(p);
}

/* One directory further. */
static void walk(struct kr_plan *p, const struct kl_result *last)
{
	if (p->stage == AT_ENTRY) {
		p->at[INO + 1] = kr_unpacked(last->value);
		read_inode(p, p->at[INO + 1]);
		p->stage = AT_INODE;
		return;
	}
	p->refrains = !inode_of(last->value).dir;
	p->at[PARENT] = p->at[INO + 1];
	p->at[FIRST] = p->at[FIRST] ? p->at[FIRST] : p->at[PARENT];
	p->stage = AT_ENTRY;
	if (--p->at[DOWN] > 0)
		read_entry(p, p->at[PARENT], some_name(p));
	else
		look_up(p);
}

static void make(struct kr_plan *p, const struct kl_result *entry)
{
	p->refrains = entry->found;
	put_inode(p, p->at[INO], (struct inode){p->at[PARENT], 1, p->program == MKDIR});
	put_entry(p, p->at[PARENT], p->at[NAME], p->at[INO]);
	p->stage = DONE;
}

static void take(struct kr_plan *p, const struct kl_result *next)
{
	int64_t from = kr_unpacked(next->value);
	struct kr_step *step = kr_plan_add(p, KL_WRITE, "next");

	p->refrains = !next->found || from + BATCH > INODES; /* no space left */
	step->op.value = kr_plan_packed(p, from + BATCH);
	p->at[FROM] = from;
	p->stage = DONE;
}

/* The entries were answered: on to the inodes. */
static void open_inodes(struct kr_plan *p, const struct kl_result *results)
{
	const struct kl_result *entry = &results[p->n - 1], *other = p->n > 1 ? entry - 1 : NULL;
	bool two = p->program == RENAME || p->program == LINK;

	p->refrains = !entry->found || (p->program == LINK && other->found);
	p->at[INO] = kr_unpacked(entry->value);
	p->at[INO + 1] = two && other->found ? kr_unpacked(other->value) : 0;
	if (p->program == RENAME && p->at[INO] == p->at[INO + 1])
		p->refrains = true; /* two links of one file: nothing to do */
	if (p->at[INO + 1])
		read_inode(p, p->at[INO + 1]);
	read_inode(p, p->at[INO]);
	p->stage = p->program == LOOKUP ? DONE : KNOWN;
}

static void move(struct kr_plan *p, const struct kl_result *inodes)
{
	struct inode moved = inode_of(inodes[1].value);

	if (p->at[INO + 1])
		drop_link(p, p->at[INO + 1], inode_of(inodes[0].value));
	drop_entry(p, p->at[PARENT], p->at[NAME]);
	put_entry(p, p->at[OTHER], p->at[OTHER_NAME], p->at[INO]);
	moved.parent = p->at[OTHER];
	if (moved.dir)
		put_inode(p, p->at[INO], moved);
	p->stage = DONE;
}

/* What is replaced must be of the same kind, and a directory does not go into itself. */
static void rename_known(struct kr_plan *p, const struct kl_result *results)
{
	const struct kl_result *inodes = &results[p->n - 2];
	struct inode moved = inode_of(inodes[1].value), replaced = inode_of(inodes[0].value);
	bool replaces = p->at[INO + 1] != 0;

	p->refrains = (moved.dir && (p->at[INO] == p->at[OTHER] || p->at[INO] == p->at[FIRST])) ||
		(replaces && (!inodes[0].found || replaced.dir != moved.dir));
	if (replaces && moved.dir) {
		kr_plan_prefix(p, 1, "d/%06lld/", (long long)p->at[INO + 1]);
		p->stage = CHECKED;
	} else {
		move(p, inodes);
	}
}

static void change(struct kr_plan *p, const struct kl_result *results)
{
	const struct kl_result *last = &results[p->n - 1];
	struct inode inode = inode_of(last->value);

	switch ((enum program)p->program) {
	case UNLINK:
		p->refrains = inode.dir;
		drop_entry(p, p->at[PARENT], p->at[NAME]);
		drop_link(p, p->at[INO], inode);
		break;
	case LINK:
		p->refrains = inode.dir || inode.links >= LINKS_MOST;
		inode.links++;
		put_inode(p, p->at[INO], inode);
		put_entry(p, p->at[OTHER], p->at[OTHER_NAME], p->at[INO]);
		break;
	case RENAME: rename_known(p, results); return;
	default: /* RMDIR */
		p->refrains = !inode.dir;
		kr_plan_prefix(p, 1, "d/%06lld/", (long long)p->at[INO]);
		p->stage = CHECKED;
		return;
	}
	p->stage = DONE;
}

static void checked(struct kr_plan *p, const struct kl_result *results)
{
	uint32_t n = p->n;

	p->refrains = results[n - 1].row_count > 0;
	if (p->program == RENAME) {
		move(p, &results[n - 3]);
	} else {
		drop_entry(p, p->at[PARENT], p->at[NAME]);
		drop_inode(p, p->at[INO]);
	}
	p->stage = DONE;
}

static void more(struct kr_plan *p, const struct kl_result *results)
{
	const struct kl_result *last = &results[p->n - 1];

	if (p->stage <= AT_INODE || p->stage == KNOWN)
		p->refrains = !last->found;
	if (p->refrains)
		return;
	switch (p->stage) {
	case AT_ENTRY:
	case AT_INODE: walk(p, last); break;
	case LOOKED_UP:
		if (p->program == TAKE)
			take(p, last);
		else if (p->program <= MKDIR)
			make(p, last);
		else
			open_inodes(p, results);
		break;
	case KNOWN: change(p, results); break;
	case CHECKED: checked(p, results); break;
	default: break;
	}
}

/* ---- what an audit says ---- */

static int by_number(const void *key, const void *row)
{
	int64_t a = *(const int64_t *)key, b = strtoll(((const struct kl_row *)row)->key + 2, NULL, 10);

	return (a > b) - (a < b);
}

static const struct kl_row *find_inode(const struct kl_result *inodes, int64_t ino)
{
	return inodes->row_count == 0
		? NULL
		: bsearch(&ino, inodes->rows, inodes->row_count, sizeof *inodes->rows, by_number);
}

static bool is_dir(const struct kl_row *inode) { return inode && inode_of(inode->value).dir; }

/* Does a way lead up to the root? */
static bool is_under_root(const struct kl_result *inodes, int64_t ino)
{
	for (size_t steps = 0; steps <= inodes->row_count; steps++) {
		const struct kl_row *inode = find_inode(inodes, ino);

		if (!is_dir(inode))
			return false;
		if (ino == ROOT)
			return true;
		ino = inode_of(inode->value).parent;
	}
	return false;
}

static bool audit_holds(const struct kl_result *entries, const struct kl_result *inodes)
{
	for (size_t i = 0; i < entries->row_count; i++) {
		int64_t parent = strtoll(entries->rows[i].key + 2, NULL, 10);
		const struct kl_row *inode = find_inode(inodes, kr_unpacked(entries->rows[i].value));

		if (!inode || !is_dir(find_inode(inodes, parent)) ||
			(is_dir(inode) && inode_of(inode->value).parent != parent))
			return false;
	}
	for (size_t k = 0; k < inodes->row_count; k++) {
		int64_t ino = strtoll(inodes->rows[k].key + 2, NULL, 10), links = ino == ROOT;

		for (size_t i = 0; i < entries->row_count; i++)
			links += kr_unpacked(entries->rows[i].value) == ino;
		if (links != inode_of(inodes->rows[k].value).links ||
			(is_dir(&inodes->rows[k]) && !is_under_root(inodes, ino)))
			return false;
	}
	return true;
}

static bool holds(struct kr_plan *p, const struct kl_result *results)
{
	if (p->program == TAKE) {
		p->kept[FROM] = p->at[FROM];
		p->kept[TO] = p->at[FROM] + BATCH;
	}
	return !p->audits || audit_holds(&results[0], &results[1]);
}

const struct kr_workload kr_workload_files = {
	.name = "files",
	.title = "a file system's metadata, as programs use it, and audits of all of it",
	.parameters = parameters,
	.needs = KL_BIT(KL_READ) | KL_BIT(KL_WRITE) | KL_BIT(KL_DELETE) | KL_BIT(KL_RANGE),
	.initial = initial,
	.plan = plan,
	.more = more,
	.audit = audit,
	.holds = holds,
};
