import { type Pathway, type PathwayInput, pathwaySchema } from './pathwaySchema.ts';

const STARTER: PathwayInput = {
  nodes: [
    {
      id: 'start',
      type: 'start',
      data: {
        title: 'Greeting',
        prompt:
          'Greet the caller warmly in one short sentence, say that you are an automated assistant, and ask how you can help.',
      },
      position: { x: 0, y: 0 },
    },
    {
      id: 'conversation',
      type: 'conversation',
      data: {
        title: 'Help the caller',
        prompt:
          'Find out what the caller needs, one question at a time, and help as well as you can. ' +
          'Answer in one or two short sentences that are easy to follow by ear. ' +
          'Never make up a fact: when you do not know something, say so and offer to take a message. ' +
          'Before the talk ends, ask whether there is anything else.',
      },
      position: { x: 0, y: 160 },
    },
    {
      id: 'end',
      type: 'end',
      data: {
        title: 'Goodbye',
        prompt: 'Thank the caller for the call and say goodbye in one short sentence.',
      },
      position: { x: 0, y: 320 },
    },
  ],
  edges: [
    { id: 'greeted', source: 'start', target: 'conversation', data: { label: 'greeted' } },
    {
      id: 'finished',
      source: 'conversation',
      target: 'end',
      data: {
        label: 'finished',
        condition: 'The caller needs nothing more, or says goodbye.',
      },
    },
  ],
};

export function starterPathway(): Pathway {
  return pathwaySchema.parse(STARTER);
}
