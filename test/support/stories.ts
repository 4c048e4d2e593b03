import type { MakeBacking } from './backing.js';

type Stories = readonly (readonly [string, (makeBacking: MakeBacking) => void])[];

/**
 * Selects the stories of a further backing. `always`: those that its log, queue, signals, keys and files can break. `onDemand`:
 * the others, which always run on Postgres and run here only if TEST_STORIES is `all`.
 */
export const storiesOn = ({ always, onDemand }: Readonly<{ always: Stories; onDemand: Stories }>): Stories =>
  process.env['TEST_STORIES'] === 'all' ? [...always, ...onDemand] : always;
