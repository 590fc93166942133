import { Anchor, Button, Center, Container, Paper, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { handleSubmit } from '../components/handleSubmit.ts';
import { PageTitle } from '../layout/PageTitle.tsx';
import { textsIn } from '../texts.ts';
import { sessionQuery, signIn } from './session.ts';

const texts = textsIn({
  en: {
    title: 'Sign in to Callway',
    token: 'Token or project key',
    help: 'The operator’s token is in DATA_DIR/admin-token. A project’s key begins with sk_ or dk_.',
    submit: 'Sign in',
    api: 'API documentation',
  },
  'zh-TW': {
    title: '登入 Callway',
    token: '權杖或專案金鑰',
    help: '管理者的權杖在 DATA_DIR/admin-token。專案金鑰以 sk_ 或 dk_ 開頭。',
    submit: '登入',
    api: 'API 文件',
  },
});

export function SignInPage() {
  return (
    <Center mih="100dvh" component="main">
      <Container size={420} w="100%">
        <Paper withBorder p="xl" radius="md">
          <Stack>
            <PageTitle>{texts.title}</PageTitle>
            <SignInForm />
            <Text size="sm">
              <Anchor href="/docs">{texts.api}</Anchor>
            </Text>
          </Stack>
        </Paper>
      </Container>
    </Center>
  );
}

/** Takes a token, which the service keeps in a cookie that no script reads. @param note - Why it is asked for. */
export function SignInForm({ note }: { note?: string }) {
  const [token, setToken] = useState('');
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: signIn,
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate(token.trim()))}>
      {note !== undefined && <Text role="status">{note}</Text>}
      <PasswordInput
        label={texts.token}
        description={texts.help}
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        error={error?.message}
        autoComplete="off"
        required
      />
      <Button type="submit" loading={isPending} disabled={token.trim() === ''}>
        {texts.submit}
      </Button>
    </Stack>
  );
}
