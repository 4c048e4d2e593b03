import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import {
  type CallContext,
  type ConfigField,
  type Configured,
  ToolKind,
  type UsedTool,
} from '../../src/resources/tools/toolbox/tool-kind.port.js';
import type { ActionDefinition } from '../../src/resources/tools/toolbox/tool.events.js';
import { Rejection } from '../../src/kernel/rejection.js';

type Call = Readonly<{ action: string; args: Readonly<Record<string, unknown>>; tool: UsedTool; context: CallContext }>;

const field = (more: Partial<ConfigField>): ConfigField => ({
  type: 'string',
  label: 'Field',
  description: '',
  required: false,
  secret: false,
  ...more,
});

/** A kind of tool that records its calls and behaves as a test specifies. */
export class ToolKindForTests extends ToolKind {
  override readonly name: string = 'postcard';
  override readonly displayName = 'Postcards';
  override readonly description = 'Sends postcards';
  override readonly configFields: Readonly<Record<string, ConfigField>> = {
    token: field({ label: 'Token', required: true, secret: true }),
    pin: field({ label: 'Pin', secret: true }),
    copies: field({ label: 'Copies', type: 'number', default: 1 }),
    paper: field({ label: 'Paper', enum: ['thin', 'thick'] }),
  };
  override readonly actions: readonly ActionDefinition[] = [
    {
      name: 'send_card',
      description: 'Sends a card',
      active: true,
      parameters: {
        type: 'object',
        properties: {
          to: { type: 'string', description: 'Who gets it', filled_by_llm: true, value: '', required: true },
          stamps: { type: 'integer', minimum: 1 },
          from: { type: 'string', filled_by_llm: false, value: 'Alice' },
        },
      },
    },
    { name: 'list_cards', description: 'Lists the cards', active: true, parameters: { type: 'object', properties: {} } },
  ];
  readonly calls: Call[] = [];
  /** Computes the result of a call. By default it returns the arguments. */
  does: (call: Call) => unknown = ({ args }) => args;

  override async configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
    ownerId: string,
    cause: Cause,
  ): Promise<Configured> {
    if (secrets['token'] === 'refused') throw new Rejection('invalid-request', 'This token is not valid.');
    return super.configure(config, secrets, ownerId, cause);
  }

  override async run(action: ActionDefinition, args: Readonly<Record<string, unknown>>, tool: UsedTool, context: CallContext) {
    const call = { action: action.name, args, tool, context };
    this.calls.push(call);
    return this.does(call);
  }
}

/** A kind whose actions come from its configuration or from a server. */
export class DerivingKindForTests extends ToolKindForTests {
  override readonly name: string = 'deriving';
  override readonly configFields = { server: field({ label: 'Server' }) };
  override readonly actions = [];
  /** The actions that the server offers. */
  served: readonly ActionDefinition[] = [];

  override async configure(config: Readonly<Record<string, unknown>>): Promise<Configured> {
    const own = config['actions'] as Readonly<Record<string, ActionDefinition>> | undefined;
    return { config, secrets: {}, actions: own ? Object.values(own) : this.served };
  }
}

/** A kind that the service provides itself, without configuration by users. */
export class InternalKindForTests extends ToolKindForTests {
  override readonly internal = true;
  override readonly configFields = {};

  constructor(override readonly name: string) {
    super();
  }
}
