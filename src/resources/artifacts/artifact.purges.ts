import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { artifactCodec } from './artifact.codec.js';
import type { ArtifactDeleted } from './artifact.events.js';

export const artifactPurges = [
  purgeOf<ArtifactDeleted>({
    category: 'artifact',
    codec: artifactCodec,
    type: 'ArtifactDeleted',
    blobsOf: ({ data }) => data.blobs,
  }),
];
