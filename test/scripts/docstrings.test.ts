import { expect, test } from 'vitest';
import { fragmentsOf } from '../../scripts/lib/docstrings.mjs';

test.each([
  ['a docstring', "\n/** Of the session. */\nconst id = '';", ['2: Of the session.']],
  ['a docstring of several lines', '/**\n * That is sent,\n * once.\n */', ['1: That is sent,']],
  ['a parameter', '/** Sends it. @param rate - As negotiated. */', ['1: As negotiated.']],
  [
    'a property',
    '/**\n * One target.\n * @property left - Whose call has ended.\n */',
    ['3: Whose call has ended.'],
  ],
  ['a result', '/** @returns That. */', ['1: That.']],
])('The check of docstrings finds %s that is a fragment', (_, source, found) => {
  expect(fragmentsOf(source)).toEqual(found);
});

test('The check of docstrings accepts sentences and other comments', () => {
  expect(
    fragmentsOf('/** Offers audio. @param to - The target of it. */\n// Of the peer.\n/* As sent. */'),
  ).toEqual([]);
});
