/** A query parameter. Objects are passed as JSON text. */
export type Parameter =
  | string
  | number
  | boolean
  | Date
  | null
  | readonly (string | null)[]
  | readonly (number | null)[];

/** Runs queries, on a database or in a transaction. */
export interface Queryable {
  /**
   * @param sql - One statement with `$1`-style parameters.
   * @param name - Makes it a prepared statement on a server. Names must be unique to one text.
   * @throws {CallwayError} `database_unavailable`; `database_busy` after a timeout or a conflict; `project_not_found`
   *   when the project of a new row does not exist.
   */
  query<Row>(sql: string, parameters?: readonly Parameter[], name?: string): Promise<Row[]>;
  /**
   * Maximum number of rows with expensive indexes in one statement; unset, where other statements do not wait for it.
   */
  readonly expensiveRowsAtOnce?: number;
  /** Whether a statement delays those of all others, as on the embedded server. */
  readonly sharesSession?: boolean;
  /** The same with a shorter timeout of a statement, which the server enforces; unset where that cannot be. */
  readonly within?: (timeoutMs: number) => Queryable;
}

/** A connection that keeps its state between two statements, such as a transaction or a lock. */
export interface Session {
  readonly query: Queryable['query'];
  /** Runs several statements without parameters, in one implicit transaction unless they begin one. */
  script(sql: string): Promise<void>;
}

/** A Postgres server, or the embedded one. */
export interface Database extends Queryable {
  /**
   * Runs `work` in a transaction. Keep it short and do no other I/O in it: the embedded server runs one transaction at a
   * time, and no query beside it. After a conflict `work` runs again, a bounded number of times; its effects outside the database must
   * tolerate that.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` on a connection of its own without timeouts, for migrations: an index may take an hour.
   */
  session<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Idempotent; waits for running queries. */
  close(): Promise<void>;
}
