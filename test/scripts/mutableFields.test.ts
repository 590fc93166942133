import { expect, test } from 'vitest';
import { mutableFieldsOf } from '../../scripts/lib/mutableFields.mjs';

test('The check of classes counts fields that change, and neither methods nor what is readonly', () => {
  const source = `
export class Call {
  readonly #deps: Deps;
  static #count = 0;
  #state: 'ringing' | 'answered' = 'ringing';
  #timer: Timer | undefined;
  isHeld = false;
  #ended?: { readonly at: string };

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get state() {
    let seen = 0;
    return seen;
  }
}

class Empty {
}
`;
  expect(mutableFieldsOf(source)).toEqual([
    { name: 'Call', count: 4 },
    { name: 'Empty', count: 0 },
  ]);
});
