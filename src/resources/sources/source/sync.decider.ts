import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { createSource, openIngest, type Source, sourceNotFound } from './source.decider.js';
import type { SourceCreated, SourceEvent, SourceId } from './source.events.js';
import { nextSyncAfter, type SyncFrequency } from './sync.policy.js';

/** Creates a remote source that is fetched at once and then at a frequency. A repetition with the same id changes nothing. */
export const addRemoteSource =
  (created: SourceCreated['data'], ingestId: string, frequency: SyncFrequency, now: Date): Decision<Source, SourceEvent> =>
  (state) => {
    const events = createSource(created, ingestId, [])(state);
    const nextSyncAt = nextSyncAfter(frequency, now.toISOString(), now);
    if (events.length === 0 || nextSyncAt === null) return events;
    return [...events, { type: 'SourceSyncFrequencySet', data: { sourceId: created.sourceId, frequency, nextSyncAt } }];
  };

/** Sets the frequency. Syncs fall due at whole periods after this moment. */
export const setSyncFrequency =
  (sourceId: SourceId, ownerId: string, frequency: SyncFrequency, now: Date): Decision<Source, SourceEvent> =>
  (state) => {
    requireRemote(requireOwn(state, ownerId));
    if (state.syncFrequency === frequency) return [];
    const nextSyncAt = nextSyncAfter(frequency, now.toISOString(), now);
    return [{ type: 'SourceSyncFrequencySet', data: { sourceId, frequency, nextSyncAt } }];
  };

/** Requests another ingestion, which fetches the pages or parses the files again. Does nothing while one is running. */
export const ingestAgain =
  (sourceId: SourceId, ownerId: string, ingestId: string, which: 'of-pages' | 'of-any-kind'): Decision<Source, SourceEvent> =>
  (state) => {
    requireOwn(state, ownerId);
    if (which === 'of-pages') requireRemote(state);
    if (openIngest(state) || state.ingest?.ingestId === ingestId) return [];
    const files = state.remote ? [] : (state.ingest?.files ?? state.ingest?.uploaded ?? []);
    const operation = which === 'of-pages' ? 'sync' : 'reingest';
    return [{ type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, files, operation } }];
  };

/**
 * Begins a sync that is due. Each due time is decided once, even if several processes try. Due times that passed while no process
 * ran count as one sync. If an ingestion is running, no other is requested.
 */
export const fallDue =
  (sourceId: SourceId, ingestId: string, dueAt: string, now: Date): Decision<Source, SourceEvent> =>
  (state) => {
    if (state.status !== 'kept' || state.nextSyncAt !== dueAt || dueAt > now.toISOString()) return [];
    const nextSyncAt = nextSyncAfter(state.syncFrequency, dueAt, now);
    if (nextSyncAt === null) return [];
    const open = openIngest(state);
    const fellDue: SourceEvent = {
      type: 'SourceSyncDue',
      data: { sourceId, ingestId: open?.ingestId ?? ingestId, dueAt, nextSyncAt },
    };
    if (open) return [fellDue];
    const { ownerId } = state;
    return [fellDue, { type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, files: [], operation: 'sync' } }];
  };

/** @throws Rejection `source-not-found` if the owner has no such source */
function requireOwn(state: Source, ownerId: string): Source {
  if (state.status !== 'kept' || state.ownerId !== ownerId) throw sourceNotFound();
  return state;
}

function requireRemote({ remote }: Source): void {
  if (!remote) throw new Rejection('source-not-remote', 'The source was uploaded: there is nothing to sync it with.');
}
