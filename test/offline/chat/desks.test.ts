import { expect, it } from 'vitest';
import { chooseEdge } from '../../../offline/chat/route.ts';
import { desks, situationAt } from './support/desks.ts';

it.each(desks)('$title: the rehearsal model takes the edge that a person at the desk would take', (desk) => {
  const edges = desk.said.map(([text]) => [text, chooseEdge(situationAt(desk, text))]);
  expect(edges).toEqual(desk.said);
});
