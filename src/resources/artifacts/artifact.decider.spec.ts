import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { artifact, remove, restore, store, VERSIONS_MAX } from './artifact.decider.js';
import type { ArtifactContent, ArtifactCreated, ArtifactDeleted, ArtifactEvent } from './artifact.events.js';

const artifactId = 'a-1';
const content = (edition: string): ArtifactContent => ({
  edition,
  filename: 'a.txt',
  mimeType: 'text/plain',
  size: 1,
  sha256: edition,
  blob: { sha256: `blob-${edition}`, size: 33 },
  previewText: 'x',
  spec: null,
  producedBy: {},
});
const created = (edition = 'e1', ownerId = 'ann'): ArtifactCreated['data'] => ({
  artifactId,
  ownerId,
  parent: { workflowRunId: 'r1', conversationId: null, messageId: null },
  kind: 'file',
  title: 'a.txt',
  metadata: {},
  content: content(edition),
});
const wasCreated: ArtifactEvent = { type: 'ArtifactCreated', data: created() };
const added = (version: number, edition: string): ArtifactEvent => ({
  type: 'ArtifactVersionAdded',
  data: { artifactId, version, content: content(edition) },
});
const restored = (version: number, from: number, edition: string): ArtifactEvent => ({
  type: 'ArtifactVersionRestored',
  data: { artifactId, version, restored: from, content: content(edition) },
});
const deleted = (...blobs: string[]): ArtifactEvent => ({ type: 'ArtifactDeleted', data: { artifactId, ownerId: 'ann', blobs } });

describe('an artifact', () => {
  it('stores each edition once and adds another edition as the next version', () => {
    given(artifact, []).when(store(created())).then([wasCreated]);
    given(artifact, [wasCreated]).when(store(created())).thenNothing();
    given(artifact, [wasCreated]).when(store(created('e2'))).then([added(2, 'e2')]); // oxfmt-ignore
    given(artifact, [wasCreated, added(2, 'e2')]).when(store(created('e1'))).thenNothing(); // oxfmt-ignore
    given(artifact, [wasCreated]).when(store(created('e2', 'bob'))).thenRejected('artifact-not-found'); // oxfmt-ignore
  });

  it('restores an earlier version as the newest', () => {
    const past = [wasCreated, added(2, 'e2')];
    given(artifact, past).when(restore('ann', 1)).then([restored(3, 1, 'e1')]); // oxfmt-ignore
    for (const version of [0, 3, -1, 1.5]) given(artifact, past).when(restore('ann', version)).thenRejected('artifact-version-not-found'); // oxfmt-ignore
    given(artifact, past).when(restore('bob', 1)).thenRejected('artifact-not-found');
    given(artifact, []).when(restore('ann', 1)).thenRejected('artifact-not-found');
  });

  it('is deleted for good, with an event that names each blob of its versions once', () => {
    const past = [wasCreated, added(2, 'e2'), restored(3, 1, 'e1')];
    given(artifact, past).when(remove('ann')).then([deleted('blob-e1', 'blob-e2')]); // oxfmt-ignore
    given(artifact, past).when(remove('bob')).thenRejected('artifact-not-found');
    const gone = [...past, deleted('blob-e1', 'blob-e2')];
    given(artifact, gone).when(remove('ann')).thenNothing();
    given(artifact, gone).when(store(created())).thenNothing();
    given(artifact, gone).when(restore('ann', 1)).thenRejected('artifact-not-found');
    given(artifact, [deleted('blob-e1')]).when(store(created())).thenNothing(); // oxfmt-ignore
    const state = (events: readonly ArtifactEvent[]) => events.reduce(artifact.evolve, artifact.initial);
    expect(state(gone)).toEqual(state(gone.slice(-1)));
  });

  it('refuses more than VERSIONS_MAX versions', () => {
    const past = [wasCreated, ...Array.from({ length: VERSIONS_MAX - 1 }, (_, index) => added(index + 2, `e${index + 2}`))];
    given(artifact, past).when(store(created('more'))).thenRejected('artifact-quota-exceeded'); // oxfmt-ignore
    given(artifact, past).when(restore('ann', 1)).thenRejected('artifact-quota-exceeded');
  });
});

it('numbers versions from 1 without a gap and names every blob in the deletion, for any sequence of decisions', () => {
  const decision = fc.oneof(
    fc.constantFrom('e1', 'e2', 'e3').map((edition) => store(created(edition))),
    fc.nat(4).map((version) => restore('ann', version)),
    fc.constant(remove('ann')),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 12 }), (decisions) => {
      const events: ArtifactEvent[] = [];
      let state = artifact.initial;
      for (const decide of decisions) {
        const made = eventsUnlessRejected(decide, state) ?? [];
        events.push(...made);
        state = made.reduce(artifact.evolve, state);
      }
      const contents = events.flatMap((event) => ('content' in event.data ? [event.data] : []));
      expect(contents.flatMap((data) => ('version' in data ? [data.version] : [1]))).toEqual(
        contents.map((_, index) => index + 1),
      );
      const end = events.find(({ type }) => type === 'ArtifactDeleted');
      if (end)
        expect(new Set((end.data as ArtifactDeleted['data']).blobs)).toEqual(
          new Set(contents.map((data) => data.content.blob.sha256)),
        );
    }),
  );
});
