import { Alert, Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { textsIn } from '../../texts.ts';

const texts = textsIn({
  en: {
    make: 'Make a test case of it',
    made: (name: string) => `The test case “${name}” was made.`,
  },
  'zh-TW': { make: '轉為測試案例', made: (name: string) => `已建立測試案例「${name}」。` },
});

/** The conversation as a test case, with personal data masked. */
export function TestCaseButton({ projectId, sessionId }: { projectId: string; sessionId: string }) {
  const api = useApi();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/test-cases/from-session', {
          params: { path: { projectId } },
          body: { sessionId },
        }),
      ),
  });
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" onClick={() => mutate()} loading={isPending} disabled={data !== undefined}>
        {texts.make}
      </Button>
      {data && 'name' in data && <Alert color="green">{texts.made(data.name)}</Alert>}
      <FormError error={error} />
    </Stack>
  );
}
