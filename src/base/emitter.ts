/** Receives the value of an event. */
type Listener<Value> = (value: Value) => void;

/** The side of an emitter that listens. */
export interface EventSource<Events extends object> {
  /** @returns Removes the listener; idempotent. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void;
}

/**
 * A typed event emitter. An error thrown by a listener goes to `onListenerError`; it never reaches the emitting code
 * or other listeners.
 */
export interface Emitter<Events extends object> extends EventSource<Events> {
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void;
}

export function createEmitter<Events extends object>(
  onListenerError: (error: unknown, name: keyof Events) => void,
): Emitter<Events> {
  const listeners = new Map<keyof Events, Set<Listener<never>>>();
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(listener);
      return () => set.delete(listener);
    },
    emit(name, value) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          (listener as Listener<typeof value>)(value);
        } catch (error) {
          onListenerError(error, name);
        }
      }
    },
  };
}
