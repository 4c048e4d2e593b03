import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { type Client, conversationIdIn, messageIdIn, type Streamed, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say, until } from '../support/scripted-model-server.js';
import { replyOf, type World } from '../support/world.js';

/** Two processes over one log, or one as both: where visitors ask, and where links are made and ended. */
export type LinkPlaces = Readonly<{ asks: World; changes: World; close(): Promise<void> }>;

type Shared = Readonly<{ id: string; shared_token: string }> & Readonly<Record<string, unknown>>;

/** Links to agents: what they show, who may ask with them, and what happens when they end. */
export function agentLinksStory(open: () => Promise<LinkPlaces>): void {
  let places: LinkPlaces;
  let world: World;
  beforeAll(async () => {
    places = await open();
    world = places.asks;
  });
  afterAll(() => places.close());
  beforeEach(() => world.model.reset());

  const share = (id: string, shared = true, by = places.changes.alice) =>
    replyOf(by.put('/api/share_agent', { id, shared, username: 'Alice' }));
  const linked = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const agent = await world.agent(fields);
    await eventually(async () => (await places.changes.alice.get(`/api/get_agent?id=${agent.id}`)).status === 200);
    const { body } = await share(agent.id);
    return { ...agent, token: (body as { shared_token: string }).shared_token };
  };
  const visit = (token: string, by = places.changes.bob) => replyOf(by.get(`/api/shared_agent?token=${token}`));
  const kept = async (by = places.changes.bob) => (await by.json<Shared[]>('/api/shared_agents')).map(({ id }) => id);
  const visited = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const agent = await linked(fields);
    expect((await visit(agent.token)).status).toBe(200);
    await eventually(async () => (await world.bob.get(`/api/get_agent?id=${agent.id}`)).status === 200);
    return agent;
  };

  it('show every visitor what an agent is, and nothing of its configuration', async () => {
    const agent = await linked({ config: { restrict_origins: true, allowed_origins: ['https://a.example'] } });
    const { status, body } = await visit(agent.token, world.nobody);
    expect([status, body]).toEqual([
      200,
      {
        ...{ id: agent.id, user: await world.idOf('alice'), name: 'Guide', description: 'Knows', image: '' },
        ...{ tools: expect.any(Array), agent_type: 'classic', status: 'published' },
        ...{ created_at: expect.any(String), updated_at: expect.any(String), shared: true, shared_token: agent.token },
        shared_metadata: { shared_by: 'Alice', shared_at: expect.any(String) },
      },
    ]);
  });

  it('are one per agent, until they end', async () => {
    const agent = await linked();
    expect((await share(agent.id)).body).toEqual({ success: true, shared_token: agent.token });
    const shown = await places.changes.alice.json<Shared>(`/api/get_agent?id=${agent.id}`);
    expect(shown).toMatchObject({ shared: true, shared_token: agent.token, shared_metadata: { shared_by: 'Alice' } });
    expect((await share(agent.id, false)).body).toEqual({ success: true, shared_token: null });
    expect(await visit(agent.token)).toMatchObject({ status: 404, body: { message: 'Shared agent not found' } });
    const { shared_token: token } = (await share(agent.id)).body as Shared;
    expect(token).not.toBe(agent.token);
    expect([(await visit(token)).status, (await visit(agent.token)).status]).toEqual([200, 404]);
  });

  it.each([
    ['', 400, 'Token or ID is required'],
    ['nonsense', 404, 'Shared agent not found'],
    ['f'.repeat(64), 404, 'Shared agent not found'],
  ])('refuse the token %j', async (token, status, message) => {
    expect(await visit(token)).toMatchObject({ status, body: { message } });
  });

  it('are made only by the owner', async () => {
    const agent = await linked();
    expect((await share(agent.id, true, places.changes.bob)).status).toBe(404);
    expect((await share(newId())).status).toBe(404);
    await visit(agent.token);
    expect((await share(agent.id, false, places.changes.bob)).status).toBe(403);
  });

  it('leave no token in the log', async () => {
    const { token } = await linked();
    for await (const page of world.backing.store.readAll({ after: -1n }))
      for (const { data } of page.events) expect(JSON.stringify(data)).not.toContain(token);
  });

  describe('a signed-in visitor', () => {
    it('finds the agent among the shared ones, and not among their own', async () => {
      const agent = await visited();
      await visit(agent.token);
      expect((await kept()).filter((id) => id === agent.id)).toEqual([agent.id]);
      const own = await places.changes.bob.json<{ id: string }[]>('/api/get_agents');
      expect(own.map(({ id }) => id)).not.toContain(agent.id);
      expect(await places.changes.bob.json(`/api/get_agent?id=${agent.id}`)).toMatchObject({
        ...{ access: 'viewer', ownership: 'user', team_access: null, config: {}, shared_token: '' },
        allowed_actions: ['pin', 'use'],
      });
      expect(await kept(places.changes.alice)).not.toContain(agent.id);
      expect((await places.changes.bob.put(`/api/update_agent/${agent.id}`, { name: 'Mine' })).status).toBe(403);
    });

    it('pins it and asks it, in their own conversation', async () => {
      const agent = await visited();
      expect((await world.bob.post(`/api/pin_agent?id=${agent.id}`, {})).status).toBe(200);
      expect(await world.bob.json('/api/pinned_agents')).toEqual(
        expect.arrayContaining([expect.objectContaining({ id: agent.id, access: 'viewer' })]),
      );
      world.model.next(say('Tea.'));
      const asked = await world.bob.stream({ question: 'What?', agent_id: agent.id });
      const path = `/api/get_single_conversation?id=${conversationIdIn(asked)}`;
      expect(await world.bob.json(path)).toMatchObject({ is_shared_usage: true });
      expect((await world.alice.get(path)).status).toBe(404);
    });

    it('cannot ask before the visit, nor after removing the agent from their list', async () => {
      const agent = await linked();
      const ask = async () => (await world.bob.stream({ question: 'What?', agent_id: agent.id })).status;
      expect(await ask()).toBe(404);
      await visit(agent.token);
      await eventually(async () => (await world.bob.get(`/api/get_agent?id=${agent.id}`)).status === 200);
      const removed = await replyOf(places.changes.bob.delete(`/api/remove_shared_agent?id=${agent.id}`));
      expect([removed.status, removed.body]).toEqual([200, { success: true, action: 'removed' }]);
      await eventually(async () => (await ask()) === 404);
      expect(await kept()).not.toContain(agent.id);
      const again = await replyOf(places.changes.bob.delete(`/api/remove_shared_agent?id=${agent.id}`));
      expect(again).toMatchObject({ status: 404, body: { message: 'Shared agent not found' } });
      expect((await places.changes.bob.delete('/api/remove_shared_agent')).status).toBe(400);
    });

    it('adopts it as a published copy with its own key, without resources that the visitor may not use', async () => {
      const prompt = await replyOf(world.alice.post('/api/create_prompt', { name: 'Mine', content: 'Be brief.' }));
      const agent = await visited({ prompt_id: (prompt.body as Shared).id, config: { api_write_allowlist: ['t:write'] } });
      const { status, body } = await replyOf(places.changes.bob.post(`/api/adopt_agent?id=${agent.id}`, {}));
      const { agent: copy } = body as { agent: Shared };
      expect([status, copy]).toMatchObject([
        200,
        { name: 'Guide', status: 'published', slug: '', prompt_id: '', shared: false, config: {}, access: 'owner' },
      ]);
      expect(copy.id).not.toBe(agent.id);
      world.model.next(say('Hello.'));
      await eventually(async () => (await world.bob.get(`/api/get_agent?id=${copy.id}`)).status === 200);
      const asked = await world.nobody.stream({ question: 'Hi', api_key: copy['key'] });
      expect(asked.frames.at(-1)!.data.type).toBe('end');
      expect(
        (await places.changes.as('mallory').then((mallory) => mallory.post(`/api/adopt_agent?id=${agent.id}`, {}))).status,
      ).toBe(404);
    });
  });

  const ENDS: Readonly<Record<string, (agent: { id: string }, visitor: Client) => Promise<unknown>>> = {
    'its owner ends it': ({ id }) => share(id, false),
    'the visitor removes the agent': ({ id }, visitor) => visitor.delete(`/api/remove_shared_agent?id=${id}`),
    'the agent is deleted': ({ id }) => places.changes.alice.delete(`/api/delete_agent?id=${id}`),
  };

  it.each(Object.entries(ENDS))('stop the running turn of a visitor when %s, and its journal remains', async (_, end) => {
    const agent = await visited();
    let goOn = (): void => undefined;
    world.model.next([...say('Before. '), until(new Promise<void>((resolve) => (goOn = resolve))), ...say('After.')]);
    let asked!: Promise<Streamed>;
    await new Promise<void>((begun) => {
      asked = world.bob.stream({ question: 'What?', agent_id: agent.id }, (text) => {
        if (text.includes('Before.')) begun();
        return false;
      });
    });
    await end(agent, places.changes.bob);
    const ended = await asked;
    goOn();
    expect(ended.frames.at(-1)!.data).toMatchObject({ type: 'error', code: 'stopped' });
    const replay = await streamed(await world.bob.get(`/api/messages/${messageIdIn(ended)}/events`));
    expect(replay.frames.map(({ raw }) => raw)).toEqual(ended.frames.map(({ raw }) => raw));
    expect((await world.bob.stream({ question: 'And now?', agent_id: agent.id })).status).toBe(404);
  });
}
