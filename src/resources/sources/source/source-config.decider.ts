import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { openIngest, type Source, sourceNotFound } from './source.decider.js';
import type { GivenSourceConfig, SourceConfig } from './source-config.policy.js';
import type { SourceEvent, SourceId } from './source.events.js';

/** Searches use the config at once, ingestions when they begin. A config without `kind` keeps the source's kind. */
export const configureSource =
  (sourceId: SourceId, ownerId: string, given: GivenSourceConfig): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'kept' || state.ownerId !== ownerId) throw sourceNotFound();
    const config = { ...given, kind: given.kind ?? state.config.kind };
    if (isSame(config, state.config)) return [];
    return [{ type: 'SourceConfigured', data: { sourceId, config } }];
  };

/** Whether the chunks that are searched, or will be after the running ingestion, are not cut as the config says. */
export function needsIngestion(state: Source): boolean {
  const open = openIngest(state);
  const chunking = open ? open.chunking : state.live?.chunking;
  return chunking !== undefined && !isCutAlike(chunking, state.config.chunking);
}

/** Compares the two settings that decide where documents are cut. */
export const isCutAlike = (one: SourceConfig['chunking'], other: SourceConfig['chunking']): boolean =>
  one.max_tokens === other.max_tokens && one.min_tokens === other.min_tokens;

/** Deep equality, independent of the order of fields. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [fields, others] = [Object.entries(one), Object.keys(other)];
  return (
    fields.length === others.length && fields.every(([key, value]) => isSame(value, (other as Record<string, unknown>)[key]))
  );
}
