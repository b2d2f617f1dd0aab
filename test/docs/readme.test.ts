import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { repository, runProgram } from '../support/cli.js'
import { blocksOf, complaints, openClone, readSource as read, type Clone } from '../support/clone.js'

const readme = read('README.md')
const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts

/** The shell blocks of the README, with the heading or the bold words that they follow. */
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```/gms)].map(({ 1: text = '', index }) => ({
  text,
  about: [...readme.slice(0, index).matchAll(/^(?:## (.+)|\*\*(.+?)\.\*\*)/gm)].at(-1)?.slice(1).find(Boolean) ?? '',
}))
const block = (about: string): string => {
  const found = blocks.filter((one) => one.about === about)
  if (found.length !== 1) throw new Error(`${found.length} blocks about ${about}`)
  return found[0]?.text ?? ''
}

let clone: Clone
beforeAll(async () => {
  clone = await openClone()
})
afterAll(() => clone.stop())

test('every shell block of the README is run here', () => {
  expect(blocks.map(({ about }) => about)).toEqual(['Start', 'REST', 'SQL', 'Audit'])
  // This is `npm test` at work.
  expect(scripts['test']).toContain('jest')
})

test('the block of two terminals serves in one, and does what it says in the other', async () => {
  const [, first = '', second = ''] = /^# Terminal 1: [^\n]+\n(.+)\n\n# Terminal 2: [^\n]+\n(.+)$/s.exec(block('Start')) ?? []
  expect(first).toBe('npm ci\nnpm start')
  const ended = await clone.shell(second)
  expect({ code: ended.code, err: complaints(ended) }).toEqual({ code: 0, err: '' })
  expect(ended.out).toContain('"rows":344')
  expect(ended.out).toMatch(/^species +\| mindsdb +\| 1 +\| complete/m)
  expect(ended.out).toContain('"Species":"Gentoo"')
  expect(ended.out).toMatch(/^Adelie +\| 152$/m)
  expect(ended.out).toContain('The log holds')
})

test('npm start serves the folder ./data, on the port and address that the README says', async () => {
  const folder = join(clone.home, 'served')
  mkdirSync(folder)
  for (const name of ['dist', 'package.json']) symlinkSync(join(repository, name), join(folder, name))
  const env: NodeJS.ProcessEnv = { ...process.env, PORT: '0' }
  delete env['DATA_DIR']
  const started = spawn('sh', ['-c', `exec ${scripts['start'] ?? ''}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(started, 'exit')
  // Others may come before it.
  const serving = await new Promise<string>((resolve) => {
    createInterface({ input: started.stdout }).on('line', (line) => line.includes('"msg":"serving"') && resolve(line))
  })
  expect(JSON.parse(serving)).toMatchObject({ msg: 'serving', data: join(folder, 'data') })
  started.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const help = await clone.shell('npx mindledger --help')
  expect(help).toMatchObject({ code: 0, err: '' })
  expect(help.out).toMatch(/PORT .*\(47334\)/)
  expect(help.out).toMatch(/HOST .*\(127\.0\.0\.1\)/)
  expect(help.out).toMatch(/DATA_DIR .*\(\.\/data\)/)
})

// In this order: each block goes on where the one before ended.
test('the answers over REST are what the README promises', async () => {
  const ended = await clone.shell(block('REST'))
  const { code, out } = ended
  expect({ code, err: complaints(ended) }).toEqual({ code: 0, err: '' })
  expect(out).toContain('"name":"sales"')
  expect(out).toContain('"openai_api_key":"******"')
  expect(out).not.toContain('sk-1')
})

test('the answers in SQL are what the README promises', async () => {
  const ended = await clone.shell(block('SQL'))
  const { code, out } = ended
  expect({ code, err: complaints(ended) }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/mpg +\| mindsdb +\| 1 +\| complete/)
  expect(out).toMatch(/^mpg +\| complete \| 0\.\d+$/m)
  expect(out).toMatch(/^MILES_PER_GALLON +\| MILES_PER_GALLON_MIN +\| MILES_PER_GALLON_MAX$/im)
  expect(out).toContain('chevrolet chevelle malibu')
})

test('the audit gives what the README promises', async () => {
  const ended = await clone.shell(block('Audit'))
  const { code, out } = ended
  expect({ code, err: complaints(ended) }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/anonymous +\| AgentCreated/)
  for (const type of ['SkillCreated', 'FileCreated', 'ModelTrained', 'PredictionsServed']) expect(out).toContain(type)
  expect(out).toContain('The log holds')
  expect(out).toContain('"path":"","value":{')
  expect(out).toContain('Proven: positions 1 to')
  expect(out).toContain('audit.duckdb holds the log up to position')
})

test('the demo tells its whole story and ends well', async () => {
  expect(scripts['demo']).toBe('npm run compile && node dist/docs/demo/demo.js')
  const { code, out, err } = await runProgram(process.execPath, ['dist/docs/demo/demo.js'], { cwd: repository })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const sections = [...out.matchAll(/^(.+)\n-+$/gm)].map(([, title]) => title)
  expect(sections).toEqual([
    'Real tables become files',
    'A project with a skill, an agent and a chatbot',
    'Two models, each one statement',
    'Predictions over REST and in SQL',
    'A change, and the history that it leaves',
    'An audit',
  ])
  expect(out).toContain('mpg is complete after')
  expect(out).toContain('The log holds')
  expect(out).toContain('"openai_api_key":"******"')
})

test('the README is at most 150 lines long', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150)
})

const markdown = [
  '.',
  ...[
    'docs',
    ...readdirSync(join(repository, 'docs'), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name)),
  ],
].flatMap((folder) =>
  readdirSync(resolve(repository, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(resolve(repository, folder), name)),
)

const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test.each(markdown.map((file) => file.slice(repository.length)))('the links of %s lead somewhere', (name) => {
  const file = join(repository, name)
  const links = [
    ...readFileSync(file, 'utf8')
      .replace(/^```.*?^```/gms, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, link = '']) => link)
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const to = path === '' ? file : resolve(dirname(file), path)
    return !existsSync(to) || (anchor !== undefined && !anchorsOf(to).includes(anchor))
  })
  expect(broken).toEqual([])
})

/** Files of ours that are read by people, and where a sentence may name another file. */
const written = ['src', 'events', 'projections', 'bench', 'docs', '.'].flatMap((folder) =>
  readdirSync(resolve(repository, folder), { withFileTypes: true, recursive: folder !== '.' })
    .filter((entry) => entry.isFile() && /\.(?:ts|cts|md)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name)),
)

test('pages, comments and messages name files that are there', () => {
  const missing = written.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const pages = [...text.matchAll(/\bdocs\/[\w/.-]+\.(?:md|svg)\b/g)].map(([path]) => path)
    const sources = file.endsWith('.md')
      ? [...text.matchAll(/`((?:src|events|projections|bench|test)\/[\w/.-]+)`/g)].map(([, path = '']) => path)
      : []
    return [...pages, ...sources].filter((path) => !existsSync(join(repository, path))).map((path) => `${file}: ${path}`)
  })
  expect(missing).toEqual([])
})

test('the README names every folder of the service, and no other', () => {
  const row = /^\| `src\/` \|(.*)\|$/m.exec(readFileSync(join(repository, 'README.md'), 'utf8'))?.[1] ?? ''
  const named = [...row.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
  const folders = readdirSync(join(repository, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory())
  expect(named.sort()).toEqual(folders.map(({ name }) => name).sort())
})

/** Pages whose blocks go on in one shell. */
const walked = markdown.filter((file) => /(?:README|docs\/learn\/tutorial|docs\/use\/[\w-]+)\.md$/.test(file))

test.each(walked.map((file) => file.slice(repository.length)))('the shell of %s names the address once, before it is used', (name) => {
  const shell = blocksOf(read(name.replace(/^\//, '')))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
    .join('')
  const [before = '', ...after] = shell.split(/^at=localhost:47334$/m)
  expect(before).not.toContain('$at')
  expect(shell.match(/localhost:\d+/g) ?? []).toHaveLength(after.length === 0 ? 0 : 1)
})

test('no folder of docs has more than 20 files', () => {
  const folders = [...new Set(markdown.map((file) => dirname(file)))].filter((folder) => folder.startsWith(join(repository, 'docs')))
  expect(folders.length).toBeGreaterThan(8)
  for (const folder of folders) expect(readdirSync(folder).length).toBeLessThanOrEqual(20)
})
