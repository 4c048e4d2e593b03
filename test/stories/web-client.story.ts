import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AnsweringRoute, askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { addedSource } from '../support/sources.js';
import { openWorld, type World } from '../support/world.js';

const ROUTES: readonly AnsweringRoute[] = ['/stream', '/api/answer'];

/** What the incumbent's web client always sends, and what it means by it. */
export function webClientStory(makeBacking: MakeBacking): void {
  let world: World;
  let sourceId: string;
  let agent: Readonly<{ id: string; key: string }>;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    sourceId = await addedSource(world.alice, 'Handbook', '# Parking\n\nThe garage opens at six in the morning.');
    agent = await world.agent({ source: sourceId });
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const question = 'When does the garage open?';

  describe.each(ROUTES)('isNoneDoc, which means that no document is selected, over %s', (route) => {
    const modelWasGiven = () => JSON.stringify(world.model.completions.at(-1)!.body.messages);

    it('does not keep an agent from its sources, however the agent is named', async () => {
      const byId = await askOver(route, world.alice, { question, isNoneDoc: true, agent_id: agent.id });
      expect(byId.status).toBe(200);
      expect(modelWasGiven()).toContain('The garage opens at six');
      await askOver(route, world.nobody, { question, isNoneDoc: true, api_key: agent.key });
      expect(modelWasGiven()).toContain('The garage opens at six');
      const { conversationId: conversation_id } = byId;
      world.model.reset();
      await askOver(route, world.alice, { question: 'The garage, once more?', isNoneDoc: true, conversation_id });
      expect(modelWasGiven()).toContain('The garage opens at six');
    });

    it('retrieves nothing where there is no agent', async () => {
      await askOver(route, world.alice, { question, isNoneDoc: true, active_docs: [sourceId] });
      expect(modelWasGiven()).not.toContain('The garage opens at six');
      await askOver(route, world.alice, { question, isNoneDoc: false, active_docs: [sourceId] });
      expect(modelWasGiven()).toContain('The garage opens at six');
    });
  });
}
