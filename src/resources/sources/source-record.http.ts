import { type Grant, grantAllows, ownershipOf } from '../identity/grants.policy.js';
import type { IngestStatus, SourceRecord } from '../../../projections/sources/sources.queries.js';

/** The embeddings model that lists show if the service has none and searches by words alone. */
const WORDS_ALONE = 'full-text';

const INGEST_STATUSES: Readonly<Record<IngestStatus, string>> = {
  requested: 'queued',
  started: 'processing',
  completed: 'completed',
  failed: 'failed',
};

/** The first entry of every list, which stands for a chat without sources. */
export const defaultSource = (embeddingsModel: string | undefined) => ({
  name: 'Default',
  date: 'default',
  model: embeddingsModel ?? WORDS_ALONE,
  location: 'remote',
  tokens: '',
  retriever: 'classic',
});

const common = (source: SourceRecord, embeddingsModel: string | undefined, grant: Grant | undefined) => ({
  id: source.id,
  name: source.name,
  date: source.createdAt.toISOString(),
  model: embeddingsModel ?? WORDS_ALONE,
  location: 'local',
  tokens: String(source.tokens),
  retriever: source.config.retrieval.retriever,
  // The web client offers syncs of sources whose frequency is not empty.
  syncFrequency: source.remote ? source.syncFrequency : '',
  provider: source.remote?.kind ?? 'file',
  type: source.remote?.kind ?? 'file',
  config: !grant || grantAllows('sources', grant, 'view_config') ? source.config : null,
  ...ownershipOf(grant),
});

/** A source in the list of its owner (`grant` undefined) or of a user who has it by a grant. */
export const sourceRecord = (source: SourceRecord, embeddingsModel: string | undefined, grant: Grant | undefined) => ({
  ...common(source, embeddingsModel, grant),
  is_nested: true,
});

/** A source in a page of the list. */
export const pagedSourceRecord = (source: SourceRecord, embeddingsModel: string | undefined, grant: Grant | undefined) => ({
  ...common(source, embeddingsModel, grant),
  isNested: true,
  ingestStatus: INGEST_STATUSES[source.ingestStatus],
});

/** An entry of the list for older clients. */
export const combinedRecord = (source: SourceRecord | undefined, embeddingsModel: string | undefined) => ({
  name: source?.name ?? 'default',
  fullName: source?.name ?? 'Default',
  date: source?.createdAt.toISOString() ?? 'default',
  description: source ? `${source.files.length} file(s)` : 'default',
  docLink: source?.id ?? 'default',
  language: 'default',
  location: source ? 'local' : 'docshub',
  model: embeddingsModel ?? WORDS_ALONE,
  version: '',
});
