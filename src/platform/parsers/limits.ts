/** What a document may cost. Past any of these it is refused as `document-too-large` or `document-too-slow`. */
export type ParsingLimits = Readonly<{
  fileBytesMax: number;
  /** Of a file that is an archive inside (docx, xlsx, pptx, epub): all entries unpacked, and how many there may be. */
  unpackedBytesMax: number;
  unpackedRatioMax: number;
  archiveEntriesMax: number;
  pagesMax: number;
  /** Text of all sections together: more than this nobody retrieves from. */
  textCharsMax: number;
  /** Of a longer text that is attached to a question the beginning is read. */
  attachmentTextBytesMax: number;
  deadlineMs: number;
  memoryMegabytesMax: number;
}>;

export const PARSING_LIMITS: ParsingLimits = {
  fileBytesMax: 100 * 1024 * 1024,
  unpackedBytesMax: 250 * 1024 * 1024,
  unpackedRatioMax: 1000,
  archiveEntriesMax: 10_000,
  pagesMax: 5_000,
  textCharsMax: 50_000_000,
  attachmentTextBytesMax: 5_000_000,
  deadlineMs: 120_000,
  memoryMegabytesMax: 1024,
};
