/** The accepted types of pictures, detected by content. */
export const PICTURE_MIME_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

export const PDF = 'application/pdf';

export const isPicture = (mimeType: string): boolean => mimeType.startsWith('image/');

/** Only the beginning of a longer text is kept. */
export const TEXT_TOKENS_MAX = 100_000;
/** The number of PDF pages that are stored as pictures, for models that accept pictures but not PDF. */
export const PICTURED_PAGES_MAX = 20;
/** The longer edge of the picture of a page. */
export const PAGE_EDGE_PIXELS = 1_600;
/** A larger picture is shrunk, because providers do not accept it. */
export const PICTURE_BYTES_MAX = 5 * 1024 * 1024;
/** The maximum edge of a shrunk picture. Models use no more pixels. */
export const PICTURE_EDGE_PIXELS_MAX = 2_048;
/** A picture with more pixels is refused, because each pixel takes four bytes in memory. */
export const PICTURE_PIXELS_MAX = 50_000_000;
