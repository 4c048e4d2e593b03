import { extensionOf } from '../../documents/document.port.js';
import { namesOf } from './file-names.policy.js';
import { warningsOf, whatIsRead } from './page-warnings.policy.js';
import type { Source } from './source.decider.js';
import type { PageFailure, RemoteKind, SourceFile } from './source.events.js';

/** Clients ask for results in the shape they know from before. */
export type IngestResult =
  | Readonly<{
      directory: string;
      formats: readonly string[];
      name_job: string;
      filename: string;
      user: string;
      limited: false;
      /** Of an upload with archives. */
      warnings?: readonly string[];
    }>
  | Readonly<{
      id: string;
      urls: string | readonly string[];
      name_job: string;
      user: string;
      limited: false;
      pages: number;
      warnings: readonly string[];
    }>;

/** Of pages that all failed so many are named in the reason. */
const FAILURES_LISTED_MAX = 3;

/** Whether files are the same, in the same order, since that is the order of the chunks. */
export const areSame = (some: readonly SourceFile[], others: readonly SourceFile[]): boolean =>
  some.length === others.length &&
  some.every(({ filename, sha256 }, index) => others[index]!.filename === filename && others[index]!.sha256 === sha256);

/** Why an ingestion of pages, or of files kept elsewhere, came to nothing. */
export function notFetchedText(failures: readonly PageFailure[], kind: RemoteKind): string {
  const told = failures.slice(0, FAILURES_LISTED_MAX).map(({ url, reason }) => `${url}: ${reason}`);
  return `No ${kind === 'github' || kind === 's3' ? 'file' : 'page'} could be fetched. ${told.join(' ')}`.trimEnd();
}

/** `silent` are the files that had no text, by their places. */
export function resultOf(
  sourceId: string,
  { name, ownerId: user, remote, ingest }: Pick<Source, 'name' | 'ownerId' | 'remote' | 'ingest'>,
  silent: readonly number[],
): IngestResult {
  const files = ingest?.files ?? [];
  const warnings = [
    ...warningsOf({ failures: ingest?.failures ?? [], isCut: ingest?.isCut ?? false }, whatIsRead(remote)),
    ...silentOnes(files, silent),
  ];
  if (remote) {
    const urls = remote.urls.length === 1 ? remote.urls[0]! : remote.urls;
    return { id: sourceId, urls, name_job: name, user, limited: false, pages: files.length - silent.length, warnings };
  }
  const formats = [...new Set(files.map(({ filename }) => `.${extensionOf(filename)}`))];
  const about = { directory: `inputs/${user}/${name}`, formats, name_job: name, filename: namesOf(ingest?.uploaded), user };
  const hasArchives = files.some(({ archive }) => archive !== undefined);
  return { ...about, limited: false, ...(hasArchives && { warnings }) };
}

/** So many files without text are named in a result. */
const SILENT_MAX = 100;

function silentOnes(files: readonly SourceFile[], silent: readonly number[]): readonly string[] {
  const named = silent.slice(0, SILENT_MAX).map((index) => {
    const { url, filename = '' } = files[index] ?? {};
    return `${url ?? filename}: There is no text in it.`;
  });
  const others = silent.length - named.length;
  return others > 0 ? [...named, `There is no text in ${others} more.`] : named;
}
