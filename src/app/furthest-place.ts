import type { Sql } from 'postgres';
import { projections } from '../../projections/catalogue.js';
import { LOG_START } from '../kernel/event-sourcing/event-store.js';
import { projectionStatuses } from '../platform/projections/projection-statuses.js';
import { reactionStatuses } from '../platform/reactions/reaction-statuses.js';

/** The furthest place in the log that any read model or reaction has stored; LOG_START before the first. */
export async function furthestPlace(sql: Sql): Promise<bigint> {
  const statuses = await Promise.all([projectionStatuses(sql, projections), reactionStatuses(sql)]);
  return statuses.flat().reduce((furthest, { position = LOG_START }) => (position > furthest ? position : furthest), LOG_START);
}
