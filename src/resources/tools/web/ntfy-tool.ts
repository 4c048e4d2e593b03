import { Injectable } from '@nestjs/common';
import { Rejection } from '../../../kernel/rejection.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import { type CallArguments, filledAction, isLeftOut, numberArgument, unknownAction } from '../toolbox/call-arguments.policy.js';
import { AddressRefused, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
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
import { addressOf, askForJson } from './web-call.js';
import { WebEndpoints } from './web-endpoints.js';

export const NTFY_MESSAGE_CHARACTERS_MAX = 4096;
const NTFY_TITLE_CHARACTERS_MAX = 250;

const SEND: ActionDefinition = {
  ...filledAction('ntfy_send_message', 'Sends a notification to everybody who has subscribed to a topic.', 'write', {
    topic: { type: 'string', description: 'The topic: letters, digits, _ and -.' },
    message: { type: 'string', description: 'What the notification says.' },
    title: { type: 'string', description: 'Its title.', optional: true },
    priority: {
      type: 'integer',
      description: '1 (lowest) to 5 (highest), 3 by default.',
      minimum: 1,
      maximum: 5,
      optional: true,
    },
  }),
  idempotent: false,
};

/** Sends notifications over ntfy. The owner, not a model, chooses the server, because it receives the owner's token. */
@Injectable()
export class NtfyTool extends ToolKind {
  readonly name = 'ntfy';
  readonly displayName = 'ntfy';
  readonly description = 'Sends notifications to the subscribers of a topic on ntfy.';
  readonly configFields: Readonly<Record<string, ConfigField>> = {
    token: {
      type: 'string',
      label: 'Access token',
      description: 'For topics that are protected.',
      required: false,
      secret: true,
      order: 1,
    },
    server_url: {
      type: 'string',
      label: 'Server',
      description: 'An ntfy server of your own.',
      required: false,
      secret: false,
      order: 2,
    },
  };
  readonly actions = [SEND];

  constructor(
    private readonly http: OutgoingHttp,
    private readonly endpoints: WebEndpoints,
  ) {
    super();
  }

  override async configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
  ): Promise<Configured> {
    const server = typeof config['server_url'] === 'string' ? withoutTrailing(config['server_url'].trim(), '/') : '';
    if (server === '') return { config: {}, secrets };
    await this.http.check(server).catch((error: unknown) => {
      if (error instanceof AddressRefused) throw new Rejection('tool-invalid', `server_url: ${error.message}`);
      throw error;
    });
    return { config: { server_url: server }, secrets };
  }

  async run(
    { name }: ActionDefinition,
    args: CallArguments,
    { definition, secrets }: UsedTool,
    { signal }: CallContext,
  ): Promise<object> {
    if (name !== SEND.name) throw unknownAction(name);
    const topic = givenText(args, 'topic', 64);
    if (!/^[\w-]+$/.test(topic)) throw new ToolFailed('The argument `topic` may hold letters, digits, _ and - only.');
    const notification = {
      topic,
      message: givenText(args, 'message', NTFY_MESSAGE_CHARACTERS_MAX),
      title: optionalText(args, 'title', NTFY_TITLE_CHARACTERS_MAX),
      priority: isLeftOut(args['priority']) ? undefined : Math.min(Math.max(numberArgument(args, 'priority'), 1), 5),
    };
    const { server_url: server } = definition.config;
    const token = secrets['token'];
    const { id } = await askForJson(this.http, {
      service: 'ntfy',
      url: addressOf(typeof server === 'string' ? server : this.endpoints.ntfy, '/'),
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(notification),
      signal,
    });
    return { sent: true, topic, id };
  }
}
