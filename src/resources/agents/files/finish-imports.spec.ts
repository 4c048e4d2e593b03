import { expect, it } from '@jest/globals';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { AgentImports } from './agent-imports.process.js';
import { FinishImports } from './finish-imports.reaction.js';

it('completes an import in the name of the user who sent it, as the request itself does', async () => {
  const completed: [string, Cause][] = [];
  const imports = { complete: async (id: string, by: Cause) => completed.push([id, by]) } as unknown as AgentImports;
  const cause = { actor: 'access-token:t1', credential: 'access-token', correlationId: 'request', causationId: 'request' };
  const accepted = { type: 'AgentImportAccepted', id: 'e1', data: { importId: 'i1' }, cause };
  await new FinishImports(imports).on.AgentImportAccepted(accepted as never);
  expect(completed).toEqual([['i1', { ...cause, causationId: 'e1' }]]);
});
