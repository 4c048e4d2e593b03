import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { FollowUps } from '../../src/background/follow-ups/follow-ups.port.js';
import { ToolKinds } from '../../src/resources/tools/toolbox/tool-kinds.js';
import { askOver } from '../support/asked.js';
import { conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, say, until } from '../support/scripted-model-server.js';
import { chain, node } from '../support/workflow-graphs.js';
import { ToolKindForTests } from '../support/tool-kinds.js';
import { cause } from '../support/turns.js';
import { replyOf, type World } from '../support/world.js';
import type { TeamPlaces } from './teams.story.js';

type Id = Readonly<{ id: string }>;

/**
 * Resources that are shared with a team and used elsewhere: in a member's own agent, and in follow-ups. Access is checked again
 * at each use.
 */
export function sharedPartsStory(open: () => Promise<TeamPlaces>): void {
  let places: TeamPlaces;
  let world: World;
  let postcards: ToolKindForTests;
  let team: Id;

  beforeAll(async () => {
    places = await open();
    world = places.asks;
    postcards = new ToolKindForTests();
    for (const { service } of new Set([places.asks, places.changes]))
      service.service.app.get(ToolKinds, { strict: false }).add(postcards);
    const { alice } = places.changes;
    const founded = await replyOf(alice.post('/api/teams', { name: 'Support' }));
    ({ team } = founded.body as { team: Id });
    await alice.post(`/api/teams/${team.id}/members`, { user_id: await world.idOf('bob'), role: 'team_member' });
  });
  afterAll(() => places.close());
  beforeEach(() => {
    world.model.reset();
    postcards.calls.length = 0;
  });

  const share = async (type: string, { id }: Id, access_level = 'viewer') => {
    const grant = { resource_type: type, resource_id: id, access_level };
    expect((await places.changes.alice.post(`/api/teams/${team.id}/grants`, grant)).status).toBe(201);
  };
  const unshare = async (type: string, { id }: Id) => {
    const path = `/api/teams/${team.id}/grants?resource_type=${type}&resource_id=${id}`;
    expect((await places.changes.alice.delete(path)).status).toBe(200);
  };
  const madeTool = async (fields: object = {}): Promise<Id> => {
    const tool = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: 'secret' }, status: true };
    return (await (await places.changes.alice.post('/api/create_tool', { ...tool, ...fields })).json()) as Id;
  };
  /** The other process learns of a change with a delay. */
  const bobSees = (tool: Id, isShown: boolean) =>
    eventually(async () => {
      const { tools } = await world.bob.json<{ tools: Id[] }>('/api/get_tools');
      return tools.some(({ id }) => id === tool.id) === isShown;
    });
  /** An agent of Bob's that uses a tool of Alice's. */
  const usingTool = async (tool: Id) => {
    await share('tool', tool);
    await bobSees(tool, true);
    return world.agent({ tools: [tool.id] }, world.bob);
  };

  it('a tool is not called once it is no longer shared, even by a turn that started before', async () => {
    const tool = await madeTool();
    const { id } = await usingTool(tool);
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    world.model.next([until(held), call('c1', 'send_card', { to: 'Carol' })], say('Done.'));
    const asked = askOver('/stream', world.bob, { question: 'Send it', agent_id: id });
    await eventually(() => world.model.completions.length > 0);
    await unshare('tool', tool);
    await bobSees(tool, false);
    goOn();
    expect((await asked).toolCalls).toMatchObject([
      { status: 'error', error: expect.stringContaining('not shared with you any more') },
    ]);
    expect(postcards.calls).toEqual([]);
  });

  it('a call that waits for approval is not run once the tool is no longer shared', async () => {
    const tool = await madeTool();
    await places.changes.alice.post('/api/update_tool_actions', {
      ...{ id: tool.id, actions: [{ name: 'send_card', require_approval: true }] },
    });
    const { id } = await usingTool(tool);
    world.model.next([call('c1', 'send_card', { to: 'Carol' })], say('Done.'));
    const paused = await askOver('/stream', world.bob, { question: 'Send it', agent_id: id });
    expect(paused.pending).toHaveLength(1);
    await unshare('tool', tool);
    await bobSees(tool, false);
    const decided = { conversation_id: paused.conversationId, tool_actions: [{ call_id: 'c1', decision: 'approved' }] };
    const { toolCalls } = await askOver('/stream', world.bob, decided);
    expect(toolCalls).toMatchObject([{ status: 'error', error: expect.stringContaining('no longer available') }]);
    expect(postcards.calls).toEqual([]);
  });

  it('an editor of a tool must provide its secrets again to change its settings', async () => {
    const tool = await madeTool();
    await share('tool', tool, 'editor');
    await bobSees(tool, true);
    const edit = (config: object) => replyOf(world.bob.post('/api/update_tool_config', { id: tool.id, config }));
    expect(await edit({ copies: 2 })).toMatchObject({ status: 400, body: { errors: { token: expect.any(String) } } });
    expect((await edit({ copies: 2, token: 'of Bob' })).status).toBe(200);
  });

  it('an editor of a workflow adds only resources that the editor may use', async () => {
    const tool = await madeTool();
    const using = (...tools: string[]) => ({
      ...{ name: 'Ours', description: '' },
      ...chain(node('start', 'start'), node('agent', 'agent_1', { agent_type: 'classic', tools }), node('end', 'end')),
    });
    const { alice, bob } = places.changes;
    const made = (await replyOf(alice.post('/api/workflows', using()))).body as { data: Id };
    await share('workflow', made.data, 'editor');
    const edit = () => replyOf(bob.put(`/api/workflows/${made.data.id}`, using(tool.id)));
    const refused = await edit();
    expect([refused.status, refused.text]).toEqual([404, expect.stringContaining('Tool not accessible')]);
    await share('tool', tool);
    expect((await edit()).status).toBe(200);
    // Resources that are already in the workflow remain.
    await unshare('tool', tool);
    expect((await edit()).status).toBe(200);
  });

  it('a conversation with a shared agent continues with follow-ups only while the agent is shared', async () => {
    const agent = await world.agent();
    await share('agent', agent);
    await eventually(async () => (await world.bob.get(`/api/get_agent?id=${agent.id}`)).status === 200);
    world.model.next(say('I wait.'));
    const conversationId = conversationIdIn(await world.bob.stream({ question: 'Wait', agent_id: agent.id }));
    const stream = `followUps-${conversationId}`;
    const goesOn = async (refId: string): Promise<unknown> => {
      const followUps = world.service.service.app.get(FollowUps, { strict: false });
      const about = { source: 'job', refId, dedupeKey: refId, text: `${refId} is done.` } as const;
      await followUps.request({ conversationId, ownerId: await world.idOf('bob'), ...about }, cause);
      let outcome: unknown;
      await eventually(async () => {
        const found: string[] = [];
        for await (const page of world.backing.store.read(stream)) found.push(...page.map(({ type }) => type));
        outcome = found.slice(found.lastIndexOf('FollowUpRequested')).find((type) => /Delivered|Failed/.test(type));
        return outcome !== undefined;
      });
      return outcome;
    };
    world.model.next(say('It is done.'));
    expect(await goesOn('one')).toBe('FollowUpDelivered');
    await world.quietHead();
    const asked = world.model.completions.length;
    await unshare('agent', agent);
    await eventually(async () => (await world.bob.get(`/api/get_agent?id=${agent.id}`)).status === 404);
    expect(await goesOn('two')).toBe('FollowUpFailed');
    expect(world.model.completions).toHaveLength(asked);
  });
}
