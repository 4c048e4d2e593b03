import type { Rejections } from '../../platform/http/rejections.js';

export const sourcesRejections: Rejections = {
  'source-not-remote': { status: 400 },
  'pages-not-fetched': { status: 400 },
  'chunks-not-embedded': { status: 400 },
  'source-is-remote': { status: 400 },
  'source-not-found': { status: 404 },
  'source-file-not-found': { status: 404 },
  'source-being-ingested': { status: 409, code: 'source_being_ingested' },
  'chunk-not-found': { status: 404 },
  'source-not-ready': { status: 409, code: 'source_not_ready' },
  'ingest-superseded': { status: 409, code: 'ingest_superseded' },
  'search-failed': { status: 500 },
};
