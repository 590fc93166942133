import {
  Button,
  Checkbox,
  Group,
  Modal,
  MultiSelect,
  NativeSelect,
  NumberInput,
  PasswordInput,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { ApiError } from '../../api/client.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { useProjectId } from '../../components/useProjectId.ts';
import { textsIn } from '../../texts.ts';
import type { Trunk } from './TrunkSection.tsx';

const CODECS = ['PCMU', 'PCMA', 'G722', 'opus'] as const;
const DEFAULT_PORTS = { udp: 5060, tcp: 5060, tls: 5061 } as const;

const texts = textsIn({
  en: {
    add: 'Add a trunk',
    edit: 'Edit the trunk',
    name: 'Name',
    host: 'Host',
    hostHelp: 'Name or address of the carrier or PBX.',
    port: 'Port',
    transport: 'Transport',
    username: 'User name',
    password: 'Password',
    kept: 'Stays as it is where it is empty.',
    register: 'Register at the host',
    registerHelp: 'Where the host learns from it where to send calls.',
    codecs: 'Codecs, in order of preference',
    srtp: 'Encrypted audio (SRTP)',
    dtmf: 'Digits',
    format: 'Format of numbers',
    channels: 'Simultaneous calls',
    sources: 'Further sources of inbound calls',
    sourcesHelp: 'Addresses or CIDR ranges, separated by commas.',
    active: 'Active',
    save: 'Save',
    cancel: 'Cancel',
    transports: { udp: 'UDP', tcp: 'TCP', tls: 'TLS' },
    srtps: { off: 'Off', optional: 'Where the other side can', required: 'Required' },
    formats: {
      e164: '+886912345678 (E.164)',
      e164_without_plus: '886912345678 (E.164 without +)',
      national: '0912345678 (national)',
      as_given: 'As it was given',
    },
    dtmfs: { rfc4733: 'In the audio stream (RFC 4733)', info: 'As messages (SIP INFO)' },
  },
  'zh-TW': {
    add: '新增中繼線',
    edit: '編輯中繼線',
    name: '名稱',
    host: '主機',
    hostHelp: '電信業者或總機的名稱或位址。',
    port: '連接埠',
    transport: '傳輸方式',
    username: '使用者名稱',
    password: '密碼',
    kept: '留空則維持不變。',
    register: '向主機註冊',
    registerHelp: '主機藉此得知來電要送到哪裡。',
    codecs: '編碼，依偏好排序',
    srtp: '加密音訊（SRTP）',
    dtmf: '按鍵',
    format: '號碼格式',
    channels: '同時通話數',
    sources: '其他來電來源',
    sourcesHelp: '位址或 CIDR 範圍，以逗號分隔。',
    active: '啟用',
    save: '儲存',
    cancel: '取消',
    transports: { udp: 'UDP', tcp: 'TCP', tls: 'TLS' },
    srtps: { off: '不加密', optional: '對方支援時加密', required: '一律加密' },
    formats: {
      e164: '+886912345678（E.164）',
      e164_without_plus: '886912345678（E.164，不含 +）',
      national: '0912345678（國內）',
      as_given: '維持原樣',
    },
    dtmfs: { rfc4733: '在音訊串流中（RFC 4733）', info: '以訊息傳送（SIP INFO）' },
  },
});

/** What the form changes; other fields of a trunk stay as they are. */
function formOf(trunk: Trunk | undefined) {
  return {
    name: trunk?.name ?? '',
    host: trunk?.host ?? '',
    port: trunk?.port ?? DEFAULT_PORTS.udp,
    transport: trunk?.transport ?? ('udp' as const),
    username: trunk?.username ?? '',
    password: '',
    register: trunk?.register ?? false,
    codecs: trunk?.codecs ?? ['PCMU' as const, 'PCMA' as const],
    srtp: trunk?.srtp ?? ('off' as const),
    dtmf: trunk?.dtmf ?? ('rfc4733' as const),
    numberFormat: trunk?.numberFormat ?? ('e164' as const),
    maxChannels: trunk?.maxChannels ?? 30,
    inboundCidrs: trunk?.inboundCidrs.join(', ') ?? '',
    status: trunk?.status ?? ('active' as const),
  };
}
type Form = ReturnType<typeof formOf>;

function bodyFrom({ username, password, inboundCidrs, ...fields }: Form) {
  return {
    ...fields,
    username: username.trim() || null,
    ...(password !== '' && { password }),
    inboundCidrs: inboundCidrs.split(/[\s,]+/).filter(Boolean),
  };
}

function choicesOf(labels: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}

/** @param trunk - Undefined: a new one. */
export function TrunkDialog({ trunk, onClose }: { trunk: Trunk | undefined; onClose: () => void }) {
  const api = useApi();
  const projectId = useProjectId();
  const queries = useQueryClient();
  const [form, setForm] = useState(() => formOf(trunk));
  const set = (changes: Partial<Form>) => setForm((before) => ({ ...before, ...changes }));
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const body = bodyFrom(form);
      if (trunk) {
        const path = { projectId, trunkId: trunk.id };
        await api.PATCH('/v1/projects/{projectId}/trunks/{trunkId}', { params: { path }, body });
      } else await api.POST('/v1/projects/{projectId}/trunks', { params: { path: { projectId } }, body });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['trunks'] });
      onClose();
    },
  });
  const problemOf = (field: keyof Form) =>
    error instanceof ApiError
      ? error.details.find(({ path }) => path?.split('/')[1] === field)?.message
      : undefined;
  const text = (field: 'name' | 'host' | 'username' | 'inboundCidrs') => ({
    value: form[field],
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
    error: problemOf(field),
  });
  return (
    <Modal opened onClose={onClose} title={trunk ? texts.edit : texts.add} size="lg">
      <form onSubmit={handleSubmit(() => mutate())}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }} style={{ alignItems: 'end' }}>
            <TextInput label={texts.name} required maxLength={128} data-autofocus {...text('name')} />
            <TextInput label={texts.host} description={texts.hostHelp} required {...text('host')} />
            <NativeSelect
              label={texts.transport}
              data={choicesOf(texts.transports)}
              value={form.transport}
              onChange={({ currentTarget: { value } }) => {
                const transport = value as Form['transport'];
                set({ transport, port: DEFAULT_PORTS[transport] });
              }}
            />
            <NumberInput
              label={texts.port}
              min={1}
              max={65_535}
              value={form.port}
              onChange={(port) => set({ port: Number(port) })}
              error={problemOf('port')}
            />
            <TextInput label={texts.username} autoComplete="off" {...text('username')} />
            <PasswordInput
              label={texts.password}
              {...(trunk?.hasPassword && { description: texts.kept })}
              autoComplete="new-password"
              value={form.password}
              onChange={(event) => set({ password: event.currentTarget.value })}
              error={problemOf('password')}
            />
            <MultiSelect
              label={texts.codecs}
              data={[...CODECS]}
              value={form.codecs}
              onChange={(codecs) => set({ codecs: codecs as Form['codecs'] })}
              error={problemOf('codecs')}
            />
            <NumberInput
              label={texts.channels}
              min={1}
              value={form.maxChannels}
              onChange={(maxChannels) => set({ maxChannels: Number(maxChannels) })}
              error={problemOf('maxChannels')}
            />
            <NativeSelect
              label={texts.srtp}
              data={choicesOf(texts.srtps)}
              value={form.srtp}
              onChange={(event) => set({ srtp: event.currentTarget.value as Form['srtp'] })}
            />
            <NativeSelect
              label={texts.format}
              data={choicesOf(texts.formats)}
              value={form.numberFormat}
              onChange={(event) => set({ numberFormat: event.currentTarget.value as Form['numberFormat'] })}
            />
            <NativeSelect
              label={texts.dtmf}
              data={choicesOf(texts.dtmfs)}
              value={form.dtmf}
              onChange={(event) => set({ dtmf: event.currentTarget.value as Form['dtmf'] })}
            />
            <TextInput label={texts.sources} description={texts.sourcesHelp} {...text('inboundCidrs')} />
          </SimpleGrid>
          <Checkbox
            label={texts.register}
            description={texts.registerHelp}
            checked={form.register}
            onChange={(event) => set({ register: event.currentTarget.checked })}
          />
          <Switch
            label={texts.active}
            checked={form.status === 'active'}
            onChange={(event) => set({ status: event.currentTarget.checked ? 'active' : 'inactive' })}
          />
          <FormError error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={isPending}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
