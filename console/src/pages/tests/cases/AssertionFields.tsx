import { Autocomplete, NumberInput, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';

import { textsIn } from '../../../texts.ts';
import { assertionTexts, endedByTexts } from '../assertionTexts.ts';
import type { Assertion } from '../testData.ts';
import { JsonField } from './JsonField.tsx';
import { useNodeIds, useToolNames } from './names.ts';

const texts = textsIn({
  en: {
    type: 'What must hold',
    value: 'Value',
    values: 'Words, in order; Enter after each',
    node: 'Node',
    variable: 'Variable',
    path: 'Path, such as $.order.id',
    json: 'Value, as JSON',
    tool: 'Tool',
    arguments: 'Arguments at least, as JSON',
    to: 'Number or address',
    digits: 'Digits',
    prompt: 'Question for the model, such as: Was the agent polite?',
    votes: 'Votes',
  },
  'zh-TW': {
    type: '必須成立的條件',
    value: '值',
    values: '依序的字句，每句按 Enter',
    node: '節點',
    variable: '變數',
    path: '路徑，例如 $.order.id',
    json: '值（JSON）',
    tool: '工具',
    arguments: '至少包含的參數（JSON）',
    to: '號碼或位址',
    digits: '按鍵',
    prompt: '給模型的問題，例如：代理是否有禮貌？',
    votes: '投票數',
  },
});

type Type = Assertion['type'];

/** What a new assertion of a type begins with. */
const EMPTY: { [Name in Type]: Extract<Assertion, { type: Name }> } = {
  contains: { type: 'contains', value: '' },
  not_contains: { type: 'not_contains', value: '' },
  regex: { type: 'regex', value: '' },
  said_in_order: { type: 'said_in_order', values: [] },
  not_said: { type: 'not_said', value: '' },
  language_is: { type: 'language_is', value: 'en' },
  node_visited: { type: 'node_visited', nodeId: '' },
  variable_equals: { type: 'variable_equals', name: '', value: null },
  json_path: { type: 'json_path', path: '$.', value: null },
  tool_called: { type: 'tool_called', name: '' },
  tool_called_with: { type: 'tool_called_with', name: '', arguments: {} },
  ended_by: { type: 'ended_by', value: 'agent' },
  transferred_to: { type: 'transferred_to', to: '' },
  dtmf_sent: { type: 'dtmf_sent', digits: '' },
  max_latency_ms: { type: 'max_latency_ms', value: 2000 },
  interrupted_within_ms: { type: 'interrupted_within_ms', value: 500 },
  judge: { type: 'judge', prompt: '' },
};

export const newAssertion = (): Assertion => EMPTY.contains;

interface FieldsProps<Value> {
  projectId: string;
  value: Value;
  onChange: (value: Assertion) => void;
}

export function AssertionFields({ projectId, value, onChange }: FieldsProps<Assertion>) {
  return (
    <Stack gap="xs">
      <Select
        label={texts.type}
        data={Object.entries(assertionTexts).map(([type, label]) => ({ value: type as Type, label }))}
        value={value.type}
        onChange={(type) => type && onChange(EMPTY[type])}
        allowDeselect={false}
        searchable
      />
      <OwnFields key={value.type} projectId={projectId} value={value} onChange={onChange} />
    </Stack>
  );
}

/** The fields of the assertion's type. */
function OwnFields({ projectId, value, onChange }: FieldsProps<Assertion>) {
  switch (value.type) {
    case 'contains':
    case 'not_contains':
    case 'regex':
    case 'not_said':
    case 'language_is':
      return (
        <TextInput
          label={texts.value}
          value={value.value}
          onChange={(event) => onChange({ ...value, value: event.currentTarget.value })}
          required
        />
      );
    case 'said_in_order':
      return (
        <TagsInput
          label={texts.values}
          value={value.values}
          onChange={(values) => onChange({ ...value, values })}
          splitChars={[]}
          required
        />
      );
    case 'node_visited':
      return <NodeField projectId={projectId} value={value} onChange={onChange} />;
    case 'variable_equals':
      return (
        <>
          <TextInput
            label={texts.variable}
            value={value.name}
            onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
            required
          />
          <JsonField
            label={texts.json}
            value={value.value}
            onChange={(json) => onChange({ ...value, value: json ?? null })}
          />
        </>
      );
    case 'json_path':
      return (
        <>
          <TextInput
            label={texts.path}
            value={value.path}
            onChange={(event) => onChange({ ...value, path: event.currentTarget.value })}
            required
          />
          <JsonField
            label={texts.json}
            value={value.value}
            onChange={(json) => onChange({ ...value, value: json ?? null })}
          />
        </>
      );
    case 'tool_called':
    case 'tool_called_with':
      return <ToolFields projectId={projectId} value={value} onChange={onChange} />;
    case 'ended_by':
      return (
        <Select
          label={texts.value}
          data={(['caller', 'agent'] as const).map((who) => ({ value: who, label: endedByTexts[who] }))}
          value={value.value}
          onChange={(who) => who && onChange({ ...value, value: who })}
          allowDeselect={false}
        />
      );
    case 'transferred_to':
      return (
        <TextInput
          label={texts.to}
          value={value.to}
          onChange={(event) => onChange({ ...value, to: event.currentTarget.value })}
          required
        />
      );
    case 'dtmf_sent':
      return (
        <TextInput
          label={texts.digits}
          value={value.digits}
          onChange={(event) => onChange({ ...value, digits: event.currentTarget.value })}
          pattern="[0-9A-D*#]{1,64}"
          required
        />
      );
    case 'max_latency_ms':
    case 'interrupted_within_ms':
      return (
        <NumberInput
          label={texts.value}
          value={value.value}
          onChange={(ms) => onChange({ ...value, value: Number(ms) })}
          min={1}
          max={600_000}
          allowDecimal={false}
          required
        />
      );
    case 'judge':
      return <JudgeFields projectId={projectId} value={value} onChange={onChange} />;
  }
}

function NodeField({
  projectId,
  value,
  onChange,
}: FieldsProps<Extract<Assertion, { type: 'node_visited' }>>) {
  return (
    <Autocomplete
      label={texts.node}
      data={useNodeIds(projectId)}
      value={value.nodeId}
      onChange={(nodeId) => onChange({ ...value, nodeId })}
      required
    />
  );
}

function ToolFields({
  projectId,
  value,
  onChange,
}: FieldsProps<Extract<Assertion, { type: 'tool_called' | 'tool_called_with' }>>) {
  return (
    <>
      <Autocomplete
        label={texts.tool}
        data={useToolNames(projectId)}
        value={value.name}
        onChange={(name) => onChange({ ...value, name })}
        required
      />
      {value.type === 'tool_called_with' && (
        <JsonField
          label={texts.arguments}
          value={value.arguments}
          onChange={(given) => onChange({ ...value, arguments: given ?? {} })}
          isObject
        />
      )}
    </>
  );
}

function JudgeFields({ value, onChange }: FieldsProps<Extract<Assertion, { type: 'judge' }>>) {
  return (
    <>
      <Textarea
        label={texts.prompt}
        value={value.prompt}
        onChange={(event) => onChange({ ...value, prompt: event.currentTarget.value })}
        autosize
        required
      />
      <NumberInput
        label={texts.votes}
        value={value.votes ?? 1}
        onChange={(votes) => onChange({ ...value, votes: Number(votes) })}
        min={1}
        max={9}
        allowDecimal={false}
      />
    </>
  );
}
