import { Injectable } from '@nestjs/common';
import { AttachmentShelf, type ReadyAttachment } from '../../../resources/attachments/attachment-shelf.port.js';
import type { AttachedFile } from '../../conversation/conversation.events.js';
import { BlobMissing } from '../../../kernel/blobs.js';
import type { MessagePart, ModelDescription, ModelDocument } from '../../../resources/models/model/language-model.port.js';
import { type Serving, servingsFor, tokensOf } from './attached.policy.js';

/** The attachments of a question in the form in which the model gets them. */
export type Attached = Readonly<{
  parts: readonly MessagePart[];
  /** The same texts as documents, for a model that answers from documents. */
  documents: readonly ModelDocument[];
  tokens: number;
  notices: readonly string[];
}>;

const NOTHING: Attached = { parts: [], documents: [], tokens: 0, notices: [] };

/** Converts the attachments of a question into the form that its model accepts. */
@Injectable()
export class AttachedFiles {
  constructor(private readonly shelf: AttachmentShelf) {}

  async give(files: readonly AttachedFile[], model: ModelDescription | undefined, window: number): Promise<Attached> {
    if (files.length === 0) return NOTHING;
    const attachments = await this.shelf.recall(files.map(({ id }) => id));
    const { servings, tokens, notices } = servingsFor(attachments, model, window);
    const known = new Set(attachments.map(({ attachmentId }) => attachmentId));
    const parts: MessagePart[] = [];
    const documents: ModelDocument[] = [];
    const skipped: string[] = [];
    for (const serving of servings) {
      const { filename } = serving.attachment;
      const text = serving.textTokens > 0 ? await this.textOf(serving).catch(asMissing) : '';
      const native = await this.nativeParts(serving).catch(asMissing);
      if (text === undefined || native === undefined) skipped.push(goneText(filename));
      else parts.push(...native, ...(text === '' ? [] : [textPart(filename, text)]));
      if (text && native) documents.push({ title: filename, text, source: filename });
    }
    skipped.push(...files.filter(({ id }) => !known.has(id)).map(({ filename }) => goneText(filename)));
    return { parts, documents, tokens, notices: [...notices, ...skipped] };
  }

  private async textOf({ attachment, textTokens }: Serving): Promise<string> {
    const text = await this.shelf.textOf(attachment);
    if (textTokens >= attachment.tokens) return text;
    return text.slice(0, Math.floor((text.length * textTokens) / attachment.tokens)).toWellFormed();
  }

  private async nativeParts(serving: Serving): Promise<readonly MessagePart[]> {
    const { attachment, asFile, pictures } = serving;
    const { filename, mimeType, blob } = attachment;
    if (asFile) {
      return [{ type: 'file', filename, dataUrl: await this.dataUrl(mimeType, blob), tokens: tokensOf(serving) }];
    }
    if (pictures === 0) return [];
    const parts: MessagePart[] = [{ type: 'text', text: introductionOf(attachment, pictures) }];
    for (const picture of attachment.pictures.slice(0, pictures)) {
      parts.push({ type: 'image', dataUrl: await this.dataUrl(picture.mimeType, picture.blob) });
    }
    return parts;
  }

  private async dataUrl(mimeType: string, blob: ReadyAttachment['blob']): Promise<string> {
    return `data:${mimeType};base64,${(await this.shelf.bytesOf(blob)).toString('base64')}`;
  }
}

const goneText = (filename: string): string => `${filename} was skipped: it is not stored any more.`;

const introductionOf = ({ filename, pages }: ReadyAttachment, pictures: number): string => {
  if (pages === null) return `Attached picture: ${filename}`;
  return `Attached document: ${filename}, ${pictures === pages ? 'all its pages' : `the first ${pictures} of ${pages} pages`} as pictures`;
};

/** Replaces characters in the file name that could close the tag. */
const textPart = (filename: string, text: string): MessagePart => ({
  type: 'text',
  text: `<attachment name=${JSON.stringify(filename.replace(/[<>"\p{Cc}]/gu, '_'))}>\n${text}\n</attachment>`,
});

function asMissing(error: unknown): undefined {
  if (!(error instanceof BlobMissing)) throw error;
}
