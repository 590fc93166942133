import { describe, expect, test } from 'vitest';

import {
  formatTraceparent,
  noopTracer,
  parseTraceparent,
  traceLogFields,
  withSpan,
} from '../../src/base/tracing.ts';
import { recordTraces } from '../support/recordedTraces.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const GIVEN = `00-${TRACE_ID}-${SPAN_ID}-01`;

describe('a traceparent', () => {
  test('is parsed and formatted', () => {
    expect(parseTraceparent(GIVEN)).toEqual({ traceId: TRACE_ID, spanId: SPAN_ID, flags: 1 });
    expect(formatTraceparent({ traceId: TRACE_ID, spanId: SPAN_ID, flags: 0 })).toBe(
      `00-${TRACE_ID}-${SPAN_ID}-00`,
    );
    expect(traceLogFields(GIVEN)).toEqual({ traceId: TRACE_ID });
  });

  test.each([
    ['nothing', undefined],
    ['several', [GIVEN]],
    ['no text', ''],
    ['another version', `01-${TRACE_ID}-${SPAN_ID}-01`],
    ['capitals', GIVEN.toUpperCase()],
    ['an all-zero trace id', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['an all-zero span id', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['too few digits', `00-${TRACE_ID}-${SPAN_ID.slice(1)}-01`],
    ['a longer text', `${GIVEN}-00`],
    ['a line break', `${GIVEN}\r\nX: 1`],
  ])('with %s is rejected', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test('is passed on without tracing', () => {
    const span = noopTracer.startSpan('anything', { parent: GIVEN });
    span.setAttributes({ a: 1 });
    span.end();
    expect(span.traceparent).toBe(GIVEN);
    expect(noopTracer.startSpan('anything').traceparent).toBeUndefined();
    expect(traceLogFields(undefined)).toEqual({});
  });
});

test('withSpan ends the span and records a failure', async () => {
  const { tracing, spans } = recordTraces(() => 5);
  expect(await withSpan(tracing.startSpan('good'), async () => 7)).toBe(7);
  const failure = new Error('no');
  await expect(withSpan(tracing.startSpan('bad'), () => Promise.reject(failure))).rejects.toBe(failure);
  expect(spans).toMatchObject([
    { name: 'good', endMs: 5, failure: undefined },
    { name: 'bad', endMs: 5, failure },
  ]);
});
