/**
 * Waits until a turn has something to answer, so that all that can go wrong before is an ordinary error. To transfer
 * or to press keys has no meaning in a chat: such actions are passed over.
 */
export async function openTurn(outputs, signal) {
  const iterator = outputs[Symbol.asyncIterator]();
  let model = '';
  let first;
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
export async function wholeAnswer(turn) {
  const texts = [];
  const toolCalls = [];
  const outcome = {};
  await turn.passOn((piece) => {
    if (piece.type === 'tool_call') toolCalls.push(piece.call);
    else if (piece.type === 'done') outcome.done = piece;
    else texts.push(piece.text);
    return undefined;
  });
  if (!outcome.done) throw new Error('a turn ended without an outcome');
  return { text: texts.join(''), toolCalls, done: outcome.done };
}
