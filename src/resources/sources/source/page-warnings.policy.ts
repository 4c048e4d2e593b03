import type { SourcePagesFetched } from './source.events.js';

/** What its owner should know of a source: what is missing among its pages, or its files. */
export const warningsOf = (
  { failures, isCut }: Pick<SourcePagesFetched['data'], 'failures' | 'isCut'>,
  what: 'pages' | 'files',
): readonly string[] => [
  ...failures.map(({ url, reason }) => `${url}: ${reason}`),
  ...(isCut ? [`There are more ${what} than were read.`] : []),
];
