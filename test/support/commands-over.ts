import { type Command, Commands } from '../../src/kernel/commands.js';

/** Where `@CommandHandler` leaves the class of the commands that a handler takes. */
const COMMAND_OF_HANDLER = '__commandHandler__';

type AnyHandler = Readonly<{ execute: (command: never) => Promise<unknown> }>;
/** Handlers by the classes of their commands. */
export type Handlers = Map<unknown, AnyHandler>;

/** Takes commands to these handlers, as the bus of Nest does. */
export class HandledCommands extends Commands {
  readonly handlers: Handlers = new Map();

  /** Of two handlers of the same commands the later one has them. */
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
