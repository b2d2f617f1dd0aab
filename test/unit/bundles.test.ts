import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../../src/setup/package.js'

/** The packages in a bundled program and in the parts that it loads at once; what it loads when it is needed is not among them. */
const packagesOf = (program: string): Set<string> => {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const walk = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, name = ''] of text.matchAll(/^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/gm)) packages.add(name)
    for (const [, part = ''] of text.matchAll(/^(?:import|.*\bfrom) "(\.[^"]+)"/gm)) walk(join(dirname(file), part))
  }
  walk(join(packageRoot, 'dist/bin', program))
  return packages
}

test('a service starts without the clients of what many never call', () => {
  const packages = packagesOf('main.js')
  expect(packages).toContain('zod')
  const rare = ['undici', 'pg', 'mysql2', 'ai', '@ai-sdk/anthropic', '@ai-sdk/openai-compatible', 'yaml', 'parse5', 'unpdf']
  expect(rare.filter((name) => packages.has(name))).toEqual([])
})
