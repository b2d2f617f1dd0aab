import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { build } from 'esbuild'
import { repository } from '../support/cli.js'

type Package = {
  exports: Record<string, string | { types: string; default: string }>
  scripts: Record<string, string>
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

const read = (file: string): string => readFileSync(join(repository, file), 'utf8')
const { exports, scripts, dependencies, optionalDependencies, peerDependencies } = JSON.parse(read('package.json')) as Package
const packageOf = (name: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name

type Tarball = { unpackedSize: number; files: { path: string }[] }
const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: repository, maxBuffer: 2 ** 26 })
const [tarball = { unpackedSize: 0, files: [] }] = Object.values(JSON.parse(told.toString()) as Record<string, Tarball>)
const inPackage = new Set(tarball.files.map(({ path }) => path))

/** All files of types that some of them lead to, and the packages that they name. */
const typesFrom = (roots: readonly string[]): { files: Set<string>; packages: Set<string> } => {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [...roots]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    const text = read(file)
    if (/\bBuffer\b|'node:/.test(text)) packages.add('@types/node')
    for (const [, from, inline] of text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^'\n]+)'|\bimport\('([^'\n]+)'\)/gm)) {
      const name = from ?? inline ?? ''
      if (name.startsWith('.')) waiting.push(join(file, '..', name.replace(/\.js$/, '.d.ts')))
      else if (!name.startsWith('node:')) packages.add(packageOf(name))
    }
  }
  return { files, packages }
}

/** The same of code. */
const codeFrom = async (entryPoints: string[]): Promise<{ files: string[]; packages: Set<string> }> => {
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const asked = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external))
  const names = asked.map(({ path }) => path).filter((path) => !isBuiltin(path))
  return { files: Object.keys(metafile.inputs), packages: new Set(names.map(packageOf)) }
}

const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' || entry.default.includes('*') ? [] : [entry]))

test('the package has every file that its exports and their types lead to, and names the packages that those import', async () => {
  const types = typesFrom(entries.map((entry) => join(entry.types)))
  const code = await codeFrom([...entries.map((entry) => entry.default), 'dist/bin/mindledger.js', 'dist/bin/sql-process.js'])
  expect([...types.files, ...code.files].filter((file) => !inPackage.has(file))).toEqual([])
  expect([...types.packages].filter((name) => !(name in dependencies) && name !== '@types/node')).toEqual([])
  // Only programs in TypeScript need it.
  expect(types.packages).toContain('@types/node')
  expect(peerDependencies).toHaveProperty('@types/node')
  const installed = { ...dependencies, ...optionalDependencies, ...peerDependencies }
  // `pg` asks for these two where they are, and goes on without them.
  expect([...code.packages].filter((name) => !(name in installed) && !name.startsWith('pg-'))).toEqual([])
})

test('modules that programs import stay where they are, wherever their files stand', () => {
  const { resolve } = createRequire(import.meta.url)
  for (const module of [
    'events',
    'events/catalogue',
    'events/common',
    'events/kind',
    'events/references',
    'events/agent',
    'events/records/queries',
    'events/stored/envelope',
  ])
    expect([module, existsSync(resolve(`mindledger/${module}`))]).toEqual([module, true])
  for (const module of ['projections', 'projections/replay', 'projections/all', 'projections/projection', 'projections/records/answers'])
    expect([module, existsSync(resolve(`mindledger/${module}`))]).toEqual([module, true])
})

test('the package has programs, types and pages, no sources and tests, and is below 16 MB', () => {
  const known =
    /^(?:dist\/(?:bin|console|events|projections|src)\/|docs\/)|^(?:package\.json|LICENSE|(?:README|CHANGELOG|CONTRIBUTING)\.md)$/
  const strange = /(?<!\.d)\.tsx?$|\.map$|\.tsbuildinfo$|\.test\./
  expect(tarball.files.filter(({ path }) => !known.test(path) || strange.test(path))).toEqual([])
  expect(tarball.unpackedSize).toBeLessThan(16e6)
})

test('what pages of the package link to and show is in the package', () => {
  const pages = [...inPackage].filter((path) => path.endsWith('.md') && !path.startsWith('dist/'))
  expect(pages).toContain('CONTRIBUTING.md')
  const missing = pages.flatMap((page) => {
    const links = [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, link = '']) => join(page, '..', link))
    return links.filter((link) => !inPackage.has(link)).map((link) => `${page} -> ${link}`)
  })
  expect(missing).toEqual([])
})

test('an installation runs no script, but that of the SQLite for Node 20', () => {
  type Locked = { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean }
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
  const installed = Object.entries(packages).filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true)
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).toEqual(['node_modules/better-sqlite3'])
  // npm also asks about the script `prepare` of a package that comes from a file.
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) expect(scripts).not.toHaveProperty(script)
})

test('packages that are in the programs are no dependencies, and their licences are beside the programs', () => {
  const licences = read('dist/bin/LICENSES.txt')
  for (const name of [
    'express',
    'pg',
    'pino',
    'mysql2',
    'undici',
    '@modelcontextprotocol/server',
    '@ai-sdk/anthropic',
    '@huggingface/tokenizers',
  ]) {
    expect(dependencies).not.toHaveProperty(name)
    expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  }
})

test('the package has the console: its page, every file that the page leads to, compressed copies, and licences', () => {
  const waiting = ['index.html']
  const found = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    found.add(file)
    if (/\.(?:html|js)$/.test(file))
      waiting.push(
        ...[...read(`dist/console/${file}`).matchAll(/(?:assets|["'`]\.)\/([\w-]+(?:\.[\w-]+)*\.(?:js|css|svg))/g)].map(
          ([, name]) => `assets/${name}`,
        ),
      )
  }
  expect([...found].filter((file) => file.endsWith('.js')).length).toBeGreaterThan(5)
  const all = [...found].flatMap((file) => [file, `${file}.br`, `${file}.gz`])
  expect(all.map((file) => `dist/console/${file}`).filter((file) => !inPackage.has(file))).toEqual([])
  expect(inPackage).toContain('dist/console/.vite/license.md')
})
