import type { PathwayInput } from '../../../../src/agents/pathway/schema/pathwaySchema.ts';

/** Greets, asks for a day, thanks and ends. */
export const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greeting', prompt: 'Greet {{ name }}.' } },
    { id: 'book', type: 'conversation', data: { title: 'Booking', prompt: 'Ask for a day.' } },
    { id: 'thanks', type: 'say', data: { title: 'Thanks', prompt: 'Thank you, {{ name }}.' } },
    { id: 'bye', type: 'end', data: { title: 'Bye' } },
  ],
  edges: [
    { id: 'wants', source: 'start', target: 'book', data: { condition: 'The person wants to book.' } },
    { id: 'done', source: 'book', target: 'thanks', data: { condition: 'The person named a day.' } },
    { id: 'over', source: 'thanks', target: 'bye' },
  ],
};
