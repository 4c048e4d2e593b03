import type { ReadyAttachment } from '../../../resources/attachments/attachment-shelf.port.js';
import type { ChatMessage, MessagePart, ModelDescription } from '../../../resources/models/model/language-model.port.js';
import { estimatedTokens, RESERVED_TOKENS } from './messages.policy.js';
import { isPicture, PDF } from '../../../resources/documents/readable-files.policy.js';

/** Maximum number of attachments of one question. */
export const ATTACHMENTS_MAX = 25;
/** The share of the unreserved context window that attachments may take. */
export const ATTACHMENTS_SHARE = 0.5;
/** The tokens that one picture counts for: an estimate for the size to which models scale pictures. */
export const PICTURE_TOKENS = 1_500;
/** Maximum number of pictures of one question, including pages shown as pictures. */
export const PICTURES_MAX = 40;
/** Maximum size of all files and pictures of one question before encoding, because providers limit the size of requests. */
export const NATIVE_BYTES_MAX = 16 * 1024 * 1024;
/** A text is left out if less than this would fit. */
const TEXT_TOKENS_MIN = 50;

/** How a model gets one attachment: as the original file, as its first pictures, or as its first tokens of text. */
export type Serving = Readonly<{ attachment: ReadyAttachment; asFile: boolean; pictures: number; textTokens: number }>;

export type Servings = Readonly<{ servings: readonly Serving[]; tokens: number; notices: readonly string[] }>;

type Room = Readonly<{ tokens: number; bytes: number; pictures: number }>;
type Served = Readonly<{ serving: Serving; notices: readonly string[] }>;

/**
 * Selects how the model gets each attachment, in order, while there is room: as a file or pictures if the model accepts them,
 * otherwise as text.
 */
export function servingsFor(
  attachments: readonly ReadyAttachment[],
  model: ModelDescription | undefined,
  window: number,
): Servings {
  const tokens = Math.max(0, Math.floor((window - RESERVED_TOKENS) * ATTACHMENTS_SHARE));
  let room: Room = { tokens, bytes: NATIVE_BYTES_MAX, pictures: PICTURES_MAX };
  const types = model?.attachmentTypes ?? [];
  const served = attachments.map((attachment) => {
    const each = serve(attachment, types, room);
    room = roomAfter(room, each.serving);
    return each;
  });
  return {
    servings: served.map(({ serving }) => serving).filter(isSomething),
    tokens: tokens - room.tokens,
    notices: served.flatMap(({ notices }) => notices),
  };
}

function serve(attachment: ReadyAttachment, types: readonly string[], room: Room): Served {
  const { filename, mimeType, pictures, pages, tokens } = attachment;
  const asFile: Serving = { attachment, asFile: true, pictures: 0, textTokens: 0 };
  if (mimeType === PDF && takes(types, PDF) && fits(asFile, room)) return { serving: asFile, notices: [] };
  const shown = { attachment, asFile: false, pictures: picturesThatFit(attachment, types, room), textTokens: 0 };
  if (isPicture(mimeType)) {
    if (shown.pictures > 0) return { serving: shown, notices: [] };
    const why = pictures.some((picture) => takes(types, picture.mimeType))
      ? 'there was no room for it'
      : 'the model takes no pictures of its kind';
    return { serving: shown, notices: [`${filename} was skipped: ${why}.`] };
  }
  if (shown.pictures > 0 && shown.pictures === pages) return { serving: shown, notices: [] };
  // The text of all pages has priority over the pictures of some.
  const textTokens = tokens <= room.tokens || room.tokens >= TEXT_TOKENS_MIN ? Math.min(tokens, room.tokens) : 0;
  const rest = { ...room, tokens: room.tokens - textTokens };
  const serving = { ...shown, textTokens, pictures: picturesThatFit(attachment, types, rest) };
  return { serving, notices: noticesOf(serving) };
}

/** Notices for the reader that the model got less than was attached. */
function noticesOf({ attachment, pictures, textTokens }: Serving): readonly string[] {
  const { filename, tokens, isCut, pages } = attachment;
  if (tokens === 0 && pictures === 0)
    return [`${filename} was skipped: it holds no text, and the model was shown none of its pages.`];
  if (tokens === 0) return [`${filename} holds no text: the model was shown its first ${pictures} of ${pages} pages.`];
  if (textTokens === 0 && pictures === 0) return [`${filename} was skipped: there was no room for it.`];
  return textTokens < tokens || isCut ? [`${filename} was too long: only the beginning of it was read.`] : [];
}

const picturesThatFit = ({ pictures }: ReadyAttachment, types: readonly string[], room: Room): number => {
  let { bytes } = room;
  const most = Math.min(room.pictures, Math.floor(room.tokens / PICTURE_TOKENS));
  const tooMuch = pictures.findIndex(({ mimeType, blob }) => !takes(types, mimeType) || (bytes -= blob.size) < 0);
  return Math.min(most, tooMuch < 0 ? pictures.length : tooMuch);
};

/** The estimated tokens of a message, also if it consists of parts. */
export const contentTokens = (content: ChatMessage['content']): number =>
  typeof content === 'string' ? estimatedTokens(content) : content.reduce((sum, part) => sum + partTokens(part), 0);

function partTokens(part: MessagePart): number {
  if (part.type === 'text') return estimatedTokens(part.text);
  return part.type === 'image' ? PICTURE_TOKENS : part.tokens;
}

export const tokensOf = ({ attachment, asFile, pictures, textTokens }: Serving): number =>
  asFile ? attachment.tokens + (attachment.pages ?? 1) * PICTURE_TOKENS : textTokens + pictures * PICTURE_TOKENS;

const bytesOf = ({ attachment, asFile, pictures }: Serving): number =>
  asFile ? attachment.blob.size : attachment.pictures.slice(0, pictures).reduce((sum, { blob }) => sum + blob.size, 0);

const fits = (serving: Serving, room: Room): boolean => tokensOf(serving) <= room.tokens && bytesOf(serving) <= room.bytes;

const roomAfter = (room: Room, serving: Serving): Room => ({
  tokens: room.tokens - tokensOf(serving),
  bytes: room.bytes - bytesOf(serving),
  pictures: room.pictures - serving.pictures,
});

const isSomething = ({ asFile, pictures, textTokens }: Serving): boolean => asFile || pictures > 0 || textTokens > 0;

/** Whether a model accepts a type. Some models list `image/jpg` instead of `image/jpeg`. */
const takes = (types: readonly string[], mimeType: string): boolean =>
  types.includes(mimeType) || (mimeType === 'image/jpeg' && types.includes('image/jpg'));
