import type { SourcePagesFetched } from './source.events.js';

/** What somebody should know of pages that were fetched all the same: what is missing among them. */
export const warningsOf = ({ failures, isCut }: Pick<SourcePagesFetched['data'], 'failures' | 'isCut'>): readonly string[] => [
  ...failures.map(({ url, reason }) => `${url}: ${reason}`),
  ...(isCut ? ['There are more pages than were read.'] : []),
];
