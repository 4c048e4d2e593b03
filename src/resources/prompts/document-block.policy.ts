import type { PromptDocument } from './prompt.port.js';

/** The documents as one text. Each has a number, its file name and its title as a label, so that a model can cite it. */
export const documentBlock = (documents: readonly PromptDocument[]): string =>
  documents.map((document, index) => `[${index + 1}] ${labelOf(document)}\n${document.text}`).join('\n\n');

function labelOf({ filename, title, source }: PromptDocument): string {
  if (!filename) return title || source;
  const saysMore = title !== '' && title !== filename && !filename.startsWith(`${title}.`);
  return saysMore ? `${filename} (${title})` : filename;
}
