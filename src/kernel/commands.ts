declare const RESULT: unique symbol;

/** What is asked of the state of one stream. `Result` is what the one who asks is answered. */
export abstract class Command<Result = void> {
  declare readonly [RESULT]: Result;
}

/** Decides on one kind of commands, and appends what was decided. Nothing else appends domain events. */
export type Handler<C extends Command<unknown>> = {
  execute(command: C): Promise<C extends Command<infer Result> ? Result : never>;
};

/** Takes each command to its handler. */
export abstract class Commands {
  abstract execute<Result>(command: Command<Result>): Promise<Result>;
}
