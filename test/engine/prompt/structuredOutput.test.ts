import { describe, expect, it } from 'vitest';
import {
  extractFormat,
  judgeAnswer,
  judgeFormat,
  MOVE_TOOL,
  moveArguments,
  moveTool,
  routeAnswer,
  routeFormat,
} from '../../../src/engine/prompt/structuredOutput.ts';

const choices = [
  { id: 'e1', label: 'Books', sentence: 'The caller wants to book' },
  { id: 'e2', label: 'Else', sentence: '' },
];

describe('Answer formats', () => {
  it('offer each edge as a value of the move tool, described by its sentence or label', () => {
    const tool = moveTool(choices);
    expect(tool.name).toBe(MOVE_TOOL);
    expect(tool.description).toContain('e1: The caller wants to book\ne2: Else');
    expect(tool.parameters).toEqual({
      type: 'object',
      properties: { edge: { type: 'string', enum: ['e1', 'e2'] } },
      required: ['edge'],
      additionalProperties: false,
    });
  });

  it('let a router stay', () => {
    expect(routeFormat(choices).schema).toMatchObject({
      properties: { edge: { type: ['string', 'null'], enum: ['e1', 'e2', null] } },
    });
  });

  it.each([
    ['string', undefined, { type: ['string', 'null'], description: 'd' }],
    ['number', undefined, { type: ['number', 'null'], description: 'd' }],
    ['boolean', undefined, { type: ['boolean', 'null'], description: 'd' }],
    ['date', undefined, { type: ['string', 'null'], description: 'd (YYYY-MM-DD)' }],
    ['enum', ['a', 'b'], { type: ['string', 'null'], enum: ['a', 'b', null], description: 'd' }],
  ] as const)('asks for a %s, or null', (type, values, schema) => {
    const config = { name: 'v', type, description: 'd', ...(values ? { values: [...values] } : {}) };
    const format = extractFormat([config]);
    expect(format.schema).toMatchObject({ properties: { v: schema }, required: ['v'] });
  });

  it('ask a judge for a verdict on each criterion', () => {
    const { schema } = judgeFormat([{ name: 'polite' }]);
    expect(schema).toMatchObject({
      properties: { results: { items: { properties: { name: { enum: ['polite'] } } } } },
    });
  });
});

describe('Answer schemas', () => {
  it('accept a move with extra keys', () => {
    expect(moveArguments.parse({ edge: 'e1', why: 'said so' })).toEqual({ edge: 'e1' });
  });

  it.each([[{}], [{ edge: '' }], [{ edge: null }], ['e1'], [null]])('reject the move %j', (value) => {
    expect(moveArguments.safeParse(value).success).toBe(false);
  });

  it('accept a router that stays, and reject one without an edge', () => {
    expect(routeAnswer.parse({ edge: null })).toEqual({ edge: null });
    expect(routeAnswer.safeParse({}).success).toBe(false);
  });

  it('accept a verdict without a reason', () => {
    expect(judgeAnswer.parse({ results: [{ name: 'polite', passed: true }] })).toEqual({
      results: [{ name: 'polite', passed: true, reason: '' }],
    });
  });
});
