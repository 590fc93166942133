import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';

import { tempDir } from '../support/tempDir.ts';

const RULES = new URL('../../docker/monitoring/alerts.yaml', import.meta.url).pathname;
const names: string[] = parse(readFileSync(RULES, 'utf8')).groups.flatMap(
  ({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert),
);
/** Samples a minute apart; long enough for the longest `for` and its range. */
const MINUTES = 45;
/** Between two evaluations; the last one is at the end. Each minute would take promtool three times as long. */
const EVALUATION_MINUTES = 4;

/** A series and its samples in promtool's notation: `0+5x45` is 0, 5, 10 and so on. */
type Series = readonly [name: string, samples: string];
interface AlertCase {
  readonly alert: string;
  readonly fires: readonly Series[];
  readonly staysQuiet: readonly Series[];
}
const steady = (value: number) => `${value}x${MINUTES}`;
const growing = (perMinute: number) => `0+${perMinute}x${MINUTES}`;
const up = (name: string) => `callway_dependency_up{dependency="${name}",instance="a"}`;
const elsewhere = (name: string) => `callway_dependency_up{dependency="${name}",instance="b"}`;
const bucket = (name: string, le: string, more = '') => `${name}_bucket{le="${le}"${more}}`;
const utterances = (result: string) => `callway_utterances_total{result="${result}"}`;
const gigabyte = 1_073_741_824;

const cases: readonly AlertCase[] = [
  one('CallwayNodeDown', 'up{job="callway",instance="a"}', steady(0), steady(1)),
  {
    alert: 'CallwayNoVoice',
    fires: [
      ['callway_talks_active', steady(0)],
      ['callway_calls_active', steady(5)],
    ],
    staysQuiet: [
      ['callway_talks_active', steady(5)],
      ['callway_calls_active', steady(5)],
    ],
  },
  {
    alert: 'CallwayCallsFail',
    fires: [
      ['callway_calls_total{status="failed"}', growing(5)],
      ['callway_calls_total{status="completed"}', growing(5)],
    ],
    staysQuiet: [
      ['callway_calls_total{status="failed"}', growing(2)],
      ['callway_calls_total{status="completed"}', growing(50)],
    ],
  },
  one('CallwayCallsRefused', 'callway_calls_refused_total{reason="destination"}', growing(5), growing(1)),
  one('CallwayTrunkDown', 'callway_trunk_reachable{trunk="t"}', steady(0), steady(1)),
  one('CallwayTrunkNotRegistered', 'callway_trunk_registered{trunk="t"}', steady(0), steady(1)),
  {
    alert: 'CallwayNodesFull',
    fires: [
      ['callway_call_places_used', steady(95)],
      ['callway_call_places_limit', steady(100)],
    ],
    staysQuiet: [
      ['callway_call_places_used', steady(50)],
      ['callway_call_places_limit', steady(100)],
    ],
  },
  one('CallwayNodeOverloaded', 'callway_node_overloaded{instance="a",part="rtp"}', steady(1), steady(0)),
  one('CallwayCallsWait', 'callway_queue_jobs{queue="calls",state="waiting"}', steady(200), steady(10)),
  {
    alert: 'CallwaySlowTurns',
    fires: latency('callway_turn_latency_seconds', ',stage="total"', '3', '5', 'late'),
    staysQuiet: latency('callway_turn_latency_seconds', ',stage="total"', '3', '5', 'early'),
  },
  {
    alert: 'CallwayNotUnderstood',
    fires: [
      [utterances('without_words'), growing(0.25)],
      [utterances('with_words'), growing(0.25)],
      [utterances('dropped'), growing(5)],
    ],
    staysQuiet: [
      [utterances('without_words'), growing(1)],
      [utterances('with_words'), growing(20)],
    ],
  },
  one('CallwayUnheardAudio', 'callway_unheard_audio_seconds_total', growing(1), steady(100)),
  {
    alert: 'CallwayLatePackets',
    fires: latency('callway_playout_lateness_seconds', ',instance="a"', '0.016', '0.032', 'late'),
    staysQuiet: latency('callway_playout_lateness_seconds', ',instance="a"', '0.016', '0.032', 'early'),
  },
  {
    alert: 'CallwayPacketLoss',
    fires: [
      ['callway_rtp_lost_packets_total', growing(50)],
      ['callway_rtp_packets_total{direction="received"}', growing(1000)],
    ],
    staysQuiet: [
      ['callway_rtp_lost_packets_total', growing(1)],
      ['callway_rtp_packets_total{direction="received"}', growing(1000)],
    ],
  },
  one('CallwayModelErrors', 'callway_model_errors_total{model="chat"}', growing(30), growing(1)),
  {
    alert: 'CallwayProviderDegraded',
    fires: [
      ['callway_provider_up{provider="deepgram",instance="a"}', steady(1)],
      ['callway_provider_up{provider="deepgram",instance="b"}', steady(0)],
    ],
    // Failures between others that are answered.
    staysQuiet: [['callway_provider_up{provider="deepgram",instance="a"}', '0x5 1 0x5 1 0x5 1 1x30']],
  },
  {
    alert: 'CallwayWebhooksFail',
    fires: [
      ['callway_webhook_deliveries_total{result="failed"}', growing(5)],
      ['callway_webhook_deliveries_total{result="delivered"}', growing(1)],
    ],
    staysQuiet: [
      ['callway_webhook_deliveries_total{result="failed"}', growing(5)],
      ['callway_webhook_deliveries_total{result="delivered"}', growing(50)],
    ],
  },
  one('CallwaySipFlood', 'callway_sip_events_total{event="refused.flood"}', growing(200), growing(1)),
  one('CallwayEventLoopLag', 'nodejs_eventloop_lag_p99_seconds{job="callway"}', steady(1), steady(0)),
  one(
    'CallwayVoiceThreadLag',
    'callway_voice_thread_lag_p99_seconds{job="callway",thread="1"}',
    steady(1),
    steady(0),
  ),
  {
    alert: 'CallwayDatabaseDown',
    fires: [
      [up('database'), steady(0)],
      [elsewhere('database'), steady(0)],
    ],
    staysQuiet: [
      [up('database'), steady(0)],
      [elsewhere('database'), steady(1)],
    ],
  },
  {
    alert: 'CallwayRedisDown',
    fires: [
      [up('redis'), steady(0)],
      [elsewhere('redis'), steady(0)],
    ],
    staysQuiet: [
      [up('redis'), steady(0)],
      [elsewhere('redis'), steady(1)],
    ],
  },
  one('CallwaySipDown', up('sip'), steady(0), steady(1)),
  {
    alert: 'CallwayDependencyDown',
    fires: [
      [up('database'), steady(0)],
      [elsewhere('database'), steady(1)],
    ],
    staysQuiet: [
      [up('database'), steady(1)],
      [elsewhere('database'), steady(1)],
    ],
  },
  {
    alert: 'CallwayHttpErrors',
    fires: [
      ['callway_http_request_duration_seconds_count{status="500"}', growing(10)],
      ['callway_http_request_duration_seconds_count{status="200"}', growing(90)],
    ],
    staysQuiet: [
      ['callway_http_request_duration_seconds_count{status="500"}', growing(1)],
      ['callway_http_request_duration_seconds_count{status="200"}', growing(990)],
    ],
  },
  one('CallwayWebhookBacklog', 'callway_webhook_delay_seconds', steady(600), steady(5)),
  {
    alert: 'CallwayDiskFull',
    fires: [
      ['callway_disk_free_bytes{instance="a"}', steady(5 * gigabyte)],
      ['callway_disk_size_bytes{instance="a"}', steady(100 * gigabyte)],
    ],
    staysQuiet: [
      ['callway_disk_free_bytes{instance="a"}', steady(50 * gigabyte)],
      ['callway_disk_size_bytes{instance="a"}', steady(100 * gigabyte)],
    ],
  },
  // Tests begin at the Unix time 0.
  one('CallwayCertificateEnds', 'callway_certificate_end_seconds', steady(7 * 86_400), steady(30 * 86_400)),
  one('CallwayClockOff', 'callway_clock_offset_seconds{instance="a"}', '-3x45', steady(1)),
];

function one(alert: string, series: string, firing: string, quiet: string): AlertCase {
  return { alert, fires: [[series, firing]], staysQuiet: [[series, quiet]] };
}

/** A histogram whose samples lie before or after a bound. */
function latency(
  name: string,
  labels: string,
  bound: string,
  next: string,
  when: 'early' | 'late',
): Series[] {
  const within = when === 'early' ? 100 : 0;
  return [
    [bucket(name, bound, labels), growing(within)],
    [bucket(name, next, labels), growing(100)],
    [bucket(name, '+Inf', labels), growing(100)],
  ];
}

test('each alert has a case', () => {
  expect(cases.map(({ alert }) => alert).sort()).toEqual([...names].sort());
});

test('each alert fires when it should, and only then', () => {
  const tests = cases.flatMap(({ alert, fires, staysQuiet }) =>
    (
      [
        [fires, 1],
        [staysQuiet, 0],
      ] as const
    ).map(([series, count]) => ({
      interval: '1m',
      input_series: series.map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `count(max by (alertname) (ALERTS{alertname="${alert}",alertstate="firing"})) or vector(0)`,
          eval_time: `${MINUTES - 1}m`,
          exp_samples: [{ labels: '{}', value: count }],
        },
      ],
    })),
  );
  const file = join(tempDir(), 'alerts.test.yaml');
  writeFileSync(
    file,
    stringify({ rule_files: [RULES], evaluation_interval: `${EVALUATION_MINUTES}m`, tests }),
  );
  expect(execFileSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
});

test('docs/operations.md says for each alert what to do', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const name of names) expect(page).toContain(`\n| \`${name}\` | `);
});
