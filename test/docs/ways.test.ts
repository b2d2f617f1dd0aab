import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { repository } from '../support/cli.js'

const page = readFileSync(join(repository, 'docs/architecture.md'), 'utf8')
const programs = readFileSync(join(repository, '.ci/bundle.mjs'), 'utf8')

/** The files that a file imports, as paths in the repository. */
const importsOf = (file: string): string[] =>
  [...readFileSync(join(repository, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)\.js'/g)].map(
    ([, path = '']) => `${normalize(join(dirname(file), path))}.ts`,
  )

/** The composition root imports what its parts import. */
const importsAround = (file: string): string[] =>
  file === 'src/main.ts'
    ? importsOf(file).flatMap((one) => [one, ...(/^src\/open-[a-z]+\.ts$/.test(one) ? importsOf(one) : [])])
    : importsOf(file)

const areLinked = (a: string, b: string): boolean => importsOf(a).includes(b) || importsOf(b).includes(a)

type Step = { files: string[]; by: string | undefined; isProcess: boolean }

const stepOf = (line: string): Step => {
  const by = /\(by `([^`]+)`\)/.exec(line)?.[1]
  const files = [...line.matchAll(/`((?:src|events|projections)\/[\w./-]+\.ts)`/g)]
    .map(([, file = '']) => file)
    .filter((file) => file !== by)
  return { files, by, isProcess: line.includes('(a process)') }
}

/** The ways of docs/architecture.md: `### A SELECT` and a numbered list of files. */
const ways = (/^## Seven ways\n(.*?)^## /ms.exec(page)?.[1] ?? '')
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ name: text.split('\n')[0] ?? '', steps: [...text.matchAll(/^\d+\. (.+)$/gm)].map(([, line = '']) => stepOf(line)) }))

test('the page has seven ways', () => {
  expect(ways.map(({ name, steps }) => [name, steps.length > 5])).toEqual(
    ['A SELECT', 'A JOIN with a model', 'A CREATE AGENT', 'A prediction', 'A training', 'An erasure', 'A verify'].map((name) => [
      name,
      true,
    ]),
  )
})

test.each(ways)('$name passes files that are there, and that know each other in this order', ({ steps }) => {
  for (const { files, by } of steps)
    for (const file of [...files, ...(by === undefined ? [] : [by])])
      expect([file, existsSync(join(repository, file))]).toEqual([file, true])
  const broken = steps.flatMap(({ files: [file = ''], by, isProcess }, index) => {
    if (isProcess && !programs.includes(`'${file}'`)) return [`${file} is no program`]
    const before = steps[index - 1]?.files[0]
    if (before === undefined) return []
    const isLinked =
      by === undefined ? areLinked(before, file) : [before, file].every((one) => one === by || importsAround(by).includes(one))
    return isLinked ? [] : [`${before} → ${file}`]
  })
  expect(broken).toEqual([])
})

const onLinux = process.platform === 'linux' ? test : test.skip

// What else the service does meanwhile counts as well, and on a busy machine less of it is done.
onLinux('every way says how many files it passes, to one in five; otherwise run count-ways.js --write', async () => {
  const counter = join(repository, 'dist/docs/generators/count-ways.js')
  const { stdout } = await promisify(execFile)(process.execPath, [counter])
  const measured = [...stdout.matchAll(/^(.+): (\d+) \(/gm)].map(([, name = '', files]) => ({ name, files: Number(files) }))
  expect(measured.map(({ name }) => name)).toEqual(ways.map(({ name }) => name))
  const wrong = measured.flatMap(({ name, files }) => {
    const said = Number(new RegExp(`^### ${name}\n\n(\\d+) files`, 'm').exec(page)?.[1])
    return Math.abs(said - files) <= files / 5 ? [] : [`${name}: the page says ${said}, measured are ${files}`]
  })
  expect(wrong).toEqual([])
})

test('every room has its line', () => {
  const folders = readdirSync(join(repository, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const table = page.slice(page.indexOf('## Rooms'))
  for (const { name } of folders) expect(table).toMatch(new RegExp(`^\\| .*\`${name}[\`/]`, 'm'))
})

const foldersOf = (folder: string): { folder: string; files: number }[] => {
  const entries = readdirSync(join(repository, folder), { withFileTypes: true })
  const within = entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => foldersOf(`${folder}/${name}`))
  return [{ folder, files: entries.filter((entry) => entry.isFile()).length }, ...within]
}

test('no folder has more than 20 files of its own', () => {
  const folders = ['src', 'events', 'projections', 'test', 'docs', 'bench'].flatMap(foldersOf)
  expect(folders.filter(({ files }) => files > 20)).toEqual([])
})

const required = createRequire(import.meta.url)
const rooms = required(join(repository, '.ci/rooms.cjs')) as string[]
const orders: Record<string, string[]> = { src: rooms, ...(required(join(repository, '.ci/folders.cjs')) as Record<string, string[]>) }

test.each(Object.entries(orders))(
  'every folder of %s with code has its place in the order of folders, and every place is there',
  (tree, places) => {
    const folders = foldersOf(tree).map(({ folder }) => folder)
    const withCode = folders.filter((folder) => readdirSync(join(repository, folder)).some((file) => /\.tsx?$/.test(file)))
    expect(withCode.map((folder) => relative(tree, folder) || '.').filter((folder) => !places.includes(folder))).toEqual([])
    expect(places.filter((place) => !folders.includes(join(tree, place)))).toEqual([])
  },
)
