import type { AttachedFile } from '../../../conversation/conversation.events.js';
import type { Exchanges } from '../../loop/past-exchanges.js';

/** Maximum number of a question's files in a run. A question cannot have more. */
export const INPUT_DOCUMENTS_MAX = 25;
/** Maximum length of the chat history that expressions and templates can read. */
const HISTORY_CHARACTERS_MAX = 200_000;
const CHAT_HISTORY = 'chat_history';

type Values = Readonly<Record<string, unknown>>;

/** A file in the state of a run: an attachment of the question, or an artifact of a step. */
export type RunDocument = Readonly<
  { filename: string; mime_type: string } & ({ ref: string; attachment_id: string } | { artifact_id: string; version: number })
>;

export const inputDocuments = (files: readonly AttachedFile[]): readonly RunDocument[] =>
  files.slice(0, INPUT_DOCUMENTS_MAX).map(({ id, filename, mimeType }, at) => ({
    ref: `A${at + 1}`,
    attachment_id: id,
    filename,
    mime_type: mimeType,
  }));

/** The variables of a run that its steps read and write. */
export class RunState {
  private readonly values: Map<string, unknown>;
  private history: Promise<readonly unknown[]> | undefined;

  constructor(
    values: Values,
    private readonly exchanges: Exchanges,
    /** The attachments of the question. */
    private readonly attachments: readonly AttachedFile[],
  ) {
    this.values = new Map(Object.entries(values));
  }

  get(name: string): unknown {
    return this.values.get(name);
  }

  set(values: Values): void {
    for (const [name, value] of Object.entries(values)) this.values.set(name, value);
  }

  /** All variables, without the chat history. */
  get variables(): Values {
    return Object.fromEntries(this.values);
  }

  /**
   * The variables that a template or expression can read. Includes the chat history only if the text names it, because that
   * requires reading the conversation.
   */
  async readableBy(text: string): Promise<Values> {
    if (!text.includes(CHAT_HISTORY) || this.values.has(CHAT_HISTORY)) return this.variables;
    this.history ??= this.exchanges(HISTORY_CHARACTERS_MAX);
    return { ...this.variables, [CHAT_HISTORY]: await this.history };
  }

  /**
   * The files that the entries of a node name. An entry is a variable, an id, a short reference, or `*` for all files of the
   * question.
   */
  documents(entries: readonly string[]): readonly RunDocument[] {
    const inputs = documentsIn(this.values.get('input_documents'));
    const all = [...inputs, ...[...this.values.values()].flatMap(documentsIn)];
    const named = entries.flatMap((entry) => {
      if (entry === '*' || entry === 'input_documents') return inputs;
      if (this.values.has(entry)) return documentsIn(this.values.get(entry));
      return all.filter((document) => idsOf(document).includes(entry)).slice(0, 1);
    });
    return [...new Map(named.filter(this.isOfRun).map((document) => [keyOf(document), document])).values()];
  }

  /**
   * Accepts only attachments of the question. Steps can write any attachment id into a variable, and attachments are read by id
   * alone.
   */
  private readonly isOfRun = (document: RunDocument): boolean =>
    !('attachment_id' in document) || this.attachments.some(({ id }) => id === document.attachment_id);

  /** The files by short reference: first those of the question, then the artifacts of steps. */
  get artifacts(): Values {
    const inputs = documentsIn(this.values.get('input_documents'));
    const made = this.documents([...this.values.keys()]).filter((document) => 'artifact_id' in document);
    return Object.fromEntries([...inputs, ...made].map((document, at) => [`A${at + 1}`, document]));
  }
}

const idsOf = (document: RunDocument): readonly string[] =>
  'artifact_id' in document ? [document.artifact_id] : [document.ref, document.attachment_id];

const keyOf = (document: RunDocument): string => idsOf(document).at(-1)!;

function documentsIn(value: unknown): readonly RunDocument[] {
  if (Array.isArray(value)) return value.flatMap(documentsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { attachment_id: attachmentId, artifact_id: artifactId, filename } = value as Record<string, unknown>;
  const isDocument = typeof filename === 'string' && (typeof attachmentId === 'string' || typeof artifactId === 'string');
  return isDocument ? [value as RunDocument] : [];
}
