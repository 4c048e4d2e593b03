import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { artifactCodec } from './artifact.codec.js';
import type { ArtifactContent, ArtifactCreated, ArtifactEvent, ArtifactParent } from './artifact.events.js';

export type Artifact = Readonly<{
  status: 'none' | 'kept' | 'deleted';
  id: string;
  ownerId: string;
  parent: ArtifactParent;
  /** The first element is version 1. */
  versions: readonly ArtifactContent[];
}>;

const NO_PARENT: ArtifactParent = { workflowRunId: null, conversationId: null, messageId: null };
const initial: Artifact = { status: 'none', id: '', ownerId: '', parent: NO_PARENT, versions: [] };

export const artifact: Aggregate<Artifact, ArtifactEvent> = { initial, evolve, codec: artifactCodec };

function evolve(state: Artifact, { type, data }: ArtifactEvent): Artifact {
  switch (type) {
    case 'ArtifactCreated': {
      const { artifactId, ownerId, parent, content } = data;
      return { status: 'kept', id: artifactId, ownerId, parent, versions: [content] };
    }
    case 'ArtifactVersionAdded':
    case 'ArtifactVersionRestored':
      return { ...state, versions: [...state.versions, data.content] };
    case 'ArtifactDeleted':
      // After the truncation of the stream this is its first event, so the state must not depend on earlier ones.
      return { ...initial, status: 'deleted', id: data.artifactId, ownerId: data.ownerId };
  }
}

/** The event that deletes an artifact lists the blobs of all its versions and must not become too large. */
export const VERSIONS_MAX = 1000;

type Decide = Decision<Artifact, ArtifactEvent>;

/**
 * Stores a content as a new artifact, or as the newest version of the artifact with this id. Does nothing if the edition is stored
 * already or the artifact has been deleted. @throws Rejection artifact-not-found, artifact-quota-exceeded
 */
export const store =
  (created: ArtifactCreated['data']): Decide =>
  (state) => {
    const { artifactId, ownerId, content } = created;
    if (state.status === 'none') return [{ type: 'ArtifactCreated', data: created }];
    if (state.status === 'deleted' || versionOf(state, content.edition) !== undefined) return [];
    ownedBy(ownerId, state);
    return [{ type: 'ArtifactVersionAdded', data: { artifactId, version: nextOf(state), content } }];
  };

/** The number of the first version with the content of an edition. Restored versions repeat an edition. */
export function versionOf({ versions }: Artifact, edition: string): number | undefined {
  const index = versions.findIndex((content) => content.edition === edition);
  return index === -1 ? undefined : index + 1;
}

/** @throws Rejection artifact-not-found, artifact-version-not-found, artifact-quota-exceeded */
export const restore =
  (ownerId: string, version: number): Decide =>
  (state) => {
    const { id, versions } = ownedBy(ownerId, state);
    const content = versions[version - 1];
    if (!content) throw versionNotFound();
    const restored = { artifactId: id, version: nextOf(state), restored: version, content };
    return [{ type: 'ArtifactVersionRestored', data: restored }];
  };

/** Does nothing if the owner has deleted the artifact already. @throws Rejection artifact-not-found */
export const remove =
  (ownerId: string): Decide =>
  (state) => {
    if (state.status === 'deleted' && state.ownerId === ownerId) return [];
    const { id, versions } = ownedBy(ownerId, state);
    const blobs = [...new Set(versions.map(({ blob }) => blob.sha256))];
    return [{ type: 'ArtifactDeleted', data: { artifactId: id, ownerId, blobs } }];
  };

function ownedBy(ownerId: string, state: Artifact): Artifact {
  if (state.status !== 'kept' || state.ownerId !== ownerId) throw artifactNotFound();
  return state;
}

function nextOf({ versions }: Artifact): number {
  if (versions.length >= VERSIONS_MAX) throw quotaExceeded(`An artifact has ${VERSIONS_MAX} versions at most.`);
  return versions.length + 1;
}

export const artifactNotFound = () => new Rejection('artifact-not-found', 'Artifact not found');
export const versionNotFound = () => new Rejection('artifact-version-not-found', 'Version not found');
export const quotaExceeded = (why: string) => new Rejection('artifact-quota-exceeded', why);
