import { describe, expect, test } from 'vitest';
import { type BodyFormat, renderBody, renderHeader, renderUrl } from '../../src/agents/requestTemplates.ts';

const ATTACK = '../../admin/wipe?all=1#';

describe('The URL of a tool', () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      '/guests/{{ guest.id }}/notes',
      { guest: { id: ATTACK } },
      '/guests/..%2F..%2Fadmin%2Fwipe%3Fall%3D1%23/notes',
    ],
    ['/{{ list[0].deep.name }}', { list: [{ deep: { name: 'a/b c' } }] }, '/a%2Fb%20c'],
    ['/x?q={{ q }}&r=1', { q: 'a&r=2#' }, '/x?q=a%26r%3D2%23&r=1'],
    ['/{% if id %}{{ id }}{% endif %}', { id: 'a/b' }, '/a%2Fb'],
    ['/{% assign other = id %}{{ other }}', { id: 'a/b' }, '/a%2Fb'],
    ['/{% for id in ids %}{{ id }},{% endfor %}', { ids: ['/', '?'] }, '/%2F,%3F,'],
    ['/{{ id | raw }}', { id: '/' }, '/%2F'],
    ['/{% echo id %}', { id: '/' }, '/%2F'],
    ['/{% liquid echo id %}', { id: '/' }, '/%2F'],
    ['/{{ guest }}', { guest: { id: 'ä' } }, '/%7B%22id%22%3A%22%C3%A4%22%7D'],
    ['/{{ id | url_encode }}/{{ list }}', { id: '+1 /', list: ['a'] }, '/%2B1%20%2F/%5B%22a%22%5D'],
    ['/{{ text }}', { text: '\ud800' }, '/%EF%BF%BD'],
  ])('escapes the values of %j', (path, variables, expected) => {
    expect(renderUrl(`https://example.com${path}`, variables, {})).toBe(`https://example.com${expected}`);
  });

  test.each<[string, Record<string, unknown>]>([
    ['/guests/{{ id }}/notes', { id: '..' }],
    ['/guests/{{ id }}/notes', { id: '.' }],
    ['/guests/{{ a }}{{ b }}/notes', { a: '.', b: '.' }],
    ['/guests/.{{ id }}', { id: '.' }],
    ['/guests/%2e{{ id }}/notes', { id: '.' }],
    ['/guests/{{ guest.id }}?x=1', { guest: { id: '..' } }],
  ])('refuses a dot segment in %j', (path, variables) => {
    expect(() => renderUrl(`https://example.com${path}`, variables, {})).toThrow('. or ..');
  });
});

describe('A header of a tool', () => {
  test('takes a value', () => {
    expect(renderHeader('Bearer {{ token }}', { token: 'a b' }, {})).toBe('Bearer a b');
  });

  test.each(['a\r\nx-admin: 1', 'a\nb', 'a\0', '王'])('refuses %j', (value) => {
    expect(() => renderHeader('{{ guest.id }}', { guest: { id: value } }, {})).toThrow('Latin-1');
  });
});

describe('The body of a tool', () => {
  const BREAKOUT = 'x","admin":true,"y":"';

  test.each<[string, string, Record<string, unknown>, unknown]>([
    ['a text in quotes', '{"name": "{{ name }}"}', { name: BREAKOUT }, { name: BREAKOUT }],
    ['a nested value', '{"a": ["{{ g.b.c }}!"]}', { g: { b: { c: BREAKOUT } } }, { a: [`${BREAKOUT}!`] }],
    ['an object in quotes', '{"guest": "{{ guest }}"}', { guest: { id: 1 } }, { guest: { id: 1 } }],
    ['an object within a text', '{"a": "is {{ guest }}"}', { guest: { id: 1 } }, { a: 'is {"id":1}' }],
    ['a number in quotes', '{"n": "{{ n }}"}', { n: 5 }, { n: 5 }],
    ['values without quotes', '{"n": {{ n }}, "t": {{ t }}}', { n: 5, t: BREAKOUT }, { n: 5, t: BREAKOUT }],
    ['a list without quotes', '{"l": {{ l }}}', { l: ['"', 2] }, { l: ['"', 2] }],
    [
      'a missing value',
      '{"a": "{{ a }}", "b": {{ b }}, "c": "{{ c }}"}',
      { c: null },
      { a: '', b: null, c: null },
    ],
    ['a key', '{"{{ key }}": 1}', { key: '"' }, { '"': 1 }],
    ['a key of the prototype', '{"{{ key }}": 1}', { key: '__proto__' }, JSON.parse('{"__proto__":1}')],
    [
      'the filter json',
      '{"a": {{ g | json }}, "b": "{{ t | json }}"}',
      { g: [1], t: '"' },
      { a: [1], b: '"' },
    ],
    ['quotes in a filter', '{"a": "{{ a | default: "none" }}"}', {}, { a: 'none' }],
    [
      'a loop',
      '[{% for x in l %}{{ x }}{% unless forloop.last %},{% endunless %}{% endfor %}]',
      { l: ['"', 1] },
      ['"', 1],
    ],
    ['escapes of the author', '{"a": "\\"{{ a }}\\\\"}', { a: '"' }, { a: '""\\' }],
  ])('of JSON has %s', (_name, template, variables, expected) => {
    expect(JSON.parse(renderBody(template, 'json', variables, {}))).toEqual(expected);
  });

  test.each(['{"a": {{ a }}{{ a }}}', '{{ a', 'a={{ a }}', `${'['.repeat(40)}${']'.repeat(40)}`])(
    'of JSON refuses %j',
    (template) => {
      expect(() => renderBody(template, 'json', { a: 1 }, {})).toThrow();
    },
  );

  test.each([
    '{"role": "guest", "{{ key }}": 1}',
    '{"{{ key }}": 1, "role": "guest"}',
    '{"{{ key }}": 1, "{{ key }}{{ none }}": 2}',
  ])('of JSON refuses a value that makes a key the same as another one: %j', (template) => {
    expect(() => renderBody(template, 'json', { key: 'role' }, {})).toThrow('the same as another');
  });

  test.each<[BodyFormat, string, string, string]>([
    ['form', 'name={{ name }}&role=user', 'a&role=admin', 'name=a%26role%3Dadmin&role=user'],
    ['markup', '<name a="{{ name }}"/>', '"/><admin/>', '<name a="&quot;/&gt;&lt;admin/&gt;"/>'],
    ['text', 'Name: {{ name }}', '<&>', 'Name: <&>'],
  ])('of format %s escapes its values', (format, template, name, expected) => {
    expect(renderBody(template, format, { name }, {})).toBe(expected);
  });
});
