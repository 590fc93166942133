import { expect, onTestFinished, test, vi } from 'vitest';

import { CallwayError } from '../../../src/base/errors.ts';
import { parseTraceparent } from '../../../src/base/tracing.ts';
import {
  type OpenTelemetryOptions,
  openTelemetry,
} from '../../../src/observability/tracing/openTelemetry.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { collectTraces } from '../../support/traceCollector.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

const optionsFor = (endpoint: string, more: Partial<OpenTelemetryOptions> = {}): OpenTelemetryOptions => ({
  endpoint,
  headers: {},
  serviceName: 'callway-test',
  instanceId: 'node-1',
  ratio: 1,
  onError: (error) => {
    throw error;
  },
  ...more,
});

test('Spans reach the collector as a tree with the node’s identity', async () => {
  const assertNoLeaks = detectLeaks();
  const collector = await collectTraces();
  const tracing = openTelemetry(optionsFor(collector.url, { headers: { 'x-team': 'voice' } }));
  const outer = tracing.startSpan('outer', {
    kind: 'server',
    parent: `00-${TRACE_ID}-${SPAN_ID}-01`,
    startMs: 1_700_000_000_000,
    attributes: { given: 'a', absent: undefined },
  });
  const inner = tracing.startSpan('inner', { kind: 'client', parent: outer.traceparent });
  inner.recordError(new CallwayError('unavailable', 'target_away', 'the number +886912345678 is away'));
  inner.end();
  outer.setAttributes({ count: 3 });
  outer.end(1_700_000_001_500);
  await tracing.close();
  await tracing.close();
  await collector.close();

  expect(collector.headers[0]).toMatchObject({ path: '/v1/traces', 'x-team': 'voice' });
  const spans = collector.spans.toSorted((one, other) => one.name.localeCompare(other.name));
  expect(spans).toMatchObject([
    {
      name: 'inner',
      traceId: TRACE_ID,
      parentSpanId: parseTraceparent(outer.traceparent)?.spanId,
      kind: CLIENT,
      status: { code: ERROR, message: 'target_away' },
      attributes: { 'error.type': 'target_away' },
    },
    {
      name: 'outer',
      traceId: TRACE_ID,
      parentSpanId: SPAN_ID,
      kind: SERVER,
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000001500000000',
      attributes: { given: 'a', count: 3 },
      resource: { 'service.name': 'callway-test', 'service.instance.id': 'node-1' },
    },
  ]);
  expect(JSON.stringify(collector.spans)).not.toContain('+886912345678');
  await assertNoLeaks();
});

test('A trace is not exported when the caller or the ratio left it out', async () => {
  const collector = await collectTraces();
  onTestFinished(collector.close);
  const tracing = openTelemetry(optionsFor(collector.url, { ratio: 0 }));
  const left = tracing.startSpan('left out');
  expect(parseTraceparent(left.traceparent)?.flags).toBe(0);
  left.end();
  tracing.startSpan('not sampled by the caller', { parent: `00-${TRACE_ID}-${SPAN_ID}-00` }).end();
  tracing.startSpan('sampled by the caller', { parent: `00-${TRACE_ID}-${SPAN_ID}-01` }).end();
  await tracing.close();
  expect(collector.spans.map(({ name }) => name)).toEqual(['sampled by the caller']);
});

test('A collector that rejects spans is reported; the spans are lost', async () => {
  const collector = await collectTraces(400);
  onTestFinished(collector.close);
  const onError = vi.fn();
  const tracing = openTelemetry(optionsFor(collector.url, { onError }));
  tracing.startSpan('lost').end();
  await tracing.close();
  expect(onError).toHaveBeenCalled();
});
