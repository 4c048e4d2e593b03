import type { PromptDocument } from './prompt.port.js';

/** Documents as one numbered text, each under the name a reader would know it by. */
export const documentBlock = (documents: readonly PromptDocument[]): string =>
  documents.map((document, index) => `[${index + 1}] ${labelOf(document)}\n${document.text}`).join('\n\n');

const labelOf = ({ filename, title, source }: PromptDocument) => filename || title || source;
