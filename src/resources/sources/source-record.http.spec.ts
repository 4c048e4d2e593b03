import { expect, it } from '@jest/globals';
import type { SourceRecord } from '../../../projections/sources/sources.queries.js';
import { DEFAULT_SOURCE_CONFIG } from './source/source-config.policy.js';
import { pagedSourceRecord, sourceRecord } from './source-record.http.js';

const uploaded: SourceRecord = {
  ...{ id: 's1', ownerId: 'ann', name: 'Handbook', config: DEFAULT_SOURCE_CONFIG, remote: null, files: [] },
  ...{ ingestId: null, ingestStatus: 'completed', ingestReason: null, chunks: 1, tokens: 1, syncFrequency: 'never' },
  createdAt: new Date(0),
};
const pages: SourceRecord = { ...uploaded, remote: { kind: 'url', urls: ['https://example.org'] } };

it.each([sourceRecord, pagedSourceRecord])(
  'has no sync frequency if there is nothing to sync with, because clients offer syncs by it',
  (record) => {
    expect(record(uploaded, undefined, undefined).syncFrequency).toBe('');
    expect(record(pages, undefined, undefined).syncFrequency).toBe('never');
  },
);
