import type { SessionStore } from '../../../src/engine/session/sessionStore.ts';
import { PROJECT } from '../../support/memoryEngine.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';
import type { Stage } from './scenes.ts';
import type { Fault } from './wordSpeech.ts';

type Component = 'recognizer' | 'voice' | 'model' | 'database';

/** Which components are broken at the moment. */
export interface Faults {
  set(what: Component, fault: Fault, forMs: number): void;
  now(what: Component): Fault;
}

export function createFaults(clock: SimulatedClock): Faults {
  const broken = new Map<Component, { readonly fault: Fault; readonly untilMs: number }>();
  return {
    set: (what, fault, forMs) => broken.set(what, { fault, untilMs: clock.monotonicMs() + forMs }),
    now(what) {
      const found = broken.get(what);
      return found && clock.monotonicMs() < found.untilMs ? found.fault : undefined;
    },
  };
}

/** When a disturbance happens. */
export interface Moment {
  readonly frame: number;
  /** Delay within the frame: up to 3 in microtasks, beyond in turns of the event loop. */
  readonly offset: number;
}

export interface Disturber extends Stage {
  readonly faults: Faults;
  /** The stream brings no audio from now on, and is not closed. */
  lose(): void;
  schedule(ms: number, act: () => void): void;
}

export type Disturbance = (disturber: Disturber) => void;

const FAULT_MS = 4000;
const TO = '+886287654321';

const fault =
  (what: Component, how: Fault): Disturbance =>
  ({ faults }) =>
    faults.set(what, how, FAULT_MS);

export const DISTURBANCES: Readonly<Record<string, Disturbance>> = {
  'the caller hangs up': ({ hangUp }) => hangUp(),
  'the stream is lost': ({ lose }) => lose(),
  'the caller puts the agent on hold': ({ call, schedule }) => {
    call.stream.putOnHold(true);
    schedule(1500, () => call.stream.putOnHold(false));
  },
  'a digit': ({ call }) => call.stream.pressDigit('5'),
  'an entry': ({ call }) => {
    call.stream.pressDigit('7');
    call.stream.pressDigit('#');
  },
  'a transfer over the API that fails': ({ call, schedule }) => {
    call.stream.reportTransfer({ status: 'begun', to: TO });
    schedule(1000, () => call.stream.reportTransfer({ status: 'failed', to: TO, reason: 'busy' }));
  },
  'a transfer over the API': ({ call, schedule, hangUp }) => {
    call.stream.reportTransfer({ status: 'begun', to: TO });
    schedule(1500, hangUp);
  },
  'a failed transfer that was not requested': ({ call }) =>
    call.stream.reportTransfer({ status: 'failed', to: TO, reason: 'busy' }),
  'a short word': ({ speak }) => speak(1, 240),
  'a sentence': ({ speak }) => speak(3, 900),
  'a backchannel': ({ say }) => say('mm-hm', 400),
  'the recognizer fails': fault('recognizer', 'fails'),
  'the recognizer hangs': fault('recognizer', 'hangs'),
  'the recognizer is late': fault('recognizer', 'is late'),
  'the recognizer returns nothing': fault('recognizer', 'is empty'),
  'the voice fails': fault('voice', 'fails'),
  'the voice hangs': fault('voice', 'hangs'),
  'the voice is late': fault('voice', 'is late'),
  'the model fails': fault('model', 'fails'),
  'the model hangs': fault('model', 'hangs'),
  'the model is late': fault('model', 'is late'),
  'the model returns nothing': fault('model', 'is empty'),
  'the session is ended': ({ call }) => {
    void call.memory.engine.end(PROJECT, 's', 'api_end');
  },
  'the database fails': fault('database', 'fails'),
  'the database hangs': fault('database', 'hangs'),
  'the database is slow': fault('database', 'is late'),
};

/** Sessions in a database with faults. */
export function faultySessions(
  sessions: SessionStore,
  clock: SimulatedClock,
  faultNow: () => Fault,
  unavailable: () => Error,
): SessionStore {
  const wait = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const behind =
    <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const fault = faultNow();
      if (fault === 'fails') throw unavailable();
      if (fault === 'is late') await wait(700);
      while (faultNow() === 'hangs') await wait(100);
      return await work(...args);
    };
  return {
    ...sessions,
    insert: behind(sessions.insert),
    find: behind(sessions.find),
    saveTurn: behind(sessions.saveTurn),
    appendLateTurn: behind(sessions.appendLateTurn),
    end: behind(sessions.end),
  };
}
