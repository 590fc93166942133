import { NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core';

import { textsIn } from '../../../texts.ts';
import type { Turn } from '../testData.ts';
import { AssertionFields, newAssertion } from './AssertionFields.tsx';

const texts = textsIn({
  en: {
    kind: 'What happens',
    kinds: {
      say: 'The caller says',
      dtmf: 'The caller presses keys',
      waitMs: 'The caller waits for the agent',
      interrupt: 'The caller interrupts',
      silenceMs: 'The caller stays silent',
      hangup: 'The caller hangs up',
      expect: 'Something must hold now',
    },
    words: 'Words',
    digits: 'Keys: 0-9, A-D, * and #',
    milliseconds: 'Milliseconds',
    afterMs: 'Milliseconds after the agent begins to speak',
  },
  'zh-TW': {
    kind: '動作',
    kinds: {
      say: '來電者說',
      dtmf: '來電者按鍵',
      waitMs: '來電者等待代理',
      interrupt: '來電者打斷',
      silenceMs: '來電者保持沉默',
      hangup: '來電者掛斷',
      expect: '此時必須成立',
    },
    words: '內容',
    digits: '按鍵：0-9、A-D、* 與 #',
    milliseconds: '毫秒',
    afterMs: '代理開始說話後的毫秒數',
  },
});

type Kind = keyof typeof texts.kinds;

/** What a new turn of a kind begins with. */
const EMPTY: { readonly [Name in Kind]: Turn } = {
  say: { say: '' },
  dtmf: { dtmf: '' },
  waitMs: { waitMs: 1000 },
  interrupt: { interrupt: { afterMs: 500, say: '' } },
  silenceMs: { silenceMs: 5000 },
  hangup: { hangup: true },
  expect: { expect: newAssertion() },
};

export const newTurn = (): Turn => EMPTY.say;

interface TurnProps {
  projectId: string;
  turn: Turn;
  onChange: (turn: Turn) => void;
}

export function TurnFields({ projectId, turn, onChange }: TurnProps) {
  return (
    <Stack gap="xs">
      <Select
        aria-label={texts.kind}
        data={Object.entries(texts.kinds).map(([value, label]) => ({ value: value as Kind, label }))}
        value={kindOf(turn)}
        onChange={(kind) => kind && onChange(EMPTY[kind])}
        allowDeselect={false}
      />
      <OwnFields projectId={projectId} turn={turn} onChange={onChange} />
    </Stack>
  );
}

function kindOf(turn: Turn): Kind {
  return (Object.keys(EMPTY) as Kind[]).find((kind) => kind in turn) ?? 'say';
}

function OwnFields({ projectId, turn, onChange }: TurnProps) {
  if ('say' in turn) return <Words value={turn.say} onChange={(say) => onChange({ say })} />;
  if ('dtmf' in turn) {
    return (
      <TextInput
        label={texts.digits}
        value={turn.dtmf}
        onChange={(event) => onChange({ dtmf: event.currentTarget.value })}
        pattern="[0-9A-D*#]{1,64}"
        required
      />
    );
  }
  if ('waitMs' in turn) {
    return (
      <Milliseconds
        label={texts.milliseconds}
        value={turn.waitMs}
        onChange={(waitMs) => onChange({ waitMs })}
      />
    );
  }
  if ('silenceMs' in turn) {
    return (
      <Milliseconds
        label={texts.milliseconds}
        value={turn.silenceMs}
        onChange={(silenceMs) => onChange({ silenceMs })}
      />
    );
  }
  if ('interrupt' in turn) {
    const { afterMs, say } = turn.interrupt;
    return (
      <>
        <Milliseconds
          label={texts.afterMs}
          value={afterMs}
          onChange={(changed) => onChange({ interrupt: { afterMs: changed, say } })}
        />
        <Words value={say} onChange={(changed) => onChange({ interrupt: { afterMs, say: changed } })} />
      </>
    );
  }
  if ('expect' in turn) {
    return (
      <AssertionFields
        projectId={projectId}
        value={turn.expect}
        onChange={(expect) => onChange({ expect })}
      />
    );
  }
  return null;
}

function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Textarea
      label={texts.words}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      autosize
      maxRows={8}
      required
    />
  );
}

interface MillisecondsProps {
  label: string;
  value: number;
  onChange: (value: number) => void;
}

function Milliseconds({ label, value, onChange }: MillisecondsProps) {
  return (
    <NumberInput
      label={label}
      value={value}
      onChange={(changed) => onChange(Number(changed))}
      min={0}
      max={600_000}
      step={500}
      allowDecimal={false}
      required
    />
  );
}
