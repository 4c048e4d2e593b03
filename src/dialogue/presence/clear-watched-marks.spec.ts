import { expect, it } from '@jest/globals';
import { type Command, Commands } from '../../kernel/commands.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { OpenConversation } from '../conversation/conversation.commands.js';
import { ClearWatchedMarks } from './clear-watched-marks.reaction.js';
import { WatchedConversations } from './watched-conversations.js';

class SentCommands extends Commands {
  readonly sent: unknown[] = [];
  execute<Result>(command: Command<Result>): Promise<Result> {
    this.sent.push(command);
    return Promise.resolve(undefined as Result);
  }
}

it('opens a watched conversation as the system, in the chain of the answer', async () => {
  const watched = new WatchedConversations(new InProcessKeyValue(), { now: () => new Date(0) });
  await watched.report('c1', 'ann', 'tab-1', true);
  const commands = new SentCommands();
  const cause = { actor: 'system:turn-runner', credential: 'system', correlationId: 'request', causationId: 'e0' } as const;
  const sealed = { type: 'TurnSealed', id: 'e1', data: { conversationId: 'c1' }, cause };
  await new ClearWatchedMarks(watched, commands).on.TurnSealed!(sealed as never, undefined as never);
  const opened = { ...cause, actor: 'system:clear-watched-marks', causationId: 'e1' };
  expect(commands.sent).toEqual([new OpenConversation('c1', 'ann', opened)]);
});
