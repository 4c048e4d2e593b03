const MEGABYTE = 1024 * 1024;

/** The limits of a document. Beyond any of them it is refused as `document-too-large` or `document-too-slow`. */
export type ParsingLimits = Readonly<{
  fileBytesMax: number;
  /** For archives (also docx, xlsx, pptx, epub): the unpacked bytes, their ratio to the file's, and the number of entries. */
  unpackedBytesMax: number;
  unpackedRatioMax: number;
  archiveEntriesMax: number;
  pagesMax: number;
  /** The nesting depth of tags, lists and records. */
  depthMax: number;
  /** The cells of all sheets together, including empty cells between filled ones. */
  cellsMax: number;
  /** The text of all sections together. */
  textCharsMax: number;
  /** A file may yield this many characters of text per (unpacked) byte, and `textCharsMin` whatever its size. */
  textCharsPerByteMax: number;
  textCharsMin: number;
  /** Only the beginning of a longer text attached to a question is read. */
  attachmentTextBytesMax: number;
  /**
   * The first, short turn of a document. A document with more bytes skips it. A document that does not finish in it gets a
   * second, long turn in a separate queue.
   */
  shortTurnMs: number;
  shortTurnBytesMax: number;
  shortTurnMemoryMegabytesMax: number;
  /** The time of the long turn: a minimum, an addition for each megabyte, and a maximum. */
  deadlineMsMin: number;
  deadlineMsPerMegabyte: number;
  deadlineMsMax: number;
  memoryMegabytesMax: number;
  /** The memory outside the heap, such as unpacked bytes of an archive and what a process needs before it reads anything. */
  besideHeapMegabytesMax: number;
  /** The number of documents that may wait for their long turn. */
  longTurnsWaitingMax: number;
}>;

export const PARSING_LIMITS: ParsingLimits = {
  fileBytesMax: 100 * MEGABYTE,
  unpackedBytesMax: 250 * MEGABYTE,
  unpackedRatioMax: 1000,
  archiveEntriesMax: 10_000,
  pagesMax: 5_000,
  depthMax: 500,
  cellsMax: 10_000_000,
  textCharsMax: 50_000_000,
  textCharsPerByteMax: 100,
  textCharsMin: 1_000_000,
  attachmentTextBytesMax: 5_000_000,
  shortTurnMs: 1_000,
  shortTurnBytesMax: 5 * MEGABYTE,
  shortTurnMemoryMegabytesMax: 256,
  deadlineMsMin: 20_000,
  deadlineMsPerMegabyte: 10_000,
  deadlineMsMax: 120_000,
  memoryMegabytesMax: 1024,
  besideHeapMegabytesMax: 768,
  longTurnsWaitingMax: 30,
};

/** The time that a document of this size may take in its long turn. */
export const deadlineMsOf = (bytes: number, limits: ParsingLimits): number =>
  Math.round(Math.min(limits.deadlineMsMax, limits.deadlineMsMin + (bytes / MEGABYTE) * limits.deadlineMsPerMegabyte));
