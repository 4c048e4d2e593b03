import type { LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';
import { appends } from './appends.js';
import { clients, deliveries, effects, readers } from './clients.js';
import { jobs, monitors, followUps } from './follow-ups.js';
import { journals } from './journals.js';
import { schedules } from './schedules.js';
import { turns } from './turns.js';

/** All checks of a run. Each line describes a violation. */
export const oracles = (log: LogView, world: World): readonly string[] => [
  ...journals(log),
  ...turns(log),
  ...appends(log, world),
  ...clients(log, world),
  ...readers(log, world),
  ...effects(log, world),
  ...deliveries(log, world),
  ...schedules(log, world),
  ...jobs(log),
  ...monitors(log, world),
  ...followUps(log),
];
