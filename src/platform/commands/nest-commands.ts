import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type Command, Commands } from '../../kernel/commands.js';

/** Dispatches commands over Nest's CommandBus, which finds the handlers in the modules. */
@Injectable()
export class NestCommands extends Commands {
  constructor(private readonly bus: CommandBus) {
    super();
  }

  execute<Result>(command: Command<Result>): Promise<Result> {
    return this.bus.execute<Command<Result>, Result>(command);
  }
}
