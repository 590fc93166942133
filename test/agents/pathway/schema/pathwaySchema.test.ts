import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  edgeInputSchema,
  edgePatchSchema,
  edgeSchema,
  isEventCondition,
  isExpression,
} from '../../../../src/agents/pathway/schema/edgeSchema.ts';
import {
  nodeInputSchema,
  nodePatchSchema,
  nodeSchema,
} from '../../../../src/agents/pathway/schema/nodeSchema.ts';
import { pathwaySchema } from '../../../../src/agents/pathway/schema/pathwaySchema.ts';
import { zodDetails } from '../../../../src/base/validation.ts';

function details(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value);
  return result.success ? [] : zodDetails(result.error).map(({ path, message }) => `${path}: ${message}`);
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}

const node = (data: object, type = 'conversation') => ({ id: 'n', type, data: { title: 'N', ...data } });
const edge = (data: object) => ({ id: 'e', source: 'a', target: 'b', data });

describe('A node', () => {
  it('gets defaults for omitted fields', () => {
    expect(nodeSchema.parse(node({}))).toEqual({
      id: 'n',
      type: 'conversation',
      data: { title: 'N', prompt: '', tools: [] },
      position: { x: 0, y: 0 },
    });
  });

  it.each([
    ['tool', { tools: ['lookup'], arguments: { order: { number: '{{ orderNumber }}' } } }],
    ['knowledge', { query: '{{ topic }}', topK: 50, scoreThreshold: 0 }],
    ['transfer', { to: 'sip:{{ department }}@pbx.example.com' }],
    ['transfer', { to: '0212345678' }],
    ['transfer', { to: 'sips:desk@example.com:5061' }],
    ['say', { prompt: 'Hello.\n\tWelcome.', expectedAnswers: ['yes'] }],
  ])('of type %s accepts %j', (type, data) => {
    expect(details(nodeSchema, node(data, type))).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['an unknown field', { ...node({}), colour: 'red' }, ['/colour: colour is not a known field']],
    ['a key of another type', node({ to: '1' }, 'say'), ['/data/to: to is not a known field']],
    [
      'an unknown type',
      node({}, 'loop'),
      [
        '/type: type must be "start", "conversation", "say", "condition", "end", "tool", "knowledge" or "transfer"',
      ],
    ],
    ['no title', { id: 'n', type: 'say', data: {} }, ['/data/title: title is required and must be a string']],
    ['an empty title', node({ title: '' }), ['/data/title: title must not be empty']],
    ['a NUL', node({ prompt: 'a\u0000b' }), ['/data/prompt: prompt must not contain control characters']],
    [
      'half a surrogate',
      node({ prompt: '\ud800' }),
      ['/data/prompt: prompt must not contain control characters'],
    ],
    [
      'a long prompt',
      node({ prompt: 'a'.repeat(20_001) }),
      ['/data/prompt: prompt must have at most 20000 characters'],
    ],
    ['an empty id', { ...node({}), id: '' }, ['/id: id must not be empty']],
    ['an id with a line end', { ...node({}), id: 'a\n' }, ['/id: id must be free of control characters']],
    ['a long id', { ...node({}), id: 'a'.repeat(129) }, ['/id: id must have at most 128 characters']],
    [
      'a tool node without its tool',
      node({ tools: [] }, 'tool'),
      ['/data/tools: tools must have exactly one entry'],
    ],
    [
      'a tool that is no string',
      node({ tools: ['a', 4] }),
      ['/data/tools/1: tools[1] must be a string, not a number'],
    ],
    ['a transfer to nowhere', node({}, 'transfer'), ['/data/to: a transfer node needs either to or targets']],
    [
      'a transfer to both',
      node({ to: '+886212345678', targets: ['+886212345679'] }, 'transfer'),
      ['/data/to: a transfer node needs either to or targets'],
    ],
    [
      'a transfer in a mode that does not exist',
      node({ to: '+886212345678', mode: 'hot' }, 'transfer'),
      ['/data/mode: mode must be "blind", "refer" or "warm"'],
    ],
    [
      'a transfer to a word',
      node({ to: 'the boss' }, 'transfer'),
      [
        '/data/to: to must be a phone number such as +886212345678, a SIP URI such as sip:desk@example.com, or a template',
      ],
    ],
    [
      'a number as a string',
      node({ topK: '5' }, 'knowledge'),
      ['/data/topK: topK must be a number, not a string'],
    ],
    [
      'a threshold over one',
      node({ scoreThreshold: 2 }, 'knowledge'),
      ['/data/scoreThreshold: scoreThreshold must be at most 1'],
    ],
    [
      'half a position',
      { ...node({}), position: { x: 1 } },
      ['/position/y: y is required and must be a number'],
    ],
    [
      'arguments too deep',
      node({ tools: ['t'], arguments: nested(40) }, 'tool'),
      ['/data/arguments: arguments must be nested at most 32 levels deep'],
    ],
  ])('is refused for %s', (_name, value, expected) => {
    expect(details(nodeSchema, value)).toEqual(expected);
  });

  it('needs an id, except as the input of a new node', () => {
    const { id: _id, ...anonymous } = node({});
    expect(details(nodeInputSchema, anonymous)).toEqual([]);
    expect(details(nodeSchema, anonymous)).toEqual(['/id: id is required and must be a string']);
  });
});

describe('A node patch', () => {
  it.each([
    [{}],
    [{ data: { title: 'T' } }],
    [{ 'data.title': 'T', 'data.prompt': '', 'data.tools': [] }],
    [{ data: { title: 'T' }, 'data.title': 'T' }],
    [{ data: { query: null, topK: null, expectedAnswers: null, arguments: null, scoreThreshold: null } }],
    [{ position: { x: -1.5, y: 2 } }],
  ])('accepts %j', (patch) => {
    expect(details(nodePatchSchema, patch)).toEqual([]);
    expect(nodePatchSchema.parse(patch)).toEqual(patch);
  });

  it.each([
    [{ id: 'x' }, '/id: id is not a known field'],
    [{ type: 'say' }, '/type: type is not a known field'],
    [{ data: { title: null } }, '/data/title: title must be a string, not null'],
    [{ 'data.tools': 'a' }, '/data.tools: data.tools must be an array, not a string'],
    [
      { data: { title: 'A' }, 'data.title': 'B' },
      '/data.title: data.title differs from title inside data; give one of them',
    ],
  ])('refuses %j', (patch, expected) => {
    expect(details(nodePatchSchema, patch)).toEqual([expected]);
  });
});

describe('An edge', () => {
  it('without data is unconditional', () => {
    expect(edgeSchema.parse({ id: 'e', source: 'a', target: 'b' }).data).toEqual({
      label: '',
      condition: null,
      priority: 0,
      fallback: false,
    });
  });

  it.each<[unknown, 'always' | 'sentence' | 'event' | 'expression']>([
    [null, 'always'],
    ['The caller agrees.', 'sentence'],
    [{ event: 'dtmf' }, 'event'],
    [{ event: 'dtmf', digits: '1*#A' }, 'event'],
    [{ event: 'silence', afterMs: 8000 }, 'event'],
    [{ event: 'tool_result', ok: false, tool: 'lookup' }, 'event'],
    [{ event: 'voicemail' }, 'event'],
    [{ '==': [{ var: 'a' }, 1] }, 'expression'],
  ])('reads the condition %j as %s', (condition, kind) => {
    const parsed = edgeSchema.parse(edge({ condition })).data.condition;
    expect(parsed).toEqual(condition);
    expect([isEventCondition(parsed), isExpression(parsed)]).toEqual([
      kind === 'event',
      kind === 'expression',
    ]);
  });

  it.each<[string, object, string]>([
    ['a number', { condition: 3 }, '/data/condition: condition must be a string, null or an object'],
    ['a list', { condition: [] }, '/data/condition: condition must be a string, null or an object'],
    ['an empty sentence', { condition: '' }, '/data/condition: condition must not be empty'],
    ['a blank sentence', { condition: '  ' }, '/data/condition: condition must say something, or be null'],
    [
      'an unknown event',
      { condition: { event: 'rain' } },
      '/data/condition/event: event must be "dtmf", "silence", "tool_result", "not_understood", "opt_out", "voicemail", "screening" or "transfer"',
    ],
    [
      'keys that no telephone has',
      { condition: { event: 'dtmf', digits: '1x' } },
      '/data/condition/digits: digits must be DTMF digits: 0 to 9, A to D, * and #',
    ],
    [
      'a key of another event',
      { condition: { event: 'voicemail', digits: '1' } },
      '/data/condition/digits: digits is not a known field',
    ],
    [
      'an expression too deep',
      { condition: nested(40) },
      '/data/condition: condition must be nested at most 32 levels deep',
    ],
    ['a fraction for a priority', { priority: 0.5 }, '/data/priority: priority must be a whole number'],
    ['an unknown field', { colour: 1 }, '/data/colour: colour is not a known field'],
  ])('is refused for %s', (_name, data, expected) => {
    expect(details(edgeSchema, edge(data))).toEqual([expected]);
  });

  it('needs an id, except as the input of a new node', () => {
    expect(details(edgeInputSchema, { source: 'a', target: 'b' })).toEqual([]);
    expect(details(edgeSchema, { source: 'a', target: 'b' })).toEqual([
      '/id: id is required and must be a string',
    ]);
  });

  it('patch changes only the given fields', () => {
    const patch = { data: { condition: null, priority: null, fallback: null } };
    expect(edgePatchSchema.parse(patch)).toEqual(patch);
    expect(edgePatchSchema.parse({})).toEqual({});
    expect(details(edgePatchSchema, { id: 'x' })).toEqual(['/id: id is not a known field']);
  });
});

describe('A pathway', () => {
  it.each<[string, unknown, string]>([
    ['no nodes', { nodes: [], edges: [] }, '/nodes: nodes must have at least one entry'],
    [
      'too many nodes',
      { nodes: Array(501).fill(node({})), edges: [] },
      '/nodes: nodes must have at most 500 entries',
    ],
    [
      'too many edges',
      { nodes: [node({})], edges: Array(2001).fill(edge({})) },
      '/edges: edges must have at most 2000 entries',
    ],
    ['no edges', { nodes: [node({})] }, '/edges: edges is required and must be an array'],
    [
      'a bad field deep inside',
      { nodes: [node({}), node({ prompt: 1 })], edges: [] },
      '/nodes/1/data/prompt: prompt must be a string, not a number',
    ],
  ])('is refused for %s', (_name, value, expected) => {
    expect(details(pathwaySchema, value)).toEqual([expected]);
  });

  it('is validated without an exception, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => void details(pathwaySchema, { nodes: [value], edges: [value] })),
    );
  });

  it('is validated safely at any nesting depth', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
    const value = {
      nodes: [node({ tools: ['t'], arguments: deep }, 'tool')],
      edges: [edge({ condition: deep })],
    };
    expect(details(pathwaySchema, value)).toHaveLength(2);
  });

  it('drops keys named __proto__', () => {
    const value = JSON.parse('{"tools":["t"],"arguments":{"__proto__":{"polluted":true}}}');
    const parsed = nodeSchema.parse(node(value, 'tool'));
    expect(JSON.stringify(parsed)).not.toContain('polluted');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([['input'], ['output']] as const)('has a JSON schema for %s with every field described', (io) => {
    const document = z.toJSONSchema(pathwaySchema, { io });
    const text = JSON.stringify(document);
    for (const word of ['expectedAnswers', 'scoreThreshold', 'tool_result', 'JSONLogic', 'E.164']) {
      expect(text).toContain(word);
    }
  });
});
