import { documentBlock } from './document-block.policy.js';
import type { PromptNamespaces } from './prompt.port.js';
import { cutText } from '../../kernel/cut-text.js';

const FILE_NAME_CHARACTERS_MAX = 255;

/** Describes how clients show answers. Templates read it as `system.platform`. */
const PLATFORM =
  'Answers are shown as Markdown in a chat window. Code blocks, tables, lists and links are rendered; HTML is shown as text.';

/** A prompt is a template only if it contains both `{{` and `}}`. A prompt that has only `{% … %}` statements is plain text. */
export const isTemplate = (text: string): boolean => text.includes('{{') && text.includes('}}');

/** The placeholder for the documents in the oldest form of prompts, which has no other variables. */
export const LEGACY_DOCUMENTS = '{summaries}';

/** Whether a prompt contains a placeholder for the documents. */
export const placesDocuments = (text: string): boolean =>
  text.includes(LEGACY_DOCUMENTS) || (isTemplate(text) && /source\.(?:summaries|content|docs_together|documents)/.test(text));

/** The variables of a template. An undefined variable renders as an empty string. */
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

/** Only strings, numbers, booleans and null. A caller's lists and objects do not reach the template. */
function scalarsOf(passthrough: Readonly<Record<string, unknown>>) {
  const scalars = Object.entries(passthrough).filter(
    ([, value]) => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(scalars.map(([name, value]) => [name, value ?? '']));
}

/** An untrusted file name without control characters, cut to a bounded length. */
export const cleanFileName = (name: string): string => cutText(name.replace(/\p{Cc}+/gu, ''), FILE_NAME_CHARACTERS_MAX);
