import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { openIngest, type Source, sourceNotFound } from './source.decider.js';
import type { GivenSourceConfig, SourceConfig } from './source-config.policy.js';
import type { SourceEvent, SourceId } from './source.events.js';

/** Searches heed it at once, ingestions when they begin. Where it does not say the kind, that of the source stays. */
export const configureSource =
  (sourceId: SourceId, ownerId: string, given: GivenSourceConfig): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'kept' || state.ownerId !== ownerId) throw sourceNotFound();
    const config = { ...given, kind: given.kind ?? state.config.kind };
    if (isSame(config, state.config)) return [];
    return [{ type: 'SourceConfigured', data: { sourceId, config } }];
  };

/** Whether what is searched, or will be after the ingestion under way, is cut otherwise than the owner wants it. */
export function needsIngestion(state: Source): boolean {
  const open = openIngest(state);
  const chunking = open ? open.chunking : state.live?.chunking;
  return chunking !== undefined && !isCutAlike(chunking, state.config.chunking);
}

/** Only these have an effect on where documents are cut. */
export const isCutAlike = (one: SourceConfig['chunking'], other: SourceConfig['chunking']): boolean =>
  one.max_tokens === other.max_tokens && one.min_tokens === other.min_tokens;

/** Equal in every field, whatever their order. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [fields, others] = [Object.entries(one), Object.keys(other)];
  return (
    fields.length === others.length && fields.every(([key, value]) => isSame(value, (other as Record<string, unknown>)[key]))
  );
}
