import { Injectable } from '@nestjs/common';
import { deterministicId, isId } from '../../../kernel/ids.js';
import { type Chat, ChatSchedules, type ChatTask } from './chat-schedules.port.js';
import { type CallArguments, filledAction, unknownAction } from '../../../resources/tools/toolbox/call-arguments.policy.js';
import { errorText, failuresAsText } from '../../../resources/tools/toolbox/failures-as-text.policy.js';
import { isBuiltIn } from '../../../resources/tools/defaults/default-tools.policy.js';
import type { ActionDefinition } from '../../../resources/tools/toolbox/tool.events.js';
import { type CallContext, ToolKind, type UsedTool } from '../../../resources/tools/toolbox/tool-kind.port.js';

const ACTIONS: readonly ActionDefinition[] = [
  filledAction(
    'schedule_task',
    'Has a task done once, later, by you or the agent of this chat, with nobody watching. Give either `delay` or `run_at`. The instruction is what is to be done then, with whatever belongs to it, such as whom to send the result to. What repeats is set up by the user among the schedules of the agent.',
    'write',
    {
      instruction: { type: 'string', description: 'What is to be done at that time.' },
      delay: { type: 'string', description: "How long from now: '30s', '15m', '2h' or '1d'.", optional: true },
      run_at: { type: 'string', description: 'The time itself, as ISO 8601.', optional: true },
      timezone: {
        type: 'string',
        description: 'The IANA zone (such as Europe/Prague) of a `run_at` without an offset; UTC unless given.',
        optional: true,
      },
    },
  ),
  filledAction('list_scheduled_tasks', 'Lists the tasks of this chat that are still to be done.', 'read', {}),
  filledAction('cancel_scheduled_task', 'Calls off a task that is still to be done.', 'write', {
    task_id: { type: 'string', description: 'The id that schedule_task gave.' },
  }),
];

const TOO_MANY = 'you have reached the maximum number of active schedules.';
const NO_SUCH_TASK = 'scheduled task not found or already terminal.';

/** The tool with which a model schedules one-time tasks. */
@Injectable()
export class SchedulerTool extends ToolKind {
  override readonly name = 'scheduler';
  override readonly displayName = 'Scheduler';
  override readonly description = 'Has things done later.';
  override readonly internal = true;
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  constructor(private readonly schedules: ChatSchedules) {
    super();
  }

  run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, context: CallContext): Promise<unknown> {
    const { userId: ownerId, agentId, conversationId } = context;
    return failuresAsText(() => this.result(name, args, { ownerId, agentId, conversationId }, context), WORDS);
  }

  private async result(name: string, args: CallArguments, chat: Chat, { turnId, callId, ungatedTools, cause }: CallContext) {
    switch (name) {
      case 'schedule_task': {
        // A repeated call finds the task that the first one created.
        const taskId = deterministicId('scheduled-task', turnId, callId);
        const toolAllowlist = (ungatedTools ?? []).filter((toolId) => !isBuiltIn(toolId));
        return made(await this.schedules.schedule(taskId, chat, { ...args, toolAllowlist }, cause));
      }
      case 'list_scheduled_tasks':
        return { tasks: (await this.schedules.pending(chat)).map(listed) };
      case 'cancel_scheduled_task': {
        const { task_id: taskId } = args;
        if (!isId(taskId)) return errorText('task_id must be a valid id.');
        await this.schedules.cancel(taskId, chat, cause);
        return { task_id: taskId, status: 'cancelled' };
      }
      default:
        throw unknownAction(name);
    }
  }
}

const WORDS: Readonly<Record<string, string>> = {
  'too-many-schedules': TOO_MANY,
  'schedule-not-found': NO_SUCH_TASK,
  'schedule-terminal': NO_SUCH_TASK,
};

const made = ({ id, runAt, timezone, instruction, name }: ChatTask) => ({
  task_id: id,
  resolved_run_at: runAt,
  timezone,
  instruction,
  name,
});

const listed = ({ id, instruction, name, runAt, timezone, status }: ChatTask) => ({
  task_id: id,
  instruction,
  name,
  resolved_run_at: runAt,
  timezone,
  status,
});
