import { statfsSync } from 'node:fs';
import { release } from 'node:os';

/** How Postgres writes all its files to the disk: one by one, or the whole file system at once. */
export type SyncMethod = 'fsync' | 'syncfs';

type System = Readonly<{
  platform: NodeJS.Platform;
  /** The version of the kernel. */
  release: string;
  /** The type of a folder's file system, as in `statfs`. */
  typeOf: (folder: string) => number;
}>;

const LOCAL: System = { platform: process.platform, release: release(), typeOf: (folder) => statfsSync(folder).type };

/** The first Linux whose `syncfs` reports earlier failed writes, as `fsync` does. */
const REPORTS_FAILURES_SINCE = [5, 8] as const;

/** The file systems whose `syncfs` is known to empty the disk's cache: ext4, XFS and Btrfs. Others, such as overlays, are not. */
const KNOWN_TYPES: ReadonlySet<number> = new Set([0xef53, 0x5846_5342, 0x9123_683e]);

/**
 * The method for a folder. After a crash Postgres first writes all its files, about 2,000. One by one, that took 0.9 to 6 s even
 * with nothing to write, because each file empties the disk's cache; the whole file system takes 0.1 s. `syncfs` is chosen only
 * where it is as safe.
 */
export function syncMethodFor(folder: string, { platform, release, typeOf }: System = LOCAL): SyncMethod {
  if (platform !== 'linux' || !isSince(release, REPORTS_FAILURES_SINCE)) return 'fsync';
  try {
    return KNOWN_TYPES.has(typeOf(folder)) ? 'syncfs' : 'fsync';
  } catch {
    return 'fsync';
  }
}

function isSince(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}
