import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { researchCodec } from './research.codec.js';
import type { ResearchPurged } from './research.events.js';

export const researchPurges = [
  purgeOf<ResearchPurged>({
    category: 'research',
    codec: researchCodec,
    type: 'ResearchPurged',
    blobsOf: ({ data }) => data.blobs,
  }),
];
