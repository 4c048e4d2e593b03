const MEGABYTE = 1024 * 1024;

/** What a document may cost. Past any of these it is refused as `document-too-large` or `document-too-slow`. */
export type ParsingLimits = Readonly<{
  fileBytesMax: number;
  /** Of a file that is an archive inside (docx, xlsx, pptx, epub): all entries unpacked, and how many there may be. */
  unpackedBytesMax: number;
  unpackedRatioMax: number;
  archiveEntriesMax: number;
  pagesMax: number;
  /** Of tags, lists and records inside each other. */
  depthMax: number;
  /** Of all sheets together, those between the cells that are filled among them. */
  cellsMax: number;
  /** Text of all sections together: more than this is not searched. */
  textCharsMax: number;
  /** Nor may a file of few bytes give much text: so much a byte (unpacked), and so much whatever its size. */
  textCharsPerByteMax: number;
  textCharsMin: number;
  /** Of a longer text that is attached to a question the beginning is read. */
  attachmentTextBytesMax: number;
  /** The first turn of a document; one that has more bytes has none. What is not done in it has a second, with all others like it. */
  shortTurnMs: number;
  shortTurnBytesMax: number;
  shortTurnMemoryMegabytesMax: number;
  /** The second: so long whatever its size, so much longer for each megabyte, and never longer than that. */
  deadlineMsMin: number;
  deadlineMsPerMegabyte: number;
  deadlineMsMax: number;
  memoryMegabytesMax: number;
  /** Beside the heap, such as the unpacked bytes of an archive, and what a process takes before it reads anything. */
  besideHeapMegabytesMax: number;
  /** So many documents may wait for their second turn. */
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

/** How long a document of so many bytes may take in its second turn. */
export const deadlineMsOf = (bytes: number, limits: ParsingLimits): number =>
  Math.round(Math.min(limits.deadlineMsMax, limits.deadlineMsMin + (bytes / MEGABYTE) * limits.deadlineMsPerMegabyte));
