import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { isId } from '../../../kernel/ids.js';
import { ChatMonitors } from './chat-monitors.js';
import { monitorIdOf } from '../monitor/monitor.events.js';
import { type CallArguments, filledAction, unknownAction } from '../../../resources/tools/toolbox/call-arguments.policy.js';
import { errorText, failuresAsText } from '../../../resources/tools/toolbox/failures-as-text.policy.js';
import type { ActionDefinition } from '../../../resources/tools/toolbox/tool.events.js';
import { type CallContext, ToolKind, type UsedTool } from '../../../resources/tools/toolbox/tool-kind.port.js';
import { MonitorRules } from '../monitor/monitor-rules.js';

const CREATE = filledAction(
  'monitor_create',
  'Has something outside this chat watched, and continues this chat when it happens, whether or not the user is still there. The first look is taken now, as what later looks are compared with: only what changes after it counts. After creating a monitor, tell the user and end your turn.',
  'write',
  {
    description: { type: 'string', description: 'What is waited for, in one sentence.' },
    source: {
      type: 'object',
      description:
        'What is watched. {"type":"webpage","url":…}; or {"type":"tool","tool":…,"action":…,"arguments":{…}}: a call of a tool of this chat that only reads and needs no approval, where strings in the arguments may hold {{now}}, {{last_checked_at}}, {{last_changed_at}} and {{last_checked_date}}; or {"type":"ingest","source_id":…}: the next end of an ingestion of a source of the user, given by id or name.',
      properties: {
        type: { type: 'string', enum: ['webpage', 'tool', 'ingest'] },
        url: { type: 'string' },
        tool: { type: 'string' },
        action: { type: 'string' },
        arguments: { type: 'object' },
        source_id: { type: 'string' },
      },
      required: ['type'],
    },
    check: {
      type: 'object',
      description:
        'What about it counts; by default that it changed. {"type":"changed"}; {"type":"new_items","items_path":…,"id_field":…}: a list, or else the lines of a text, has items that were not there; {"type":"regex","pattern":…,"when":"match" or "no_match"}: there is a new match, or none any more ((?i) in front: any case); {"type":"threshold","value_path":…,"op":"<","value":90}: the value, or else the first number of a text, begins to meet it; {"type":"status","value_path":…,"terminal":["done","failed"]}: the state becomes one of these. Paths are dotted, such as data.items[0].price.',
      properties: {
        type: { type: 'string', enum: ['changed', 'new_items', 'regex', 'threshold', 'status'] },
        items_path: { type: 'string' },
        id_field: { type: 'string' },
        pattern: { type: 'string' },
        when: { type: 'string', enum: ['match', 'no_match'] },
        value_path: { type: 'string' },
        op: { type: 'string', enum: ['<', '<=', '>', '>=', '==', '!='] },
        value: { type: 'number' },
        terminal: { type: 'array', items: { type: 'string' } },
      },
      required: ['type'],
      optional: true,
    },
    condition: {
      type: 'string',
      description:
        'What must hold besides, in words; a model judges what the check has found. Leave it out where the check says it all.',
      optional: true,
    },
    on_match: { type: 'string', description: 'What you are to do when it happens.', optional: true },
    interval: { type: 'string', description: "Time between two checks, such as '15m' or '2h'.", optional: true },
    expires_in: { type: 'string', description: "How long to watch, such as '12h' or '7d'.", optional: true },
    max_wakes: {
      type: 'integer',
      description: 'How often to continue this chat before it is over; once unless given.',
      optional: true,
    },
  },
);

const LIST = filledAction('monitor_list', 'Lists the monitors of this chat that are not over.', 'read', {});

const CANCEL = filledAction('monitor_cancel', 'Ends a monitor of this chat for good.', 'write', {
  monitor_id: { type: 'string', description: 'The id that monitor_create gave.' },
});

/** The tool with which a model waits for something outside its chat. */
@Injectable()
export class MonitorTool extends ToolKind {
  override readonly name = 'monitor';
  override readonly isEnabled: boolean;
  override readonly displayName = 'Monitor';
  override readonly description = 'Watches pages, tools and sources, and continues the chat.';
  override readonly internal = true;
  override readonly configFields = {};
  override readonly actions = [CREATE, LIST, CANCEL];

  /** ChatMonitors is resolved lazily, because it depends on the toolbox, which contains this tool. */
  constructor(
    private readonly modules: ModuleRef,
    rules: MonitorRules,
  ) {
    super();
    this.isEnabled = rules.isEnabled;
  }

  run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, context: CallContext): Promise<unknown> {
    return failuresAsText(() => this.result(name, args, context));
  }

  private async result(name: string, args: CallArguments, context: CallContext): Promise<unknown> {
    const { userId: ownerId, agentId, conversationId, turnId, callId, cause, signal } = context;
    const chat = { ownerId, agentId, conversationId };
    const monitors = this.modules.get(ChatMonitors, { strict: false });
    switch (name) {
      case CREATE.name: {
        const made = await monitors.create(monitorIdOf(turnId, callId), { ...chat, turnId }, args, cause, signal);
        return { ...made.monitor, current: made.current, ...(made.notes.length > 0 && { notes: made.notes }) };
      }
      case LIST.name:
        return { monitors: await monitors.list(chat) };
      case CANCEL.name: {
        const { monitor_id: monitorId } = args;
        if (!isId(monitorId)) return errorText('monitor_id must be the id of a monitor');
        return monitors.cancel(monitorId, chat, cause);
      }
      default:
        throw unknownAction(name);
    }
  }
}
