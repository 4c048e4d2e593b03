import type { MakeBacking } from './backing.js';

type Stories = readonly (readonly [string, (makeBacking: MakeBacking) => void])[];

/**
 * What is told on one more backing. `always`: what its log, queue, signals, keys and files can break. `onDemand`, where TEST_STORIES
 * is `all`: what is decided before or after them, and is told on Postgres every time.
 */
export const storiesOn = ({ always, onDemand }: Readonly<{ always: Stories; onDemand: Stories }>): Stories =>
  process.env['TEST_STORIES'] === 'all' ? [...always, ...onDemand] : always;
