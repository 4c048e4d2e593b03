import type { Readable } from 'node:stream';
import { Rejection } from '../../../kernel/rejection.js';

/** Maximum bytes of an upload that are read before its sender has shown a credential. */
export const UNAUTHENTICATED_UPLOAD_BYTES_MAX = 1024 * 1024;

type Part = Readonly<{ type: 'field' }> | Readonly<{ type: 'file'; file: Readable }>;

/**
 * The parts of a form. Until a field has shown a credential, only the beginning of the form is read: a form that exceeds the
 * limit before that is refused, also in the middle of a file, and the rest of its body is not read.
 * @param isCredential tells whether a field is a credential @throws Rejection unauthenticated
 */
export async function* gatedParts<FormPart extends Part>(
  body: Readable,
  parts: AsyncIterable<FormPart>,
  isCredential: (field: Extract<FormPart, { type: 'field' }>) => Promise<boolean>,
): AsyncGenerator<FormPart> {
  let size = 0;
  let file: Readable | undefined;
  const refusal = new AbortController();
  const refused = new Promise<never>((_, reject) => refusal.signal.addEventListener('abort', () => reject(credentialTooLate())));
  refused.catch(() => undefined);
  const count = (piece: Buffer): void => {
    size += piece.length;
    if (size <= UNAUTHENTICATED_UPLOAD_BYTES_MAX) return;
    open();
    body.unpipe();
    body.pause();
    file?.destroy(credentialTooLate());
    refusal.abort();
  };
  const open = (): unknown => body.off('data', count);
  // `on` would start the stream before the form parser listens.
  body.prependListener('data', count);
  try {
    const iterator = parts[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([iterator.next(), refused]);
      // Without this check, a pending file would wait for its remaining bytes for ever.
      if (refusal.signal.aborted) throw credentialTooLate();
      if (next.done) return;
      const part = next.value;
      if (isFile(part)) file = part.file;
      else if (await isCredential(part as Extract<FormPart, { type: 'field' }>)) open();
      yield part;
    }
  } finally {
    open();
  }
}

const isFile = <FormPart extends Part>(part: FormPart): part is Extract<FormPart, { type: 'file' }> => part.type === 'file';

const credentialTooLate = () => {
  const text = `Authentication required: of a form, at most ${UNAUTHENTICATED_UPLOAD_BYTES_MAX} bytes are read before a credential. Send the api_key before the files, or in a header.`;
  return new Rejection('unauthenticated', text);
};
