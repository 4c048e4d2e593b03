import type { RemoteOrigin, SourcePagesFetched } from './source.events.js';

/** What a source is made of, as its owner knows it. */
export const whatIsRead = (remote: RemoteOrigin | null): 'pages' | 'files' =>
  remote && remote.kind !== 'github' && remote.kind !== 's3' ? 'pages' : 'files';

/** What its owner should know of a source: what is missing among its pages, or its files. */
export const warningsOf = (
  { failures, isCut }: Pick<SourcePagesFetched['data'], 'failures' | 'isCut'>,
  what: 'pages' | 'files',
): readonly string[] => [
  ...failures.map(({ url, reason }) => `${url}: ${reason}`),
  ...(isCut ? [`There are more ${what} than were read.`] : []),
];
