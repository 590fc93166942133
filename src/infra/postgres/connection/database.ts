/** A value that a query may carry; objects go as JSON text, made by the caller. */
export type Parameter =
  | string
  | number
  | boolean
  | Date
  | null
  | readonly (string | null)[]
  | readonly (number | null)[];

/** Runs one query at a time: a database, or a transaction in it. */
export interface Queryable {
  /**
   * @param sql - One statement with `$1`-style parameters.
   * @param name - For a statement that runs all the time: a server then keeps its plan, connection by connection. A name
   *   stands for one text.
   * @throws {CallwayError} `database_unavailable` when the database is away, `database_busy` when it took too long or
   *   gave this up in favour of others, `project_not_found` when a new row's project is not there (any more).
   */
  query<Row>(sql: string, parameters?: readonly Parameter[], name?: string): Promise<Row[]>;
  /** Where a statement holds up more than who sent it, the way for those that nobody waits for. */
  readonly background?: Background;
}

/** Runs statements after those that somebody waits for. */
export interface Background {
  query: Queryable['query'];
  /** So many rows of costly indexes should go with one statement. */
  readonly rowsAtOnce: number;
}

/** The little that Callway asks of a database, so that the embedded one and a server are the same to it. */
export interface Database extends Queryable {
  /**
   * Runs `work` in a transaction: all of it, or nothing. Short ones only, and never across network traffic of
   * other kinds, since the embedded database takes one at a time. Where the database gives it up in favour of another
   * one, `work` is run again, a bounded number of times; what it does outside of the database must bear that.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>;
  /** Runs several statements in one transaction, without parameters: a migration. */
  script(transaction: Queryable, sql: string): Promise<void>;
  /** Idempotent; waits for what runs. */
  close(): Promise<void>;
}
