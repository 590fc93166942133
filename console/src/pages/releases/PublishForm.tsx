import { Button, Checkbox, Stack, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { textsIn } from '../../texts.ts';
import { useRefreshAgent } from './releaseData.ts';

const MAX_NOTE_CHARACTERS = 2_000;

const texts = textsIn({
  en: {
    note: 'What is new',
    noteHelp: 'For those who read the list of releases.',
    live: 'Live for new conversations at once',
    liveHelp: 'Otherwise the release is only kept: test it, or give it to a share of people by a rollout.',
    publish: 'Publish',
    keep: 'Keep as a release',
  },
  'zh-TW': {
    note: '更新內容',
    noteHelp: '給閱讀版本清單的人看。',
    live: '立即用於新的對話',
    liveHelp: '否則只保留此版本：可以先測試，或用灰度發布讓一部分人使用。',
    publish: '發布',
    keep: '保留為版本',
  },
});

interface PublishFormProps {
  readonly projectId: string;
  /** Saves what the release shall have. */
  beforePublish?(): Promise<unknown>;
  onPublished(): void;
}

/** Makes a release of the agent as it is saved, with a note. */
export function PublishForm({ projectId, beforePublish, onPublished }: PublishFormProps) {
  const api = useApi();
  const refresh = useRefreshAgent(projectId);
  const [note, setNote] = useState('');
  const [live, setLive] = useState(true);
  const publish = useMutation({
    mutationFn: async () => {
      await beforePublish?.();
      await bodyOf(
        api.POST('/v1/projects/{projectId}/agent/publish', {
          params: { path: { projectId } },
          body: { note: note.trim() || null, live },
        }),
      );
      await refresh();
    },
    onSuccess: onPublished,
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => publish.mutate())}>
      <Textarea
        label={texts.note}
        description={texts.noteHelp}
        value={note}
        maxLength={MAX_NOTE_CHARACTERS}
        autosize
        minRows={2}
        maxRows={8}
        onChange={(event) => setNote(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox
        label={texts.live}
        description={texts.liveHelp}
        checked={live}
        onChange={(event) => setLive(event.currentTarget.checked)}
      />
      <FormError error={publish.error} />
      <Button type="submit" loading={publish.isPending}>
        {live ? texts.publish : texts.keep}
      </Button>
    </Stack>
  );
}
