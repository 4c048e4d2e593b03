import { extensionOf } from '../../documents/document.port.js';
import { namesOf } from './file-names.policy.js';
import { warningsOf, whatIsRead } from './page-warnings.policy.js';
import type { Source } from './source.decider.js';
import type { PageFailure, RemoteKind, SourceFile } from './source.events.js';

/** The result of the task. Clients expect these field names. */
export type IngestResult =
  | Readonly<{
      directory: string;
      formats: readonly string[];
      name_job: string;
      filename: string;
      user: string;
      limited: false;
      /** Only for an upload with archives. */
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

/** The number of pages that the reason names if all failed. */
const FAILURES_LISTED_MAX = 3;

/** Whether the files are the same and in the same order, which is the order of the chunks. */
export const areSame = (some: readonly SourceFile[], others: readonly SourceFile[]): boolean =>
  some.length === others.length &&
  some.every(({ filename, sha256 }, index) => others[index]!.filename === filename && others[index]!.sha256 === sha256);

/** The reason why an ingestion of pages or of external files failed. */
export function notFetchedText(failures: readonly PageFailure[], kind: RemoteKind): string {
  const listed = failures.slice(0, FAILURES_LISTED_MAX).map(({ url, reason }) => `${url}: ${reason}`);
  return `No ${kind === 'github' || kind === 's3' ? 'file' : 'page'} could be fetched. ${listed.join(' ')}`.trimEnd();
}

/** `silent`: the indexes of the files without text. */
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
  const hasArchives = ingest?.isCut || files.some(({ archive }) => archive !== undefined);
  return { ...about, limited: false, ...(hasArchives && { warnings }) };
}

/** The number of files without text that a result names. */
const SILENT_MAX = 100;

function silentOnes(files: readonly SourceFile[], silent: readonly number[]): readonly string[] {
  const named = silent.slice(0, SILENT_MAX).map((index) => {
    const { url, filename = '' } = files[index] ?? {};
    return `${url ?? filename}: There is no text in it.`;
  });
  const others = silent.length - named.length;
  return others > 0 ? [...named, `There is no text in ${others} more.`] : named;
}
