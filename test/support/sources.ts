import type { Client } from './client.js';
import { eventually } from './eventually.js';

/** Uploads a source of one file and waits until searches find it. Returns its id. */
export async function addedSource(client: Client, name: string, text: string, filename = 'source.md'): Promise<string> {
  const form = new FormData();
  form.append('name', name);
  form.append('file', new Blob([text]), filename);
  const response = await client.send('/api/upload', form);
  if (response.status !== 200) throw new Error(`No source: ${response.status} ${await response.text()}`);
  const { task_id, source_id } = (await response.json()) as { task_id: string; source_id: string };
  const isRead = async () => (await client.json(`/api/task_status?task_id=${task_id}`))['status'] === 'SUCCESS';
  // The first document of a service waits until the parser process has started.
  await eventually(isRead, 180_000, 'the source is read');
  return source_id;
}
