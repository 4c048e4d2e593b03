import { pauseHandlers } from '../../src/dialogue/conversation/pause.commands.js';
import { AskAutomaticTurnHandler, turnHandlers as handlers } from '../../src/dialogue/conversation/turn.commands.js';
import { AppendTurnHandler } from '../../src/dialogue/conversation/additions.commands.js';
import type { Commands } from '../../src/kernel/commands.js';
import { StopAnswerHandler } from '../../src/dialogue/answering/runner/stop-answer.commands.js';
import type { Signals } from '../../src/kernel/messaging/signals.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import type { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { commandsOver } from './commands-over.js';

/** The handlers of the commands that a running turn sends to its conversation. */
export const turnHandlers = (streams: Streams) =>
  [...handlers, ...pauseHandlers, AppendTurnHandler, AskAutomaticTurnHandler].map((Handler) => new Handler(streams));

/** Dispatches the commands that a running turn sends to its conversation. */
export const turnCommands = (streams: Streams, signals: Signals = new InProcessSignals()): Commands =>
  commandsOver(...turnHandlers(streams), new StopAnswerHandler(streams, signals));
