import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { ArtifactEvent } from './artifact.events.js';

export const artifactCodec: Codec<ArtifactEvent> = {
  ArtifactCreated: [],
  ArtifactVersionAdded: [],
  ArtifactVersionRestored: [],
  ArtifactDeleted: [],
};
