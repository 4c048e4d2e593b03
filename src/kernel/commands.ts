declare const RESULT: unique symbol;

/** A request to change one stream. The handler returns a `Result` to the sender. */
export abstract class Command<Result = void> {
  declare readonly [RESULT]: Result;
}

/** Decides on one type of command and appends the resulting events. Only handlers append domain events. */
export type Handler<C extends Command<unknown>> = {
  execute(command: C): Promise<C extends Command<infer Result> ? Result : never>;
};

/** Dispatches each command to its handler. */
export abstract class Commands {
  abstract execute<Result>(command: Command<Result>): Promise<Result>;
}
