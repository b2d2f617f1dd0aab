import { expect, test } from '@jest/globals'
import { build } from 'esbuild'

test('libraries of providers are loaded by the first call, and not with the service', async () => {
  const { metafile } = await build({
    entryPoints: ['src/llm/language-models.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'nowhere',
    write: false,
    metafile: true,
  })
  const outputs = Object.entries(metafile.outputs)
  const isOfProviders = (file: string) => Object.keys(metafile.outputs[file]?.inputs ?? {}).some((input) => input.includes('@ai-sdk/'))
  const [main = ''] = outputs.find(([, { entryPoint }]) => entryPoint === 'src/llm/language-models.ts') ?? []
  const atOnce = new Set([main])
  for (const file of atOnce)
    for (const { path, kind } of metafile.outputs[file]?.imports ?? []) if (kind === 'import-statement') atOnce.add(path)
  expect([...atOnce].filter(isOfProviders)).toEqual([])
  expect(outputs.some(([file]) => isOfProviders(file))).toBe(true)
})
