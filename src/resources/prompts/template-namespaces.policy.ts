import { documentBlock } from './document-block.policy.js';
import type { PromptNamespaces } from './prompt.port.js';

const FILE_NAME_CHARACTERS_MAX = 255;

/** How answers are shown, for templates that say so themselves. */
const PLATFORM =
  'Answers are shown as Markdown in a chat window. Code blocks, tables, lists and links are rendered; HTML is shown as text.';

/** A prompt is a template only if it opens and closes an expression; braces alone, or statements alone, are plain text. */
export const isTemplate = (text: string): boolean => text.includes('{{') && text.includes('}}');

/** The place of the documents in prompts of the oldest kind, which know no other variable. */
export const LEGACY_DOCUMENTS = '{summaries}';

/** Whether a prompt puts the documents somewhere itself. */
export const placesDocuments = (text: string): boolean =>
  text.includes(LEGACY_DOCUMENTS) || (isTemplate(text) && /source\.(?:summaries|content|docs_together|documents)/.test(text));

/** The variables of a template. What is not there renders as nothing. */
export function templateContext(namespaces: PromptNamespaces) {
  const { system, passthrough = {}, documents, tools = {}, attachments = [], variables = {}, artifacts = {} } = namespaces;
  const moment = system.now.toISOString();
  const content = documentBlock(documents);
  return {
    ...variables,
    ...(namespaces.variables && { agent: variables, artifacts }),
    system: {
      date: moment.slice(0, 10),
      time: moment.slice(11, 19),
      timestamp: moment,
      request_id: system.requestId,
      user_id: system.userId,
      api_base_url: system.apiBaseUrl ?? '',
      platform: PLATFORM,
      persona: '',
    },
    passthrough: scalarsOf(passthrough),
    source:
      documents.length > 0
        ? { documents: [...documents], count: documents.length, content, summaries: content, docs_together: content }
        : { documents: [], count: 0 },
    tools: { ...tools, enabled: Object.keys(tools).sort() },
    attachments: {
      files: attachments.map(({ filename, mimeType, size }) => ({
        filename: cleanFileName(filename),
        mime_type: mimeType,
        ...(size !== undefined && { size }),
      })),
    },
  };
}

/** Strings, numbers, booleans and null; lists and objects of a caller do not reach the template. */
function scalarsOf(passthrough: Readonly<Record<string, unknown>>) {
  const scalars = Object.entries(passthrough).filter(
    ([, value]) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(scalars.map(([name, value]) => [name, value ?? '']));
}

/** A file name of a stranger, on one line and of bounded length. */
export const cleanFileName = (name: string): string => name.replace(/\p{Cc}+/gu, '').slice(0, FILE_NAME_CHARACTERS_MAX);
