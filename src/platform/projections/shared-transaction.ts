import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import type { decode } from '../../kernel/event-sourcing/codec.js';
import { ChangeBatch, type TablePlace } from './change-batch.js';
import { decodingOnce } from './changes.js';
import { enter } from './schema.js';

/** Another writer has taken the schema over or replaced it, so this writer's knowledge is stale. */
export class FencedOut extends Error {
  override readonly name = 'FencedOut';
  constructor(schema: string) {
    super(`Another writer has taken over ${schema}.`);
  }
}

/** A conditional update of a checkpoint: only with the writer's epoch and from the position that the writer expects. */
export type CheckpointMove = Readonly<{ schema: string; from: bigint; to: bigint; epoch: bigint; eventAt: Date | null }>;

/** A projection's part of a transaction: the checkpoint move, the changes, and a callback after the commit. */
export type Portion = Readonly<{
  move: CheckpointMove;
  /** @throws TooManyHeld */
  gather: (batch: ChangeBatch, tx: TransactionSql, decodes: typeof decode) => void;
  committed: () => void;
}>;

/**
 * Writes the portions of one or more projections in one transaction: one statement moves each checkpoint, and each table gets one
 * statement of each kind. Statements are sent without waiting for answers. `lockMsMax` is how long it waits for a rebuild that
 * blocks a projection. Rows are found by their keys only: Postgres keeps the plans that it made when the tables were new, and would
 * read whole tables with them until they are analyzed. Where no index will do, Postgres 17 counts a whole read as so expensive that
 * it would compile the plan. On an error nothing has changed.
 * @throws FencedOut, TooManyHeld, the first error of a statement
 */
export async function writeTogether(sql: Sql, portions: readonly Portion[], lockMsMax = 0): Promise<void> {
  const decodes = decodingOnce();
  await sql.begin(async (tx) => {
    const answers: Promise<unknown>[] = [];
    const send = (statement: Pick<PendingQuery<Row[]>, 'execute'>) => void answers.push(handled(statement.execute()));
    send(tx`
      select set_config('synchronous_commit', 'off', true), set_config('lock_timeout', ${String(lockMsMax)}, true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`);
    answers.push(handled(moveCheckpoints(tx, portions.map(({ move }) => move)))); // oxfmt-ignore
    let entered: string | undefined;
    const placeOf = (schema: string): TablePlace => ({
      named: (table) => `${schema}.${table}`,
      enter: () => {
        if (entered !== schema) send(enter(tx, schema));
        entered = schema;
      },
    });
    for (const { move, gather } of portions) {
      const batch = new ChangeBatch(tx, placeOf(move.schema));
      gather(batch, tx, decodes);
      answers.push(handled(batch.sent()));
    }
    await Promise.all(answers);
  });
  for (const { committed } of portions) committed();
}

/**
 * Moves all checkpoints, before any row changes: a rebuild that blocks a projection must stop its writer first. There is one text
 * for each read model, because a connection keeps a prepared statement of each text, and there are as many texts for several read
 * models as there are subsets of them. @throws FencedOut
 */
export async function moveCheckpoints(tx: TransactionSql, moves: readonly CheckpointMove[]): Promise<void> {
  const results = await Promise.all(
    moves.map(({ schema, from, to, epoch, eventAt }) =>
      tx`update ${tx(schema)}.checkpoint set position = ${String(to)}, event_at = ${eventAt}
        where epoch = ${String(epoch)} and position = ${String(from)}`.execute(),
    ),
  );
  const fenced = results.findIndex(({ count }) => count === 0);
  if (fenced >= 0) throw new FencedOut(moves[fenced]!.schema);
}

/** Prevents an unhandled rejection until all answers are awaited. */
function handled<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  return answer;
}
