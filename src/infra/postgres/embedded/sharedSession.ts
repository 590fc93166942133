import { encodeMessage, encodeString, transactionStatus } from './messages.ts';

const ROLLBACK = encodeMessage('Q', encodeString('ROLLBACK'));

interface Waiting<Owner> {
  readonly owner: Owner;
  readonly proceed: () => void;
}

/**
 * The only session that the database has. Its users take it in turns, in the order of their requests: each for one
 * request, or from the begin of a transaction to its end.
 */
export class SharedSession<Owner> {
  readonly #execute: (messages: Uint8Array) => Promise<Uint8Array>;
  readonly #waiting: Waiting<Owner>[] = [];
  #holder: Owner | undefined;

  /** @param execute - Answers messages that end in `Query` or `Sync`. */
  constructor(execute: (messages: Uint8Array) => Promise<Uint8Array>) {
    this.#execute = execute;
  }

  /**
   * @returns The database's answer. Pending forever when the owner leaves before its turn.
   * @throws {Error} When the database failed; it must not be used any more.
   */
  async run(owner: Owner, messages: Uint8Array): Promise<Uint8Array> {
    if (this.#holder === undefined) this.#holder = owner;
    else if (this.#holder !== owner)
      await new Promise<void>((proceed) => this.#waiting.push({ owner, proceed }));
    const answer = await this.#execute(messages);
    if (transactionStatus(answer) === 'idle') this.#passOn();
    return answer;
  }

  /** Rolls back the owner's transaction and drops its request. */
  async leave(owner: Owner): Promise<void> {
    const index = this.#waiting.findIndex((waiting) => waiting.owner === owner);
    if (index !== -1) this.#waiting.splice(index, 1);
    if (this.#holder === owner) await this.run(owner, ROLLBACK);
  }

  #passOn(): void {
    const next = this.#waiting.shift();
    this.#holder = next?.owner;
    next?.proceed();
  }
}
