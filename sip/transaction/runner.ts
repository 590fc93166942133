import type { Clock, Timer } from '../clock.ts';
import type { Effect, Step, TimerName, TransactionContext } from './machine.ts';

/** Performs the effects other than timers, by their types. */
export interface EffectHandlers {
  send(): void;
  ack(): void;
  deliver(): void;
  timed_out(): void;
  transport_failed(): void;
  terminated(): void;
}

type MachineEvent = { readonly type: 'timer'; readonly timer: TimerName } | { readonly type: string };

/** Runs one state machine: keeps its state and timers, and performs its effects. */
export interface Runner<State, Event> {
  readonly state: State;
  handle(event: Event): void;
  /** Stops the timers. */
  stop(): void;
}

export function createRunner<State, Event extends MachineEvent>(
  machine: (state: State, event: Event, context: TransactionContext) => Step<State>,
  initial: State,
  context: TransactionContext,
  clock: Clock,
  handlers: EffectHandlers,
): Runner<State, Event | { type: 'timer'; timer: TimerName }> {
  let state = initial;
  const timers = new Map<TimerName, Timer>();

  const stop = (): void => {
    for (const timer of timers.values()) timer.cancel();
    timers.clear();
  };
  const startTimer = (timer: TimerName, delayMs: number): void => {
    timers.get(timer)?.cancel();
    const fire = () => {
      timers.delete(timer);
      handle({ type: 'timer', timer } as unknown as Event);
    };
    timers.set(timer, clock.setTimer(fire, delayMs));
  };
  const stopTimer = (timer: TimerName): void => {
    timers.get(timer)?.cancel();
    timers.delete(timer);
  };
  const perform = (effect: Effect): void => {
    if (effect.type === 'start_timer') startTimer(effect.timer, effect.delayMs);
    else if (effect.type === 'stop_timer') stopTimer(effect.timer);
    else {
      if (effect.type === 'terminated') stop();
      handlers[effect.type]();
    }
  };
  const handle = (event: Event): void => {
    const step = machine(state, event, context);
    state = step.state;
    for (const effect of step.effects) perform(effect);
  };

  return {
    get state() {
      return state;
    },
    handle: (event) => handle(event as Event),
    stop,
  };
}
