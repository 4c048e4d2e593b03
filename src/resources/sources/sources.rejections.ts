import type { Rejections } from '../../platform/http/rejections.js';

export const sourcesRejections: Rejections = {
  'source-not-remote': { status: 400 },
  'pages-not-fetched': { status: 400 },
  'source-not-found': { status: 404 },
  'chunk-not-found': { status: 404 },
  'source-not-ready': { status: 409, code: 'source_not_ready' },
  'ingest-superseded': { status: 409, code: 'ingest_superseded' },
  'search-failed': { status: 500 },
};
