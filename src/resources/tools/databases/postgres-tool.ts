import { Injectable } from '@nestjs/common';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { invalid } from '../toolbox/definition.policy.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, type Configured, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { type CallArguments, filledAction, textArgument, unknownAction } from '../toolbox/call-arguments.policy.js';
import { ForeignDatabaseFailed, ForeignDatabases } from './foreign-database.port.js';
import { SCHEMA_STATEMENT } from './schema-statement.policy.js';
import { statementRefusal } from './sql-statement.policy.js';

const ACTIONS: readonly ActionDefinition[] = [
  {
    ...filledAction('postgres_execute_sql', 'Runs one SQL statement and returns its rows.', 'write', {
      sql_query: { type: 'string', description: 'One statement of PostgreSQL. Ask for few rows: long results are cut.' },
    }),
    idempotent: false,
  },
  filledAction('postgres_get_schema', 'Shows the tables and views of the database with their columns.', 'read', {}),
];

/** Queries a Postgres database of the user. It only reads, unless its owner allows writes. */
@Injectable()
export class PostgresTool extends ToolKind {
  override readonly name = 'postgres';
  override readonly displayName = 'PostgreSQL';
  override readonly description = 'Lets the assistant query a PostgreSQL database.';
  override readonly actions = ACTIONS;
  override readonly configFields = {
    token: {
      type: 'string',
      label: 'Connection string',
      description: 'postgresql://user:password@host:5432/database',
      required: true,
      secret: true,
      order: 1,
    },
    allow_writes: {
      type: 'boolean',
      label: 'Allow writes',
      description: 'Statements may change data. Without it every statement runs in a read-only transaction.',
      required: false,
      secret: false,
      default: false,
      order: 2,
    },
  } as const;

  constructor(private readonly databases: ForeignDatabases) {
    super();
  }

  override async configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
    ownerId: string,
    cause: Cause,
  ): Promise<Configured> {
    try {
      await this.databases.check(secrets['token'] ?? '');
    } catch (error) {
      if (error instanceof ForeignDatabaseFailed) throw invalid({ token: error.message });
      throw error;
    }
    return super.configure(config, secrets, ownerId, cause);
  }

  async run({ name }: ActionDefinition, args: CallArguments, tool: UsedTool, { signal }: CallContext): Promise<unknown> {
    const { statement, mayWrite } = statementFor(name, args, tool);
    const refusal = statementRefusal(statement, mayWrite);
    if (refusal !== undefined) throw new ToolFailed(refusal);
    try {
      const { columns, rows, command, count, truncated } = await this.databases.query(tool.secrets['token'] ?? '', {
        statement,
        mayWrite,
        signal,
      });
      const note = truncated && { truncated, note: 'Not everything is shown. Ask for fewer rows or columns.' };
      return { command, row_count: count, columns, rows, ...note };
    } catch (error) {
      if (error instanceof ForeignDatabaseFailed) throw new ToolFailed(error.message, { cause: error });
      throw error;
    }
  }
}

function statementFor(name: string, args: CallArguments, { definition }: UsedTool) {
  switch (name) {
    case 'postgres_execute_sql':
      return { statement: textArgument(args, 'sql_query'), mayWrite: definition.config['allow_writes'] === true };
    case 'postgres_get_schema':
      return { statement: SCHEMA_STATEMENT, mayWrite: false };
    default:
      throw unknownAction(name);
  }
}
