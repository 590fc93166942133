import { Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';

import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: { message: 'Message', placeholder: 'Write to the agent', send: 'Send' },
  'zh-TW': { message: '訊息', placeholder: '傳訊息給代理', send: '傳送' },
});

/** The chat's input. */
export function Composer({ isDisabled, onSend }: { isDisabled: boolean; onSend: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '' || isDisabled) return;
    onSend(text.trim());
    setText('');
  };
  return (
    <Group component="form" onSubmit={submit} wrap="nowrap" gap="xs">
      <TextInput
        flex={1}
        aria-label={texts.message}
        placeholder={texts.placeholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autoComplete="off"
      />
      <Button type="submit" disabled={isDisabled || text.trim() === ''}>
        {texts.send}
      </Button>
    </Group>
  );
}
