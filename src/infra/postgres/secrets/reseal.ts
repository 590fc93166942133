import type { AgentRecord, AgentRelease } from '../../../agents/release.ts';
import type { Tool } from '../../../agents/tool.ts';
import type { Sealer } from '../../../base/sealer.ts';
import type { Database, Parameter, Queryable } from '../connection/database.ts';
import { noteSealer } from './sealerFingerprint.ts';
import { createSecretFields, type SecretFields } from './secretFields.ts';

/** A stored secret can be opened by none of the keys. */
export class UnreadableSecretError extends Error {
  constructor(table: string, key: readonly string[], cause: unknown) {
    super(`${table} ${key.join(' ')} holds a secret that none of the keys opens`, { cause });
    this.name = 'UnreadableSecretError';
  }
}

/** Where secrets lie, and how those of one row are sealed anew. */
interface SealedTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** With their types. */
  readonly columns: readonly (readonly [name: string, type: 'text' | 'json' | 'jsonb'])[];
  readonly again: (sealing: SecretFields, row: never) => Readonly<Record<string, unknown>>;
}

const TABLES: readonly SealedTable[] = [
  {
    name: 'trunks',
    key: ['id'],
    columns: [['password', 'text']],
    again: (sealing, { password }: { password: string | null }) => ({
      password: textAgain(sealing, password),
    }),
  },
  {
    name: 'webhook_secrets',
    key: ['project_id'],
    columns: [
      ['secret', 'text'],
      ['previous', 'text'],
    ],
    again: (sealing, row: { secret: string; previous: string | null }) => ({
      secret: textAgain(sealing, row.secret),
      previous: textAgain(sealing, row.previous),
    }),
  },
  {
    name: 'tools',
    key: ['id'],
    columns: [['http', 'jsonb']],
    again: (sealing, row: Pick<Tool, 'http'>) => sealing.sealTool(sealing.openTool(row)),
  },
  {
    name: 'agents',
    key: ['project_id'],
    columns: [
      ['config', 'jsonb'],
      ['frozen', 'jsonb'],
    ],
    again: (sealing, row: AgentRecord) => ({ ...sealing.sealAgent(sealing.openAgent(row)) }),
  },
  {
    name: 'agent_releases',
    key: ['project_id', 'id'],
    columns: [['release', 'json']],
    again: (sealing, { release }: { release: AgentRelease }) => ({
      release: sealing.sealRelease(sealing.openRelease(release)),
    }),
  },
];

/**
 * Seals every stored secret with the current key, whatever key it was sealed with before, and then notes that. Nodes may
 * run meanwhile, so long as they know both keys and seal with the current one. May be done again.
 *
 * @returns How many rows were looked at.
 * @throws {UnreadableSecretError} What was done until then stands; the note is not made.
 */
export async function resealSecrets(database: Database, sealer: Sealer): Promise<number> {
  const sealing = createSecretFields(sealer);
  let rows = 0;
  for (const table of TABLES) {
    const keys = await database.query<Record<string, string>>(
      `SELECT ${table.key.join(', ')} FROM ${table.name} ORDER BY ${table.key.join(', ')}`,
    );
    for (const key of keys) {
      const values = table.key.map((column) => key[column] ?? '');
      await database.transaction((transaction) => resealRow(transaction, sealing, table, values));
    }
    rows += keys.length;
  }
  await noteSealer(database, sealer);
  return rows;
}

async function resealRow(
  transaction: Queryable,
  sealing: SecretFields,
  table: SealedTable,
  key: readonly string[],
): Promise<void> {
  const { name, columns } = table;
  const where = table.key.map((column, index) => `${column} = $${index + 1}`).join(' AND ');
  const list = columns.map(([column]) => column).join(', ');
  // Whoever changes the row waits, or is waited for: nobody's change is lost.
  const [row] = await transaction.query<never>(`SELECT ${list} FROM ${name} WHERE ${where} FOR UPDATE`, [
    ...key,
  ]);
  if (row === undefined) return;
  const sealed = attempt(table, key, () => table.again(sealing, row));
  const set = columns.map(([column, type], index) => `${column} = $${key.length + index + 1}::${type}`);
  const values = columns.map(([column]) => toParameter(sealed[column]));
  await transaction.query(`UPDATE ${name} SET ${set.join(', ')} WHERE ${where}`, [...key, ...values]);
}

function attempt<Result>({ name }: SealedTable, key: readonly string[], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new UnreadableSecretError(name, key, error);
  }
}

function textAgain(sealing: SecretFields, sealed: string | null): string | null {
  return sealed === null ? null : sealing.seal(sealing.open(sealed));
}

function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
