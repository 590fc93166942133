import { CallwayError } from '../../base/errors.ts';
import { type CallAudio, type CallAudioDeps, openCallAudio } from '../session/callAudio.ts';
import type { ThreadSleep } from '../ticker/threadSleep.ts';
import { Ticker } from '../ticker/ticker.ts';
import {
  type FromThread,
  type MediaThreadData,
  type MediaThreadEvent,
  type ThreadCall,
  type ThreadStatistics,
  type ToThread,
  toFailure,
} from './threadMessages.ts';

/** What a thread has of `MessagePort`. */
export interface ThreadPort {
  postMessage(message: FromThread): void;
  on(name: 'message', listener: (message: ToThread) => void): unknown;
  close(): void;
}

export interface ThreadServerDeps extends CallAudioDeps {
  readonly port: ThreadPort;
  readonly rest: ThreadSleep;
  /** This thread goes before ordinary work of the machine. */
  readonly hasPriority: boolean;
}

/** The thread's side of the engine: holds this thread's sessions, ticks them, and does what the main thread asks. */
export function serveMediaThread(deps: ThreadServerDeps, data: MediaThreadData): void {
  const { port } = deps;
  const tell = (message: FromThread): void => port.postMessage(message);
  const sessions = new Map<number, CallAudio>();
  const numbers = new WeakMap<CallAudio, number>();
  const ticker = new Ticker<CallAudio>({
    clock: deps.clock,
    rest: deps.rest,
    visit: (audio, tick) => audio.tick(tick),
    onError: (error, audio) => {
      // One that fails on each tick would fill the log, and has no audio anyhow.
      ticker.remove(audio);
      const session = numbers.get(audio) ?? -1;
      tell({ kind: 'fault', session, message: error instanceof Error ? String(error.stack) : String(error) });
    },
  });

  const open = async ({ session, sent }: Extract<ThreadCall, { name: 'open' }>): Promise<undefined> => {
    const audio = await openCallAudio(deps, {
      ...data,
      ...sent,
      announce: (name, value) => tell({ kind: 'event', session, event: { name, value } as MediaThreadEvent }),
    });
    sessions.set(session, audio);
    numbers.set(audio, session);
    return undefined;
  };

  const close = async (session: number, audio: CallAudio) => {
    ticker.remove(audio);
    sessions.delete(session);
    return audio.close();
  };

  const neighbourOf = (whom: 'nobody' | 'ringing' | number): 'nobody' | 'ringing' | CallAudio => {
    if (typeof whom === 'string') return whom;
    const other = sessions.get(whom);
    if (other !== undefined) return other;
    throw new CallwayError(
      'conflict',
      'media_elsewhere',
      'the other call has ended, or is on another thread',
    );
  };

  const perform = async (call: ThreadCall): Promise<unknown> => {
    if (call.name === 'open') return open(call);
    const audio = sessions.get(call.session);
    if (audio === undefined) throw new CallwayError('conflict', 'call_ended', 'the call has ended');
    switch (call.name) {
      case 'connect':
        audio.connect(call.sent);
        ticker.add(audio);
        return undefined;
      case 'startBridge':
        return audio.startBridge(call.sent);
      case 'apologise':
        return audio.apologise();
      case 'stopBridge':
        return audio.stopBridge();
      case 'tellEngine':
        return audio.tellEngine(call.sent);
      case 'stayBeside':
        return audio.stayBeside(neighbourOf(call.sent));
      case 'startRecording':
        return audio.startRecording(call.sent);
      case 'sendDtmf':
        return audio.sendDtmf(call.sent);
      case 'takeKey':
        audio.takeKey(call.sent, 'signalling');
        return undefined;
      case 'figures':
        return audio.figures();
      case 'close':
        return close(call.session, audio);
    }
  };

  const answer = async (call: ThreadCall): Promise<void> => {
    const { callNumber } = call;
    try {
      tell({ kind: 'answer', callNumber, answer: await perform(call) });
    } catch (error) {
      tell({ kind: 'failure', callNumber, failure: toFailure(error) });
    }
  };

  const end = async (): Promise<void> => {
    await Promise.all([...sessions].map(([session, audio]) => close(session, audio)));
    port.close();
  };

  const statistics = (): ThreadStatistics => {
    const { lateness, skippedTicks } = ticker;
    return {
      sessions: sessions.size,
      hasPriority: deps.hasPriority,
      ticks: lateness.total,
      skippedTicks,
      tickDelayP50Ms: lateness.percentileMs(0.5),
      tickDelayP99Ms: lateness.percentileMs(0.99),
      tickDelayMaxMs: lateness.maxMs,
      tickDelayCounts: lateness.counts,
    };
  };

  port.on('message', (message) => {
    if (message.kind === 'call') void answer(message);
    else if (message.kind === 'ping') tell({ kind: 'alive', statistics: statistics() });
    else void end();
  });
  tell({ kind: 'ready' });
}
