import { type Failure, fromFailure, toFailure } from '../failure.ts';

/** The part of a worker, or of a `MessagePort`, that two ends talk by. */
export interface Port {
  postMessage(message: unknown): void;
  on(name: 'message', listener: (message: unknown) => void): unknown;
}

/** The methods of an interface as the other end of a port calls them. */
export type Calls<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** The methods of an interface as notifications, which are not answered. */
export type Notifications<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => void
    : never;
};

/** The methods that the other end of a port serves. */
export interface Remote<Methods> {
  /** Calls a method. Its promise rejects as the method does: with a `CallwayError`, or an error with its `code`. */
  readonly call: Calls<Methods>;
  readonly notify: Notifications<Methods>;
  /** Rejects all calls, pending and later ones, since the other end is gone. Idempotent. */
  close(error: Error): void;
}

interface Request {
  /** Absent in a notification. */
  readonly id?: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: Failure };

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Calls the methods that the other end serves. Arguments and results are structured clones.
 *
 * @typeParam Methods - The interface that the other end passes to {@link serve}.
 */
export function remoteOf<Methods>(port: Port): Remote<Methods> {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let closedBy: Error | undefined;
  port.on('message', (message) => {
    if (!isAnswer(message)) return;
    const call = pending.get(message.id);
    pending.delete(message.id);
    if ('failure' in message) call?.reject(fromFailure(message.failure));
    else call?.resolve(message.result);
  });
  const call = (name: string, args: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      if (closedBy) return reject(closedBy);
      const id = ++lastId;
      port.postMessage({ id, name, args } satisfies Request);
      pending.set(id, { resolve, reject });
    });
  return {
    call: methodsBy<Calls<Methods>>(call),
    notify: notifierOf<Methods>(port),
    close(error) {
      closedBy ??= error;
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    },
  };
}

/** Notifies the other end, without listening to it. */
export function notifierOf<Methods>(port: Port): Notifications<Methods> {
  return methodsBy((name, args) => port.postMessage({ name, args } satisfies Request));
}

/** Serves an object's methods to the other end. A notification whose method throws is an uncaught error here. */
export function serve(port: Port, methods: object): void {
  port.on('message', async (message) => {
    if (!isRequest(message)) return;
    const { id, name, args } = message;
    try {
      const result = await Reflect.apply(Reflect.get(methods, name), methods, args);
      if (id !== undefined) port.postMessage({ id, result } satisfies Answer);
    } catch (error) {
      if (id === undefined) throw error;
      port.postMessage({ id, failure: toFailure(error) } satisfies Answer);
    }
  });
}

/**
 * Creates an object that has every method of an interface.
 *
 * @param invoke - Does what each method does. `then` is none, so that the object can be awaited.
 */
export function methodsBy<Methods extends object>(
  invoke: (name: string, args: readonly unknown[]) => unknown,
): Methods {
  const get = (_target: object, name: string | symbol) =>
    typeof name === 'symbol' || name === 'then'
      ? undefined
      : (...args: readonly unknown[]) => invoke(name, args);
  return new Proxy({}, { get }) as Methods;
}

function isRequest(message: unknown): message is Request {
  return message instanceof Object && 'name' in message;
}

function isAnswer(message: unknown): message is Answer {
  return message instanceof Object && ('result' in message || 'failure' in message);
}
