import { CallwayError } from '../../base/errors.ts';
import { type Notifications, notifierOf } from '../../base/threads/remote.ts';
import { serveThread, type ThreadPort } from '../../base/threads/watchedThread.ts';
import { type CallAudio, type CallAudioDeps, openCallAudio } from '../session/callAudio.ts';
import { type ThreadSleep, Ticker } from '../ticker/ticker.ts';
import type {
  MediaCommand,
  MediaThreadData,
  MediaThreadEvents,
  MediaThreadMethods,
  ThreadStatistics,
} from './threadMessages.ts';

export interface ThreadServerDeps extends CallAudioDeps {
  readonly port: ThreadPort;
  readonly sleep?: ThreadSleep;
  readonly hasPriority: boolean;
}

/** The media thread's side: holds the thread's sessions, ticks them, and performs their commands. */
export class ThreadServer implements MediaThreadMethods {
  readonly #deps: ThreadServerDeps;
  readonly #data: MediaThreadData;
  readonly #main: Notifications<MediaThreadEvents>;
  readonly #sessions = new Map<number, CallAudio>();
  readonly #numbers = new WeakMap<CallAudio, number>();
  readonly #ticker: Ticker<CallAudio>;

  constructor(deps: ThreadServerDeps, data: MediaThreadData) {
    this.#deps = deps;
    this.#data = data;
    this.#main = notifierOf(deps.port);
    this.#ticker = new Ticker<CallAudio>({
      clock: deps.clock,
      sleep: deps.sleep,
      visit: (audio, tick) => audio.tick(tick),
      onError: (error, audio) => {
        // Once: a session that fails on each tick would fill the log.
        this.#ticker.remove(audio);
        const message = error instanceof Error ? String(error.stack) : String(error);
        this.#main.fault(this.#numbers.get(audio) ?? -1, message);
      },
    });
  }

  start(): void {
    serveThread(this.#deps.port, this);
  }

  async open(session: number, options: Parameters<MediaThreadMethods['open']>[1]): Promise<void> {
    const audio: CallAudio = await openCallAudio(this.#deps, {
      ...this.#data,
      ...options,
      advanceTicks: (byMs) => this.#ticker.advance(audio, byMs),
      emit: (name, value) => this.#main.event(session, name, value),
    });
    this.#sessions.set(session, audio);
    this.#numbers.set(audio, session);
  }

  command(session: number, name: MediaCommand, args: readonly unknown[]): unknown {
    const audio = this.#sessions.get(session);
    if (audio === undefined) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
    if (name === 'close') return this.#close(session, audio);
    const owner = name in audio ? audio : audio.parties;
    const result: unknown = Reflect.apply(
      Reflect.get(owner, name),
      owner,
      args.map((argument) => this.#resolve(argument)),
    );
    if (name === 'connect') this.#ticker.add(audio);
    return result;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#sessions].map(([session, audio]) => this.#close(session, audio)));
    await this.#deps.supervisorGate?.close();
    this.#deps.port.close();
  }

  statistics(): ThreadStatistics {
    const { delays, skippedTicks } = this.#ticker;
    return {
      sessions: this.#sessions.size,
      hasPriority: this.#deps.hasPriority,
      ticks: delays.total - skippedTicks,
      skippedTicks,
      tickDelayP50Ms: delays.percentileMs(0.5),
      tickDelayP99Ms: delays.percentileMs(0.99),
      tickDelayMaxMs: delays.maxMs,
      tickDelayCounts: delays.counts,
    };
  }

  /** @returns The parties of the session that an argument stands for, or the argument. */
  #resolve(argument: unknown): unknown {
    if (!(argument instanceof Object && 'sessionNumber' in argument)) return argument;
    const other = this.#sessions.get(Number(argument.sessionNumber));
    if (other !== undefined) return other.parties;
    throw new CallwayError(
      'conflict',
      'media_elsewhere',
      'the other call has ended, or is on another thread',
    );
  }

  #close(session: number, audio: CallAudio): Promise<unknown> {
    this.#ticker.remove(audio);
    this.#sessions.delete(session);
    return audio.close();
  }
}
