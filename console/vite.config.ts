import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** `npm run dev` of the console forwards the API to a service at this address. */
const SERVICE = process.env.CALLWAY_URL ?? 'http://127.0.0.1:3000';
const ICONS = '@radix-ui/react-icons';
/** Browsers that know `light-dark()`: written otherwise for older ones, it has no value by the scheme that Mantine sets. */
const CSS_TARGET = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];
/** Of lazily loaded parts: more pages load fewer bytes with this number than with half or double. */
const SHARED_FROM = 18;

export default defineConfig({
  base: '/console/',
  plugins: [react(), iconsApart()],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    target: 'es2022',
    cssTarget: CSS_TARGET,
    // Small images as files: the policy names no data for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // What many pages import is one file: a hundred small ones take longer, and compress worse.
        codeSplitting: { groups: [{ name: 'shared', test: /node_modules/, minShareCount: SHARED_FROM }] },
      },
    },
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

/** The icons are one module, of which each page would load what all pages show: each icon is made a module of its own. */
function iconsApart(): Plugin {
  const imports = new RegExp(`import \\{([^}]+)\\} from ["']${ICONS}["'];?`, 'g');
  return {
    name: 'icons-apart',
    apply: 'build',
    transform: (code) => ({
      code: code.replace(imports, (_, names: string) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '')
          .map((name) => `import { ${name} } from '${ICONS}?${name.split(' ')[0]}';`)
          .join(' '),
      ),
      map: null,
    }),
    async resolveId(source, importer) {
      if (!source.startsWith(`${ICONS}?`)) return null;
      const resolved = await this.resolve(ICONS, importer);
      return resolved && { id: source.replace(ICONS, resolved.id), moduleSideEffects: false };
    },
  };
}
