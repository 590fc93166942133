import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderDeep } from '../../../src/agents/pathway/renderDeep.ts';
import {
  checkTemplate,
  renderTemplate,
  templateVariables,
  templateWords,
} from '../../../src/agents/pathway/templates.ts';
import { startStopwatch } from '../../../src/base/async/stopwatch.ts';
import { CallwayError } from '../../../src/base/errors.ts';

function renderAndMissing(template: string, variables: Record<string, unknown> = {}) {
  const missing: string[] = [];
  const text = renderTemplate(template, variables, { onMissing: (name) => missing.push(name) });
  return { text, missing };
}

describe('renderTemplate', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['no braces at all', {}, 'no braces at all'],
    ['Hello {{ name }}!', { name: 'Mei' }, 'Hello Mei!'],
    ['{{ customer.name | upcase }}', { customer: { name: 'mei' } }, 'MEI'],
    ['{% if vip %}Welcome back{% else %}Welcome{% endif %}', { vip: true }, 'Welcome back'],
    ['{% for item in items %}{{ item }};{% endfor %}', { items: ['a', 'b'] }, 'a;b;'],
    ['{% assign n = count | plus: 1 %}{{ n }}', { count: 2 }, '3'],
    ['{{ flag }}{{ nothing }}{{ zero }}', { flag: false, nothing: null, zero: 0 }, 'false0'],
    ['{{ order }}', { order: { id: 1 } }, '{"id":1}'],
    ['{{ list }}', { list: ['a', 2] }, 'a2'],
    ['{% raw %}{{ name }}{% endraw %}', {}, '{{ name }}'],
    ['{{ "2026-01-31T23:30:00Z" | date: "%H:%M" }}', {}, '23:30'],
  ])('%j with %j is %j', (template, variables, text) => {
    expect(renderAndMissing(template, variables)).toEqual({ text, missing: [] });
  });

  it('formats dates in the given time zone', () => {
    const template = '{{ "2026-01-31T23:30:00Z" | date: "%d %H:%M" }}';
    expect(renderTemplate(template, {}, { timeZone: 'Asia/Taipei' })).toBe('01 07:30');
  });

  it.each<[string, string[], string]>([
    ['Hello {{ name }}!', ['name'], 'Hello !'],
    ['{{ a }}{{ b }}{{ a }}', ['a', 'b'], ''],
    ['{{ customer.name }}', ['customer.name'], ''],
    ['{% for x in list %}{{ x }}{% endfor %}.', ['list'], '.'],
    ['{% if vip %}yes{{ name }}{% endif %}', [], ''],
    ['{{ name | default: "friend" }}', [], 'friend'],
    ['{% assign n = count %}{{ n }}', [], ''],
    ['{% assign n = "x" %}{{ n }}{{ count }}', ['count'], 'x'],
  ])('reports the missing variables of %j', (template, missing, text) => {
    expect(renderAndMissing(template, { customer: {} })).toEqual({ text, missing });
  });

  it.each([
    'constructor',
    '__proto__',
    'toString',
    'name.constructor',
    'list.constructor',
    'customer.__proto__',
  ])('does not read %s, which is inherited', (path) => {
    const { text, missing } = renderAndMissing(`[{{ ${path} }}]`, { name: 'x', list: [], customer: {} });
    expect(text).toBe('[]');
    expect(missing).toEqual([path]);
  });

  it('never changes the variables', () => {
    const variables = { n: 1, list: [3, 1] };
    renderTemplate('{% assign n = 5 %}{{ list | sort | join }}', variables);
    expect(variables).toEqual({ n: 1, list: [3, 1] });
  });

  it.each([
    ['an open output', '{{ name', /not closed/],
    ['an open block', '{% if a %}x', /not closed/],
    ['an unknown filter', '{{ a | explode }}', /undefined filter: explode/],
    ['an unknown tag', '{% constructor %}', /tag "constructor" not found/],
    ['a file', '{% include "/etc/passwd" %}', /tag "include" not found/],
    ['a partial', '{% render "x" %}', /tag "render" not found/],
    ['a layout', '{% layout "x" %}', /tag "layout" not found/],
    ['a counter in the variables', '{% increment n %}', /tag "increment" not found/],
    ['a long template', 'a'.repeat(100_001), /parse length limit exceeded/],
    ['a template of many outputs', '{{a}}'.repeat(301), /at most 300 tags and outputs/],
    ['a long template of many outputs', `{{a}}${'x'.repeat(200)}`.repeat(400), /at most 60 tags and outputs/],
    ['many lines with outputs', `{{a}}${'\n'.repeat(100)}`.repeat(120), /at most 46 tags and outputs/],
    ['blocks nested without end', '{%if a%}'.repeat(290), /./],
  ])('refuses %s, as checkTemplate does', (_name, template, message) => {
    expect(() => renderTemplate(template, {})).toThrow(message);
    expect(() => renderTemplate(template, {})).toThrow(CallwayError);
    expect(checkTemplate(template)).toMatch(message);
  });

  it.each([
    ['a huge range', '{% for i in (1..100000000) %}{{ i }}{% endfor %}', /memory alloc limit exceeded/],
    [
      'text that doubles',
      `{% assign a = "aaaaaaaa" %}${'{% assign a = a | append: a %}'.repeat(40)}{{ a }}`,
      /limit|more than/,
    ],
    ['a long output', `{% for i in (1..2000) %}${'x'.repeat(1000)}{% endfor %}`, /exceeds 200000 characters/],
    [
      'loops in loops',
      '{% for a in (1..900) %}{% for b in (1..900) %}{% assign c = b %}{% endfor %}{% endfor %}',
      'more than 3000 steps',
    ],
    [
      'filters of long texts',
      '{% for i in (1..500) %}{{ text | replace: "b", "c" | size }}{% endfor %}',
      /more than 3000 steps|memory/,
    ],
    ['sorted lists', '{% for i in (1..500) %}{{ list | sort | last }}{% endfor %}', 'more than 3000 steps'],
    [
      'comparisons of long texts',
      '{% for i in (1..5000) %}{% if text contains "b" %}{% endif %}{% endfor %}',
      'more than 3000 steps',
    ],
  ])('stops at the limit of %s', (_name, template, message) => {
    const stopwatch = startStopwatch();
    const variables = { text: 'a'.repeat(50_000), list: Array.from({ length: 900 }, (_, n) => `${n % 7}`) };
    expect(() => renderTemplate(template, variables)).toThrow(message);
    expect(stopwatch.elapsedMs()).toBeLessThan(500);
  });

  it('renders on a machine that has no time for it', () => {
    const waiting = new Int32Array(new SharedArrayBuffer(4));
    const slow = { toJSON: () => `${Atomics.wait(waiting, 0, 0, 150)}` };
    expect(renderTemplate('{{ slow }}, {{ name }}', { slow, name: 'Ada' })).toBe('"timed-out", Ada');
  });

  it('renders a long prompt', () => {
    const template = `Hello {{ name }}. ${'Be kind. '.repeat(10_000)}`;
    expect(renderTemplate(template, { name: 'Ada' })).toBe(template.replace('{{ name }}', 'Ada'));
  });

  it('fails with the code template_error', () => {
    expect(() => renderTemplate('{{', {})).toThrow(
      expect.objectContaining({ code: 'template_error', category: 'invalid' }),
    );
  });

  it('renders or refuses any text', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '{{',
        '}}',
        '{%',
        '%}',
        ' name ',
        'if',
        'endif',
        '|',
        ' for x in y ',
        'a.b',
        '"',
        '[0]',
      ),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (pieces, variables) => {
          const template = pieces.join('');
          try {
            expect(typeof renderTemplate(template, variables)).toBe('string');
          } catch (error) {
            expect(error).toMatchObject({ code: 'template_error' });
          }
        },
      ),
    );
  });
});

describe('templateVariables', () => {
  it.each([
    ['none', []],
    ['{{ a.b[c] }} {{ d | append: e }}', ['a', 'c', 'd', 'e']],
    ['{% if vip and age > 3 %}{% endif %}', ['vip', 'age']],
    ['{% for x in list %}{{ x.name }}{{ forloop.index }}{% endfor %}', ['list']],
    ['{% assign n = count %}{{ n }}', ['count']],
  ])('lists the variables of %j', (template, names) => {
    expect(templateVariables(template).toSorted()).toEqual(names.toSorted());
  });
});

describe('templateWords', () => {
  it.each([
    ['name', []],
    ['{{ a.b[c] }} {{ d | append: e }}', ['a', 'c', 'd', 'e']],
    ['{% if vip and age > 3 %}{% endif %}', ['if', 'vip', 'and', 'age', 'endif']],
    ['{{ a | upcase |  size }}{{ b["c"] }}{{ "d" }}', ['a', 'b']],
    ['{{ a', ['a']],
  ])('lists the words of the tags of %j', (template, words) => {
    expect(templateWords(template)).toEqual(words);
  });

  it('takes linear time', () => {
    const stopwatch = startStopwatch();
    for (const text of ['{{', '{% ', '{{ | ', "{{ '"]) templateWords(text.repeat(20_000));
    expect(stopwatch.elapsedMs()).toBeLessThan(500);
  });
});

describe('renderDeep', () => {
  it('renders only the strings of a JSON value', () => {
    const value = { '{{ a }}': ['{{ a }}', 2, null, { deep: '{{ b }}' }], flag: true };
    const missing: string[] = [];
    expect(renderDeep(value, { a: 'x' }, { onMissing: (name) => missing.push(name) })).toEqual({
      '{{ a }}': ['x', 2, null, { deep: '' }],
      flag: true,
    });
    expect(missing).toEqual(['b']);
  });

  it('handles a key named __proto__ safely', () => {
    const rendered = renderDeep(JSON.parse('{"__proto__":{"polluted":"yes"}}'), {});
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(rendered)).toBe(Object.prototype);
  });

  it('refuses deep nesting', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    expect(() => renderDeep(deep, {})).toThrow(expect.objectContaining({ code: 'template_error' }));
  });
});
