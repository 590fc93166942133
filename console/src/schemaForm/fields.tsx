import {
  JsonInput,
  MultiSelect,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';

import { textsIn } from '../texts.ts';
import { type FieldProps, useForm } from './formContext.ts';
import { TemplateInput } from './TemplateInput.tsx';
import { choiceNameOf } from './words.ts';

/** From here on a text may have paragraphs. */
const LONG_TEXT_CHARACTERS = 500;
const TEMPLATE = /template/i;
const MONOSPACE = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } };

const texts = textsIn({
  en: { default: 'Default', yes: 'Yes', no: 'No', invalidJson: 'This is not JSON' },
  'zh-TW': { default: '預設', yes: '是', no: '否', invalidJson: '這不是 JSON' },
});

export function TextField({ schema, value, pointer, isRequired, onChange, empty, ...props }: FieldProps) {
  const { variables, choices, isReadOnly, TemplatePreview } = useForm();
  const text = value === undefined || value === null ? '' : String(value);
  const change = (next: string) => onChange(next === '' && !isRequired ? empty : next);
  const common = {
    label: props.label,
    description: props.help,
    error: props.error,
    value: text,
    withAsterisk: isRequired,
    readOnly: isReadOnly,
  };
  const known = choices(pointer);
  if (known && (text === '' || known.some((choice) => choice.value === text))) {
    return (
      <Select
        {...common}
        value={text === '' ? null : text}
        data={[...known]}
        clearable={!isRequired}
        searchable
        onChange={(next) => change(next ?? '')}
      />
    );
  }
  const isLong = (schema.maxLength ?? 0) >= LONG_TEXT_CHARACTERS && !/url$/i.test(pointer);
  if (TEMPLATE.test(`${schema.description} ${pointer}`)) {
    return (
      <div>
        <TemplateInput {...common} variables={variables} isLong={isLong} onChange={change} />
        {TemplatePreview && <TemplatePreview template={text} />}
      </div>
    );
  }
  if (!isLong) return <TextInput {...common} onChange={(event) => change(event.currentTarget.value)} />;
  return (
    <Textarea
      {...common}
      autosize
      minRows={2}
      maxRows={12}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

export function NumberField({ schema, value, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { isReadOnly } = useForm();
  return (
    <NumberInput
      label={label}
      description={help}
      error={error}
      withAsterisk={isRequired}
      readOnly={isReadOnly}
      value={typeof value === 'number' ? value : ''}
      allowDecimal={schema.type !== 'integer'}
      {...(schema.minimum !== undefined && { min: schema.minimum })}
      {...(schema.maximum !== undefined && { max: schema.maximum })}
      step={schema.type === 'integer' ? 1 : 0.1}
      onChange={(next) => onChange(typeof next === 'number' ? next : empty)}
    />
  );
}

/** Where the schema leaves it open, with a third answer: the default. */
export function YesNoField({ schema, value, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { isReadOnly } = useForm();
  if (isRequired || schema.default !== undefined) {
    return (
      <Switch
        label={label}
        description={help}
        error={error}
        disabled={isReadOnly}
        checked={value === true || (value === undefined && schema.default === true)}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    );
  }
  return (
    <Select
      label={label}
      description={help}
      error={error}
      placeholder={texts.default}
      readOnly={isReadOnly}
      data={[
        { value: 'true', label: texts.yes },
        { value: 'false', label: texts.no },
      ]}
      value={typeof value === 'boolean' ? String(value) : null}
      clearable
      onChange={(next) => onChange(next === null ? empty : next === 'true')}
    />
  );
}

export function ChoiceField({ schema, value, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { isReadOnly } = useForm();
  const values = schema.enum ?? [schema.const];
  return (
    <Select
      label={label}
      description={help}
      error={error}
      placeholder={texts.default}
      withAsterisk={isRequired}
      readOnly={isReadOnly}
      data={values.map((one) => ({ value: String(one), label: choiceNameOf(String(one)) }))}
      value={value === undefined || value === null ? null : String(value)}
      clearable={!isRequired}
      allowDeselect={!isRequired}
      onChange={(next) => onChange(next === null ? empty : values.find((one) => String(one) === next))}
    />
  );
}

export function TextsField({ value, pointer, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { choices, isReadOnly } = useForm();
  const entries = Array.isArray(value) ? value.map(String) : [];
  const change = (next: string[]) => onChange(next.length === 0 && !isRequired ? empty : next);
  const common = {
    label,
    description: help,
    error,
    withAsterisk: isRequired,
    readOnly: isReadOnly,
    value: entries,
  };
  const known = choices(pointer);
  if (!known) return <TagsInput {...common} splitChars={[]} acceptValueOnBlur onChange={change} />;
  const unknown = entries.filter((entry) => !known.some((choice) => choice.value === entry));
  return (
    <MultiSelect
      {...common}
      data={[...known, ...unknown.map((entry) => ({ value: entry, label: entry }))]}
      searchable
      hidePickedOptions
      onChange={change}
    />
  );
}

export function ChoicesField({ schema, value, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { isReadOnly } = useForm();
  return (
    <MultiSelect
      label={label}
      description={help}
      error={error}
      withAsterisk={isRequired}
      readOnly={isReadOnly}
      data={(schema.items?.enum ?? []).map(String)}
      value={Array.isArray(value) ? value.map(String) : []}
      searchable
      onChange={(next) => onChange(next.length === 0 && !isRequired ? empty : next)}
    />
  );
}

/** Where the schema says nothing of what is inside. */
export function JsonField({ value, label, help, error, isRequired, onChange, empty }: FieldProps) {
  const { isReadOnly } = useForm();
  const [text, setText] = useState(() => textOf(value));
  const [shown, setShown] = useState(value);
  if (value !== shown) {
    setShown(value);
    // Another change than the one that was typed here: undone, or another node.
    if (JSON.stringify(parsed(text)) !== JSON.stringify(value)) setText(textOf(value));
  }
  const isInvalid = text.trim() !== '' && parsed(text) === undefined;
  return (
    <JsonInput
      label={label}
      description={help}
      error={isInvalid ? texts.invalidJson : error}
      withAsterisk={isRequired}
      readOnly={isReadOnly}
      autosize
      minRows={2}
      maxRows={16}
      formatOnBlur
      styles={MONOSPACE}
      value={text}
      onChange={(next) => {
        setText(next);
        const read = parsed(next);
        if (next.trim() === '') onChange(empty);
        else if (read !== undefined) onChange(read);
      }}
    />
  );
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
