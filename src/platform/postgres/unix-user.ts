import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export type UnixUser = Readonly<{ uid: number; gid: number }>;

/** The unprivileged user `nobody` of Linux distributions and macOS. */
const NOBODY: UnixUser = { uid: 65534, gid: 65534 };

/**
 * The user of the server: this process's own, except for root, which Postgres refuses. Root uses the owner of the data or
 * `nobody`.
 */
export function serverUser(dataDirectory: string): UnixUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = lstatSync(dataDirectory, { throwIfNoEntry: false });
  return existing && existing.uid !== 0 ? { uid: existing.uid, gid: existing.gid } : nobody();
}

function nobody(): UnixUser {
  try {
    const [, , uid, gid] = /^nobody:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
    return Number(uid) > 0 && Number(gid) > 0 ? { uid: Number(uid), gid: Number(gid) } : NOBODY;
  } catch {
    return NOBODY;
  }
}

/** Whether a user may read a file or enter a directory, by the permission bits of owner and others along the path. */
export function isReachableBy(user: UnixUser, path: string): boolean {
  const allows = (entry: string, wanted: number): boolean => {
    const { uid, mode } = statSync(entry);
    return ((uid === user.uid ? mode >> 6 : mode) & wanted) === wanted;
  };
  return allows(path, 0o5) && ancestorsOf(path).every((directory) => allows(directory, 0o1));
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}
