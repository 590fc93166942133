import { ActionIcon, Group, Progress, Stack, Text } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { withoutBidiControls } from '../../api/bidiControls.ts';
import { DropArea } from '../../components/DropArea.tsx';
import { formatBytes } from '../../formats.ts';
import { textsIn } from '../../texts.ts';
import { type Upload, useUploads } from './useUploads.ts';

const texts = textsIn({
  en: {
    types: 'PDF, Word, PowerPoint, Excel, HTML, Markdown, CSV, JSON and text',
    waiting: 'waiting',
    network: 'The connection to the service was lost. Remove it and choose the file again.',
    progress: (name: string) => `Upload of ${name}`,
    remove: (name: string) => `Remove ${name}`,
  },
  'zh-TW': {
    types: 'PDF、Word、PowerPoint、Excel、HTML、Markdown、CSV、JSON 與純文字',
    waiting: '等待中',
    network: '與服務的連線中斷，請移除後重新選擇檔案。',
    progress: (name: string) => `${name} 的上傳進度`,
    remove: (name: string) => `移除 ${name}`,
  },
});

export function UploadDocuments({
  projectId,
  knowledgebaseId,
}: {
  projectId: string;
  knowledgebaseId: string;
}) {
  const { uploads, add, remove } = useUploads(projectId, knowledgebaseId);
  return (
    <DropArea multiple onFiles={add}>
      <Text size="xs" c="dimmed" ta="center" mt="xs">
        {texts.types}
      </Text>
      {uploads.length > 0 && (
        <Stack gap="sm" mt="md" aria-live="polite">
          {uploads.map((upload) => (
            <UploadLine key={upload.id} upload={upload} onRemove={() => remove(upload.id)} />
          ))}
        </Stack>
      )}
    </DropArea>
  );
}

function UploadLine({ upload, onRemove }: { upload: Upload; onRemove: () => void }) {
  const { file, sent, state, error } = upload;
  const name = withoutBidiControls(file.name);
  return (
    <Group wrap="nowrap" gap="sm">
      <Stack gap={4} flex={1} miw={0}>
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <Text size="sm" truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            {state === 'waiting' ? texts.waiting : formatBytes(file.size)}
          </Text>
        </Group>
        {error ? (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error.message === 'network' ? texts.network : error.message}
          </Text>
        ) : (
          <Progress value={sent * 100} size="sm" aria-label={texts.progress(name)} />
        )}
      </Stack>
      <ActionIcon variant="subtle" color="gray" onClick={onRemove} aria-label={texts.remove(name)}>
        <Cross2Icon />
      </ActionIcon>
    </Group>
  );
}
