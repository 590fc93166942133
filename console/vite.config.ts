import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run dev` of the console forwards the API to a service at this address. */
const SERVICE = process.env.CALLWAY_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: 'es2022',
    // Small images as files: the policy names no data for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: {
      '/v1': { target: SERVICE, ws: true },
      '/console/session': SERVICE,
      '/widget': SERVICE,
      '/openapi.json': SERVICE,
    },
  },
});
