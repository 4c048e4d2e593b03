/** Pictures that are taken, by what their content says. */
export const PICTURE_MIME_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

export const PDF = 'application/pdf';

export const isPicture = (mimeType: string): boolean => mimeType.startsWith('image/');

/** Of a longer text the beginning is kept. */
export const TEXT_TOKENS_MAX = 100_000;
/** So many pages of a PDF are kept as pictures, for models that look at pictures but do not read PDF. */
export const PICTURED_PAGES_MAX = 20;
/** The longer edge of a page as a picture. */
export const PAGE_EDGE_PIXELS = 1_600;
/** A picture of more bytes is made smaller: providers take no larger ones. */
export const PICTURE_BYTES_MAX = 5 * 1024 * 1024;
/** A picture that is made smaller has no longer edge than this to begin with: models look at no more. */
export const PICTURE_EDGE_PIXELS_MAX = 2_048;
/** A picture of more pixels is refused: in memory each takes four bytes, however few it takes as a file. */
export const PICTURE_PIXELS_MAX = 50_000_000;
