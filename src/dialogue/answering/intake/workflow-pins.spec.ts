import { expect, it } from '@jest/globals';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { WorkflowPins } from './workflow-pins.js';

const ann = { kind: 'user', userId: 'ann' } as unknown as SignedInUser;

it('a graph that is sent with a question has at most 256 KiB', async () => {
  const pinned = (bytes: number) => {
    const graph = { nodes: ['x'.repeat(bytes - JSON.stringify({ nodes: [''] }).length)] };
    const pins = new WorkflowPins(undefined as never, { usable: () => Promise.resolve(graph) } as never);
    return pins.pin({ workflow: {} }, ann, undefined);
  };
  await expect(pinned(256 * 1024)).resolves.toMatchObject({ id: null });
  await expect(pinned(256 * 1024 + 1)).rejects.toMatchObject({ code: 'too-large' });
});
