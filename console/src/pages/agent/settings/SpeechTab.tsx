import { Button, Divider, Group, Stack, Textarea, Title } from '@mantine/core';
import { SpeakerLoudIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { consoleHeaders, errorFrom } from '../../../api/client.ts';
import { FormError } from '../../../components/FormError.tsx';
import { textsIn } from '../../../texts.ts';
import type { Agent } from '../agentQueries.ts';
import { AgentForm } from './AgentForm.tsx';

const FIELDS = ['speech', 'turnDetection'] as const;
const MAX_PREVIEW_CHARACTERS = 500;

const texts = textsIn({
  en: {
    listen: 'Listen',
    help: 'In the voice as it was saved.',
    text: 'Text',
    sample: 'Hello, this is the clinic. How can I help you?',
    play: 'Listen to it',
    audio: 'The spoken text',
  },
  'zh-TW': {
    listen: '試聽',
    help: '使用已儲存的聲音。',
    text: '文字',
    sample: '您好，這裡是診所，請問有什麼可以幫您？',
    play: '試聽',
    audio: '說出的文字',
  },
});

/** How the agent hears and speaks. */
export function SpeechTab(props: { projectId: string; agent: Agent; isReadOnly: boolean }) {
  return (
    <Stack>
      {!props.isReadOnly && <Listen projectId={props.projectId} />}
      <AgentForm {...props} fields={FIELDS} />
    </Stack>
  );
}

function Listen({ projectId }: { projectId: string }) {
  const [text, setText] = useState(texts.sample);
  const {
    mutate,
    isPending,
    error,
    data: audioUrl,
  } = useMutation({
    mutationFn: async () => URL.createObjectURL(await spoken(projectId, text)),
  });
  useEffect(() => () => void (audioUrl !== undefined && URL.revokeObjectURL(audioUrl)), [audioUrl]);
  return (
    <Stack gap="xs" maw={760}>
      <Title order={2} size="h4">
        {texts.listen}
      </Title>
      <Textarea
        label={texts.text}
        description={texts.help}
        autosize
        maxRows={6}
        maxLength={MAX_PREVIEW_CHARACTERS}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group>
        <Button
          variant="default"
          leftSection={<SpeakerLoudIcon />}
          loading={isPending}
          disabled={text.trim() === ''}
          onClick={() => mutate()}
        >
          {texts.play}
        </Button>
        {audioUrl !== undefined && (
          // biome-ignore lint/a11y/useMediaCaption: it says the text above.
          <audio controls autoPlay src={audioUrl} aria-label={texts.audio} />
        )}
      </Group>
      <FormError error={error} />
      <Divider my="sm" />
    </Stack>
  );
}

/** A WAV file. @throws {ApiError} */
async function spoken(projectId: string, text: string): Promise<Blob> {
  const response = await fetch(`/v1/projects/${encodeURIComponent(projectId)}/speech/preview`, {
    method: 'POST',
    headers: { ...consoleHeaders(projectId), 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  if (!response.ok) throw await errorFrom(response);
  return await response.blob();
}
