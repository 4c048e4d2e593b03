import { Injectable } from '@nestjs/common';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { ToolKind } from '../toolbox/tool-kind.port.js';
import { type CallArguments, filledAction, textArgument, unknownAction } from '../toolbox/call-arguments.policy.js';

const ACTIONS: readonly ActionDefinition[] = [
  filledAction('reason', 'Writes down a thought, to work something out before the next step. Nothing else happens.', 'read', {
    thought: { type: 'string', description: 'The thought.' },
  }),
];

/** A scratchpad: a model writes a thought and gets it back as the result. */
@Injectable()
export class ThinkTool extends ToolKind {
  override readonly name = 'think';
  override readonly displayName = 'Think';
  override readonly description = 'Lets the assistant work something out in steps.';
  override readonly internal = true;
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  async run({ name }: ActionDefinition, args: CallArguments): Promise<string> {
    if (name !== 'reason') throw unknownAction(name);
    return Promise.resolve(textArgument(args, 'thought'));
  }
}
