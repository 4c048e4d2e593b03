import type { PromptDocument } from './prompt.port.js';

/** Documents as one numbered text, each under its file and the headings or pages it comes from, so that a model can cite them. */
export const documentBlock = (documents: readonly PromptDocument[]): string =>
  documents.map((document, index) => `[${index + 1}] ${labelOf(document)}\n${document.text}`).join('\n\n');

function labelOf({ filename, title, source }: PromptDocument): string {
  if (!filename) return title || source;
  const saysMore = title !== '' && title !== filename && !filename.startsWith(`${title}.`);
  return saysMore ? `${filename} (${title})` : filename;
}
