import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { WEBHOOK_EVENT_NAMES, webhookBodySchema, webhookBodySchemas } from '../../src/webhooks/events.ts';

const exampleOf = (name: (typeof WEBHOOK_EVENT_NAMES)[number]) => {
  const [example] = (webhookBodySchemas[name].meta()?.examples ?? []) as Record<string, unknown>[];
  return example ?? {};
};

describe('webhook bodies', () => {
  it.each(WEBHOOK_EVENT_NAMES)('of %s have an example that is valid as it stands', (name) => {
    const example = exampleOf(name);
    expect(webhookBodySchemas[name].parse(example)).toEqual(example);
    expect(webhookBodySchema.parse(example)).toEqual(example);
  });

  it.each([
    ['an unknown field', 'session.ended', { secret: 1 }],
    ['another event', 'session.ended', { event: 'call.ended' }],
    ['an unknown channel', 'session.ended', { channel: 'fax' }],
    ['a time without milliseconds', 'session.ended', { occurredAt: '2026-03-14T09:26:53Z' }],
    ['a time of another zone', 'session.ended', { occurredAt: '2026-03-14T09:26:53.589+08:00' }],
    ['no call', 'call.ended', { call: undefined }],
    ['no recording', 'recording.ready', { recording: undefined }],
    ['an unknown outcome of the recording', 'recording.ready', { recording: { status: 'pending' } }],
    ['no transcript', 'session.finalized', { messages: undefined }],
    ['a negative duration', 'session.finalized', { durationMs: -1 }],
    [
      'a judgement without a result',
      'session.finalized',
      { evaluation: { criteria: [{ name: 'a', reason: 'b' }] } },
    ],
  ] as const)('refuse %s', (_what, name, change) => {
    expect(webhookBodySchemas[name].safeParse({ ...exampleOf(name), ...change }).success).toBe(false);
  });

  it.each([
    ['a chat session without a call', 'session.ended', { channel: 'chat', call: undefined }],
    [
      'a call that was refused',
      'call.ended',
      {
        call: {
          callId: 'c',
          direction: 'outbound',
          fromNumber: '+1',
          toNumber: '+2',
          status: 'busy',
          endReason: null,
          durationMs: 0,
          sip: { code: 486, reason: 'Busy Here' },
          answeringMachine: null,
          campaignId: null,
          contactId: null,
          violations: [],
          metadata: {},
          externalId: null,
          dynamicVariables: {},
        },
      },
    ],
    [
      'a failed recording',
      'recording.ready',
      { recording: { status: 'failed', error: 'disk full' }, recordingUrl: undefined },
    ],
    [
      'tool calls and what was cut off',
      'session.finalized',
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            at: '2026-03-14T09:26:11.990Z',
            tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', content: '1', at: '2026-03-14T09:26:12.990Z', tool_call_id: 't', name: 'f' },
          {
            role: 'assistant',
            content: 'One',
            at: '2026-03-14T09:26:13.990Z',
            latencyMs: 612.5,
            interrupted: true,
            generatedText: 'One moment',
          },
        ],
      },
    ],
  ] as const)('take %s', (_what, name, change) => {
    expect(webhookBodySchemas[name].safeParse({ ...exampleOf(name), ...change }).error).toBeUndefined();
  });

  it.each(WEBHOOK_EVENT_NAMES)('of %s can be written as JSON Schema that allows no other field', (name) => {
    const id = webhookBodySchemas[name].meta()?.id ?? '';
    const { $ref, $defs } = z.toJSONSchema(webhookBodySchemas[name], { target: 'draft-2020-12' });
    expect($ref).toBe(`#/$defs/${id}`);
    expect($defs?.[id]).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { event: { const: name } },
      required: expect.arrayContaining([
        'event',
        'sessionId',
        'projectId',
        'channel',
        'occurredAt',
        'deliveryId',
      ]),
      description: expect.any(String),
    });
  });
});
