// Builds the console: a page, and files with hashes in their names, so that caches may keep them forever.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig } from 'vite'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Puts compressed copies beside the files, so that the service need not compress any. */
const compressed = {
  name: 'compressed',
  writeBundle({ dir }) {
    for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:html|js|css|svg)$/.test(file)) continue
      const bytes = readFileSync(join(dir, file))
      writeFileSync(join(dir, `${file}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
      writeFileSync(join(dir, `${file}.gz`), gzipSync(bytes, { level: 9 }))
    }
  },
}

export default defineConfig({
  root: at('src/console'),
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: at('dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: true,
    // No warning when a plugin is slow: the machine may be busy.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  plugins: [compressed],
  logLevel: 'warn',
})
