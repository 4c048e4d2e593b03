import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tokenFor } from '../../../../test/support/access-tokens.js';
import type { Client } from '../../../../test/support/client.js';
import { openWorld, replyOf, type World } from '../../../../test/support/world.js';
import { newId } from '../../../kernel/ids.js';

type Folder = Readonly<{ id: string; name: string; parent_id: string | null }>;

const AT = '/api/agents/folders';

let world: World;
beforeAll(async () => {
  world = await openWorld({});
});
afterAll(() => world.close());

const made = async (name: string, parent_id?: string): Promise<Folder> => {
  const { status, body } = await replyOf(world.alice.post(`${AT}/`, { name, ...(parent_id && { parent_id }) }));
  expect(status).toBe(201);
  return body as Folder;
};
const folderOf = async (agentId: string) =>
  (await world.alice.json<{ folder_id: string | null }>(`/api/get_agent?id=${agentId}`)).folder_id;
const answered = async (responding: Promise<Response>) => {
  const { status, body } = await replyOf(responding);
  return [status, body];
};

describe('folders of agents', () => {
  it('are made, listed, moved, renamed and deleted', async () => {
    const top = await made('Support');
    const inner = await made('Billing', top.id);
    expect(inner).toEqual({ id: inner.id, name: 'Billing', parent_id: top.id });
    const times = { created_at: expect.stringMatching(/Z$/), updated_at: expect.stringMatching(/Z$/) };
    expect(await world.alice.json(`${AT}/`)).toEqual({
      folders: [
        { ...inner, ...times },
        { ...top, ...times },
      ],
    });
    expect(await answered(world.alice.put(`${AT}/${top.id}`, { parent_id: inner.id }))).toEqual([
      400,
      { success: false, message: 'Cannot move a folder into one of its own subfolders' },
    ]);
    const itself = { success: false, message: 'Cannot set folder as its own parent' };
    expect(await answered(world.alice.put(`${AT}/${top.id}`, { parent_id: top.id }))).toEqual([400, itself]);
    expect(await answered(world.alice.put(`${AT}/${inner.id}`, { name: 'Invoices' }))).toEqual([200, { success: true }]);
    expect(await world.alice.json(`${AT}/${top.id}`)).toEqual({
      ...top,
      agents: [],
      subfolders: [{ id: inner.id, name: 'Invoices' }],
    });
    expect(await answered(world.alice.delete(`${AT}/${top.id}`))).toEqual([200, { success: true }]);
    expect(await world.alice.json(`${AT}/${inner.id}`)).toMatchObject({ name: 'Invoices', parent_id: null });
    expect((await world.alice.get(`${AT}/${top.id}`)).status).toBe(404);
  });

  it('contain agents, which are in no folder after theirs is deleted', async () => {
    const folder = await made('Team');
    const [one, two] = [(await world.agent({ name: 'One' })).id, (await world.agent({ name: 'Two', folder_id: folder.id })).id];
    expect(await folderOf(two)).toBe(folder.id);
    const moved = [200, { success: true }];
    expect(await answered(world.alice.post(`${AT}/move_agent`, { agent_id: one, folder_id: folder.id }))).toEqual(moved);
    const { agents } = await world.alice.json<{ agents: readonly object[] }>(`${AT}/${folder.id}`);
    expect(agents).toEqual([
      { id: two, name: 'Two', description: 'Knows' },
      { id: one, name: 'One', description: 'Knows' },
    ]);
    expect(await answered(world.alice.post(`${AT}/bulk_move`, { agent_ids: [one, two], folder_id: null }))).toEqual(moved);
    expect(await folderOf(one)).toBeNull();
    await world.alice.post(`${AT}/bulk_move`, { agent_ids: [one, two], folder_id: folder.id });
    await world.alice.delete(`${AT}/${folder.id}`);
    expect([await folderOf(one), await folderOf(two)]).toEqual([null, null]);
  });

  it('are accessible only to their owner', async () => {
    const folder = await made('Mine');
    const agent = (await world.agent()).id;
    const missing = [404, { success: false, message: 'Folder not found' }];
    expect(await answered(world.bob.get(`${AT}/${folder.id}`))).toEqual(missing);
    expect(await answered(world.bob.put(`${AT}/${folder.id}`, { name: 'His' }))).toEqual(missing);
    expect(await answered(world.bob.delete(`${AT}/${folder.id}`))).toEqual(missing);
    expect(await answered(world.alice.post(`${AT}/move_agent`, { agent_id: agent, folder_id: newId() }))).toEqual(missing);
    const noAgent = [404, { success: false, message: 'Agent not found' }];
    expect(await answered(world.bob.post(`${AT}/move_agent`, { agent_id: agent }))).toEqual(noAgent);
    expect(await answered(world.alice.post(`${AT}/bulk_move`, { agent_ids: [agent, newId()] }))).toEqual(noAgent);
    const noParent = [404, { success: false, message: 'Parent folder not found' }];
    expect(await answered(world.bob.post(`${AT}/`, { name: 'His', parent_id: folder.id }))).toEqual(noParent);
    expect((await world.nobody.get(`${AT}/`)).status).toBe(401);
  });

  it.each([
    ['/', {}, 'Missing required fields: name'],
    ['/', { name: ' ' }, 'Folder name is required'],
    ['/move_agent', {}, 'Missing required fields: agent_id'],
    ['/bulk_move', { agent_ids: [] }, 'Agent IDs are required'],
  ])('answer %s with %j by a 400', async (path, body, message) => {
    const reply = await replyOf(world.alice.post(`${AT}${path}`, body));
    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ success: false, message: expect.stringContaining(message) }),
    ]);
  });

  it('show a restricted token only the agents that it reaches, and cannot be changed by it', async () => {
    const folder = await made('Shared');
    const [mine, other] = [(await world.agent({ folder_id: folder.id })).id, (await world.agent({ folder_id: folder.id })).id];
    const fields = { scopes: ['agents:read', 'agents:write'], resource_filter: { agents: [mine] } };
    const { client } = (await tokenFor(world, fields)) as { client: Client };
    const { agents } = await client.json<{ agents: readonly { id: string }[] }>(`${AT}/${folder.id}`);
    expect(agents.map(({ id }) => id)).toEqual([mine]);
    expect((await client.post(`${AT}/`, { name: 'No' })).status).toBe(403);
    expect((await client.delete(`${AT}/${folder.id}`)).status).toBe(403);
    expect((await client.post(`${AT}/move_agent`, { agent_id: other })).status).toBe(403);
    expect((await client.post(`${AT}/bulk_move`, { agent_ids: [mine, other] })).status).toBe(403);
    expect((await client.post(`${AT}/bulk_move`, { agent_ids: [mine] })).status).toBe(200);
  });
});
