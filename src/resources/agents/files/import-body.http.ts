import type { FastifyRequest } from 'fastify';
import { refuseIncompleteForm } from '../../../kernel/form-refusals.js';
import { FILE_BYTES_MAX } from './format/agent-file.policy.js';
import { fileRefused } from './format/file-fields.policy.js';
import type { Resolution } from './import-decisions.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

type FormPart = Readonly<
  { type: 'file'; fieldname: string; toBuffer: () => Promise<Buffer> } | { type: 'field'; fieldname: string; value: unknown }
>;

export type ImportRequest = FastifyRequest & {
  isMultipart(): boolean;
  parts(options: { limits: { fileSize: number } }): AsyncIterable<FormPart>;
};

/** The text of the uploaded file, and the caller's decisions about the import. */
export type SentFile = Readonly<{ text: string; resolution: Resolution }>;

const tooLarge = () => fileRefused('Import document too large');

/**
 * Reads a JSON body with the file as a string, a form with the file, or the file itself. Only a JSON body can contain decisions.
 * @throws Rejection
 */
export async function readImportBody(request: ImportRequest, body: unknown): Promise<SentFile> {
  if (request.isMultipart()) return { text: await fileInForm(request).catch(refuseIncompleteForm), resolution: {} };
  if (typeof body === 'string') return { text: body, resolution: {} };
  if (body === undefined || body === null) return { text: '', resolution: {} };
  if (!isJsonObject(body)) throw fileRefused('Invalid request data');
  const text = body['yaml'] ?? body['content'] ?? '';
  if (typeof text !== 'string') throw fileRefused('yaml must be text');
  const resolution = body['resolution'] ?? {};
  if (!isJsonObject(resolution)) throw fileRefused('resolution must be an object');
  return { text, resolution };
}

async function fileInForm(request: ImportRequest): Promise<string> {
  let text: string | undefined;
  for await (const part of request.parts({ limits: { fileSize: FILE_BYTES_MAX } })) {
    if (part.type === 'field') {
      if (part.fieldname === 'file' && typeof part.value === 'string') text ??= part.value;
      continue;
    }
    const bytes = await part.toBuffer().catch((error: unknown) => {
      throw (error as { code?: unknown }).code === 'FST_REQ_FILE_TOO_LARGE' ? tooLarge() : error;
    });
    if (part.fieldname === 'file') text ??= textOf(bytes);
  }
  if (text === undefined) throw fileRefused("No file was given: send it as 'file'");
  return text;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw error instanceof TypeError ? fileRefused('The file is not valid UTF-8') : error;
  }
}
