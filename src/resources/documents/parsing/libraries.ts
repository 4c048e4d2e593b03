import { getResolvedPDFJS } from 'unpdf';
import { kindOfMimeType } from '../formats/attachment-kind.js';
import { kindOf } from '../formats/file-kind.js';
import { PICTURE_BYTES_MAX } from '../readable-files.policy.js';
import type { ParsingJob } from './parsing-messages.js';

const loadCanvas = () => import('@napi-rs/canvas');

/** Loads the large libraries that a document needs, because they take longer than most documents. @throws Rejection */
export async function loadLibrariesFor({ file: { filename, bytes }, ...job }: ParsingJob): Promise<void> {
  if (job.wanted !== 'attachment') {
    if ((await kindOf(filename, bytes)) === 'pdf') await getResolvedPDFJS();
    return;
  }
  const kind = kindOfMimeType(filename, job.mimeType);
  if (kind === 'pdf') await Promise.all([getResolvedPDFJS(), loadCanvas()]);
  if (kind === 'picture' && bytes.byteLength > PICTURE_BYTES_MAX) await loadCanvas();
}
