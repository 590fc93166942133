import { linkAbort } from '../../base/linkedAbort.ts';
import type { ChatEvent, ChatModel } from '../../providers/ports/chatModel.ts';
import { TurnCancelledError } from './delivery.ts';
import { type KeepTurnDeps, type KeptTurn, runAndStore } from './storeTurn.ts';
import type { TurnOutput } from './turn.ts';
import type { TurnContext, TurnDeps } from './turnContext.ts';

/**
 * A turn that is made ready before it is certain that it may be taken: it goes as far as it can without anybody else's
 * noticing, and waits there.
 */
export interface Attempt {
  readonly run: TurnContext;
  /**
   * It may be taken, as far as is known: models and tools are asked. Idempotent.
   *
   * @param lost - Ends it when it is aborted.
   */
  go(lost: AbortSignal): void;
  /** It is the turn that counts: it is kept once it is over, which may be now. Idempotent. */
  stand(): void;
  /** What it says; to be read once, and only once it may go. */
  pieces(): AsyncGenerator<TurnOutput, KeptTurn>;
  /**
   * Takes it back where it is not over, as if it had not been; idempotent.
   *
   * @returns Resolves once nothing of it goes on: what was being kept just then is kept.
   */
  close(): Promise<void>;
}

export interface AttemptDeps extends KeepTurnDeps {
  readonly turn: TurnDeps;
}

/**
 * Begins an attempt at a turn.
 *
 * @param makeRun - Makes the turn of what the attempt gives it.
 */
export function beginAttempt(
  deps: AttemptDeps,
  makeRun: (turn: TurnDeps, signal: AbortSignal) => TurnContext,
  signal: AbortSignal,
): Attempt {
  const abort = linkAbort(signal);
  const asking = createGate();
  const keeping = createGate();
  const run = makeRun(behind(asking.opened, deps.turn), abort.signal);
  const outputs = runAndStore(deps, run, keeping.opened);
  const first = outputs.next();
  first.catch(() => {}); // thrown where it is read, if it ever is
  let follows = false;
  let isOver = false;
  return {
    run,
    go(lost) {
      if (follows) return;
      follows = true;
      abort.follow(lost);
      asking.open();
    },
    stand: keeping.open,
    pieces: () =>
      fromFirst(first, outputs, () => {
        isOver = true;
      }),
    async close() {
      abort.unlink();
      // Most turns are, and are spared what takes one back: an error, and all that hears of it.
      if (isOver) return;
      const reason = new TurnCancelledError();
      abort.abort(reason);
      asking.refuse(reason);
      keeping.refuse(reason);
      // What is over, or ends by its abort, has nothing to return from.
      await first.then(() => outputs.return(NOTHING_KEPT)).catch(() => {});
    },
  };
}

/** Nobody reads what a generator returns that was left. */
const NOTHING_KEPT = Promise.resolve(undefined as never);

async function* fromFirst(
  first: Promise<IteratorResult<TurnOutput, KeptTurn>>,
  outputs: AsyncGenerator<TurnOutput, KeptTurn>,
  onOver: () => void,
): AsyncGenerator<TurnOutput, KeptTurn> {
  const begin = await first;
  try {
    if (!begin.done) yield begin.value;
    const kept = begin.done ? begin.value : yield* outputs;
    onOver();
    return kept;
  } finally {
    // Who leaves after the first piece leaves the turn, which is then kept as far as it was passed on.
    await outputs.return(NOTHING_KEPT);
  }
}

function createGate() {
  let open = () => {};
  let refuse = (_reason: Error) => {};
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    refuse = reject;
  });
  opened.catch(() => {}); // thrown where it is waited for
  return { opened, open, refuse };
}

/** All that others would notice of a turn waits. */
function behind(opened: Promise<void>, { models, tools, knowledge, ...rest }: TurnDeps): TurnDeps {
  return {
    ...rest,
    models: { ...models, chat: modelBehind(opened, models.chat) },
    tools: {
      async run(...call) {
        await opened;
        return await tools.run(...call);
      },
    },
    ...(knowledge
      ? {
          knowledge: {
            ...knowledge,
            async search(...query) {
              await opened;
              return await knowledge.search(...query);
            },
          },
        }
      : {}),
  };
}

/** Passes reads on one by one, so that leaving is not held up, and a token costs no promise more. */
function modelBehind(opened: Promise<void>, model: ChatModel): ChatModel {
  return {
    name: model.name,
    stream: (request, signal) => ({
      [Symbol.asyncIterator]() {
        let events: AsyncIterator<ChatEvent> | undefined;
        const begin = async () => {
          await opened;
          events = model.stream(request, signal)[Symbol.asyncIterator]();
          return await events.next();
        };
        return {
          next: () => (events ? events.next() : begin()),
          return: async () => (await events?.return?.()) ?? { done: true, value: undefined },
        };
      },
    }),
  };
}
