import { describe, expect, it } from '@jest/globals';
import { framesIn } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { call, say } from '../../support/scripted-model-server.js';
import { file, type Ground, type Json } from './ground.js';

/** The chat, its list, and notifications elsewhere. */
export function chatPages(ground: () => Ground): void {
  async function asked(more: Json = {}): Promise<Readonly<{ conversation: string; message: string; types: readonly string[] }>> {
    const body = {
      question: 'When does the garage open?',
      conversation_id: null,
      isNoneDoc: true,
      visibility: 'listed',
      ...more,
    };
    const frames = framesIn(await ground().text({ method: 'POST', path: '/stream', body }));
    const of = (type: string) => frames.find(({ data }) => data.type === type)!.data;
    const [conversation, message] = [String(of('id')['id']), String(of('message_id')['message_id'])];
    return { conversation, message, types: frames.map(({ data }) => data.type) };
  }

  describe('the page of the chat', () => {
    it('shows a conversation, finds it, renames it, rates its answer and deletes it', async () => {
      const page = ground();
      const { conversation: id, message, types } = await asked();
      expect(types).toEqual(expect.arrayContaining(['message_id', 'answer', 'source', 'tool_calls', 'id', 'end']));
      expect(await page.get(`/api/messages/${message}/tail`)).toMatchObject({
        status: 'complete',
        response: 'Hello from the script.',
      });
      const item = { id, name: expect.any(String), agent_id: null, is_shared_usage: false, shared_token: null };
      expect(await page.get('/api/get_conversations')).toEqual([
        expect.objectContaining({ ...item, unread: expect.any(Boolean) }),
      ]);
      const found = { ...item, match_field: 'name', match_snippet: expect.stringContaining('garage') };
      expect(await page.get('/api/search_conversations?q=garage%20open&limit=30')).toMatchObject([found]);
      expect(await page.post('/api/update_conversation_name', { id, name: 'Opening hours' })).toEqual({ success: true });
      const rating = { question: 'When?', answer: 'Hello', feedback: 'LIKE', conversation_id: id, question_index: 0 };
      expect(await page.post('/api/feedback', rating)).toEqual({ success: true });
      const stored = await page.get<{ queries: Json[] }>(`/api/get_single_conversation?id=${id}`);
      expect(stored).toMatchObject({ agent_id: null, is_shared_usage: false, shared_token: null });
      expect(stored.queries).toMatchObject([
        { feedback: 'like', status: 'complete', message_id: message, sources: [], tool_calls: [] },
      ]);
      expect(await page.post(`/api/delete_conversation?id=${id}`)).toEqual({ success: true });
      await asked();
      expect(await page.get('/api/delete_all_conversations')).toEqual({ success: true });
      expect(await page.get('/api/get_conversations')).toEqual([]);
    });

    it('attaches a file to a question, once it is parsed', async () => {
      const page = ground();
      const hours = file('hours.md', 'text/markdown', 'The garage opens at six.');
      const stored = await page.send('/api/store_attachment', { file: hours });
      expect(stored).toMatchObject({ success: true, task_id: expect.any(String), attachment_id: expect.any(String) });
      const result = await page.ended(stored['task_id']);
      expect(result).toMatchObject({ filename: 'hours.md', mime_type: 'text/markdown', attachment_id: stored['attachment_id'] });
      const { conversation } = await asked({ attachments: [stored['attachment_id']] });
      const { queries } = await page.get<{ queries: Json[] }>(`/api/get_single_conversation?id=${conversation}`);
      expect(queries).toMatchObject([{ attachments: [{ id: stored['attachment_id'], fileName: 'hours.md' }] }]);
    });

    it('opens the data that a tool has stored', async () => {
      const page = ground();
      const notes = { name: 'notes', displayName: 'Notes', description: 'Keeps notes', config: {}, status: true };
      const { id } = await page.post('/api/create_tool', notes);
      const agent = await page.world.agent({ name: 'Noter', tools: [id] }, page.user);
      page.world.model.next([call('c1', 'note_overwrite', { text: 'Tea at four.' })], say('Noted.'));
      const body = { question: 'Note it.', agent_id: agent.id, conversation_id: null, visibility: 'listed' };
      const frames = framesIn(await page.text({ method: 'POST', path: '/stream', body }));
      const ended = frames.findLast(({ data }) => data.type === 'tool_call')!.data['data'] as Json;
      expect(ended).toMatchObject({ call_id: 'c1', action_name: 'note_overwrite', status: 'completed' });
      const shown = await page.get(`/api/artifact/${String(ended['artifact_id'])}`);
      expect(shown).toMatchObject({ success: true, artifact: { artifact_type: 'note', data: { content: 'Tea at four.' } } });
      expect(await page.delete(`/api/delete_agent?id=${agent.id}`)).toEqual({ id: agent.id });
      expect(await page.post('/api/delete_tool', { id })).toEqual({ success: true });
    });

    it('reports what it shows, and removes marks', async () => {
      const page = ground();
      const { conversation: conversation_id } = await asked();
      const report = { tab_id: 'tab-1', conversation_id, visible: true };
      expect(await page.post('/api/presence', report)).toEqual({ success: true, stored: true });
      expect(await page.post(`/api/conversations/${conversation_id}/read`)).toMatchObject({ success: true });
      expect(await page.get('/api/push/public_key')).toEqual({ enabled: false, public_key: null });
      expect(await page.get(`/api/monitors?conversation_id=${conversation_id}&status=live`)).toEqual({ monitors: [] });
      expect(await page.get(`/api/background_jobs?conversation_id=${conversation_id}`)).toEqual({ jobs: [] });
    });

    it('shows the trace of an answer', async () => {
      const page = ground();
      const { message } = await asked();
      let traces: readonly Json[] = [];
      await eventually(async () => {
        ({ traces } = await page.get<{ traces: readonly Json[] }>(`/api/traces?message_id=${message}`));
        return traces[0]?.['status'] === 'ok';
      });
      expect(traces).toMatchObject([{ message_id: message, source: 'chat', spans: [], summary: { model_id: 'scripted' } }]);
    });

    it('shows what runs, what is planned and what ran', async () => {
      const page = ground();
      expect(await page.get('/api/activity/now')).toMatchObject({ running: [], up_next: [] });
      const window = 'from=2026-01-01T00:00:00Z&to=2026-01-31T00:00:00Z&tz=Europe%2FBerlin';
      expect(await page.get(`/api/activity/planned?${window}`)).toMatchObject({ events: [], truncated: [] });
      expect(await page.get('/api/activity/history?days=30&limit=50')).toMatchObject({
        runs: expect.any(Array),
        has_more: false,
      });
    });
  });
}
