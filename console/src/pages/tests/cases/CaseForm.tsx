import { Input, SegmentedControl, Stack, Switch, Textarea, TextInput, Title } from '@mantine/core';
import { ItemList } from '../../../components/ItemList.tsx';
import { textsIn } from '../../../texts.ts';
import type { CaseInput } from '../testData.ts';
import { AssertionFields, newAssertion } from './AssertionFields.tsx';
import { PersonaFields, PhoneFields } from './CallerFields.tsx';
import { JsonField } from './JsonField.tsx';
import { MockFields, newMock } from './MockFields.tsx';
import { newTurn, TurnFields } from './TurnFields.tsx';

const texts = textsIn({
  en: {
    name: 'Name',
    description: 'Description',
    channel: 'Over',
    channels: { chat: 'Chat', phone: 'Phone' },
    line: 'The caller’s line',
    caller: 'The caller',
    callers: { turns: 'Follows a script', persona: 'Played by a model' },
    variables: 'Variables that the session begins with, as JSON',
    turns: 'Script',
    turn: (number: number) => `Turn ${number}`,
    addTurn: 'Add a turn',
    assertions: 'Assertions',
    assertionsHelp: 'What must hold at the end.',
    assertion: (number: number) => `Assertion ${number}`,
    addAssertion: 'Add an assertion',
    mocks: 'Answers of tools',
    mocksHelp: 'A tool without an answer here is not called, and fails.',
    mock: (number: number) => `Answer ${number}`,
    addMock: 'Add an answer',
    allowRealTools: 'Really call tools that have no answer here',
  },
  'zh-TW': {
    name: '名稱',
    description: '說明',
    channel: '管道',
    channels: { chat: '文字', phone: '電話' },
    line: '來電者的線路',
    caller: '來電者',
    callers: { turns: '依照腳本', persona: '由模型扮演' },
    variables: '工作階段開始時的變數（JSON）',
    turns: '腳本',
    turn: (number: number) => `第 ${number} 步`,
    addTurn: '新增步驟',
    assertions: '斷言',
    assertionsHelp: '結束時必須成立的條件。',
    assertion: (number: number) => `斷言 ${number}`,
    addAssertion: '新增斷言',
    mocks: '工具的回應',
    mocksHelp: '此處沒有回應的工具不會被呼叫，並視為失敗。',
    mock: (number: number) => `回應 ${number}`,
    addMock: '新增回應',
    allowRealTools: '真正呼叫此處沒有回應的工具',
  },
});

interface CaseFormProps {
  projectId: string;
  value: CaseInput;
  onChange: (value: CaseInput) => void;
}

/** The fields of a test case. */
export function CaseForm({ projectId, value, onChange }: CaseFormProps) {
  const set = (changes: Partial<CaseInput>) => onChange({ ...value, ...changes });
  const channel = value.channel ?? 'chat';
  return (
    <Stack>
      <TextInput
        label={texts.name}
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        maxLength={128}
        required
      />
      <Textarea
        label={texts.description}
        value={value.description ?? ''}
        onChange={(event) => set({ description: event.currentTarget.value || null })}
        maxLength={4000}
        autosize
      />
      <Input.Wrapper label={texts.channel} labelElement="div">
        <SegmentedControl
          aria-label={texts.channel}
          display="flex"
          w="fit-content"
          data={(['chat', 'phone'] as const).map((one) => ({ value: one, label: texts.channels[one] }))}
          value={channel}
          onChange={(chosen) => set({ channel: chosen })}
        />
      </Input.Wrapper>
      {channel === 'phone' && (
        <Stack gap="xs">
          <Title order={2} size="h5">
            {texts.line}
          </Title>
          <PhoneFields value={value.phone ?? {}} onChange={(phone) => set({ phone })} />
        </Stack>
      )}
      <Caller projectId={projectId} value={value} onChange={onChange} />
      <ItemList
        label={texts.assertions}
        description={texts.assertionsHelp}
        nameOf={texts.assertion}
        addLabel={texts.addAssertion}
        items={value.assertions ?? []}
        onChange={(assertions) => set({ assertions })}
        makeItem={newAssertion}
      >
        {(assertion, change) => <AssertionFields projectId={projectId} value={assertion} onChange={change} />}
      </ItemList>
      <ItemList
        label={texts.mocks}
        description={texts.mocksHelp}
        nameOf={texts.mock}
        addLabel={texts.addMock}
        items={value.toolMocks ?? []}
        onChange={(toolMocks) => set({ toolMocks })}
        makeItem={newMock}
      >
        {(mock, change) => <MockFields projectId={projectId} mock={mock} onChange={change} />}
      </ItemList>
      <Switch
        label={texts.allowRealTools}
        checked={value.allowRealTools ?? false}
        onChange={(event) => set({ allowRealTools: event.currentTarget.checked })}
      />
      <JsonField
        label={texts.variables}
        value={value.variables ?? undefined}
        onChange={(variables) => set({ variables: variables ?? null })}
        isObject
      />
    </Stack>
  );
}

/** A script, or a model that plays the caller: a case with turns has no use for a persona. */
function Caller({ projectId, value, onChange }: CaseFormProps) {
  const { persona } = value;
  const kind = persona && !value.turns?.length ? 'persona' : 'turns';
  return (
    <>
      <Input.Wrapper label={texts.caller} labelElement="div">
        <SegmentedControl
          aria-label={texts.caller}
          display="flex"
          w="fit-content"
          data={(['turns', 'persona'] as const).map((one) => ({ value: one, label: texts.callers[one] }))}
          value={kind}
          onChange={(chosen) =>
            onChange({
              ...value,
              persona: chosen === 'persona' ? { prompt: '' } : null,
              turns: chosen === 'persona' ? null : [newTurn()],
            })
          }
        />
      </Input.Wrapper>
      {persona && kind === 'persona' ? (
        <PersonaFields value={persona} onChange={(changed) => onChange({ ...value, persona: changed })} />
      ) : (
        <ItemList
          label={texts.turns}
          nameOf={texts.turn}
          addLabel={texts.addTurn}
          items={value.turns ?? []}
          onChange={(turns) => onChange({ ...value, turns })}
          makeItem={newTurn}
        >
          {(turn, change) => <TurnFields projectId={projectId} turn={turn} onChange={change} />}
        </ItemList>
      )}
    </>
  );
}
