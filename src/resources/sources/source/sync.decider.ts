import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { createSource, openIngest, type Source, sourceNotFound } from './source.decider.js';
import type { SourceCreated, SourceEvent, SourceId } from './source.events.js';
import { nextSyncAfter, type SyncFrequency } from './sync.policy.js';

/** A source of pages, to be fetched at once and from then on as often as asked. A caller that chose the ids may ask again. */
export const addRemoteSource =
  (created: SourceCreated['data'], ingestId: string, frequency: SyncFrequency, now: Date): Decision<Source, SourceEvent> =>
  (state) => {
    const events = createSource(created, ingestId, [])(state);
    const nextSyncAt = nextSyncAfter(frequency, now.toISOString(), now);
    if (events.length === 0 || nextSyncAt === null) return events;
    return [...events, { type: 'SourceSyncFrequencySet', data: { sourceId: created.sourceId, frequency, nextSyncAt } }];
  };

/** The clock of a source's syncs starts when its frequency is set, and keeps its time from then on. */
export const setSyncFrequency =
  (sourceId: SourceId, ownerId: string, frequency: SyncFrequency, now: Date): Decision<Source, SourceEvent> =>
  (state) => {
    requireRemote(requireOwn(state, ownerId));
    if (state.syncFrequency === frequency) return [];
    const nextSyncAt = nextSyncAfter(frequency, now.toISOString(), now);
    return [{ type: 'SourceSyncFrequencySet', data: { sourceId, frequency, nextSyncAt } }];
  };

/** Fetches the pages, or reads the files, once more. While an ingestion is under way it is the one that was asked for. */
export const ingestAgain =
  (sourceId: SourceId, ownerId: string, ingestId: string, which: 'of-pages' | 'of-any-kind'): Decision<Source, SourceEvent> =>
  (state) => {
    requireOwn(state, ownerId);
    if (which === 'of-pages') requireRemote(state);
    if (openIngest(state) || state.ingest?.ingestId === ingestId) return [];
    const again = state.remote
      ? ({ files: [], operation: 'sync' } as const)
      : ({ files: state.ingest?.files ?? state.ingest?.uploaded ?? [], operation: 'reingest' } as const);
    return [{ type: 'SourceIngestRequested', data: { sourceId, ingestId, ownerId, ...again } }];
  };

/**
 * The time to sync has come. Each time is decided on once, whichever process asks; times that passed while no process looked are one sync.
 * A sync that falls due while an ingestion is under way is that ingestion.
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

/** @throws Rejection `source-not-found` when there is none, or it is somebody else's */
function requireOwn(state: Source, ownerId: string): Source {
  if (state.status !== 'kept' || state.ownerId !== ownerId) throw sourceNotFound();
  return state;
}

function requireRemote({ remote }: Source): void {
  if (!remote) throw new Rejection('source-not-remote', 'The source was uploaded: there is nothing to sync it with.');
}
