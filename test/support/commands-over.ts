import { type Command, Commands } from '../../src/kernel/commands.js';

/** The metadata key under which `@CommandHandler` stores the command class of a handler. */
const COMMAND_OF_HANDLER = '__commandHandler__';

type AnyHandler = Readonly<{ execute: (command: never) => Promise<unknown> }>;
/** Handlers by the class of their commands. */
export type Handlers = Map<unknown, AnyHandler>;

/** Dispatches commands to these handlers, as Nest's command bus does. */
export class HandledCommands extends Commands {
  readonly handlers: Handlers = new Map();

  /** Adds handlers. A later handler of the same command class replaces an earlier one. */
  handle(...handlers: readonly AnyHandler[]): this {
    for (const handler of handlers) this.handlers.set(Reflect.getMetadata(COMMAND_OF_HANDLER, handler.constructor), handler);
    return this;
  }

  execute<Result>(command: Command<Result>): Promise<Result> {
    const handler = this.handlers.get(command.constructor);
    if (!handler) throw new Error(`Nobody handles ${command.constructor.name}.`);
    return handler.execute(command as never) as Promise<Result>;
  }
}

export const commandsOver = (...handlers: readonly AnyHandler[]): Commands => new HandledCommands().handle(...handlers);
