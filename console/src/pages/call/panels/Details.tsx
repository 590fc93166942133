import { Code, Table, Text } from '@mantine/core';
import { textWithCode } from '../../../codes/codeText.ts';
import { formatCost, formatDateTime, formatDuration, formatLatency, formatNumber } from '../../../formats.ts';
import { textsIn } from '../../../texts.ts';
import type { Timeline } from '../model/callTimeline.ts';

const texts = textsIn({
  en: {
    id: 'Call',
    session: 'Session',
    accepted: 'Accepted',
    started: 'First INVITE',
    answered: 'Answered',
    ended: 'Ended',
    talk: 'Talk time',
    end: 'End',
    sip: 'Last SIP response',
    machine: 'Answered by',
    audio: 'Audio',
    packets: (codec: string, received: string, lost: string) => `${codec}, ${received} packets, ${lost} lost`,
    jitterBuffer: 'Jitter buffer',
    buffering: (delay: string, shed: string, underruns: string, concealed: string) =>
      `${delay} ms, ${shed} packets shed, ${underruns} underruns, ${concealed} ms concealed`,
    latency: 'Latency p50 / p95',
    transfer: 'Transfer',
    tokens: 'Tokens',
    tokensOf: (input: string, cached: string, output: string) =>
      `${input} in (${cached} cached), ${output} out`,
    speech: 'Speech',
    speechOf: (seconds: string, characters: string) => `${seconds} s heard, ${characters} characters spoken`,
    cost: 'Cost',
    unpriced: (names: string) => `without a rate: ${names}`,
    variables: 'Variables',
    metadata: 'Metadata',
  },
  'zh-TW': {
    id: '通話',
    session: '工作階段',
    accepted: '受理時間',
    started: '首個 INVITE',
    answered: '接聽時間',
    ended: '結束時間',
    talk: '通話時間',
    end: '結束原因',
    sip: '最後的 SIP 回應',
    machine: '接聽者',
    audio: '音訊',
    packets: (codec: string, received: string, lost: string) =>
      `${codec}，${received} 個封包，遺失 ${lost} 個`,
    jitterBuffer: '抖動緩衝',
    buffering: (delay: string, shed: string, underruns: string, concealed: string) =>
      `${delay} 毫秒，捨棄 ${shed} 個封包，斷流 ${underruns} 次，補償 ${concealed} 毫秒`,
    latency: '延遲 p50 / p95',
    transfer: '轉接',
    tokens: 'Token',
    tokensOf: (input: string, cached: string, output: string) =>
      `輸入 ${input}（快取 ${cached}），輸出 ${output}`,
    speech: '語音',
    speechOf: (seconds: string, characters: string) => `辨識 ${seconds} 秒，合成 ${characters} 字元`,
    cost: '費用',
    unpriced: (names: string) => `沒有費率：${names}`,
    variables: '變數',
    metadata: '中繼資料',
  },
});

type Row = readonly [string, string | false | null | undefined];

/** What is known of the call as a whole. */
export function Details({
  timeline: { call, sessionId, variables, startedAt, endedAt, usage, cost },
}: {
  timeline: Timeline;
}) {
  const figures = call?.mediaFigures;
  const [p50, p95] = [call?.turnLatencyMs.p50 ?? null, call?.turnLatencyMs.p95 ?? null];
  const rows: readonly Row[] = [
    [texts.id, call?.id],
    [texts.session, sessionId],
    [texts.accepted, call && formatDateTime(call.createdAt)],
    [texts.started, formatDateTime(call?.startedAt ?? startedAt)],
    [texts.answered, call?.answeredAt && formatDateTime(call.answeredAt)],
    [texts.ended, (call?.endedAt ?? endedAt) && formatDateTime(call?.endedAt ?? endedAt ?? '')],
    [texts.talk, call?.durationMs == null ? null : formatDuration(call.durationMs)],
    [texts.end, call?.endReason && textWithCode('callEnd', call.endReason)],
    [texts.sip, call?.sip && `${call.sip.code} ${call.sip.reason}`],
    [texts.machine, call?.answeringMachine && textWithCode('answeringMachine', call.answeringMachine)],
    [
      texts.audio,
      figures &&
        texts.packets(
          figures.codec,
          formatNumber(figures.packetsReceived),
          formatNumber(figures.packetsLost),
        ),
    ],
    [
      texts.jitterBuffer,
      figures &&
        texts.buffering(
          formatNumber(figures.jitterBufferMs),
          formatNumber(figures.shed),
          formatNumber(figures.underruns),
          formatNumber(figures.concealedMs),
        ),
    ],
    [texts.latency, p50 === null || p95 === null ? null : `${formatLatency(p50)} / ${formatLatency(p95)}`],
    [
      texts.transfer,
      call?.transfer &&
        [call.transfer.to, textWithCode('transferOutcome', call.transfer.outcome ?? '')]
          .filter((part) => part !== '')
          .join(' · '),
    ],
    ...spentRows(usage, cost),
  ];
  return (
    <Table fz="sm" layout="fixed">
      <Table.Tbody>
        {rows
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={150} fw={500} scope="row">
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        <JsonRow name={texts.variables} value={variables} />
        {call && <JsonRow name={texts.metadata} value={call.metadata} />}
      </Table.Tbody>
    </Table>
  );
}

function spentRows(usage: Timeline['usage'], cost: Timeline['cost']): readonly Row[] {
  return [
    [
      texts.tokens,
      usage.inputTokens + usage.outputTokens > 0 &&
        texts.tokensOf(
          formatNumber(usage.inputTokens),
          formatNumber(usage.cachedInputTokens),
          formatNumber(usage.outputTokens),
        ),
    ],
    [
      texts.speech,
      usage.recognitionSeconds + usage.synthesisCharacters > 0 &&
        texts.speechOf(formatNumber(usage.recognitionSeconds), formatNumber(usage.synthesisCharacters)),
    ],
    [
      texts.cost,
      cost &&
        [formatCost(cost), cost.unpriced.length > 0 && texts.unpriced(cost.unpriced.join(', '))]
          .filter(Boolean)
          .join(' · '),
    ],
  ];
}

function JsonRow({ name, value }: { name: string; value: unknown }) {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return null;
  return (
    <Table.Tr>
      <Table.Th fw={500} scope="row">
        <Text inherit>{name}</Text>
      </Table.Th>
      <Table.Td>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {JSON.stringify(value, null, 2)}
        </Code>
      </Table.Td>
    </Table.Tr>
  );
}
