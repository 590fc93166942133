import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { StreamMessage } from '../../dialects/dialect.ts';
import { shown } from '../../dialects/wire/botRules.ts';
import {
  CLOSE_GOING_AWAY,
  CLOSE_NORMAL,
  CLOSE_WITHOUT_CODE,
  type StreamSocket,
  toMessage,
} from '../transport/streamSocket.ts';
import { type CheckName, type Finding, fail, type Problem, pass, skipped } from './finding.ts';

/** What a check needs of its connection. */
export interface CheckedConnection {
  /** Open, to the side that is checked. */
  readonly socket: StreamSocket;
  readonly clock: Clock;
}

interface CheckedPeer extends CheckedConnection {
  readonly name: 'bot' | 'app' | 'gateway';
  readonly problemOf?: ((message: StreamMessage) => Problem | undefined) | undefined;
  /** `malformed` reports the message, unless `problemOf` has said what is wrong with it. */
  read(message: StreamMessage, malformed: () => void): void;
}

/** What a script waits for: a time of the call, or what comes within a time. The end of the call ends each wait. */
export type Wait = { readonly atMs: number } | { readonly withinMs: number; readonly isMet?: () => boolean };

/** A script sends, and yields what it waits for before it goes on. The end of the call ends it. */
export type Script = Generator<Wait, void, void>;

interface Ending {
  /** How long the peer may still speak after its own hang-up. */
  readonly lastWordsMs?: number;
  /** Ends the call when the script is over. */
  hangUp(): void;
  readonly closeTimeoutMs: number;
}

const ORDERLY: ReadonlySet<number> = new Set([CLOSE_NORMAL, CLOSE_GOING_AWAY, CLOSE_WITHOUT_CODE]);

export function isOrderly(closeCode: number): boolean {
  return ORDERLY.has(closeCode);
}

/** Runs a script against the other side of a connection, and keeps what is wrong with that side. */
export class CheckedCall {
  readonly #peer: CheckedPeer;
  readonly #closed: Promise<void>;
  /** The first problem of each check, and how many followed. */
  readonly #problems = new Map<CheckName, { readonly first: string; more: number }>();
  #startedMs: number;
  /** Looks whether what the script waits for is there. */
  #look: () => void = () => undefined;
  /** The peer has said that the call is over. */
  hasHungUp = false;
  /** When our side ended the call, or followed the peer's hang-up. */
  overAtMs: number | undefined;
  end: { readonly code: number; readonly atMs: number; readonly isPeers: boolean } | undefined;
  /** The peer did not close within this time after the end of the call. */
  leftOpenMs: number | undefined;

  constructor(peer: CheckedPeer) {
    this.#peer = peer;
    this.#startedMs = peer.clock.monotonicMs();
    const { socket } = peer;
    // A failed socket closes as well.
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => this.#receive(toMessage(data, isBinary)));
    this.#closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.end = { code, atMs: this.nowMs, isPeers: this.overAtMs === undefined };
        this.#look();
        resolve();
      });
    });
  }

  /** Since the start of the call. */
  get nowMs(): number {
    return Math.round(this.#peer.clock.monotonicMs() - this.#startedMs);
  }

  get #isOver(): boolean {
    return this.hasHungUp || this.end !== undefined;
  }

  /** The call starts now, not with the connection. */
  start(): void {
    this.#startedMs = this.#peer.clock.monotonicMs();
  }

  async run(script: Script, { lastWordsMs = 0, hangUp, closeTimeoutMs }: Ending): Promise<void> {
    const { clock, socket } = this.#peer;
    for (const wait of script) {
      await this.#until(wait);
      if (this.#isOver) break;
    }
    if (this.hasHungUp) await withTimeout(clock, this.#closed, lastWordsMs);
    if (this.end !== undefined) return;
    this.overAtMs = this.nowMs;
    hangUp();
    await withTimeout(clock, this.#closed, closeTimeoutMs);
    if (this.end !== undefined) return;
    this.leftOpenMs = closeTimeoutMs;
    socket.terminate();
  }

  addProblem(check: CheckName, detail: string): void {
    const found = this.#problems.get(check);
    if (found) found.more++;
    else this.#problems.set(check, { first: detail, more: 0 });
  }

  /** @returns The failure of the finding's check where there was a problem, else the finding. */
  problemOr(finding: Finding): Finding {
    const found = this.#problems.get(finding.check);
    if (!found) return finding;
    return fail(finding.check, found.more === 0 ? found.first : `${found.first} (and ${found.more} more)`);
  }

  /** Puts problems in the place of findings that passed or were skipped. */
  judge(findings: readonly Finding[]): readonly Finding[] {
    return findings.map((finding) => (finding.status === 'fail' ? finding : this.problemOr(finding)));
  }

  endedBefore(check: CheckName): Finding {
    return skipped(check, `the ${this.#peer.name} ended the call before`);
  }

  /** How the peer takes it that we hang up. */
  hungUp(how: string, closed: string): Finding {
    if (this.hasHungUp || this.overAtMs === undefined) return this.endedBefore('hang-up');
    return this.leftOpenMs === undefined
      ? pass('hang-up', closed)
      : fail('hang-up', `not closed within ${this.leftOpenMs} ms after ${how}`);
  }

  /** How the peer has closed the connection. */
  closing(): Finding {
    if (this.leftOpenMs !== undefined || this.end === undefined)
      return fail('closing', `not closed within ${this.leftOpenMs} ms after the end of the call`);
    const detail = `closed with ${this.end.code} after the end of the call`;
    return isOrderly(this.end.code) ? pass('closing', detail) : fail('closing', detail);
  }

  #receive(message: StreamMessage): void {
    const { name, problemOf, read } = this.#peer;
    // A gateway still reports the end of the call.
    if (this.overAtMs !== undefined && name !== 'gateway') return;
    const problem = problemOf?.(message);
    if (problem) this.addProblem(problem.check, problem.detail);
    read(message, () => {
      if (!problem) this.addProblem('messages', `cannot be read: ${shown(message)}`);
    });
    this.#look();
  }

  async #until(wait: Wait): Promise<void> {
    const isMet = ('isMet' in wait && wait.isMet) || (() => false);
    const met = new Promise<void>((resolve) => {
      this.#look = () => {
        if (this.#isOver || isMet()) resolve();
      };
    });
    this.#look();
    const waitMs = 'atMs' in wait ? Math.max(0, wait.atMs - this.nowMs) : wait.withinMs;
    await withTimeout(this.#peer.clock, met, waitMs);
  }
}
