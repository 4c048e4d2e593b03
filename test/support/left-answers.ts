import { SseStreams } from '../../src/platform/http/sse.js';
import type { Client } from './client.js';
import { eventually } from './eventually.js';
import { say, type Step, until } from './scripted-model-server.js';
import type { World } from './world.js';

/** Asks a listed question and disconnects before its answer ends. */
export async function askAndLeave(
  { model, service }: Pick<World, 'model' | 'service'>,
  client: Client,
  body: object,
  end: readonly Step[],
) {
  let goOn: () => void = () => undefined;
  model.next([...say('Half'), until(new Promise<void>((resolve) => (goOn = resolve))), ...end]);
  const streams = service.service.app.get(SseStreams, { strict: false });
  const before = streams.size;
  const { frames } = await client.stream({ visibility: 'listed', ...body }, (text) => text.includes('Half'));
  await eventually(() => streams.size <= before);
  goOn();
  const [newest] = await client.json<{ id: string }[]>('/api/get_conversations?limit=1');
  const conversationId = (body as { conversation_id?: string }).conversation_id ?? newest!.id;
  return { conversationId, messageId: frames[0]!.data['message_id'] as string };
}
