/** An agent that says something new after each DTMF digit. */
export const AGENT = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Say "Hello. Press one."' } },
    { id: 'tick', type: 'conversation', data: { title: 'Tick', prompt: 'Say "Good. Again."' } },
    { id: 'tock', type: 'conversation', data: { title: 'Tock', prompt: 'Say "Fine. Once more."' } },
  ],
  edges: [onKey('start', 'tick'), onKey('tick', 'tock'), onKey('tock', 'tick')],
};

function onKey(source: string, target: string) {
  const condition = { event: 'dtmf', digits: '1' };
  return { id: `${source}-${target}`, source, target, data: { condition } };
}
