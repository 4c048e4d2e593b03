import { Injectable } from '@nestjs/common';
import { Rejection } from '../../../kernel/rejection.js';
import { type CallArguments, filledAction, unknownAction } from '../toolbox/call-arguments.policy.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import {
  type CallContext,
  type ConfigField,
  type Configured,
  ToolFailed,
  ToolKind,
  type UsedTool,
} from '../toolbox/tool-kind.port.js';
import { givenText, optionalText } from './web-arguments.policy.js';
import { addressOf, ask, failedStatus, parsed } from './web-call.js';
import { WebEndpoints } from './web-endpoints.js';
import { isJsonObject } from '../../json-object.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

export const TELEGRAM_TEXT_CHARACTERS_MAX = 4096;
const TELEGRAM_CAPTION_CHARACTERS_MAX = 1024;
const URL_CHARACTERS_MAX = 2048;
const REASON_CHARACTERS_MAX = 200;

const CHAT = { type: 'string', description: 'The id of the chat, or @ and the name of a public channel.' };

const SEND_MESSAGE: ActionDefinition = {
  ...filledAction('telegram_send_message', 'Sends a text to a chat on Telegram.', 'write', {
    text: { type: 'string', description: 'The text.' },
    chat_id: CHAT,
  }),
  idempotent: false,
};

const SEND_IMAGE: ActionDefinition = {
  ...filledAction('telegram_send_image', 'Sends an image that is on the web to a chat on Telegram.', 'write', {
    image_url: { type: 'string', description: 'The address of the image.' },
    chat_id: CHAT,
    caption: { type: 'string', description: 'The text below the image.', optional: true },
  }),
  idempotent: false,
};

/** Sends messages as a bot on Telegram. The URL contains the bot's token, so failures do not contain the URL. */
@Injectable()
export class TelegramTool extends ToolKind {
  readonly name = 'telegram';
  readonly displayName = 'Telegram Bot';
  readonly description = 'Sends texts and images to chats as your bot on Telegram.';
  readonly configFields: Readonly<Record<string, ConfigField>> = {
    token: { type: 'string', label: 'Bot token', description: 'As BotFather gave it.', required: true, secret: true, order: 1 },
  };
  readonly actions = [SEND_MESSAGE, SEND_IMAGE];

  constructor(
    private readonly http: OutgoingHttp,
    private readonly endpoints: WebEndpoints,
  ) {
    super();
  }

  override async configure(
    _config: Readonly<Record<string, unknown>>,
    { token = '' }: Readonly<Record<string, string>>,
  ): Promise<Configured> {
    if (!isToken(token.trim()))
      throw new Rejection('tool-invalid', 'The token is not one of a bot: it looks like 123456:ABC-DEF.');
    return { config: {}, secrets: { token: token.trim() } };
  }

  async run({ name }: ActionDefinition, args: CallArguments, { secrets }: UsedTool, { signal }: CallContext): Promise<object> {
    switch (name) {
      case SEND_MESSAGE.name:
        return this.send(
          'sendMessage',
          { text: givenText(args, 'text', TELEGRAM_TEXT_CHARACTERS_MAX), chat_id: chatOf(args) },
          secrets,
          signal,
        );
      case SEND_IMAGE.name: {
        const photo = givenText(args, 'image_url', URL_CHARACTERS_MAX);
        if (!/^https?:\/\//i.test(photo)) throw new ToolFailed('The argument `image_url` must be an http or https URL.');
        const caption = optionalText(args, 'caption', TELEGRAM_CAPTION_CHARACTERS_MAX);
        return this.send('sendPhoto', { photo, chat_id: chatOf(args), caption }, secrets, signal);
      }
      default:
        throw unknownAction(name);
    }
  }

  private async send(method: string, message: object, { token = '' }: UsedTool['secrets'], signal: AbortSignal): Promise<object> {
    if (!isToken(token)) throw new ToolFailed('The token of the bot is missing.');
    const response = await ask(this.http, {
      service: 'Telegram',
      url: addressOf(this.endpoints.telegram, `/bot${token}/${method}`),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal,
    });
    const answer = parsed(response);
    if (response.status >= 300 || answer?.['ok'] !== true) {
      const reason =
        typeof answer?.['description'] === 'string' ? cutText(answer['description'], REASON_CHARACTERS_MAX) : undefined;
      const failed = failedStatus('Telegram', response);
      throw reason === undefined ? failed : new ToolFailed(`${failed.message} ${reason.replaceAll(token, '[secret]')}`);
    }
    const { result } = answer;
    return { sent: true, message_id: isJsonObject(result) ? result['message_id'] : undefined };
  }
}

const isToken = (token: string): boolean => /^\d{1,20}:[\w-]{5,100}$/.test(token);

/** Models sometimes write the id as a number. */
const chatOf = (args: CallArguments): string =>
  givenText({ chat_id: typeof args['chat_id'] === 'number' ? String(args['chat_id']) : args['chat_id'] }, 'chat_id', 100);
