import { Alert, Group, Text, UnstyledButton } from '@mantine/core';
import { CheckCircledIcon, CrossCircledIcon, ExclamationTriangleIcon } from '@radix-ui/react-icons';

import { codeText, textWithCode, transferReasonText } from '../../codes/codeText.ts';
import { formatDuration, formatLatency, formatNumber } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { errorText } from './eventTexts.ts';
import classes from './findings.module.css';
import type { Finding } from './model/findings.ts';
import type { LatencyPart } from './model/turns.ts';
import type { Player } from './Player.ts';
import { partTexts } from './partTexts.ts';

const SHOWN = 8;

type Values = Finding['values'];
type Describe = (values: Values) => string;

const latency = (value: string | number | undefined) => formatLatency(Number(value));
const part = ({ part: name }: Values) => partTexts[name as LatencyPart];

const error = ({ code, message }: Values) => errorText(`${code}`, `${message}`);

const callEnd = ({ status, sip, reason }: Values) =>
  [codeText('callStatus', `${status}`), sip, textWithCode('callEnd', `${reason}`)].filter(
    (one) => one !== '',
  );

const transferEnd = ({ outcome, reason }: Values) =>
  [textWithCode('transferOutcome', `${outcome}`), transferReasonText(`${reason}`)]
    .filter((one) => one !== '')
    .join(', ');

const texts = textsIn<
  Readonly<Record<Finding['kind'], Describe>> & { none: string; title: string; more: Describe }
>({
  en: {
    title: 'What stands out',
    none: 'Nothing went wrong: no slow answer, no error, no lost packets, no failed webhook.',
    more: ({ count }) => `and ${count} more`,
    slow_answer: (values) =>
      `Answer after ${latency(values.latencyMs)}: ${part(values)} took ${latency(values.partMs)}`,
    error: (values) => `Error: ${error(values)}`,
    tool_failed: ({ name, result }) => `Tool ${name} failed: ${result}`,
    fallback: ({ from, to }) => `Provider ${from} failed, ${to} took over`,
    webhook_failed: ({ event, status }) => `Webhook ${event} failed: ${status}`,
    poor_audio: ({ mos, lossPercent, seconds }) =>
      `Poor audio for ${seconds} s: MOS ${formatNumber(Number(mos))}, ${formatNumber(Number(lossPercent))} % lost`,
    call_failed: (values) => `Call: ${callEnd(values).join(', ')}`,
    violation: ({ id }) => `Disclosure ${id} was not heard whole in time`,
    transfer_failed: (values) => `Transfer to ${values.to} failed: ${transferEnd(values)}`,
    interruptions: ({ count }) => `The caller interrupted ${count} times`,
  },
  'zh-TW': {
    title: '值得注意',
    none: '一切正常：沒有緩慢的回應、錯誤、封包遺失或失敗的 Webhook。',
    more: ({ count }) => `還有 ${count} 項`,
    slow_answer: (values) =>
      `${latency(values.latencyMs)} 後才回應：${part(values)}耗時 ${latency(values.partMs)}`,
    error: (values) => `錯誤：${error(values)}`,
    tool_failed: ({ name, result }) => `工具 ${name} 失敗：${result}`,
    fallback: ({ from, to }) => `供應商 ${from} 失敗，改用 ${to}`,
    webhook_failed: ({ event, status }) => `Webhook ${event} 失敗：${status}`,
    poor_audio: ({ mos, lossPercent, seconds }) =>
      `音質不佳 ${seconds} 秒：MOS ${formatNumber(Number(mos))}，遺失 ${formatNumber(Number(lossPercent))} %`,
    call_failed: (values) => `通話：${callEnd(values).join('、')}`,
    violation: ({ id }) => `告知事項 ${id} 未在時限內完整聽完`,
    transfer_failed: (values) => `轉接至 ${values.to} 失敗：${transferEnd(values)}`,
    interruptions: ({ count }) => `來電者插話 ${count} 次`,
  },
});

/** What was slow or wrong, each a step away from its place on the time line. */
export function Findings({ findings, player }: { findings: readonly Finding[]; player: Player }) {
  if (findings.length === 0)
    return (
      <Alert color="green" variant="outline" icon={<CheckCircledIcon />} p="xs">
        {texts.none}
      </Alert>
    );
  return (
    <Group gap="xs" component="section" aria-label={texts.title}>
      {findings.slice(0, SHOWN).map((finding, index) => (
        <UnstyledButton
          // biome-ignore lint/suspicious/noArrayIndexKey: findings have no id
          key={index}
          className={classes.finding}
          data-severe={finding.isSevere || undefined}
          onClick={() => player.playFrom(finding.atMs)}
        >
          {finding.isSevere ? <CrossCircledIcon /> : <ExclamationTriangleIcon />}
          <span className={classes.text}>{texts[finding.kind](finding.values)}</span>
          <span className={classes.time}>{formatDuration(finding.atMs)}</span>
        </UnstyledButton>
      ))}
      {findings.length > SHOWN && (
        <Text size="sm" c="dimmed">
          {texts.more({ count: findings.length - SHOWN })}
        </Text>
      )}
    </Group>
  );
}
