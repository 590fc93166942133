import { CallwayError } from '../../base/errors.ts';
import { systemThreadId } from '../../base/threads/threadCpuTime.ts';
import { type CallAudio, type CallAudioDeps, openCallAudio } from '../session/callAudio.ts';
import type { SupervisorAddress } from '../supervision/supervisorStream.ts';
import { type ThreadSleep, Ticker } from '../ticker/ticker.ts';
import {
  type FromThread,
  type MediaThreadData,
  type MediaThreadEvent,
  type ThreadRequest,
  type ThreadRequests,
  type ThreadStatistics,
  type ToThread,
  toFailure,
} from './threadMessages.ts';

/** The part of `MessagePort` that a thread uses. */
interface ThreadPort {
  postMessage(message: FromThread): void;
  on(name: 'message', listener: (message: ToThread) => void): unknown;
  close(): void;
}

export interface ThreadServerDeps extends CallAudioDeps {
  readonly port: ThreadPort;
  readonly sleep?: ThreadSleep;
  readonly hasPriority: boolean;
}

/** The media thread's side: holds the thread's sessions, ticks them, and serves the main thread's requests. */
export class ThreadServer {
  readonly #deps: ThreadServerDeps;
  readonly #data: MediaThreadData;
  readonly #sessions = new Map<number, CallAudio>();
  readonly #numbers = new WeakMap<CallAudio, number>();
  readonly #ticker: Ticker<CallAudio>;

  constructor(deps: ThreadServerDeps, data: MediaThreadData) {
    this.#deps = deps;
    this.#data = data;
    this.#ticker = new Ticker<CallAudio>({
      clock: deps.clock,
      sleep: deps.sleep,
      visit: (audio, tick) => audio.tick(tick),
      onError: (error, audio) => {
        // Once: a session that fails on each tick would fill the log.
        this.#ticker.remove(audio);
        const message = error instanceof Error ? String(error.stack) : String(error);
        this.#post({ kind: 'fault', session: this.#numbers.get(audio) ?? -1, message });
      },
    });
  }

  start(): void {
    this.#deps.port.on('message', (message) => {
      if (message.kind === 'request') void this.#serve(message);
      else if (message.kind === 'ping') this.#post({ kind: 'pong', statistics: this.#statistics() });
      else void this.#end();
    });
    this.#post({ kind: 'ready', threadId: systemThreadId() });
  }

  async #serve(request: ThreadRequest): Promise<void> {
    const { requestId } = request;
    try {
      this.#post({ kind: 'result', requestId, result: await this.#perform(request) });
    } catch (error) {
      this.#post({ kind: 'failure', requestId, failure: toFailure(error) });
    }
  }

  #perform(request: ThreadRequest): unknown {
    if (request.name === 'open') return this.#open(request.session, request.argument);
    const audio = this.#sessions.get(request.session);
    if (audio === undefined) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
    switch (request.name) {
      case 'connect':
        audio.connect(request.argument);
        return this.#ticker.add(audio);
      case 'startStream':
        return audio.startStream(request.argument);
      case 'awaitAgent':
        return audio.awaitAgent();
      case 'playApology':
        return audio.playApology();
      case 'stopStream':
        return audio.stopStream();
      case 'sendTransferStatus':
        return audio.sendTransferStatus(request.argument);
      case 'controlAgent':
        return audio.controlAgent(request.argument);
      case 'admitSupervisor':
        return this.#admitSupervisor(audio, request.argument);
      case 'startRingback':
        return audio.parties.startRingback();
      case 'bridge':
        return audio.parties.bridge(this.#otherSession(request.argument).parties);
      case 'unbridge':
        return audio.parties.unbridge();
      case 'join':
        return audio.parties.join(this.#otherSession(request.argument).parties);
      case 'setParticipation':
        return audio.parties.setParticipation(request.argument);
      case 'startMusic':
        return audio.parties.startMusic(request.argument);
      case 'stopMusic':
        return audio.parties.stopMusic();
      case 'recordAside':
        return audio.parties.recordAside(this.#otherSession(request.argument).parties);
      case 'startRecording':
        return audio.startRecording(request.argument);
      case 'pauseRecording':
        return audio.pauseRecording(request.argument);
      case 'sendDtmf':
        return audio.sendDtmf(request.argument);
      case 'receiveDtmf':
        return audio.receiveDtmf(request.argument, 'signalling');
      case 'quality':
        return audio.quality();
      case 'close':
        return this.#close(request.session, audio);
    }
  }

  async #open(session: number, options: ThreadRequests['open'][0]): Promise<void> {
    const audio: CallAudio = await openCallAudio(this.#deps, {
      ...this.#data,
      ...options,
      advanceTicks: (byMs) => this.#ticker.advance(audio, byMs),
      emit: (name, value) =>
        this.#post({ kind: 'event', session, event: { name, value } as MediaThreadEvent }),
    });
    this.#sessions.set(session, audio);
    this.#numbers.set(audio, session);
  }

  #admitSupervisor(
    audio: CallAudio,
    { participant, ...request }: ThreadRequests['admitSupervisor'][0],
  ): Promise<SupervisorAddress> {
    const only = participant === undefined ? undefined : this.#otherSession(participant).parties;
    return audio.admitSupervisor(request, only);
  }

  #otherSession(session: number): CallAudio {
    const other = this.#sessions.get(session);
    if (other !== undefined) return other;
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

  async #end(): Promise<void> {
    await Promise.all([...this.#sessions].map(([session, audio]) => this.#close(session, audio)));
    await this.#deps.supervisorGate?.close();
    this.#deps.port.close();
  }

  #statistics(): ThreadStatistics {
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

  #post(message: FromThread): void {
    this.#deps.port.postMessage(message);
  }
}
