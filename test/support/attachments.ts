import { expect } from '@jest/globals';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';
import type { Client } from './client.js';
import { endOf } from './webhooks.js';
import { type Reply, replyOf } from './world.js';

/** The response of `POST /api/store_attachment` for one file. */
export type Uploaded = Readonly<{ success: boolean; task_id: string; attachment_id: string; message: string }>;

type Texts = Readonly<Record<string, string>>;

export function formOf(files: readonly DocumentFile[], fields: Texts = {}): FormData {
  const data = new FormData();
  for (const { filename, bytes } of files) data.append('file', new Blob([bytes]), filename);
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

export const send = (client: Client, form: FormData, headers: Texts = {}, query = ''): Promise<Reply> =>
  replyOf(client.send(`/api/store_attachment${query}`, form, headers));

export async function upload(client: Client, file: DocumentFile, fields: Texts = {}): Promise<Uploaded> {
  const { status, body } = await send(client, formOf([file], fields));
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Uploaded;
}

/** Uploads a file and waits until it is parsed. Returns its id. */
export async function readyAttachment(client: Client, file: DocumentFile, fields: Texts = {}): Promise<string> {
  const { task_id, attachment_id } = await upload(client, file, fields);
  expect(await endOf(client, task_id)).toMatchObject({ status: 'SUCCESS' });
  return attachment_id;
}
