import type { Command, Commands, Handler } from '../../src/kernel/commands.js';

/** Where `@CommandHandler` leaves the class of the commands that a handler takes. */
const COMMAND_OF_HANDLER = '__commandHandler__';

/** Takes commands to these handlers, as the bus of Nest does. */
export function commandsOver(...handlers: readonly object[]): Commands {
  const byCommand = new Map(
    handlers.map((handler) => [Reflect.getMetadata(COMMAND_OF_HANDLER, handler.constructor) as unknown, handler]),
  );
  return {
    execute<Result>(command: Command<Result>): Promise<Result> {
      const handler = byCommand.get(command.constructor);
      if (!handler) throw new Error(`Nobody handles ${command.constructor.name}.`);
      return (handler as Handler<Command<unknown>>).execute(command) as Promise<Result>;
    },
  };
}
