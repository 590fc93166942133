import { useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import WaveSurfer from 'wavesurfer.js';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { SIDES } from '../colors.ts';
import type { Player } from '../Player.ts';

const LOUDEST = 255;
const CHANNEL_HEIGHT = 40;

/** The recording's two channels, drawn from stored peaks: the audio itself is loaded where it is heard. */
export function Waveform({
  projectId,
  callId,
  player,
  lengthMs,
}: {
  projectId: string;
  callId: string;
  player: Player;
  lengthMs: number;
}) {
  const api = useApi();
  const container = useRef<HTMLDivElement>(null);
  const isDark = useComputedColorScheme('light') === 'dark';
  const { data: peaks } = useQuery({
    queryKey: ['call', projectId, callId, 'peaks'],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/calls/{callId}/peaks', { params: { path: { projectId, callId } } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (!peaks || !container.current || !player.audio) return;
    const channel = (side: keyof typeof SIDES) => ({
      waveColor: isDark ? lighter(SIDES[side]) : SIDES[side],
      progressColor: isDark ? lighter(SIDES[side]) : SIDES[side],
      height: CHANNEL_HEIGHT,
    });
    const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
    const drawn = WaveSurfer.create({
      container: container.current,
      media: player.audio,
      peaks: [levels(peaks.caller), levels(peaks.agent)],
      duration: lengthMs / 1000,
      splitChannels: [channel('caller'), channel('agent')],
      cursorWidth: 0,
      interact: false,
      hideScrollbar: true,
      maxPeak: 1,
      ...(nonce ? { cspNonce: nonce } : {}),
    });
    return () => drawn.destroy();
  }, [peaks, player, lengthMs, isDark]);
  return <div ref={container} />;
}

/** Quiet speech stays visible beside loud. */
function levels(base64: string): Float32Array {
  return Float32Array.from(atob(base64), (byte) => Math.sqrt(byte.charCodeAt(0) / LOUDEST));
}

function lighter(color: string): string {
  return color === SIDES.caller ? '#3bc9db' : '#b197fc';
}
