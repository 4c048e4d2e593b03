import postgres, { type Sql } from 'postgres';
import { TYPES } from '../../src/platform/postgres/database.js';

type PlanNode = Readonly<{
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: readonly PlanNode[];
}>;

/** The number of rows that the statements of a read look at, with those that they drop. The read is done twice. */
export async function rowsRead(url: string, read: (sql: Sql) => Promise<unknown>): Promise<number> {
  const sent: Readonly<{ query: string; parameters: string[] }>[] = [];
  const settings = { max: 1, fetch_types: false, connection: { TimeZone: 'UTC', random_page_cost: 1.1 } } as const;
  const note = (_: number, query: string, parameters: unknown[]) => void sent.push({ query, parameters: parameters as string[] });
  const watched = postgres(url, { ...settings, types: TYPES, debug: note });
  // Without types, because the parameters that were sent are texts already.
  const sql = postgres(url, settings);
  try {
    await read(watched);
    let rows = 0;
    for (const { query, parameters } of sent) {
      const [row] = await sql.unsafe(`explain (analyze, timing off, format json) ${query}`, parameters);
      rows += rowsOf((row!['QUERY PLAN'] as readonly { Plan: PlanNode }[])[0]!.Plan);
    }
    return rows;
  } finally {
    await Promise.all([watched.end(), sql.end()]);
  }
}

function rowsOf(node: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const below = (node.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
  return (node['Relation Name'] === undefined ? 0 : own) + below;
}
