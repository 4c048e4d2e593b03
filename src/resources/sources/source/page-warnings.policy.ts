import type { RemoteOrigin, SourcePagesFetched } from './source.events.js';

/** What the owner calls the parts of a source. */
export const whatIsRead = (remote: RemoteOrigin | null): 'pages' | 'files' =>
  remote && remote.kind !== 'github' && remote.kind !== 's3' ? 'pages' : 'files';

/** The warnings to the owner about pages or files that are missing from a source. */
export const warningsOf = (
  { failures, isCut }: Pick<SourcePagesFetched['data'], 'failures' | 'isCut'>,
  what: 'pages' | 'files',
): readonly string[] => [
  ...failures.map(({ url, reason }) => `${url}: ${reason}`),
  ...(isCut ? [`There are more ${what} than were read.`] : []),
];
