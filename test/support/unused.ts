/** A port of which only the given members are expected to be used: each other one is a function that throws. */
export function unused<Port extends object>(what: string, used: Partial<Port> = {}): Port {
  return new Proxy(used as Port, {
    get(port, name) {
      if (typeof name === 'symbol' || name in port) return Reflect.get(port, name);
      return () => {
        throw new Error(`${what}.${name} is not expected to be used`);
      };
    },
  });
}
