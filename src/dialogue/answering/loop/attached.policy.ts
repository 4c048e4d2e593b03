import type { ReadyAttachment } from '../../../resources/attachments/attachment-shelf.port.js';
import type { ChatMessage, MessagePart, ModelDescription } from '../../../resources/models/model/language-model.port.js';
import { estimatedTokens, RESERVED_TOKENS } from './messages.policy.js';
import { isPicture, PDF } from '../../../resources/documents/readable-files.policy.js';

/** Attachments of one question. */
export const ATTACHMENTS_MAX = 25;
/** The share of a model's window, without what is reserved, that attachments may take. */
export const ATTACHMENTS_SHARE = 0.5;
/** What a picture counts for: what models make of one of the size they look at. */
export const PICTURE_TOKENS = 1_500;
/** Pictures of one question, pages among them. */
export const PICTURES_MAX = 40;
/** Files and pictures of one question together, before they are encoded: providers take no larger requests. */
export const NATIVE_BYTES_MAX = 16 * 1024 * 1024;
/** Less of a text is not worth the room. */
const TEXT_TOKENS_MIN = 50;

/** How a model is given one attachment: as the file it is, as its first pictures, as its first tokens of text. */
export type Serving = Readonly<{ attachment: ReadyAttachment; asFile: boolean; pictures: number; textTokens: number }>;

export type Servings = Readonly<{ servings: readonly Serving[]; tokens: number; notices: readonly string[] }>;

type Room = Readonly<{ tokens: number; bytes: number; pictures: number }>;
type Served = Readonly<{ serving: Serving; notices: readonly string[] }>;

/** What of the attachments a model is given, in their order, as long as there is room: natively where it can, as text otherwise. */
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
  // The words of all pages go before the looks of some.
  const textTokens = tokens <= room.tokens || room.tokens >= TEXT_TOKENS_MIN ? Math.min(tokens, room.tokens) : 0;
  const rest = { ...room, tokens: room.tokens - textTokens };
  const serving = { ...shown, textTokens, pictures: picturesThatFit(attachment, types, rest) };
  return { serving, notices: noticesOf(serving) };
}

/** What the reader of the answer has to know: the model had less than was attached. */
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

/** What a message counts for, also where it is made of parts. */
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

/** Some say `image/jpg` for what is `image/jpeg`. */
const takes = (types: readonly string[], mimeType: string): boolean =>
  types.includes(mimeType) || (mimeType === 'image/jpeg' && types.includes('image/jpg'));
