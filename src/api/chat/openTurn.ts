import type { TurnDone, TurnOutput } from '../../engine/turn/turn.ts';

/** What a chat's client gets of a turn. */
export type ChatPiece = Exclude<TurnOutput, { type: 'start' | 'action' }>;

/** A turn that has begun to answer. */
export interface OpenTurn {
  readonly model: string;
  /**
   * Passes the pieces on, each once the one before is taken; the turn is over, and its session free, when this returns.
   *
   * @throws {Error} When the turn fails midway, or the signal's reason once that is aborted.
   */
  passOn(take: (piece: ChatPiece) => Promise<void> | undefined): Promise<void>;
}

/**
 * Waits until a turn has something to answer, so that all that can go wrong before is an ordinary error. To transfer
 * or to press keys has no meaning in a chat: such actions are passed over.
 */
export async function openTurn(outputs: AsyncIterable<TurnOutput>, signal: AbortSignal): Promise<OpenTurn> {
  const iterator = outputs[Symbol.asyncIterator]();
  let model = '';
  let first: ChatPiece | undefined;
  while (!first) {
    const { done, value } = await iterator.next();
    if (done) throw new Error('a turn ended without an outcome');
    if (value.type === 'start') model = value.model;
    else if (value.type !== 'action') first = value;
  }
  const begin = first;
  return {
    model,
    async passOn(take) {
      try {
        await take(begin);
        for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
          // Nobody may be left to take it; a turn that has not noticed yet is left.
          signal.throwIfAborted();
          const piece = next.value;
          if (piece.type === 'start' || piece.type === 'action') continue;
          const taken = take(piece);
          if (taken) await taken;
        }
      } finally {
        await iterator.return?.();
      }
    },
  };
}

/** The pieces put together. */
export interface WholeAnswer {
  readonly text: string;
  readonly toolCalls: readonly Extract<ChatPiece, { type: 'tool_call' }>['call'][];
  readonly done: TurnDone;
}

export async function wholeAnswer(turn: OpenTurn): Promise<WholeAnswer> {
  const texts: string[] = [];
  const toolCalls: Extract<ChatPiece, { type: 'tool_call' }>['call'][] = [];
  const outcome: { done?: TurnDone } = {};
  await turn.passOn((piece) => {
    if (piece.type === 'tool_call') toolCalls.push(piece.call);
    else if (piece.type === 'done') outcome.done = piece;
    else texts.push(piece.text);
    return undefined;
  });
  if (!outcome.done) throw new Error('a turn ended without an outcome');
  return { text: texts.join(''), toolCalls, done: outcome.done };
}
