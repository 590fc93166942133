export function createEmitter(onListenerError) {
  const listeners = new Map();
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
          listener(value);
        } catch (error) {
          onListenerError(error, name);
        }
      }
    },
  };
}
