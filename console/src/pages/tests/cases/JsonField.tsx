import { Textarea, type TextareaProps } from '@mantine/core';
import { useState } from 'react';

import { textsIn } from '../../../texts.ts';

const texts = textsIn({
  en: { invalid: 'This is no JSON. Words stand in double quotes.', object: 'This must be an object: { … }' },
  'zh-TW': { invalid: '這不是有效的 JSON。文字須以雙引號括住。', object: '必須是物件：{ … }' },
});

interface JsonFieldProps<Value> extends Omit<TextareaProps, 'value' | 'onChange'> {
  /** Undefined: the field is empty. */
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
  /** Only objects are taken. */
  isObject?: boolean;
}

/** A value as JSON. Its form cannot be sent while it is none. */
export function JsonField<Value>({ value, onChange, isObject = false, ...props }: JsonFieldProps<Value>) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, undefined, 2));
  const [error, setError] = useState<string>();
  return (
    <Textarea
      autosize
      minRows={1}
      maxRows={12}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      spellCheck={false}
      {...props}
      value={text}
      error={error}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        const read = readJson(currentTarget.value, isObject);
        currentTarget.setCustomValidity(read.problem ?? '');
        setError(read.problem);
        if (read.problem === undefined) onChange(read.value as Value | undefined);
      }}
    />
  );
}

function readJson(text: string, isObject: boolean): { value?: unknown; problem?: string } {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isFitting = !isObject || (typeof value === 'object' && value !== null && !Array.isArray(value));
    return isFitting ? { value } : { problem: texts.object };
  } catch {
    return { problem: texts.invalid };
  }
}
