import { createIsomorphicCanvasFactory, getDocumentProxy, renderPageAsImage } from 'unpdf';
import type { Picture } from '../attachment-reader.port.js';
import { unreadable } from '../refusals.js';
import { PAGE_EDGE_PIXELS, PICTURE_BYTES_MAX, PICTURED_PAGES_MAX } from '../readable-files.policy.js';

const canvasImport = () => import('@napi-rs/canvas');

type Fixed = { transferToFixedLength?: (this: ArrayBuffer, length?: number) => ArrayBuffer };

/** Node 20 lacks this function. The renderer needs it and draws every page white without it. */
(ArrayBuffer.prototype as Fixed).transferToFixedLength ??= function (this: ArrayBuffer, length?: number) {
  return this.slice(0, length);
};

export type PdfPages = Readonly<{ pages: number; pictures: readonly Picture[] }>;

/** Renders the first pages. Stops at a page that cannot be drawn or whose picture is too large. @throws Rejection */
export async function picturePages(filename: string, bytes: Uint8Array): Promise<PdfPages> {
  const CanvasFactory = await createIsomorphicCanvasFactory(canvasImport);
  const document = await getDocumentProxy(bytes, { verbosity: 0, CanvasFactory }).catch(() => {
    throw unreadable(filename, 'PDF');
  });
  try {
    const pictures: Picture[] = [];
    for (let number = 1; number <= Math.min(document.numPages, PICTURED_PAGES_MAX); number++) {
      const picture = await drawn(document, number).catch(() => undefined);
      if (!picture || picture.byteLength > PICTURE_BYTES_MAX) break;
      pictures.push({ mimeType: 'image/png', bytes: new Uint8Array(picture) });
    }
    return { pages: document.numPages, pictures };
  } finally {
    await document.loadingTask.destroy();
  }
}

async function drawn(document: Awaited<ReturnType<typeof getDocumentProxy>>, number: number): Promise<ArrayBuffer> {
  const { width, height } = (await document.getPage(number)).getViewport({ scale: 1 });
  return renderPageAsImage(document, number, { canvasImport, scale: PAGE_EDGE_PIXELS / Math.max(width, height) });
}
