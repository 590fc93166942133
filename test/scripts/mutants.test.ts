import { describe, expect, test } from 'vitest';

import { mutantsOf, sampleOf } from '../../scripts/lib/mutants.mjs';

/** The mutants of a function's body, each as its body. */
function bodiesOf(body: string): string[] {
  const [start, end] = ['function f() {', '}'];
  return mutantsOf(`${start}${body}${end}`)
    .map(({ text }) => text.slice(start.length, -end.length))
    .filter((text) => text !== '');
}

describe('Mutants', () => {
  test.each([
    ['if (a) return;', ['if (!(a)) return;']],
    ['if (a === b) return;', ['if (((a) !== (b))) return;']],
    [
      'while (a < 9) b;',
      ['while (!(a < 9)) b;', 'while (((a) <= (9))) b;', 'while (a < 10) b;', 'while (a < 9) ;'],
    ],
    ['return a && b ? c : d;', ['return !(a && b) ? c : d;', 'return ((a) || (b)) ? c : d;']],
    ['return a + 1.5;', ['return ((a) - (1.5));']],
    ["return 'x' + a;", []],
    ['return [true];', ['return [false];']],
    ['n++;', [';', 'n--;']],
    ['return g(a as number, x!, 3);', ['return g(a as number, x!, 4);']],
    ['return { y: 0 };', ['return { y: 1 };']],
    ['const x: 3 | 4 = y;', []],
    ['a satisfies never;', []],
  ])('of %s', (body, mutants) => {
    expect(bodiesOf(body)).toEqual(mutants);
  });

  test('tell their line, also after comments and letters of several bytes', () => {
    const source = '/** ü */\nclass A {\n  #x = 1;\n  // ö\n  run() {\n    this.#x = 2;\n  }\n}\n';
    expect(mutantsOf(source)).toEqual([
      { line: 5, what: 'without the function’s body', text: source.replace(/\{\n {4}this.*?\}/s, '{}') },
      { line: 6, what: 'without this.#x = 2;', text: source.replace('this.#x = 2;', ';') },
      { line: 6, what: '3 for 2', text: source.replace('= 2', '= 3') },
    ]);
  });

  test('leave the numbers of settings, imports and types alone', () => {
    const source =
      "import { a } from './a.ts';\nconst TIMEOUT_MS = 500;\ntype Small = 1 | 2;\ninterface B { c: true }\n";
    expect(mutantsOf(source)).toEqual([]);
  });
});

test('A sample is taken at even distances', () => {
  expect(sampleOf([0, 1, 2, 3, 4, 5, 6, 7], 3)).toEqual([0, 2, 5]);
  expect(sampleOf([0, 1], 3)).toEqual([0, 1]);
});
