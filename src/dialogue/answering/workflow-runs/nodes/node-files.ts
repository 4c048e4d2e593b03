import { Injectable } from '@nestjs/common';
import { ArtifactContents, type ArtifactFile } from '../../../../resources/artifacts/artifact-contents.port.js';
import { AttachmentShelf } from '../../../../resources/attachments/attachment-shelf.port.js';
import type { CodeFile } from '../../../../resources/code/code-runner.port.js';
import { AnswerFailed } from '../../loop/answer-failed.js';
import type { AttachedFile } from '../../../conversation/conversation.events.js';
import { fileNames } from './file-types.policy.js';
import type { RunDocument } from './run-state.js';

export const NODE_FILES_MAX = 5;
/** Maximum length of the text of one artifact. */
const TEXT_CHARACTERS_MAX = 100_000;
/** A UTF-16 unit has at most three bytes in UTF-8. The last character may be cut. */
const TEXT_BYTES_MAX = 3 * (TEXT_CHARACTERS_MAX + 1);

/** Maximum number of bytes of all files of a code node, because they are in memory while its code runs. */
export const CODE_FILES_BYTES_MAX = 128 * 1024 * 1024;

/** The files for an agent node: files of the question as attachments, artifacts of earlier steps as text. */
export type AgentFiles = Readonly<{ attachments: readonly AttachedFile[]; text: string; notices: readonly string[] }>;

const TEXTS = /^text\/|^application\/(json|xml)$|^image\/svg\+xml$/;

/** Loads the files of a node in the form that the node needs. */
@Injectable()
export class NodeFiles {
  constructor(
    private readonly shelf: AttachmentShelf,
    private readonly artifacts: ArtifactContents,
  ) {}

  async forAgent(documents: readonly RunDocument[], ownerId: string): Promise<AgentFiles> {
    const given = documents.slice(0, NODE_FILES_MAX);
    const left = documents.slice(NODE_FILES_MAX).map(({ filename }) => filename);
    const attachments = given.flatMap((document) =>
      'attachment_id' in document
        ? [{ id: document.attachment_id, filename: document.filename, mimeType: document.mime_type }]
        : [],
    );
    const made = await this.made(given, ownerId, TEXT_BYTES_MAX);
    const unreadable = made.filter(({ mimeType }) => !TEXTS.test(mimeType)).map(({ filename }) => filename);
    return {
      attachments,
      text: made
        .filter(({ mimeType }) => TEXTS.test(mimeType))
        .map(asText)
        .join(''),
      notices: [
        ...(left.length > 0 ? [`A node takes ${NODE_FILES_MAX} files; these were left out: ${left.join(', ')}`] : []),
        ...unreadable.map((filename) => `${filename} was left out: a model is given text of what steps have made.`),
      ],
    };
  }

  /** Loads one file after the other, and stops at the limit. @throws AnswerFailed */
  async forCode(documents: readonly RunDocument[], ownerId: string): Promise<readonly CodeFile[]> {
    const ids = documents.flatMap((document) => ('attachment_id' in document ? [document.attachment_id] : []));
    const attached = ids.length > 0 ? await this.shelf.recall(ids) : [];
    const files: Pick<ArtifactFile, 'filename' | 'content'>[] = [];
    let bytes = 0;
    const count = (size: number) => {
      bytes += size;
      if (bytes > CODE_FILES_BYTES_MAX)
        throw new AnswerFailed('code-failed', `The files for the code have more than ${CODE_FILES_BYTES_MAX} bytes together.`);
    };
    for (const { blob } of attached) count(blob.size);
    for (const { filename, blob } of attached) files.push({ filename, content: await this.shelf.bytesOf(blob) });
    for (const document of documents) {
      const [file] = await this.made([document], ownerId, CODE_FILES_BYTES_MAX + 1);
      if (!file) continue;
      count(file.content.byteLength);
      files.push(file);
    }
    const names = fileNames(files.map(({ filename }) => filename));
    return files.map(({ content }, at) => ({ name: names[at]!, content }));
  }

  /** The newest versions of the artifacts among the documents. Deleted ones are left out. */
  private async made(documents: readonly RunDocument[], ownerId: string, bytesMax: number): Promise<readonly ArtifactFile[]> {
    const found = documents.map(async (document) =>
      'artifact_id' in document ? this.artifacts.newest(document.artifact_id, ownerId, bytesMax) : undefined,
    );
    return (await Promise.all(found)).filter((file) => file !== undefined);
  }
}

/** Replaces characters in the file name that could close the tag. */
const asText = ({ filename, content }: ArtifactFile): string =>
  `\n\n<attachment name=${JSON.stringify(filename.replace(/[<>"\p{Cc}]/gu, '_'))}>\n${Buffer.from(content)
    .toString()
    .slice(0, TEXT_CHARACTERS_MAX)
    .toWellFormed()}\n</attachment>`;
