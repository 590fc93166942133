import { describe, expect, it } from 'vitest';
import { chooseEdge } from '../../../offline/chat/route.ts';
import { type Desk, desks, situationAt } from './support/desks.ts';

/** What the rules do not know: each stays at its node, so that the caller is asked again. */
const NOT_UNDERSTOOD = ['Any chance of an appointment tomorrow?', 'We want to stay from Friday to Sunday.'];

const edgesOf = (desk: Desk, said: Desk['said']) =>
  said.map(([text]) => [text, chooseEdge(situationAt(desk, text))]);

describe('The rehearsal model takes the edge that a person at the desk would take', () => {
  it.each(desks)('$title', (desk) => {
    expect(edgesOf(desk, desk.said)).toEqual(desk.said);
  });

  it.each(desks)('$title, of sentences with which it was not written', (desk) => {
    const wanted = desk.heldOut.map(([text, edge]) => [text, NOT_UNDERSTOOD.includes(text) ? null : edge]);
    expect(edgesOf(desk, desk.heldOut)).toEqual(wanted);
  });
});
